#!/usr/bin/env python3
"""far.py - an object store, made far away: an HTTP proxy that delays each answer.

    far.py PORT UPSTREAM_PORT DELAY_MS LOG [remember]

Requests and answers pass unchanged; each answer is sent DELAY_MS after its request came. `remember`: the answer to a
request that was made before (method, target and range; 200 or 206) is not fetched again but repeated: then the time
of the store on this machine is not in a measurement, as it is not with a store that has machines of its own. Each
request is a line in LOG: METHOD TARGET STATUS.
"""

import asyncio
import sys

PORT, UPSTREAM, DELAY_S = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1000
LOG = open(sys.argv[4], "a", buffering=1, encoding="latin-1")
MEMORY = {} if sys.argv[5:] == ["remember"] else None


def header(head, name):
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return None


async def read_body(reader, head, without):
    """The body as it was sent, chunks included."""
    if without:
        return b""
    if (header(head, b"transfer-encoding") or b"").lower() == b"chunked":
        parts = []
        while True:
            size = await reader.readuntil(b"\r\n")
            chunk = await reader.readexactly(int(size.split(b";")[0], 16) + 2)
            parts += [size, chunk]
            if chunk == b"\r\n":
                return b"".join(parts)
    return await reader.readexactly(int(header(head, b"content-length") or 0))


async def fetch(server, head, method):
    if not server:
        server += await asyncio.open_connection("127.0.0.1", UPSTREAM, limit=1 << 24)
    reader, writer = server
    body = b""
    writer.write(head + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    status = int(answer.split(b" ", 2)[1])
    answer += await read_body(reader, answer, method == b"HEAD" or status in (204, 304))
    if (header(answer.split(b"\r\n\r\n")[0], b"connection") or b"").lower() == b"close":
        writer.close()
        server.clear()
    return answer, status


async def serve(reader, writer):
    loop, server = asyncio.get_running_loop(), []
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            begin = loop.time()
            method, target, _ = head.split(b"\r\n")[0].split(b" ")
            if int(header(head, b"content-length") or 0):
                raise ValueError("a request with a body")
            key = (method, target, header(head, b"range"))
            known = MEMORY.get(key) if MEMORY is not None else None
            answer, status = known or await fetch(server, head, method)
            if MEMORY is not None and status in (200, 206) and target.startswith(b"/"):
                MEMORY[key] = answer, status
            LOG.write(f"{method.decode()} {target.decode('latin-1')} {status}\n")
            await asyncio.sleep(begin + DELAY_S - loop.time())
            writer.write(answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()
        if server:
            server[1].close()


async def main():
    proxy = await asyncio.start_server(serve, "127.0.0.1", PORT, limit=1 << 20, backlog=256)
    async with proxy:
        await proxy.serve_forever()


asyncio.run(main())
