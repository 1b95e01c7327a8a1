"""Commands and values in the blocks of the documentation that need no cluster, really run: prints a line for each mistake, and at
the end on stderr what was run.

    docs_run.py drey DREY DIR        each command of drey and kubectl drey. Those that need no application must succeed; the others
                                     run without one, and must not be refused as wrong usage. DIR: for their files
    docs_run.py make TOP             each command of make, with --dry-run in the tree TOP
    docs_run.py helm HELM DIR TOP    values: each block of YAML that has keys of the chart only; each helm install, upgrade and
                                     template with the options that are shown, and the values of its page
"""
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys

from docs_examples import PAGES, blocks, text_of

# $DOCS_PAGE: only this page
PAGES = [page for page in PAGES if page == os.environ.get('DOCS_PAGE', page)]

# Succeed anywhere; their input is a fixture.
ALONE = {'completion', 'explain', 'migrate', 'version'}
# Supervise, or do not end.
NEVER = {'run', 'join', 'page', 'logs'}
LIMIT_S = 60
WORKERS = 4  # some wait for a server that is not there


# ---- shell --------------------------------------------------------------------------------------

def simple_commands(block):
    """The words of each simple command, without redirections; also of those in $( ) and <( )."""
    block = re.sub(r'\\\n', ' ', re.sub(r"<<-?\s*'?(\w+)'?(.*?)\n.*?\n\s*\1(?=\n)", r'\2\n', block, flags=re.S))
    while True:
        inner = re.search(r'[$<]\(([^()]*)\)', block)
        if not inner:
            break
        block = block[:inner.start()] + 'INNER' + block[inner.end():] + '\n' + inner.group(1)
    for line in block.split('\n'):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words, skip = [], False
        try:
            tokens = list(lexer)
        except ValueError:  # a quotation that ends on another line
            continue
        for token in tokens + [';']:
            if skip:
                skip = False
            elif token in ('>', '>>', '<', '2>', '&>', '>&'):
                skip = True
            elif re.fullmatch(r'[;&|()]+', token):
                if words:
                    yield words
                words = []
            else:
                words.append(token)


def without_variables(words):
    while words and re.fullmatch(r'[A-Za-z_]\w*=.*', words[0]):
        words = words[1:]
    return words


def shown(kinds=('sh',), indented=False):
    """(page, line, words) of every simple command that is shown."""
    for page in PAGES:
        found = [one for kind in kinds for one in blocks(page, kind)]
        if indented:
            text = re.sub(r'^ *```.*?^ *```', lambda hidden: '\n' * hidden.group().count('\n'), text_of(page), flags=re.M | re.S)
            # what stands behind two blanks is a remark
            found += [(number, re.sub(r'  .*', '', line.strip()) + '\n') for number, line in enumerate(text.split('\n'), 1)
                      if line.startswith('    ')]
        for at, block in found:
            for words in simple_commands(block):
                words = without_variables([word for word in words if word not in ('if', 'then', 'while', 'until', 'do', '!', 'sudo')])
                if words:
                    yield page, at, words


def run_all(jobs):
    """jobs: (key, page, line, function without arguments that returns what is wrong, or None); each key once."""
    once = {}
    for key, page, at, function in jobs:
        once.setdefault(key, (page, at, function))
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for (page, at, _), wrong in zip(once.values(), pool.map(lambda one: one[2](), once.values())):
            if wrong:
                print(f'{page}:{at}: {wrong}')
    return len(once)


def said(argv, **more):
    try:
        return subprocess.run(argv, capture_output=True, text=True, errors='replace', check=False, timeout=LIMIT_S, **more)
    except subprocess.TimeoutExpired:
        return None


# ---- drey ---------------------------------------------------------------------------------------

def command_of_drey(words):
    """(is kubectl's, arguments), or None. Behind a -- a container runs it: kubectl exec ... -- drey status."""
    if '--' in words and words[0] in ('kubectl', 'docker', 'oc'):
        words = words[words.index('--') + 1:]
    if words[:2] == ['kubectl', 'drey']:
        return True, words[2:]
    return (False, words[1:]) if words[:1] == ['drey'] else None


def argument(word, directory):
    """Files and stores become those of the scratch directory."""
    word = re.sub(r'\b(?:s3|s3a|s3p|swift|gs|abfs|hdfs|file)://+', f'file://{directory}/store/', word)
    if word.startswith('$'):
        return f'file://{directory}/store/savepoint-1a2b3c-0123456789ab'
    if re.fullmatch(r'(?:/etc/drey/)?[A-Za-z-]+\.yaml', word):
        return f'{directory}/drey.yaml'
    return word


def drey_job(program, plugin, words, directory):
    command = words[0] if words else ''
    alone = not plugin and (command in ALONE or command.startswith('-') or '--help' in words)
    argv = [argument(word, directory) for word in words]
    if command == 'migrate':
        argv = [f'{directory}/deployment.yaml' if word.endswith('.yaml') else word for word in argv]
    environment = {'PATH': os.environ['PATH'], 'HOME': directory, 'KUBECONFIG': f'{directory}/kubeconfig', 'DREY_CONFIG': f'{directory}/drey.yaml'}

    def function():
        with open(f'{directory}/deployment.yaml', encoding='utf-8') as stdin:
            end = said(['kubectl-drey' if plugin else 'drey'] + argv, executable=program, cwd=directory, env=environment, stdin=stdin)
        text = 'does not end' if end is None else (end.stderr.strip() or f'status {end.returncode}').split('\n')[0]
        # what is configured here is no Flink and no high availability: these say so with 2
        usage = end is not None and end.returncode == 2 and (command not in ('check', 'inspect') or '--help`' in end.stderr)
        if end is None or usage or end.returncode < 0 or alone and end.returncode:
            return f'{"kubectl " if plugin else ""}drey {shlex.join(words)}: {text}'
        return None
    return function


