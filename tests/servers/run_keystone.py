#!/usr/bin/env python3
"""Keystone for the tests, from its own modules; run by tests/servers/lib.sh.

run_keystone.py prepare DIR PASSWORD URL   keys, the user `admin` and the service catalogue, in DIR/keystone.conf's database
run_keystone.py serve DIR PORT             the public API on 127.0.0.1:PORT, until it is killed
"""

import os
import sqlite3
import sys
import warnings

warnings.simplefilter("ignore")
command, directory = sys.argv[1:3]
config = ["--config-file", os.path.join(directory, "keystone.conf")]


def manage(*words):
    from keystone.cmd import manage as keystone_manage

    sys.argv = ["keystone-manage", *config, *words]
    keystone_manage.main()


def prepare(password, url):
    # else a reader's open transaction keeps writers out
    database = sqlite3.connect(os.path.join(directory, "keystone.db"))
    database.execute("pragma journal_mode=wal")
    database.close()
    me = ["--keystone-user", str(os.getuid()), "--keystone-group", str(os.getgid())]
    for words in (
        ["fernet_setup", *me],
        ["credential_setup", *me],
        ["bootstrap", "--bootstrap-password", password, "--bootstrap-public-url", url, "--bootstrap-region-id", "one"],
    ):
        # each is a process of its own: the configuration of oslo can be parsed only once
        pid = os.fork()
        if pid == 0:
            manage(*words)
            os._exit(0)
        if os.waitpid(pid, 0)[1] != 0:
            sys.exit(f"keystone-manage {words[0]} has failed")


def serve(port):
    from socketserver import ThreadingMixIn
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

    from keystone.server.wsgi import initialize_public_application

    class Server(ThreadingMixIn, WSGIServer):
        daemon_threads = True

    class Handler(WSGIRequestHandler):
        def address_string(self):
            return self.client_address[0]

    sys.argv = ["keystone"]
    os.environ["OS_KEYSTONE_CONFIG_DIR"] = directory
    application = initialize_public_application()
    make_server("127.0.0.1", port, application, Server, Handler).serve_forever()


if command == "prepare":
    prepare(*sys.argv[3:5])
else:
    serve(int(sys.argv[3]))
