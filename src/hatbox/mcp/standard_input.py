"""The lines of standard input, read in a thread that the end of the program does not wait for.

A thread of asyncio, anyio or Python's own threading would be joined, and a blocked read cannot be interrupted. Nothing
else reads the input: its descriptor becomes the null device, as the SDK does it, so that child processes have none.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator
from typing import Final

__all__ = ["InputLines"]

_STDIN: Final = 0
_READ_BYTES: Final = 1 << 16


class InputLines:
    """An asynchronous iterator of lines."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = loop.create_future()
        """Done when the input has ended, or cannot be read."""
        self._loop = loop
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._may_read = threading.Semaphore(1)
        self._descriptor = os.dup(_STDIN)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, _STDIN)
        os.close(null)
        threading.Thread(target=self._read, name="hatbox-input", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[str]:
        unfinished = bytearray()
        while chunk := await self._chunks.get():
            first, *others = chunk.split(b"\n")
            unfinished += first
            for each in others:
                yield unfinished.decode("utf-8", "replace")
                unfinished = bytearray(each)
            self._may_read.release()
        if unfinished:
            yield unfinished.decode("utf-8", "replace")

    def _read(self) -> None:
        chunk = b" "
        while chunk:
            self._may_read.acquire()  # otherwise a client that does not wait for responses would fill the memory
            try:
                chunk = os.read(self._descriptor, _READ_BYTES)
            except OSError:
                chunk = b""
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._add, chunk)

    def _add(self, chunk: bytes) -> None:
        self._chunks.put_nowait(chunk)
        if not chunk and not self.ended.done():
            self.ended.set_result(None)
