"""What the documentation shows, held against the program: prints a line for each mistake.

    docs_examples.py commands|statuses DREY
    docs_examples.py configurations DREY DIR     DIR: for a drey.yaml
    docs_examples.py metrics|keys|targets|shell
"""
import glob
import re
import subprocess
import sys

PAGES = [page for page in ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'hooks/README.md',
                           'chart/flink-application/README.md'] + sorted(glob.glob('docs/**/*.md', recursive=True))]


def text_of(page):
    with open(page, encoding='utf-8') as file:
        return file.read()


def blocks(page, kind):
    """(number of line, text) of the blocks ```kind, without their indentation."""
    found, inside, at, indent = [], None, 0, 0
    for number, line in enumerate(text_of(page).split('\n'), 1):
        stripped = line.strip()
        if inside is None and re.fullmatch(r'(?:\d+\. )?```' + kind, stripped):
            inside, at, indent = [], number, line.index('`')
        elif inside is not None and stripped == '```':
            found.append((at, '\n'.join(inside) + '\n'))
            inside = None
        elif inside is not None:
            inside.append(line[min(indent, len(line) - len(line.lstrip())):])
    return found


def spans(page):
    """What is between backquotes, also across two lines, and the lines of blocks of sh without comments."""
    text = re.sub(r'^ *```.*?^ *```', '', text_of(page), flags=re.M | re.S)
    return [' '.join(span.split()) for span in re.findall(r'(?<!`)`([^`]+)`(?!`)', text)] + \
        [re.sub(r'(^|\s)#.*', '', line) for _, block in blocks(page, 'sh') for line in re.sub(r'\\\n', ' ', block).split('\n')]


# What follows the name of the program in a sentence.
WORDS = ('help', 'uses', 'knows', 'that')


def help_of(drey, plugin, command):
    argv = [drey, command, '--help']
    said = subprocess.run(argv, executable=drey, capture_output=True, text=True, check=False) if not plugin else \
        subprocess.run(['kubectl-drey', command, '--help'], executable=drey, capture_output=True, text=True, check=False)
    return said.stdout if said.returncode == 0 else None


def commands(drey):
    """Each `drey COMMAND --option` and `kubectl drey COMMAND --option` is one of the program."""
    known = {}
    for page in PAGES:
        for span in spans(page):
            for kubectl, command, rest in re.findall(r'(?:^|[^\w/.-])(kubectl )?drey ((?:[a-z][a-z-]+))((?: [^|;&#>)]*)?)', span):
                if command in WORDS or '=' in command:
                    continue
                if not kubectl and re.search(r'\b(helm|docker|cosign)\b[^|;&]*drey ' + command, span):
                    continue
                key = (bool(kubectl), command)
                if key not in known:
                    known[key] = help_of(drey, *key)
                if known[key] is None:
                    print(f'{page}: there is no {kubectl}drey {command}')
                    continue
                for option in re.findall(r'(?<= )--[a-z][a-z-]*', rest.split(' -- ')[0]):
                    if option != '--help' and not re.search(re.escape(option) + r'(?![a-z-])', known[key]):
                        print(f'{page}: {kubectl}drey {command} has no {option}')


def metrics():
    """Each metric is in the table of docs/reference/metrics.md, which a test holds against the program."""
    table = set(re.findall(r'^\| `(drey_[a-z_]+)`', text_of('docs/reference/metrics.md'), re.M))
    for page in PAGES:
        for name, star in re.findall(r'(?<![\w/.-])(drey_[a-z_]+[a-z])(_\*|_)?', text_of(page)):
            if star and any(one.startswith(name) for one in table):
                continue
            if name not in table and name != 'drey_conf': # a function of the tests
                print(f'{page}: there is no metric {name}{star}')


