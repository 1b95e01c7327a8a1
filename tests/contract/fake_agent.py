#!/usr/bin/env python3
"""fake_agent.py - an agent that answers on the control socket as files say, for tests of the command line on a terminal.

  fake_agent.py DIR

Listens on DIR/drey.sock. A request for the status gets the JSON document in DIR/status.json; if that file does not exist, the
connection is closed without an answer. "AGO:N" as a string is the time N ms ago. Any other request gets {"ok": true}, and is
appended as a line to DIR/requests; afterwards DIR/status.json is replaced by DIR/after.json, if there is one, with NONCE in it as the
nonce of the request. DIR/up exists as soon as it listens.
"""

import json
import os
import socket
import sys
import threading
import time

DIR = sys.argv[1]


def dated(node):
    if isinstance(node, dict):
        return {key: dated(value) for key, value in node.items()}
    if isinstance(node, list):
        return [dated(value) for value in node]
    if isinstance(node, str) and node.startswith("AGO:"):
        return int(time.time() * 1000) - int(node[4:])
    return node


def path(name):
    return os.path.join(DIR, name)


def answer(request):
    if request.get("command") == "status":
        with open(path("status.json"), encoding="utf-8") as file:
            return dated(json.load(file))
    with open(path("requests"), "a", encoding="utf-8") as file:
        file.write(json.dumps(request) + "\n")
    if os.path.exists(path("after.json")):
        with open(path("after.json"), encoding="utf-8") as file:
            text = file.read().replace("NONCE", request.get("nonce") or "")
        with open(path("status.json.new"), "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path("status.json.new"), path("status.json"))
    return {"ok": True, "sequence": 7}


def serve(client):
    with client:
        try:
            line = client.makefile("rb").readline()
            client.sendall(json.dumps(answer(json.loads(line)), ensure_ascii=False).encode() + b"\n")
        except (OSError, ValueError):
            pass


listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
try:
    os.unlink(path("drey.sock"))
except FileNotFoundError:
    pass
listener.bind(path("drey.sock"))
listener.listen(16)
with open(path("up"), "w", encoding="utf-8"):
    pass
while True:
    accepted, _ = listener.accept()
    threading.Thread(target=serve, args=(accepted,), daemon=True).start()
