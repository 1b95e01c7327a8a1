#!/usr/bin/env python3
"""The pictures of the documentation, as SVG: docs/pictures/{processes,lineage,decision,recreate,surge}.svg.

    tools/pictures.py [--check]      --check: only report whether they are current (status 1: they are not)

The questions of decision.svg are the tables in docs/architecture.md, which a test compares with the code: a new rule without an
answer here is an error. A picture needs no font of its own and no script, and follows light and dark. The same input gives the
same bytes.
"""
import html
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')

STYLE = '''
svg { --bg: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #818b98; --card: #f6f8fa; --edge: #d1d9e0;
  --go: #1a7f37; --gobg: #dafbe1; --on: #0969da; --onbg: #ddf4ff; --hold: #9a6700; --holdbg: #fff8c5;
  --park: #59636e; --parkbg: #eff2f5; --bad: #cf222e; }
@media (prefers-color-scheme: dark) {
  svg { --bg: #0d1117; --ink: #f0f6fc; --soft: #9198a1; --line: #8b949e; --card: #151b23; --edge: #3d444d;
    --go: #3fb950; --gobg: #12261e; --on: #58a6ff; --onbg: #121d2f; --hold: #d29922; --holdbg: #272115;
    --park: #9198a1; --parkbg: #212830; --bad: #f85149; } }
text { fill: var(--ink); font: 14px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: 13px; }
.small { font-size: 12.5px; } .soft { fill: var(--soft); } .bold { font-weight: 600; } .title { font-weight: 600; font-size: 16px; }
.mid { text-anchor: middle; } .end { text-anchor: end; }
.bg { fill: var(--bg); } .card { fill: var(--card); stroke: var(--edge); }
.line { fill: none; stroke: var(--line); stroke-width: 1.6; } .thin { stroke-width: 1; } .dash { stroke-dasharray: 5 4; }
.tip { fill: var(--line); }
.go { fill: var(--gobg); stroke: var(--go); } .on { fill: var(--onbg); stroke: var(--on); }
.hold { fill: var(--holdbg); stroke: var(--hold); } .park { fill: var(--parkbg); stroke: var(--park); }
.solid { fill: var(--on); stroke: var(--on); } .dot { fill: var(--bg); stroke: var(--on); stroke-width: 2; }
.gone { fill: var(--bg); stroke: var(--soft); stroke-width: 2; } .cross { stroke: var(--bad); stroke-width: 2.4; fill: none; }
text { paint-order: stroke; } .halo { stroke: var(--bg); stroke-width: 4px; stroke-linejoin: round; }
.grid { stroke: var(--edge); stroke-width: 1; fill: none; } .still { fill: var(--holdbg); fill-opacity: 0.55; }
text.park { fill: var(--park); stroke: none; } text.go { fill: var(--go); stroke: none; } text.hold { fill: var(--hold); stroke: none; } text.on { fill: var(--on); stroke: none; }
'''


class Picture:
    def __init__(self, width, height, title):
        self.out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
                    f'<title>{html.escape(title)}</title>', f'<style>{STYLE}</style>',
                    '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
                    'orient="auto-start-reverse"><path class="tip" d="M0 0L10 5L0 10z"/></marker></defs>',
                    f'<rect class="bg" width="{width}" height="{height}" rx="8"/>']

    def text(self, x, y, text, kind=''):
        """`words` between backquotes are shown as code."""
        parts = re.split(r'`([^`]*)`', text)
        inner = ''.join(html.escape(p, quote=False) if i % 2 == 0 else f'<tspan class="code">{html.escape(p, quote=False)}</tspan>'
                        for i, p in enumerate(parts))
        self.out.append(f'<text x="{x}" y="{y}"' + (f' class="{kind}"' if kind else '') + f'>{inner}</text>')

    def box(self, x, y, width, height, kind='card'):
        self.out.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>')

    def line(self, points, kind='', tip=False):
        path = 'M' + 'L'.join(f'{x} {y}' for x, y in points)
        self.out.append(f'<path class="{" ".join(["line", *kind.split()])}" d="{path}"' +
                        (' marker-end="url(#tip)"' if tip else '') + '/>')

    def rule(self, x1, y1, x2, y2):
        self.out.append(f'<path class="grid" d="M{x1} {y1}L{x2} {y2}"/>')

    def circle(self, x, y, r, kind):
        self.out.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="{r}"/>')

    def diamond(self, x, y, r, kind):
        self.out.append(f'<path class="{kind}" d="M{x} {y - r}L{x + r} {y}L{x} {y + r}L{x - r} {y}z"/>')

    def cross(self, x, y):
        self.out.append(f'<path class="cross" d="M{x - 6} {y - 6}L{x + 6} {y + 6}M{x - 6} {y + 6}L{x + 6} {y - 6}"/>')

    def done(self):
        return '\n'.join(self.out + ['</svg>']) + '\n'


