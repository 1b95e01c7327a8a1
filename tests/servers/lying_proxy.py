#!/usr/bin/env python3
"""A proxy in front of an object store (S3 or Swift, plain http) that lies, as caches, balancers and stores with a stale index
do.

lying_proxy.py --upstream http://127.0.0.1:PORT --lies FILE --port-file FILE [--port PORT]

It listens on 127.0.0.1; the port goes to --port-file (--port 0: a free one). The request is passed on as it is, Host included,
so its signature stays valid. FILE is read anew for each request (a missing one is an empty one): one rule a line, the first that
matches and can be told about this answer counts,

    LIE METHOD TARGET [TIMES [ARG...]]     METHOD and TARGET are regular expressions, searched for; TARGET in the decoded
                                           path and query ("/bucket?list-type=2&prefix=ck/"); TIMES 0 is for ever

About any request, the store is not asked:
    absent            404 with the store's own mark: NoSuchKey as XML, or Swift's page with X-Trans-Id (by the kind of store)
    absent-text       404 of a proxy: text/plain
    absent-html       404 of a proxy: a page
    no-bucket         404 NoSuchBucket as XML
    status CODE       CODE as text/plain
    archived          403 InvalidObjectState as XML
    empty             200 with an empty body
    stale             the first good answer that was ever given to this request, however long ago (else this rule is passed over)
    as TARGET         the newest good answer to GET TARGET (else this rule is passed over)
    break             breaks the connection

About any good answer, the store has done what was asked:
    applied CODE      CODE as text/plain

About a good answer with a body (GET of an object), or its sizes (HEAD):
    short N           the object has N bytes, and all headers agree
    cut N             N bytes of the body, and the connection breaks
    mangle            the byte in the middle is another one
    class CLASS       a header says that the storage class is CLASS

About a good listing (S3 as XML, Swift as JSON):
    hide NAME         without the names that match NAME
    until N           the first N names, as if they were all
    gap N             without the first N names of a page that was asked for by start-after or marker (else passed over)
    split NAME N      a page ends before the first name that matches NAME (else passed over, as where there is none before it),
                      and the next one lacks its first N names
    foreign           of another prefix: what it says that it was asked for, and every name
    foreign-empty     of another prefix, without a name
    double            every page says that there is another one, with the same token
    classes CLASS NAME   the storage class of names that match NAME is CLASS

A rule that was used TIMES times is over until the file changes. Each request is one line on standard output:
METHOD TARGET LIE|pass STATUS.
"""

import argparse
import html
import http.client
import http.server
import json
import os
import re
import socket
import socketserver
import struct
import sys
import threading
from urllib.parse import parse_qs, unquote, unquote_plus, urlsplit

BEFORE = {"absent", "absent-text", "absent-html", "no-bucket", "status", "archived", "empty", "stale", "as", "break"}
OBJECT = {"short", "cut", "mangle", "class"}
LISTING = {"hide", "until", "gap", "split", "foreign", "foreign-empty", "double", "classes"}
HOP = {"connection", "transfer-encoding", "keep-alive"}
KEEP_BYTES = 4 << 20  # of an answer that is remembered

lock = threading.Lock()
rules, rules_stamp, used = [], None, {}
first, newest = {}, {}  # answers by (method, target, range)
options = None


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def header(self, name):
        for key, value in self.headers:
            if key.lower() == name:
                return value
        return None

    def set(self, name, value):
        self.headers = [(k, v) for k, v in self.headers if k.lower() != name.lower()] + [(name, value)]

    def copy(self):
        return Answer(self.status, list(self.headers), self.body)


def read_rules():
    global rules, rules_stamp
    try:
        info = os.stat(options.lies)
        stamp = (info.st_ino, info.st_mtime_ns, info.st_size)
        if stamp != rules_stamp:
            with open(options.lies, encoding="utf-8") as file:
                rules = [line.split() for line in file if line.strip() and not line.startswith("#")]
            for rule in rules:
                if rule[0] not in BEFORE | OBJECT | LISTING:
                    print("# no such lie:", *rule, file=sys.stderr, flush=True)
            rules_stamp = stamp
            used.clear()
    except FileNotFoundError:
        rules, rules_stamp = [], None


