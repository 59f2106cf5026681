"""A TCP proxy on loopback that delays each direction, as a network does. In a process of its own: it must not tire."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["delaying_proxy"]


@contextmanager
def delaying_proxy(socket_path: str, milliseconds: float) -> Iterator[int]:
    """The port of a proxy to a Unix socket. A trip through it takes this many milliseconds longer."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(socket_path, milliseconds / 2000, there), daemon=True)
    process.start()
    try:
        yield int(here.recv())
    finally:
        process.terminate()
        process.join()


def _run(socket_path: str, delay: float, pipe: Any) -> None:
    async def serve() -> None:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            server_reader, server_writer = await asyncio.open_unix_connection(socket_path)
            await asyncio.gather(_forward(reader, server_writer, delay), _forward(server_reader, writer, delay))

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    loop = asyncio.get_running_loop()
    while data := await reader.read(2**16):
        loop.call_later(delay, writer.write, data)
    loop.call_later(delay, writer.close)