def processes():
    p = Picture(880, 420, 'The processes of a JobManager: drey-init starts drey and Flink; either may end without the other')
    p.box(20, 20, 840, 262)
    p.text(36, 44, 'the container of the JobManager, or your machine', 'soft small')
    p.box(270, 60, 340, 74, 'on')
    p.text(440, 84, '`drey-init`', 'mid bold')
    p.text(440, 104, 'PID 1, static and tiny: starts, signals and reaps', 'mid small')
    p.text(440, 122, 'the others, and owns the deadline of a stop', 'mid small')
    p.box(50, 182, 340, 82, 'go')
    p.text(220, 206, '`drey run`, the agent', 'mid bold')
    p.text(220, 228, 'decides, records and reports; if it crashes,', 'mid small')
    p.text(220, 246, 'drey-init restarts it, and the job keeps running', 'mid small')
    p.box(490, 182, 340, 82, 'go')
    p.text(660, 206, '`java …`, the JobManager', 'mid bold')
    p.text(660, 228, 'Flink with your job; its last process releases', 'mid small')
    p.text(660, 246, '`flink.lock`: without that there is no next launch', 'mid small')
    p.line([(360, 134), (220, 182)], tip=True)
    p.line([(520, 134), (660, 182)], tip=True)
    p.line([(390, 224), (490, 224)], tip=True)
    p.text(440, 216, 'REST', 'mid small soft')
    p.box(50, 330, 340, 70)
    p.text(220, 354, 'journal', 'mid bold')
    p.text(220, 374, 'a ConfigMap, or a file: written before drey acts', 'mid small')
    p.box(490, 330, 340, 70)
    p.text(660, 354, 'checkpoints and savepoints', 'mid bold')
    p.text(660, 374, 'S3, Swift, HDFS, …, a directory', 'mid small')
    p.line([(180, 264), (180, 330)], tip=True)
    p.text(172, 302, 'writes', 'end small soft')
    p.line([(350, 264), (530, 330)], kind='dash', tip=True)
    p.text(398, 316, 'reads', 'end small soft')
    p.line([(700, 264), (700, 330)], tip=True)
    p.text(708, 302, 'writes', 'small soft')
    return p.done()


