#!/usr/bin/env python3
"""The picture in the README: what `make demo` prints, as SVG.

    script --quiet --return --command "make demo" /dev/null | tools/demo-svg.py >docs/pictures/demo.svg

Reads a terminal's output with its colors from standard input. Lines that were overwritten (progress) show their last
state, the home directory is ~. The same input gives the same bytes. The picture needs no font but a monospaced one, and no script.
"""
import html
import re
import sys

WIDTH, LINE, TOP, LEFT, CHAR = 124, 19, 52, 20, 8.05
COLORS = {'31': '#ff7b72', '32': '#3fb950', '33': '#d29922', '36': '#39c5cf', '2': '#8b949e'}


def lines(text):
    for line in text.replace('\r\n', '\n').split('\n'):
        line = re.sub(r'\x1b\[[0-9;]*[A-HJKf-ln-su]', '', line.split('\r')[-1])
        yield re.sub(r'/(root|home/[^/ ]+)/', '~/', line.rstrip())


def spans(line):
    """(text, color, bold) of a line; what does not fit is cut."""
    color, bold, left = None, False, WIDTH
    for part in re.split(r'(\x1b\[[0-9;]*m)', line):
        code = re.fullmatch(r'\x1b\[([0-9;]*)m', part)
        if not code:
            part = re.sub(r'[\x00-\x1f]', '', part)
            shown = part if len(part) <= left else part[:max(left - 1, 0)] + '…' * (left > 0)
            left -= len(shown)
            if shown:
                yield shown, color, bold
            continue
        for one in code.group(1).split(';'):
            if one in ('', '0', '00'):
                color, bold = None, False
            elif one in ('1', '01'):
                bold = True
            elif one.lstrip('0') in COLORS:
                color = COLORS[one.lstrip('0')]


def main():
    rows = [line for line in lines(sys.stdin.read()) if not line.startswith(('make', '  CC', '  LINK', '  ...'))]
    while rows and not rows[0]:
        rows.pop(0)
    while rows and not rows[-1]:
        rows.pop()
    rows.insert(0, '\x1b[2m$\x1b[0m \x1b[1mmake demo\x1b[0m')
    height = TOP + LINE * len(rows) + 14
    width = round(LEFT * 2 + WIDTH * CHAR)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
           '<title>What make demo prints</title>',
           f'<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>']
    for i, color in enumerate(('#ff5f57', '#febc2e', '#28c840')):
        out.append(f'<circle cx="{24 + 20 * i}" cy="22" r="6" fill="{color}"/>')
    out.append('<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13.4" fill="#c9d1d9">')
    for i, row in enumerate(rows):
        text = ''.join(
            '<tspan' + (f' fill="{color}"' if color else '') + (' font-weight="bold"' if bold else '') + '>' +
            html.escape(shown).replace(' ', '\u00a0') + '</tspan>' for shown, color, bold in spans(row))
        if text:
            out.append(f'<text x="{LEFT}" y="{TOP + LINE * i}">{text}</text>')
    out += ['</g>', '</svg>']
    print('\n'.join(out))


main()