def drey(program, directory):
    jobs = []
    for page, at, words in shown(indented=True):
        found = command_of_drey(words)
        if not found or not found[1] or found[1][0] in NEVER or '--watch' in words:
            continue
        if re.fullmatch('[A-Z.]+', found[1][0]) or not re.fullmatch('[a-z-]+', found[1][0]):
            continue  # a sentence
        jobs.append(((found[0], tuple(found[1])), page, at, drey_job(program, found[0], found[1], directory)))
    return run_all(jobs)


# ---- make ---------------------------------------------------------------------------------------

def make(top):
    """Reading the Makefile takes most of the time, so targets without variables share one run, unless that fails."""
    def dry_run(words):
        # a recipe with $(MAKE) is run by --dry-run as well
        return said(['make', '--dry-run', 'MAKE=true'] + words, cwd=top, stdin=subprocess.DEVNULL)

    def job(words):
        def function():
            end = dry_run(words)
            return None if end and end.returncode == 0 else f'make {shlex.join(words)}: {end.stderr.strip().splitlines()[-1] if end else "does not end"}'
        return function

    jobs = []
    for page, at, words in shown(indented=True):
        words = words[:1] + [word for word in words[1:] if not word.startswith('STATIC=')]  # would build libraries
        if words[0] == 'make':
            jobs.append((tuple(words[1:]), page, at, job(words[1:])))
    plain = sorted({word for key, *_ in jobs for word in key if all('=' not in one for one in key)})
    together = dry_run(plain)
    if together and together.returncode == 0:
        jobs = [one for one in jobs if any('=' in word for word in one[0])]
    return run_all(jobs) + len(plain)


# ---- helm ---------------------------------------------------------------------------------------

# Options of helm install and upgrade that `helm template` has no use for.
WITH_VALUE = {'--timeout', '--version', '-n', '--namespace'}
FLAGS = {'--wait', '--install', '--create-namespace', '--atomic', '--reuse-values', '--rollback-on-failure'}


def values_of(page, keys):
    """(line, text) of the blocks of YAML that have keys of the chart only."""
    for at, block in blocks(page, 'yaml'):
        first = set(re.findall(r'^([A-Za-z][A-Za-z0-9]*):', block, re.M))
        if first and first <= keys and not re.search(r'^(kind|apiVersion):', block, re.M):
            yield at, block


def is_drey_yaml(page, block, sections):
    """As docs_examples.py configurations: keys that drey.yaml and the chart share are drey's, but on pages about the chart."""
    first = set(re.findall(r'^([A-Za-z][A-Za-z-]*):', block, re.M))
    return 'chart' not in page and 'values' not in block.split('\n')[0] and first <= sections


def helm(program, directory, top):
    chart, least = f'{top}/chart/flink-application', f'{top}/tests/chart/least.yaml'
    keys = set(re.findall(r'^([A-Za-z]\w*):', text_of(f'{chart}/values.yaml'), re.M))
    sections = set(re.findall(r'^\| `([a-z][A-Za-z]*)', text_of('docs/reference/configuration.md'), re.M))
    environment = dict(os.environ, HELM_CACHE_HOME=f'{directory}/helm', HELM_CONFIG_HOME=f'{directory}/helm', HELM_DATA_HOME=f'{directory}/helm')

    def job(options):
        def function():
            end = said([program, 'template', 'orders'] + options, cwd=directory, env=environment, stdin=subprocess.DEVNULL)
            return None if end and end.returncode == 0 else 'helm template: ' + (end.stderr.strip().replace('\n', ' ')[:300] if end else 'does not end')
        return function

    jobs, shown_values = [], {}
    for page in PAGES:
        for at, block in values_of(page, keys):
            if is_drey_yaml(page, block, sections):
                continue
            path = f'{directory}/{page.replace("/", "-")}-{at}.yaml'
            with open(path, 'w', encoding='utf-8') as file:
                file.write(block)
            shown_values.setdefault(page, path)
            jobs.append((path, page, at, job([chart, '--values', least, '--values', path])))
    for page, at, words in shown():
        if words[0] != 'helm' or words[1] not in ('install', 'upgrade', 'template') or 'flink-application' not in ' '.join(words):
            continue
        options, rest = [chart, '--values', least], iter(words[3:])
        for word in rest:
            if word in WITH_VALUE:
                next(rest)
            elif word == '--values':
                name = next(rest)
                known = [path for path in (f'{top}/{name}', f'{chart}/examples/{name}') if os.path.exists(path)]
                options += ['--values', (known + [shown_values.get(page, least)])[0]]
            elif word.startswith('--set-file'):
                options += [word, re.sub('=.*', f'={least}', next(rest))]
            elif word.startswith('--set'):
                options += [word, next(rest)]
            elif word.startswith('-') and word not in FLAGS:
                options.append(word)
        jobs.append((tuple(options), page, at, job(options)))
    return run_all(jobs)


if __name__ == '__main__':
    print(globals()[sys.argv[1]](*sys.argv[2:]), 'run', file=sys.stderr)