def find_lie(method, target, kinds, can):
    """The first rule of these kinds that matches and of which `can` (lie, args) is true: it is used."""
    with lock:
        read_rules()
        for i, rule in enumerate(rules):
            lie, method_re, target_re = rule[:3]
            times = int(rule[3]) if len(rule) > 3 else 0
            if lie not in kinds or not re.search(method_re, method) or not re.search(target_re, target):
                continue
            if (times and used.get(i, 0) >= times) or not can(lie, rule[4:]):
                continue
            used[i] = used.get(i, 0) + 1
            return lie, rule[4:]
    return None, []


def say_line(*words):
    with lock:
        print(*words, flush=True)


# ---- answers of its own ----


def text(status, body, kind="text/plain", more=()):
    return Answer(status, [("Content-Type", kind), *more], body.encode())


def s3_error(status, code, message):
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return text(status, body, "application/xml", [("x-amz-request-id", "17B2F2A1D0C3E4F5")])


def own_answer(lie, args, request, swift):
    method, target, part = request
    if lie == "absent" and swift:
        page = "<html><h1>Not Found</h1><p>The resource could not be found.</p></html>"
        marks = [("X-Trans-Id", "tx5f0c0ffee0000000000000-0065a1b2c3"), ("X-Openstack-Request-Id", "tx5f0c0ffee0000000000000-0065a1b2c3")]
        return text(404, page, "text/html; charset=UTF-8", marks)
    if lie == "absent":
        return s3_error(404, "NoSuchKey", "The specified key does not exist.")
    if lie == "absent-text":
        return text(404, "404 page not found\n")
    if lie == "absent-html":
        return text(404, "<html><body><h1>404 Not Found</h1>nginx</body></html>", "text/html")
    if lie == "no-bucket":
        return s3_error(404, "NoSuchBucket", "The specified bucket does not exist")
    if lie == "archived":
        return s3_error(403, "InvalidObjectState", "The operation is not valid for the object's storage class")
    if lie == "status":
        return text(int(args[0]), "the proxy says no\n")
    if lie == "empty":
        return text(200, "")
    if lie == "stale":
        return first[method, target, part].copy()
    if lie == "as":
        return newest["GET", args[0], part].copy()
    return None


def has_own_answer(request):
    def can(lie, args):
        return request in first if lie == "stale" else lie != "as" or ("GET", args[0], request[2]) in newest

    return can


# ---- answers of the store ----


def change_object(lie, args, answer, method):
    size = int(answer.header("content-length") or len(answer.body)) if method == "HEAD" else len(answer.body)
    if lie == "class":
        answer.set("x-amz-storage-class", args[0])
    elif lie == "mangle" and answer.body:
        at = size // 2
        answer.body = answer.body[:at] + bytes([answer.body[at] ^ 0x55]) + answer.body[at + 1 :]
    elif lie == "short":
        shorten(answer, int(args[0]), size, method)
    return answer


def shorten(answer, want, size, method):
    begin = re.match(r"bytes (\d+)-\d+/\d+", answer.header("content-range") or "")
    if method == "HEAD":
        answer.set("Content-Length", str(min(size, want)))
        return
    if not begin:
        answer.body = answer.body[:want]
        return
    begin = int(begin.group(1))
    answer.body = answer.body[: max(0, want - begin)]
    if answer.body:
        answer.set("Content-Range", f"bytes {begin}-{begin + len(answer.body) - 1}/{want}")
    else:
        answer.status = 416
        answer.set("Content-Range", f"bytes */{want}")