def lineage():
    p = Picture(880, 404, 'The lineage of an application: three launches, one abandoned branch')

    def x(number):
        return 210 + (number - 7) * 62 if number > 1 else 210

    rows = {1: 84, 2: 174, 3: 264}
    p.text(24, 34, 'checkpoint id', 'soft small')
    for number in range(8, 15):
        p.text(x(number), 34, str(number), 'mid soft small')
        p.rule(x(number), 44, x(number), 296)
    for number, (name, what) in enumerate([('launch 1', 'started empty'), ('launch 2', 'from checkpoint 10'),
                                           ('launch 3', 'from checkpoint 10')], 1):
        p.text(24, rows[number], name, 'bold')
        p.text(24, rows[number] + 18, what, 'small soft')
    # launch 1
    p.line([(x(7), rows[1]), (x(10) + 30, rows[1])])
    p.circle(x(7), rows[1], 5, 'dot')
    for number in (8, 10):
        p.circle(x(number), rows[1], 7, 'solid')
    p.diamond(x(9), rows[1], 9, 'solid')
    p.cross(x(10) + 32, rows[1])
    p.text(x(10) + 46, rows[1] + 5, 'killed', 'small halo')
    # launch 2, abandoned
    p.line([(x(10) + 5, rows[1] + 6), (x(10) + 36, rows[2]), (x(14) + 24, rows[2])], kind='dash')
    for number in (11, 12, 13, 14):
        p.circle(x(number), rows[2], 7, 'gone')
    p.text(x(14) + 32, rows[2] - 2, 'abandoned: a person', 'small')
    p.text(x(14) + 32, rows[2] + 15, 'went back to 10', 'small')
    # launch 3
    p.line([(x(10), rows[1] + 8), (x(10), rows[3]), (x(12) + 30, rows[3])])
    p.text(x(10) - 12, rows[3] - 12, '`drey resume --from …/chk-10`', 'end halo')
    for number in (11, 12):
        p.circle(x(number), rows[3], 7, 'solid')
    p.cross(x(12) + 32, rows[3])
    p.box(x(12) + 56, rows[3] - 20, 268, 40, 'go')
    p.text(x(12) + 68, rows[3] + 5, 'the next launch starts from 12, not 14', 'small')
    # legend
    y = 352
    p.line([(24, 318), (856, 318)], kind='thin')
    p.circle(34, y, 7, 'solid')
    p.text(48, y + 5, 'checkpoint', 'small')
    p.diamond(148, y, 9, 'solid')
    p.text(164, y + 5, 'savepoint', 'small')
    p.circle(258, y, 7, 'gone')
    p.text(272, y + 5, 'of an abandoned branch', 'small')
    p.circle(446, y, 5, 'dot')
    p.text(458, y + 5, 'started empty', 'small')
    p.cross(572, y)
    p.text(586, y + 5, 'Flink was killed', 'small')
    p.text(24, 386, 'Ids grow along a branch, so the newest is the highest id that is not on an abandoned branch.', 'small soft')
    return p.done()


# What comes of a question of docs/architecture.md, if it is true: (kind, what). Kinds: park, hold, go, on.
ANSWERS = {
    'Flink ended during a savepoint or a stop, and its result is not known': ('hold', 'until the result is known'),
    'do-not-restart is on, or the desired state is not running': ('park', 'until `drey resume`'),
    'the recorded outcome forbids a launch': ('park', 'finished, cancelled, failed; hold after a wrong restore'),
    'the journal cannot be read': ('hold', 'until it can be read'),
    'a restore request has not been carried out yet': ('go', 'exactly that snapshot, or empty; else hold'),
    'Flink has recorded that the last job ended': ('park', 'as finished or cancelled; hold if it cannot be read'),
    'another source cannot be read': ('hold', 'until it can be read'),
    'the launch of a restore request has left no state of its own': ('go', 'the same request again'),
    'the journal has no launch, but its copy in storage has': ('hold', 'the journal was lost; or the copy takes its place'),
    'the job is declared stateless': ('go', 'empty'),
    'the upgrade is declared stateless': ('go', 'empty'),
    'the journal is lost, `restore.adopt` is `newest`, and Flink has recorded that the last job finished': ('park', 'finished, as Flink has recorded'),
    'the journal has no launch, but there are snapshots': ('hold', 'until a person chooses: the journal was lost'),
    'the journal has no launch, but an earlier one has left other traces': ('hold', 'until a person chooses: the journal was lost'),
    'a snapshot that cannot be read could be the newest': ('hold', 'until it can be read'),
    "the last launch can continue with Flink's own HA data": ('on', 'same job id, Flink recovers it'),
    'the newest usable snapshot of the lineage': ('go', 'that snapshot; hold if a newer one is missing'),
    'there is nothing to start from': ('go', 'empty, if it has never had state; else hold'),
}
WORDS = {'park': 'PARK', 'hold': 'HOLD', 'go': 'START FROM', 'on': 'CONTINUE'}


