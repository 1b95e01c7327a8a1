#!/usr/bin/env python3
"""check-circles.py - calls between the files of agent/ lead downwards: no circle, and in core/lifecycle no call to a higher floor.

A file that calls, directly or through others, a file that calls it back cannot be read, tested or moved without that one.
Tables of functions (struct store_ops, struct part, callbacks) are the way up and do not count. KNOWN are the circles that
stay, each with its reason; a new one is an error, and so is a known one that is gone.

The files of core/lifecycle stand on floors: the table in docs/architecture.md has each of them once. What a file calls is on its
own floor or below, and an on_...(), which takes an event, is called only from the highest. Exit status: 0 or 1.

  tools/check-circles.py [-v]    -v: print the calls in the known circles, too
"""

import fnmatch
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# files (without agent/ and .c, as patterns): why
KNOWN = {
    "format/java_class format/java_stream": "the format is recursive: a class has annotations, which are objects",
    "run/driver run/gates run/journal/start run/inputs/sigterm run/outputs/ready_condition":
        "the first read of the journal asks the owner, and goes on in the driver",
    "run/handover/standing run/journal/start":
        "the first read of the journal waits while another pod is the owner, and then goes on in the driver",
    "base/http base/http_call": "one request; the second file is what both of its callers share",
}

FLOORS = "docs/architecture.md"
FLOOR_ROW = re.compile(r"^\| (\d) \w+ \|[^|]*\|([^|]*)\|$", re.M)
ROOM = "agent/core/lifecycle/"

NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^#\s*include[^\n]*', re.S | re.M)
# a definition begins in the first column; what it returns may stand on a line of its own
FUNCTION = re.compile(r"^(?!static\b|typedef\b|extern\b)[a-z][\w \t*]*?\n?[\w \t*]*?\b(\w+)\([^;{}]*\)\s*\n\{", re.M)
MEMBER = re.compile(r"(?:->|\.)\s*\w+")
OWN = re.compile(r"^static\b[^;{}=]*?\b(\w+)\(", re.M)
CALL = re.compile(r"\b([a-z]\w+)\s*\(")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return NOISE.sub(" ", file.read())


def arrows(files):
    """file -> {other file: [functions of it that are called]}"""
    text = {path: read(path) for path in files}
    home = {name: path for path in files for name in FUNCTION.findall(text[path])}
    uses = {}
    for path in files:
        uses[path] = {}
        for name in sorted(set(CALL.findall(MEMBER.sub(" ", text[path]))) - set(OWN.findall(text[path]))):
            if home.get(name, path) != path:
                uses[path].setdefault(home[name], []).append(name)
    return uses


def circles(uses):
    """Sets of files of which each leads to each other one (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(path):
        index[path] = low[path] = len(index)
        stack.append(path)
        for other in uses[path]:
            if other not in index:
                visit(other)
                low[path] = min(low[path], low[other])
            elif other in stack:
                low[path] = min(low[path], index[other])
        if low[path] == index[path]:
            circle = stack[stack.index(path):]
            del stack[stack.index(path):]
            if len(circle) > 1:
                found.append(frozenset(circle))

    for path in uses:
        if path not in index:
            visit(path)
    return found


def short(path):
    return os.path.splitext(os.path.relpath(path, "agent"))[0]


def knows(patterns, circle):
    return all(any(fnmatch.fnmatch(short(path), pattern) for pattern in patterns.split()) for path in circle)


def floors():
    """The table: {file: floor}; and the files that it has twice."""
    with open(FLOORS, encoding="utf-8") as file:
        rows = FLOOR_ROW.findall(file.read())
    named = [(ROOM + name + ".c", int(floor)) for floor, names in rows for name in re.findall(r"`(\w+)`", names)]
    paths = [path for path, _ in named]
    return dict(named), {path for path in paths if paths.count(path) > 1}


def check_floors(uses):
    """What is wrong, as lines."""
    floor, twice = floors()
    files = {path for path in uses if path.startswith(ROOM)}
    wrong = ["%s stands on two floors in %s" % (short(path), FLOORS) for path in twice]
    wrong += ["%s stands on no floor: add it to the table in %s" % (short(path), FLOORS) for path in files - set(floor)]
    wrong += ["%s has %s, which does not exist" % (FLOORS, short(path)) for path in set(floor) - files]
    for path in files & set(floor):
        for other in set(uses[path]) & set(floor):
            up = floor[other] > floor[path]
            answers = floor[path] < max(floor.values()) and [name for name in uses[path][other] if name.startswith("on_")]
            if up or answers:
                wrong.append("%s (floor %d) calls %s (floor %d): %s" % (
                    short(path), floor[path], short(other), floor[other],
                    " ".join(uses[path][other] if up else answers)))
    return sorted(wrong)


def main():
    os.chdir(ROOT)
    uses = arrows(sorted(glob.glob("agent/*/*.c") + glob.glob("agent/*/*/*.c") + glob.glob("migrate/*.c")))
    bad = False
    gone = set(KNOWN)
    for circle in circles(uses):
        known = next((patterns for patterns in KNOWN if knows(patterns, circle)), None)
        gone.discard(known)
        bad = bad or not known
        if known and "-v" not in sys.argv:
            continue
        print(("known circle (%s): " % KNOWN[known] if known else "a circle: ")
              + " ".join(sorted(circle)), file=sys.stderr)
        for path in sorted(circle):
            for other in sorted(circle & set(uses[path])):
                print("  %s -> %s: %s" % (short(path), short(other), " ".join(uses[path][other])), file=sys.stderr)
    for patterns in sorted(gone):
        print("no longer a circle, remove it from KNOWN: " + patterns, file=sys.stderr)
    wrong = check_floors(uses)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if bad or gone or wrong else 0


sys.exit(main())
