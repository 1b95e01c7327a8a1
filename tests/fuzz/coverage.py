"""Prints what llvm-cov has exported (on standard input) as a table of the files that are given.

A branch counts twice, for true and for false. A function that no input enters is no part of a parser (what opens a
file, what starts a program), or it is not tested: so its branches are not in the percentage, and it is counted.
"""
import json
import os
import sys


def reached_of(branches):
    return sum((true > 0) + (false > 0) for true, false in branches.values())


functions = {}
for function in json.load(sys.stdin)["data"][0]["functions"]:
    file = os.path.relpath(function["filenames"][0])
    if file not in sys.argv[1:]:
        continue
    entry = functions.setdefault(file, {}).setdefault(function["name"], {"count": 0, "branches": {}})
    entry["count"] += function["count"]
    for branch in function["branches"]:
        place = tuple(branch[:4])
        true, false = entry["branches"].get(place, (0, 0))
        entry["branches"][place] = (true + branch[4], false + branch[5])

print("%-44s %8s %8s %7s  %s" % ("parser", "branches", "reached", "%", "functions not entered"))
total = total_reached = 0
for file, entries in sorted(functions.items()):
    entered = [entry for entry in entries.values() if entry["count"]]
    branches = sum(2 * len(entry["branches"]) for entry in entered)
    reached = sum(reached_of(entry["branches"]) for entry in entered)
    total += branches
    total_reached += reached
    print("%-44s %8d %8d %7.1f  %d of %d" % (file, branches, reached, 100 * reached / max(branches, 1),
                                            len(entries) - len(entered), len(entries)))
print("%-44s %8d %8d %7.1f" % ("all", total, total_reached, 100 * total_reached / max(total, 1)))
