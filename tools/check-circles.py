#!/usr/bin/env python3
"""check-circles.py - calls between the files of agent/ lead downwards: no circle.

A file that calls, directly or through others, a file that calls it back cannot be read, tested or moved without that one.
Tables of functions (struct store_ops, struct part, callbacks) are the way up and do not count. KNOWN are the circles that
stay, each with its reason; a new one is an error, and so is a known one that is gone. Exit status: 0 or 1.

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


def main():
    os.chdir(ROOT)
    uses = arrows(sorted(glob.glob("agent/*/*.c") + glob.glob("agent/*/*/*.c")))
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
    return 1 if bad or gone else 0


sys.exit(main())
