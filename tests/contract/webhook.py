"""A receiver of notifications that answers what it is told to: python3 webhook.py DIR [CERT KEY]

DIR/port    its port, when it listens
DIR/answers one line an answer, "STATUS [SECONDS [RETRY_AFTER]]"; the last one counts for all that follow; none: 200
DIR/got     one JSON object a request: path, headers (lower case), body, status, at
"""
import http.server
import json
import os
import ssl
import sys
import time

where = sys.argv[1]


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def answer(self):
        try:
            with open(where + '/answers') as answers:
                lines = answers.read().split('\n')
        except FileNotFoundError:
            return ['200']
        lines = [line for line in lines if line]
        if len(lines) > 1:
            with open(where + '/answers', 'w') as answers:
                answers.write('\n'.join(lines[1:]) + '\n')
        return lines[0].split()

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length'])).decode()
        status, seconds, retry_after = (self.answer() + ['0', '0'])[:3]
        time.sleep(float(seconds))
        with open(where + '/got', 'a') as got:
            headers = {name.lower(): value for name, value in self.headers.items()}
            got.write(json.dumps({'path': self.path, 'headers': headers, 'body': json.loads(body),
                                  'status': int(status), 'at': time.time()}) + '\n')
        self.send_response(int(status))
        if retry_after != '0':
            self.send_header('Retry-After', retry_after)
        # as frameworks and gateways do: the path, and what it was signed in with
        text = f"no {self.path} {self.headers.get('Authorization')}\n".encode()
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Receiver)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(where + '/port.new', 'w') as port:
    port.write(str(server.server_address[1]))
os.rename(where + '/port.new', where + '/port')
server.serve_forever()
