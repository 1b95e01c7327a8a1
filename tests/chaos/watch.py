#!/usr/bin/env python3
"""watch.py STORE OUT - writes down which snapshots there are in a directory, as they come and go.

    STORED MS JOB ID PATH    a _metadata that was written at MS; ID is the checkpoint's, from its own header, JOB the job's id,
                             or six digits of it for a savepoint
    GONE MS PATH             it is not there any more

A directory that is away (without the file .here) says nothing about what is in it. Ends when STORE's parent has a file
"watch-no-more".
"""
import os
import re
import struct
import sys
import time

EVERY_S = 0.1
MAGIC = 0x4960672D


def snapshot_id(path):
    """None while the header is not complete."""
    with open(path, "rb") as file:
        head = file.read(16)
    if len(head) < 16:
        return None
    magic, _, number = struct.unpack(">iiq", head)
    return number if magic == MAGIC else None


def look(store):
    """All snapshots as {directory: (ms, job, id)}; OSError when something goes away meanwhile."""
    found = {}
    here = os.stat(os.path.join(store, ".here")).st_ino

    def fail(error):
        if os.path.exists(os.path.join(store, ".here")) and isinstance(error, FileNotFoundError):
            return  # a directory that was removed while we looked
        raise error

    for directory, _, files in os.walk(store, onerror=fail):
        if "_metadata" not in files:
            continue
        path = os.path.join(directory, "_metadata")
        try:
            number = snapshot_id(path)
            written = os.stat(path).st_mtime_ns // 1000000
        except FileNotFoundError:
            continue
        name = os.path.basename(directory)
        savepoint = re.match(r"savepoint-([0-9a-f]{6})-", name)
        job = savepoint[1] if savepoint else os.path.basename(os.path.dirname(directory))
        if number is not None:
            found[directory] = (written, job, number)
    if os.stat(os.path.join(store, ".here")).st_ino != here:
        raise OSError("another directory")
    return found


def main(store, out):
    known = {}
    end = os.path.join(os.path.dirname(store), "watch-no-more")
    with open(out, "a", encoding="ascii", buffering=1) as log:
        while True:
            last = os.path.exists(end)
            try:
                found = look(store)
            except OSError:
                found = None
            if found is not None:
                now = int(time.time() * 1000)
                for path in sorted(found.keys() - known.keys()):
                    written, job, number = found[path]
                    log.write(f"STORED {written} {job} {number} {path}\n")
                for path in sorted(known.keys() - found.keys()):
                    log.write(f"GONE {now} {path}\n")
                known = found
            if last:
                return
            time.sleep(EVERY_S)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
