#!/usr/bin/env python3
"""The network between a client and a server of this machine: link.py PORT TARGET_PORT passes bytes on, both on 127.0.0.1.

SIGSTOP cuts it: connections stay open and nobody answers. What was sent meanwhile arrives with SIGCONT, as late as that.
"""

import asyncio
import sys


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def serve(reader, writer):
    try:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
    except OSError:
        writer.close()
        return
    await asyncio.gather(pump(reader, up_writer), pump(up_reader, writer))


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()


asyncio.run(main())
