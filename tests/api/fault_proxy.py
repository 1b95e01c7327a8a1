#!/usr/bin/env python3
"""A proxy in front of an API server that does what networks and servers do. It ends TLS, so it can also answer itself.

fault_proxy.py --upstream https://127.0.0.1:PORT --ca CA --cert CERT --key KEY --faults FILE --port-file FILE

It listens on 127.0.0.1; the port goes to --port-file. --ca is the upstream's; --cert and --key are what clients see.
FILE is read anew for each request (a missing one is an empty one): one rule a line, the first that matches counts,

    FAULT METHOD PATH [TIMES [ARG]]     METHOD and PATH are regular expressions, searched for; TIMES 0 is for ever

    hold S          keeps the request for S seconds before the server sees it
    delay S         lets the server do it, and answers S seconds later
    refuse          breaks the connection before the server has seen the request
    lose            lets the server do it, and breaks the connection instead of answering
    applied CODE    lets the server do it, and answers CODE
    hang            takes the request and says nothing, nothing is done
    hang-after      lets the server do it and says nothing
    cut N           breaks off after N bytes of the body (of a watch, too)
    stall N         says nothing more after N bytes of the body, the connection stays
    truncate N      N bytes of the body as if they were all of it
    wrong           200 with another object
    html            200 with a page
    status CODE [RETRY_AFTER]     text, the server has not seen the request
    mangle          one byte of the body is another one

A rule that was used TIMES times is over until the file changes. Each request is one line on standard output:
METHOD PATH FAULT|pass STATUS. While it is held or its answer is delayed there is a line that ends with "begins".
"""

import argparse
import os
import re
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
from urllib.parse import urlsplit

lock = threading.Lock()
rules, rules_stamp, used = [], None, {}
options = None


class Broken(Exception):
    """The connection is to be broken, with a reset."""


def read_rules():
    global rules, rules_stamp
    try:
        info = os.stat(options.faults)
        stamp = (info.st_ino, info.st_mtime_ns, info.st_size)
        if stamp != rules_stamp:
            with open(options.faults, encoding="utf-8") as file:
                rules = [line.split() for line in file if line.strip()]
            rules_stamp = stamp
            used.clear()
    except FileNotFoundError:
        rules, rules_stamp = [], None


def fault_of(method, path):
    with lock:
        read_rules()
        for i, rule in enumerate(rules):
            fault, method_re, path_re = rule[:3]
            times = int(rule[3]) if len(rule) > 3 else 0
            if re.search(method_re, method) and re.search(path_re, path):
                if times and used.get(i, 0) >= times:
                    continue
                used[i] = used.get(i, 0) + 1
                return fault, rule[4:]
    return "pass", []


def read_head(file):
    lines = []
    while True:
        line = file.readline(65536)
        if not line:
            return None
        if line in (b"\r\n", b"\n"):
            return lines
        lines.append(line)


