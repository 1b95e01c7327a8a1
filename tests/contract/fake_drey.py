#!/usr/bin/env python3
"""fake_drey.py - dreys that answer GET /join and GET /readyz as a file says, for tests of `drey join`.

  fake_drey.py DIR PORT ADDRESS...

Listens on PORT of each ADDRESS. What is answered to /join is in DIR/ADDRESS, read for each request: "STATUS BODY", or one of
"hang" (never answer), "reset", "close" (nothing), "big" (1 MB), "drip" (a byte a second), "cut" (less than announced).
/readyz has the status in DIR/ADDRESS.readyz, or 503, and the body after it, or the one that belongs to 200. Each request is a line "ADDRESS TARGET" in DIR/requests. DIR/up exists as soon as all of them
listen.
"""

import os
import socket
import struct
import sys
import threading
import time

DIR, PORT, ADDRESSES = sys.argv[1], int(sys.argv[2]), sys.argv[3:]


def read(name, otherwise):
    try:
        with open(os.path.join(DIR, name), encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return otherwise


def head(status, length):
    return f"HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n".encode()


def answer(client, address, target):
    if target.startswith("/readyz"):
        status, _, body = read(address + ".readyz", "503").partition(" ")
        body = (body or "the job of this generation runs here").encode() + b"\n"
        client.sendall(head(status, len(body)) + body)
        return
    mode = read(address, "404 {}")
    if mode == "hang":
        time.sleep(3600)
    elif mode == "reset":
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif mode == "big":
        client.sendall(head(200, 1 << 20) + b"x" * (1 << 20))
    elif mode == "drip":
        for byte in head(200, 2):
            client.sendall(bytes([byte]))
            time.sleep(1)
    elif mode == "cut":
        client.sendall(head(200, 1000) + b'{"generation":"G"')
    elif mode != "close":
        status, _, body = mode.partition(" ")
        client.sendall(head(status, len(body.encode())) + body.encode())


def serve(client, address):
    try:
        request = b""
        while b"\r\n\r\n" not in request:
            chunk = client.recv(4096)
            if not chunk:
                return
            request += chunk
        target = request.split(b" ")[1].decode()
        with open(os.path.join(DIR, "requests"), "a", encoding="utf-8") as file:
            file.write(f"{address} {target}\n")
        answer(client, address, target)
    except OSError:
        pass
    finally:
        client.close()


def listen(server, address):
    while True:
        client, _ = server.accept()
        threading.Thread(target=serve, args=(client, address), daemon=True).start()


for one in ADDRESSES:
    family = socket.AF_INET6 if ":" in one else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((one, PORT))
    listener.listen(64)
    threading.Thread(target=listen, args=(listener, one), daemon=True).start()
with open(os.path.join(DIR, "up"), "w", encoding="utf-8"):
    pass
while True:
    time.sleep(3600)
