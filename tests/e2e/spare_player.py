#!/usr/bin/env python3
"""Plays drey-init for one spare, as entrypoint/link.h says it, without its limits of time.

    spare_player.py READY ARGUMENTS JAVA...

JAVA is started with a socket as standard input. When it is ready it is stopped, and READY appears with its pid. When
ARGUMENTS appears (one a line) they are passed on, and it is continued. Prints what it answers, and after how long; ends with
its status.
"""
import os
import signal
import socket
import subprocess
import sys
import time

ready, arguments, command = sys.argv[1], sys.argv[2], sys.argv[3:]
ours, theirs = socket.socketpair()
child = subprocess.Popen(command, stdin=theirs.fileno())
theirs.close()
answer = ours.recv(100)
if answer != b"ready\n":
    sys.exit("it said %r and ended with %d" % (answer, child.wait()))
os.kill(child.pid, signal.SIGSTOP)
with open(ready + ".new", "w") as file:
    file.write("%d\n" % child.pid)
os.rename(ready + ".new", ready)
while not os.path.exists(arguments):
    if child.poll() is not None:
        sys.exit("it ended with %d while it waited" % child.returncode)
    time.sleep(0.01)
with open(arguments) as file:
    words = file.read().splitlines()
started = time.monotonic()
ours.sendall("".join(word + "\0" for word in [str(len(words))] + words).encode())
ours.shutdown(socket.SHUT_WR)
os.kill(child.pid, signal.SIGCONT)
print("spare: %r after %.0f ms" % (ours.recv(100), (time.monotonic() - started) * 1000), flush=True)
sys.exit(child.wait())