def questions():
    """The two tables: [(rule, question)], of rules and of vetoes."""
    with open(os.path.join(TOP, 'docs/architecture.md'), encoding='utf-8') as file:
        text = file.read()
    for head in ('| rule | the first that is true decides |', '| rule | turns a start into a hold |'):
        table = text.split(head + '\n|---|---|\n', 1)[1].split('\n\n', 1)[0]
        yield [re.fullmatch(r'\| (\d) \| (.*) \|', row).groups() for row in table.split('\n')]


def decision():
    rules, vetoes = questions()
    unknown = set(q for _, q in rules) ^ set(ANSWERS)
    if unknown:
        sys.exit(f'pictures.py: the answer of a rule is missing or left over: {"; ".join(sorted(unknown))}')
    step, left, width, right = 42, 24, 530, 592
    top = 64
    low = top + step * len(rules)
    p = Picture(1016, low + 66 + 28 * len(vetoes) + 64, 'What drey starts a job from: the first question that is true decides')
    p.text(left, 34, 'The first that is true decides', 'title')
    p.text(right, 34, 'and drey will', 'title')
    for i, (rule, question) in enumerate(rules):
        y = top + step * i
        kind, what = ANSWERS[question]
        p.box(left, y, width, 30)
        p.text(left + 10, y + 20, rule, 'soft small')
        p.text(left + 28, y + 20, question)
        p.line([(left + width, y + 15), (right, y + 15)], tip=True)
        if i == 0:
            p.text(left + width + 18, y + 10, 'yes', 'mid small soft')
            p.text(left + 34, y + 40, 'no', 'small soft')
        if i + 1 < len(rules):
            p.line([(left + 20, y + 30), (left + 20, y + step)], tip=True)
        word = 'START EMPTY' if what == 'empty' else 'START' if what.startswith('empty') else WORDS[kind]
        p.box(right, y, 400, 30, kind)
        p.text(right + 10, y + 20, word, f'{kind} bold small')
        p.text(right + (106 if len(word) > 5 else 62), y + 20, '' if what == 'empty' else what, 'small')
    p.text(left, low + 30, 'A start or continue is still turned into', 'title')
    p.box(left + 344, low + 10, 64, 30, 'hold')
    p.text(left + 376, low + 30, 'HOLD', 'hold bold small mid')
    p.text(left + 420, low + 30, 'if', 'title')
    for i, (rule, question) in enumerate(vetoes):
        y = low + 66 + 28 * i
        p.text(left + 10, y, rule, 'soft small')
        p.text(left + 28, y, question)
    y = low + 66 + 28 * len(vetoes) + 8
    p.text(left, y + 14, 'PARK: the job is not meant to run. HOLD: it is, but drey would have to guess; it reports the cause and tries again.', 'small soft')
    p.text(left, y + 34, 'The numbers are those of the rules in docs/architecture.md and in `drey resolve --explain`.', 'small soft')
    return p.done()


