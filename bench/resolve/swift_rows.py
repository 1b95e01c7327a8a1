#!/usr/bin/env python3
"""swift_rows.py DIR CONTAINER N: N old savepoints in the listing of AUTH_test/CONTAINER of the Swift that
tests/servers/lib.sh has made in DIR, without the objects."""

import glob
import sqlite3
import sys
import time

from swift.container.backend import ContainerBroker

directory, container, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for path in glob.glob(f"{directory}/disk/d1/containers/*/*/*/*.db"):
    with sqlite3.connect(path) as database:
        (found,) = database.execute("select container from container_info").fetchone()
    if found == container:
        break
else:
    sys.exit(f"no container {container} in {directory}")
start = time.time() - 400 * 86400
broker = ContainerBroker(path)
for first in range(0, count, 10000):
    broker.merge_items(
        [
            {
                "name": "sp/savepoint-%06x-%012x/_metadata" % (i % 0xABCDEF, i * 7 + 1),
                "created_at": "%.5f" % (start + 60 * i),
                "size": 500,
                "content_type": "application/octet-stream",
                "etag": "0" * 32,
                "deleted": 0,
                "storage_policy_index": 0,
            }
            for i in range(first, min(first + 10000, count))
        ]
    )
