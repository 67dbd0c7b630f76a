"""loopback_relay.py SOCKET PORT -- COMMAND: runs a command while 127.0.0.1:PORT leads to a service's Unix socket.

In a network namespace of its own the command then reaches that service and nothing else. Only the standard library.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import socket
import struct
import sys

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1  # linux/sockios.h, linux/if.h
STRUCT = "16sh14x"


def bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = fcntl.ioctl(any_socket, SIOCGIFFLAGS, struct.pack(STRUCT, b"lo", 0))
        flags = struct.unpack(STRUCT, asked)[1]
        if not flags & IFF_UP:
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack(STRUCT, b"lo", flags | IFF_UP))


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def main(path: str, port: int, command: list[str]) -> int:
    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        service_reader, service_writer = await asyncio.open_unix_connection(path)
        both = [copy(reader, service_writer), copy(service_reader, writer)]
        await asyncio.wait([asyncio.create_task(each) for each in both], return_when=asyncio.FIRST_COMPLETED)
        for each in (writer, service_writer):
            each.close()

    server = await asyncio.start_server(connect, "127.0.0.1", port)
    async with server:
        process = await asyncio.create_subprocess_exec(*command)
        return await process.wait()


if __name__ == "__main__":
    bring_loopback_up()
    sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[4:])))