def keys():
    """Each key of drey.yaml is in the tables of docs/reference/configuration.md, which a test holds against the program; or it
    is a value of the chart or a member of the documents of drey, which have the same first words."""
    rows = set()
    for page in ('docs/reference/configuration.md', 'docs/reference/status.md', 'docs/reference/journal.md', 'docs/reference/control.md',
                 'chart/flink-application/README.md', 'docs/reference/commands/resolve.md'):
        for cell in re.findall(r'^\| ((?:`[^`]+`(?:, )?)+)', text_of(page), re.M):
            rows.update(re.findall(r'`([A-Za-z.]+)`', cell))
    # files, keys of others, and members that have no row of their own
    rows.update(['flink.lock', 'flink.jsa.jvm', 'storage.log', 'journal.json', 'journal.json.moved', 'lease.json',
                 'kubernetes.operator.periodic.savepoint.interval', 'control.error', 'control.ignored', 'control.resource', 'handover.returned', 'handover.state', 'handover.why'])
    sections = set(row.split('.')[0] for row in rows if '.' in row and
                   row in text_of('docs/reference/configuration.md'))
    for page in PAGES:
        for span in spans(page):
            span = re.sub(r'^drey\.', '', span.split(':')[0])
            if not re.fullmatch(r'[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)+', span) or span.split('.')[0] not in sections:
                continue
            if not any(row == span or row.startswith(span + '.') or row.endswith('.' + span) for row in rows):
                print(f'{page}: there is no key {span}')


def statuses(drey):
    """The table of exit statuses has what --help of the commands has."""
    said = set()
    listed = subprocess.run([drey, '--help'], capture_output=True, text=True, check=True).stdout
    for command in re.findall(r'^  ([a-z-]+) ', listed, re.M):
        part = help_of(drey, False, command).split('Exit status:\n')[1].split('\n\n')[0]
        said.update(re.findall(r'^  (\d+) ', part, re.M))
    table = set(re.findall(r'^\| (\d+) \|', text_of('docs/reference/commands/README.md'), re.M))
    for one in sorted(said ^ table):
        print(f'docs/reference/commands/README.md: exit status {one} is {"not in the table" if one in said else "of no command"}')


def targets():
    """Each `make TARGET` is one of the Makefile."""
    makefiles = ''.join(text_of(name) for name in ['Makefile'] + glob.glob('*/rules.mk') + glob.glob('*/*/rules.mk'))
    known = set(word for line in re.findall(r'^([a-z][a-z -]*):', makefiles, re.M) for word in line.split())
    for page in PAGES:
        for span in spans(page):
            for target in re.findall(r'(?:^|[;&] ?|[A-Z]=\S+ )(?:sudo )?make ([a-z][a-z-]*)', span):
                if target not in known:
                    print(f'{page}: there is no target {target}')


def shell():
    """The blocks of sh are scripts."""
    for page in PAGES:
        for at, block in blocks(page, 'sh'):
            said = subprocess.run(['bash', '-n'], input=block, capture_output=True, text=True, check=False)
            if said.returncode:
                print(f'{page}:{at}: {said.stderr.strip()}')


def configurations(drey, directory):
    """The blocks that are drey.yaml are taken by the program. What every drey.yaml must have is added."""
    sections = set(re.findall(r'^\| `([a-z][A-Za-z]*)', text_of('docs/reference/configuration.md'), re.M))
    count = 0
    for page in PAGES:
        for at, block in blocks(page, 'yaml'):
            first = re.findall(r'^([A-Za-z][A-Za-z-]*):', block, re.M)
            chart = 'chart' in page or 'values' in block.split('\n')[0]
            if not first or chart or not set(first) <= sections or 'stateDirectory: ' not in block and set(first) & {'kubernetes'}:
                continue
            needed = {'application': 'application: orders', 'stateDirectory': f'stateDirectory: {directory}',
                      'flink': 'flink: {command: [java]}'}
            whole = block + ''.join(line + '\n' for key, line in needed.items() if key not in first)
            if 'flink' in first and 'command' not in block:
                whole = re.sub(r'^flink:$', 'flink:\n  command: [java]', whole, flags=re.M)
            path = f'{directory}/drey.yaml'
            with open(path, 'w', encoding='utf-8') as file:
                file.write(whole)
            said = subprocess.run([drey, 'status', '--config', path], capture_output=True, text=True, check=False)
            count += 1
            if said.returncode == 2:
                print(f'{page}:{at}: {said.stderr.strip()}')
    if count < 5:
        print(f'only {count} blocks are drey.yaml')


if __name__ == '__main__':
    globals()[sys.argv[1]](*sys.argv[2:])