def header(lines, name):
    for line in lines[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip().decode()
    return None


def body_pieces(file, lines, method, status):
    """The body, decoded, as it comes."""
    if method == "HEAD" or status in (204, 304):
        return
    length = header(lines, b"content-length")
    if (header(lines, b"transfer-encoding") or "").lower() == "chunked":
        while True:
            size = int(file.readline().split(b";")[0] or b"0", 16)
            if size == 0:
                file.readline()
                return
            yield file.read(size)
            file.readline()
    elif length is not None:
        left = int(length)
        while left:
            piece = file.read1(min(left, 65536))
            if not piece:
                raise Broken
            left -= len(piece)
            yield piece
    else:
        while piece := file.read1(65536):
            yield piece


class Upstream:
    """One exchange on a connection of its own."""

    def __init__(self, head, body):
        url = urlsplit(options.upstream)
        context = ssl.create_default_context(cafile=options.ca)
        raw = socket.create_connection((url.hostname, url.port), timeout=10)
        self.socket = context.wrap_socket(raw, server_hostname=url.hostname)
        self.socket.settimeout(700)
        keep = [line for line in head if line.split(b":")[0].strip().lower() not in (b"connection", b"host")]
        host = f"Host: {url.hostname}:{url.port}\r\nConnection: close\r\n\r\n".encode()
        self.socket.sendall(b"".join(keep) + host + body)
        self.file = self.socket.makefile("rb")
        self.head = read_head(self.file)
        if self.head is None:
            raise Broken
        self.status = int(self.head[0].split()[1])

    def close(self):
        self.file.close()
        self.socket.close()


def say_line(*words):
    with lock:
        print(*words, flush=True)


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.settimeout(700)
        try:
            tls = options.context.wrap_socket(self.request, server_side=True)
        except OSError:
            return
        self.tls = tls
        file = tls.makefile("rb")
        try:
            while self.exchange(file):
                pass
            tls.unwrap()
        except Broken:
            self.reset()
        except OSError:
            pass
        finally:
            file.close()
            tls.close()

    def reset(self):
        try:
            self.tls.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass

    def silence(self):
        """Until the client goes."""
        try:
            while self.tls.recv(1000):
                pass
        except OSError:
            pass
        raise Broken

    def say(self, status, body, more=""):
        self.tls.sendall(
            f"HTTP/1.1 {status} Proxy\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body
        )

    def exchange(self, file):
        head = read_head(file)
        if not head:
            return False
        method, path = head[0].decode().split()[:2]
        body = file.read(int(header(head, b"content-length") or 0))
        fault, args = fault_of(method, path)
        status = 0
        try:
            status = self.answer(method, head, body, fault, args)
        finally:
            say_line(method, path, fault, status)
        return True

    def answer(self, method, head, body, fault, args):
        if fault == "refuse":
            raise Broken
        if fault == "hang":
            self.silence()
        if fault == "status":
            retry = f"Retry-After: {args[1]}\r\n" if len(args) > 1 else ""
            self.say(int(args[0]), b"the proxy says no\n", f"Content-Type: text/plain\r\n{retry}")
            return int(args[0])
        if fault == "wrong":
            self.say(200, b'{"kind":"Lease","apiVersion":"v1","metadata":{"name":"x"}}')
            return 200
        if fault == "html":
            self.say(200, b"<html><body>Please log in</body></html>", "Content-Type: text/html\r\n")
            return 200
        if fault == "hold":
            say_line(*head[0].decode().split()[:2], fault, "begins")
            time.sleep(float(args[0]))
        try:
            upstream = Upstream(head, body)
        except OSError as error:
            raise Broken from error
        try:
            if fault == "delay":
                say_line(*head[0].decode().split()[:2], fault, "begins")
            return self.pass_on(method, upstream, fault, args)
        finally:
            upstream.close()

    def pass_on(self, method, upstream, fault, args):
        pieces = body_pieces(upstream.file, upstream.head, method, upstream.status)
        if fault == "lose":
            list(pieces)
            raise Broken
        if fault == "hang-after":
            list(pieces)
            self.silence()
        if fault == "applied":
            list(pieces)
            self.say(int(args[0]), b"the proxy has lost the answer\n", "Content-Type: text/plain\r\n")
            return int(args[0])
        if fault == "delay":
            time.sleep(float(args[0]))
        drop = (b"content-length", b"transfer-encoding", b"connection")
        keep = [line for line in upstream.head if line.split(b":")[0].strip().lower() not in drop]
        if fault in ("truncate", "mangle"):
            whole = b"".join(pieces)
            if fault == "truncate":
                whole = whole[: int(args[0])]
            elif whole:
                at = len(whole) // 2
                whole = whole[:at] + b"\x07" + whole[at + 1 :]
            self.tls.sendall(b"".join(keep) + f"Content-Length: {len(whole)}\r\n\r\n".encode() + whole)
            return upstream.status
        self.tls.sendall(b"".join(keep) + b"Transfer-Encoding: chunked\r\n\r\n")
        sent = 0
        limit = int(args[0]) if fault in ("cut", "stall") else None
        for piece in pieces:
            if limit is not None and sent + len(piece) >= limit:
                piece = piece[: limit - sent]
                if piece:
                    self.tls.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                if fault == "stall":
                    self.silence()
                raise Broken
            sent += len(piece)
            self.tls.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.tls.sendall(b"0\r\n\r\n")
        return upstream.status


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        print("#", client_address, sys.exc_info()[1], file=sys.stderr, flush=True)


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("upstream", "ca", "cert", "key", "faults", "port-file"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    options.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    options.context.load_cert_chain(options.cert, options.key)
    with Server(("127.0.0.1", 0), Handler) as server:
        with open(options.port_file + ".new", "w", encoding="utf-8") as file:
            file.write(f"{server.server_address[1]}\n")
        os.rename(options.port_file + ".new", options.port_file)
        server.serve_forever()


if __name__ == "__main__":
    main()
