#!/usr/bin/env python3
"""check-doors.py - what leaves drey leaves by one door, and nothing goes past it.

The terminal: commands print with agent/cmd/out.h, which makes what comes from outside harmless. So nothing of stdio.h that
prints is called in agent/cmd, nobody reaches into a struct out or a struct shown, and out_lines() is for those whose lines are
their own.
URLs: one in a message, a field of the log or an error goes through http_url_tell() (agent/base/http_url.h), which leaves out
user, password and query. A variable that is called like a URL is taken for one.

Exit status: 0 nothing found, 1 something found.
"""

import glob
import re
import sys

PRINTS = re.compile(
    r'\b(?:(?:f|v|vf|d|vd|w|fw)?printf|f?puts|f?putc|putchar|fwrite|perror|psignal|write)(?:_unlocked)?\(')
# between fork and exec there is nothing else, and it writes constants
PRINTING = {'agent/cmd/out.c', 'agent/cmd/join_child.c'}
HARMLESS = re.compile(r'(?:\.|->)harmless\b')
SHOWING = {'agent/cmd/shown.c', 'agent/cmd/shown.h', 'agent/cmd/wrap.c', 'agent/cmd/watch.c'}
RAW = re.compile(r'(?:\.|->)raw\b')
LINES = re.compile(r'\bout_lines\(')
# pages, scripts, and documents that json_quote() has made
OWN_LINES = {'agent/cmd/out.c', 'agent/cmd/out.h', 'agent/cmd/complete.c', 'agent/cmd/explain.c', 'migrate/main.c',
             'agent/cmd/output.c', 'agent/cmd/version.c'}

TELLS = re.compile(r'\b(?:err_set|err_wrap|cli_fail|out_put|shown_addf|rows_add|condition_say|LOG_STR)\s*\(')
URL = re.compile(r'(?<![\w"])(?:\w+(?:->|\.))*(?:\w+_)?(?:url|server|proxy)(?![\w(]|->|\.)')
# checked before to have neither a user nor a query (is_plain_url()); an answer's header Server; this drey's own page
PLAIN = {'agent/store/swift/swift_login.c', 'agent/store/store_http.c', 'agent/cmd/plugin/plugin_pods.c'}

found = []


def code_of(text):
    """The text without comments; strings become empty ones. Lines keep their numbers."""
    def blank(match):
        if match[0].startswith('/'):
            return '\n' * match[0].count('\n')
        return '""'
    return re.sub(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', blank, text, flags=re.S)


def find(path, code, pattern, what):
    for match in pattern.finditer(code):
        found.append(f'{path}:{code.count(chr(10), 0, match.start()) + 1}: {what}')


def arguments(code, at):
    """From behind the parenthesis to the one that closes it."""
    depth, end = 1, at
    while depth and end < len(code):
        depth += {'(': 1, ')': -1}.get(code[end], 0)
        end += 1
    return code[at:end - 1]


for path in sorted(glob.glob('agent/**/*.[ch]', recursive=True) + glob.glob('migrate/*.[ch]')):
    with open(path, encoding='utf-8') as file:
        code = code_of(file.read())
    if path.startswith(('agent/cmd/', 'migrate/')) or path == 'agent/main.c':
        if path not in PRINTING:
            find(path, code, PRINTS, 'prints past agent/cmd/out.h')
        if path not in SHOWING:
            find(path, code, HARMLESS, 'reaches into a struct shown')
        if path != 'agent/cmd/out.c':
            find(path, code, RAW, 'reaches into a struct out')
        if path not in OWN_LINES:
            find(path, code, LINES, 'out_lines() is not for texts from outside')
    if path in PLAIN:
        continue
    for match in TELLS.finditer(code):
        for url in URL.finditer(arguments(code, match.end())):
            found.append(f'{path}:{code.count(chr(10), 0, match.start()) + 1}: {url[0]} is told without http_url_tell()')

for line in found:
    print(line, file=sys.stderr)
sys.exit(1 if found else 0)
