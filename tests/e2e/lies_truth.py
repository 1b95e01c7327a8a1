#!/usr/bin/env python3
"""lies_truth.py - what a store really has, for a test whose drey is lied to (test_chaos_lies.sh).

lies_truth.py needs DREY MIRROR >NEEDS       which files each snapshot refers to; MIRROR has their _metadata by their names
lies_truth.py judge NEEDS BEFORE AFTER JOB   BEFORE and AFTER are the names in the store, one a line: prints what must not have
                                             been deleted in between, while the last launch is JOB
lies_truth.py whole NEEDS NAMES [JOB...]     prints each snapshot that lacks a file; of the checkpoints of a job only the two newest
                                             count, which Flink was not yet about to delete, and none of these JOBs

Names are relative to the bucket. A violation is one line; exit status 1 if there is any.
"""

import json
import os
import re
import subprocess
import sys


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip()]


def file_name(snapshot, path):
    """A file as the _metadata names it, in the bucket: whole with a scheme, or beside it."""
    whole = re.match(r"[a-z0-9]+://[^/]+/(.*)", path)
    return whole.group(1) if whole else f"{snapshot}/{path}"


def needs(drey, mirror):
    for root, _, files in os.walk(mirror):
        if "_metadata" not in files:
            continue
        snapshot = os.path.relpath(root, mirror)
        said = subprocess.run([drey, "inspect", "--json", f"{root}/_metadata"], capture_output=True, check=True).stdout
        names = {file_name(snapshot, file["path"]) for file in json.loads(said)["files"]}
        for name in sorted(names | {f"{snapshot}/_metadata"}):
            print(f"{snapshot}\t{name}")


def read_needs(path):
    found = {}
    for line in lines(path):
        snapshot, name = line.split("\t")
        found.setdefault(snapshot, []).append(name)
    return found


def judge(needed, before, after, job):
    """What is still a snapshot has what it had; savepoints, the last launch and what an operator owns are as they were."""
    there = set(lines(after))
    gone = set(lines(before)) - there
    bad = [f"{name} is deleted" for name in sorted(gone) if name.startswith(("sp/", f"ck/{job}/")) or "/taskowned/" in name]
    for snapshot, names in read_needs(needed).items():
        if f"{snapshot}/_metadata" in there:
            bad += [f"{snapshot} stays, and its {name} is deleted" for name in names if name in gone]
    return bad


def of_newest(snapshots):
    """Savepoints, and of each job its two newest checkpoints."""
    jobs = {}
    for snapshot in snapshots:
        found = re.fullmatch(r"(ck/[0-9a-f]{32})/chk-(\d+)", snapshot)
        if found:
            jobs.setdefault(found.group(1), []).append(int(found.group(2)))
        else:
            yield snapshot
    for job, numbers in jobs.items():
        yield from (f"{job}/chk-{number}" for number in sorted(numbers)[-2:])


def whole(needed, names, *claimed):
    there, found = set(lines(names)), read_needs(needed)
    mine = [s for s in found if not any(f"/{job}/" in s for job in claimed)]
    return [f"{s} lacks {name}" for s in of_newest(mine) for name in found[s] if name not in there]


if __name__ == "__main__":
    commands = {"needs": needs, "judge": judge, "whole": whole}
    violations = commands[sys.argv[1]](*sys.argv[2:]) or []
    print(*violations, sep="\n", end="\n" if violations else "")
    sys.exit(1 if violations else 0)