class Xml:
    """A page of ListObjectsV2 (or V1)."""

    item = re.compile(rb"<(Contents|CommonPrefixes)>.*?</\1>", re.S)

    def __init__(self, body):
        self.body = body
        self.encoded = b"<EncodingType>url</EncodingType>" in body

    def name(self, item):
        found = re.search(rb"<(?:Key|Prefix)>(.*?)</", item, re.S)
        name = html.unescape(found.group(1).decode()) if found else ""
        return unquote_plus(name) if self.encoded else name

    def count(self):
        return len(self.item.findall(self.body))

    def filter(self, keep):
        self.body = self.item.sub(lambda m: m.group(0) if keep(self.name(m.group(0))) else b"", self.body)
        self.body = re.sub(rb"<KeyCount>\d+<", b"<KeyCount>%d<" % self.count(), self.body)

    def names(self):
        return [self.name(item.group(0)) for item in self.item.finditer(self.body)]

    def end(self):
        self.body = re.sub(rb"<IsTruncated>true<", b"<IsTruncated>false<", self.body)
        self.body = re.sub(rb"<NextContinuationToken>.*?</NextContinuationToken>", b"", self.body, flags=re.S)

    def double(self):
        token = b"<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>"
        self.end()
        self.body = re.sub(rb"<IsTruncated>false</IsTruncated>", token, self.body)

    def foreign(self):
        at = self.item.search(self.body)
        head, items = (self.body[: at.start()], self.body[at.start() :]) if at else (self.body, b"")
        head = re.sub(rb"<Prefix>.*?</Prefix>|<Prefix ?/>", b"<Prefix>elsewhere/</Prefix>", head, count=1, flags=re.S)
        self.body = head + re.sub(rb"<(Key|Prefix)>(?=[^<])", rb"<\1>elsewhere/", items)

    def classes(self, kind, name_re):
        def change(match):
            item = match.group(0)
            if not re.search(name_re, self.name(item)) or item.startswith(b"<Common"):
                return item
            item = re.sub(rb"<StorageClass>.*?</StorageClass>", b"", item, flags=re.S)
            return item.replace(b"</Contents>", b"<StorageClass>%s</StorageClass></Contents>" % kind.encode())

        self.body = self.item.sub(change, self.body)


class Json:
    """A page of a Swift container."""

    def __init__(self, body):
        self.items = json.loads(body)

    @property
    def body(self):
        return json.dumps(self.items).encode()

    @staticmethod
    def name(item):
        return item.get("name") or item.get("subdir") or ""

    def filter(self, keep):
        self.items = [item for item in self.items if keep(self.name(item))]

    def names(self):
        return [self.name(item) for item in self.items]

    def end(self):
        pass

    def foreign(self):
        for item in self.items:
            key = "subdir" if "subdir" in item else "name"
            item[key] = "elsewhere/" + item[key]

    def double(self):
        pass

    def classes(self, kind, name_re):
        pass


def page_of(answer, swift):
    return Json(answer.body) if swift else Xml(answer.body)


def before(name_re, page):
    """How many names of this page come before the first one that matches."""
    return next((i for i, name in enumerate(page.names()) if re.search(name_re, name)), 0)


def can_change(page, told):
    """Is there something to lie about in this page; told: it was asked for by the name that it is to begin after."""

    def can(lie, args):
        if lie == "split":
            return told or before(args[0], page) > 0
        return lie != "gap" or told

    return can


def change_listing(lie, args, answer, swift, told):
    page = page_of(answer, swift)
    if lie == "split":
        lie, args = ("gap", args[1:]) if told else ("split", [before(args[0], page)])
    left = [int(args[0])] if lie in ("until", "gap", "split") else [0]

    def among_first(_name):
        left[0] -= 1
        return left[0] >= 0

    if lie == "hide":
        page.filter(lambda name: not re.search(args[0], name))
    elif lie == "until":
        page.filter(among_first)
        page.end()
    elif lie == "split":
        page.filter(among_first)
        page.double()
    elif lie == "gap":
        page.filter(lambda name: not among_first(name))
    elif lie == "foreign":
        page.foreign()
    elif lie == "foreign-empty":
        page.filter(lambda name: False)
        page.end()
        page.foreign()
    elif lie == "double":
        page.double()
    elif lie == "classes":
        page.classes(args[0], args[1])
    answer.body = page.body
    return answer


