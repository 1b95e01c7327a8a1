#!/usr/bin/env python3
"""ipv6_peer.py - servers on IPv6 addresses for tests/contract/test_ipv6.sh; each request is a line in DIR/requests.

  ipv6_peer.py DIR ADDRESS PORT CERTIFICATE   HTTPS, as the API server (403) and as S3 (an empty bucket):
                                              "METHOD HOST PATH", HOST as the client has sent it
  ipv6_peer.py DIR ADDRESS PORT               a proxy that lets nothing through: "METHOD HOST PATH" of CONNECT and the rest

DIR/up-PORT exists as soon as it listens.
"""

import http.server
import os
import socket
import ssl
import sys
import urllib.parse

DIR, ADDRESS, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
CERTIFICATE = sys.argv[4] if len(sys.argv) > 4 else None

FORBIDDEN = b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"played"}'
NOTHING = '<?xml version="1.0"?><ListBucketResult><Name>flink</Name><Prefix>%s</Prefix><IsTruncated>false</IsTruncated></ListBucketResult>'
NO_KEY = b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>played</Message></Error>'


class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def answer(self):
        with open(os.path.join(DIR, 'requests'), 'a', encoding='utf-8') as file:
            file.write(f'{self.command} {self.headers.get("Host", "-")} {self.path.split("?")[0]}\n')
        if not CERTIFICATE:
            self.reply(502, 'text/plain', b'a proxy')
        elif self.path.startswith('/flink') and 'list-type=2' in self.path:
            prefix = urllib.parse.parse_qs(self.path.split('?')[1]).get('prefix', [''])[0]
            self.reply(200, 'application/xml', (NOTHING % prefix).encode())
        elif self.path.startswith('/flink'):
            self.reply(404, 'application/xml', NO_KEY)
        else:
            self.reply(403, 'application/json', FORBIDDEN)

    do_GET = do_HEAD = do_PUT = do_POST = do_PATCH = do_CONNECT = answer

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def log_message(self, *_):
        pass


server = Server((ADDRESS, PORT), Handler)
if CERTIFICATE:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(DIR, f'up-{PORT}'), 'w', encoding='utf-8'):
    pass
server.serve_forever()
