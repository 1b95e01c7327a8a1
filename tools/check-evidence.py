#!/usr/bin/env python3
"""check-evidence.py - each place that can take an absence for granted is in the table of docs/development/evidence.md.

A place is a function of agent/ that uses one of WORDS: it makes an absence, or does something because of one. The table has
a row for each (`file: function`), with what the absence permits and which witness the place asks. A place without a row, a
row without a place and a place with two rows are errors. Exit status: 0 or 1.

  tools/check-evidence.py [-l]    -l: print the places
"""

import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = "docs/development/evidence.md"
WORDS = re.compile(r"\b(?:ERR_ABSENT|FLINK_ABSENT|STORE_LOOK_ABSENT|STORE_LEAF_ABSENT)\b")
# what changes no line: comments and strings become blanks
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
# a definition begins in the first column and ends with a brace there; what it returns may stand on a line of its own
FUNCTION = re.compile(r"^(?!typedef\b|extern\b)[a-z][\w \t*]*?\n?[\w \t*]*?\b(\w+)\([^;{}]*\)\s*\n\{.*?^\}", re.M | re.S)
ROW = re.compile(r"^\| `([\w/]+\.c)`: ([^|]*)\|", re.M)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def places():
    found = set()
    for path in sorted(glob.glob(os.path.join(ROOT, "agent/**/*.c"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            text = NOISE.sub(blank, file.read())
        name = os.path.relpath(path, os.path.join(ROOT, "agent"))
        left = text
        for match in FUNCTION.finditer(text):
            if WORDS.search(match.group()):
                found.add((name, match.group(1)))
            left = left.replace(match.group(), "")
        if WORDS.search(left):
            found.add((name, "-"))
    return found


def rows():
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as file:
        text = file.read()
    found = []
    for file, functions in ROW.findall(text):
        found += [(file, name) for name in re.findall(r"`([\w-]+)`", functions)]
    return found


def main():
    there = places()
    if sys.argv[1:] == ["-l"]:
        for file, function in sorted(there):
            print(f"{file}: {function}")
        return 0
    written = rows()
    problems = [f"agent/{file}: {function}() makes or uses an absence; say in {PAGE} what that permits and who is asked"
                for file, function in sorted(there - set(written))]
    problems += [f"{PAGE}: {file}: {function}() makes and uses no absence: remove it" for file, function in sorted(set(written) - there)]
    problems += [f"{PAGE}: {file}: {function}() is there twice" for file, function in sorted(set(written))
                 if written.count((file, function)) > 1]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