def sequence(title, lanes, bars, steps, still):
    """Messages between lanes, time downward. A step: (from, to, text) or (at, text). `still`: (begin, end) of the interruption."""
    first, gap, top, step = 92, 156, 74, 34
    width, height = first * 2 + gap * (len(lanes) - 1), top + step * len(steps) + 34
    p = Picture(width, height, title)
    p.box(8, top + step * still[0], width - 16, step * (still[1] - still[0]), 'still')
    p.text(18, top + step * still[0] + 18, 'the job', 'small hold')
    p.text(18, top + step * still[0] + 35, 'does not', 'small hold')
    p.text(18, top + step * still[0] + 52, 'run', 'small hold')
    p.text(20, 30, title, 'title')
    for i, lane in enumerate(lanes):
        x = first + gap * i
        p.box(x - 68, 46, 136, 30)
        p.text(x, 66, lane, 'mid bold small')
        p.rule(x, 76, x, height - 16)
    for lane, begin, end, kind in bars:
        p.box(first + gap * lane - 7, top + step * begin + 4, 14, step * (end - begin), kind)
    for i, one in enumerate(steps, 1):
        y = top + step * i
        if len(one) == 3:
            a, b = first + gap * one[0], first + gap * one[1]
            side = 1 if b > a else -1
            p.line([(a + 8 * side, y), (b - 8 * side, y)], tip=True)
            p.text((a + b) / 2, y - 6, one[2], 'mid small halo')
        else:
            p.text(first + gap * one[0] + 14, y - 4, one[1], 'small halo')
    return p.done()


LANES = ['Kubernetes', 'old drey', 'old Flink', 'journal', 'storage', 'new drey', 'new Flink']


def recreate():
    steps = [
        (0, 1, 'SIGTERM'),
        (1, 'the Deployment asks for another version: `upgrade` says how to stop'),
        (1, 3, 'a stop begins'),
        (1, 2, 'stop with savepoint'),
        (2, 4, 'savepoint 41'),
        (1, 3, 'its path, verified'),
        (1, 0, 'exited'),
        (0, 5, 'the new Pod: image, scheduling'),
        (5, 3, 'read'),
        (5, 4, 'list, verify'),
        (5, 3, 'launch from 41'),
        (5, 6, 'start, with 41'),
        (4, 6, 'restore'),
        (6, 5, 'restored: 41'),
        (5, 0, 'ready'),
    ]
    bars = [(1, 0, 7, 'park'), (2, 0, 4.9, 'go'), (5, 8, 15.5, 'park'), (6, 12, 12.9, 'hold'), (6, 12.9, 15.5, 'go')]
    return sequence('Upgrade with strategy recreate: the old version ends, then the new one starts', LANES, bars, steps, (5.1, 12.9))


def surge():
    steps = [
        (0, 5, 'the new Pod, beside the old one'),
        (5, 'runs `drey check`'),
        (1, 3, 'offered'),
        (5, 6, 'start'),
        (6, 5, '`main()` is held'),
        (1, 5, 'still prepared?'),
        (5, 1, 'prepared'),
        (1, 3, 'stopping'),
        (1, 2, 'stop with savepoint'),
        (2, 4, 'savepoint 41'),
        (1, 3, 'granted, with 41'),
        (5, 3, 'taken'),
        (5, 3, 'launch from 41'),
        (5, 6, 'continue, with 41'),
        (4, 6, 'restore'),
        (6, 5, 'restored: 41'),
        (5, 3, 'done'),
        (5, 0, 'ready'),
        (0, 1, 'SIGTERM'),
    ]
    bars = [(1, 0, 19.5, 'park'), (2, 0, 9.9, 'go'), (5, 1, 19.5, 'park'), (6, 4, 14.9, 'hold'), (6, 14.9, 19.5, 'go')]
    return sequence('Upgrade with strategy surge: the new version prepares beside the running job', LANES, bars, steps, (10.1, 14.9))


PICTURES = {'processes': processes, 'lineage': lineage, 'decision': decision, 'recreate': recreate, 'surge': surge}


def main():
    check = sys.argv[1:] == ['--check']
    if sys.argv[1:] and not check:
        sys.exit('usage: tools/pictures.py [--check]')
    stale = []
    for name, draw in PICTURES.items():
        path = os.path.join(TOP, 'docs/pictures', name + '.svg')
        text = draw()
        old = open(path, encoding='utf-8').read() if os.path.exists(path) else ''
        if old != text and check:
            stale.append(name)
        elif old != text:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
    if stale:
        sys.exit(f'pictures.py: out of date: {", ".join(stale)}; run tools/pictures.py')


main()