def is_listing(method, query, answer, swift):
    if method != "GET" or answer.status != 200:
        return False
    if swift:
        return "format" in query and answer.body[:1] == b"["
    return b"<ListBucketResult" in answer.body[:2000]


# ---- requests ----


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one answer in one piece

    def log_message(self, *args):
        pass

    def read_body(self):
        if (self.headers.get("Transfer-Encoding") or "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def ask(self, body):
        url = urlsplit(options.upstream)
        store = http.client.HTTPConnection(url.hostname, url.port, timeout=120)
        try:
            store.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for key, value in self.headers.items():
                if key.lower() not in HOP | {"content-length", "expect"}:
                    store.putheader(key, value)
            if body or self.command in ("PUT", "POST"):
                store.putheader("Content-Length", str(len(body)))
            store.putheader("Connection", "close")
            store.endheaders(body or None)
            response = store.getresponse()
            headers = [(k, v) for k, v in response.getheaders() if k.lower() not in HOP]
            return Answer(response.status, headers, response.read())
        finally:
            store.close()

    def send(self, answer, cut=None):
        head = self.command == "HEAD"
        self.send_response_only(answer.status)
        length = answer.header("content-length") if head else str(len(answer.body))
        for key, value in answer.headers:
            if key.lower() != "content-length":
                self.send_header(key, value)
        if length is not None and answer.status not in (204, 304):
            self.send_header("Content-Length", length)
        self.end_headers()
        if not head:
            self.wfile.write(answer.body if cut is None else answer.body[:cut])
        self.wfile.flush()
        if cut is not None:
            self.hang_up()

    def hang_up(self):
        self.close_connection = True
        try:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass

    def handle_any(self):
        parts = urlsplit(self.path)
        target = unquote(parts.path) + ("?" + unquote(parts.query) if parts.query else "")
        query = parse_qs(parts.query, keep_blank_values=True)
        swift = self.headers.get("X-Auth-Token") is not None
        body = self.read_body()
        try:
            lie, answer, cut = self.answer(target, query, swift, body)
        except OSError as error:
            print("#", self.command, target, error, file=sys.stderr, flush=True)
            lie, answer, cut = "unreachable", None, None
        say_line(self.command, target, lie, answer.status if answer else 0)
        if answer:
            self.send(answer, cut)
        else:
            self.hang_up()

    def answer(self, target, query, swift, body):
        method = self.command
        request = (method, target, self.headers.get("Range"))
        lie, args = find_lie(method, target, BEFORE, has_own_answer(request))
        if lie:
            return lie, own_answer(lie, args, request, swift), None
        answer = self.ask(body)
        if 200 <= answer.status < 300:
            lie, args = find_lie(method, target, {"applied"}, lambda lie, args: True)
            if lie:
                return lie, text(int(args[0]), "the answer was lost\n"), None
        if not 200 <= answer.status < 300 or method not in ("GET", "HEAD"):
            return "pass", answer, None
        if len(answer.body) <= KEEP_BYTES:
            first.setdefault(request, answer.copy())
            newest[request] = answer.copy()
        if is_listing(method, query, answer, swift):
            told = {"start-after", "marker"} & {key for key, value in query.items() if value[0]}
            lie, args = find_lie(method, target, LISTING, can_change(page_of(answer, swift), told))
            return lie or "pass", change_listing(lie, args, answer, swift, told) if lie else answer, None
        lie, args = find_lie(method, target, OBJECT, lambda lie, args: True)
        cut = int(args[0]) if lie == "cut" else None
        return lie or "pass", change_object(lie, args, answer, method) if lie else answer, cut

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_OPTIONS = handle_any


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        print("#", client_address, sys.exc_info()[1], file=sys.stderr, flush=True)


def main():
    global options
    parser = argparse.ArgumentParser()
    for name in ("upstream", "lies", "port-file"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    with Server(("127.0.0.1", options.port), Handler) as server:
        with open(options.port_file + ".new", "w", encoding="utf-8") as file:
            file.write(f"{server.server_address[1]}\n")
        os.rename(options.port_file + ".new", options.port_file)
        server.serve_forever()


if __name__ == "__main__":
    main()
