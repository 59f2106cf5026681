"""The open endpoints of a profile, and which programs are connected: records in the profile, for all processes.

A record is that of an engine: one whose engine has ended is ignored, and deleted by the next endpoint of its machine.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from hatbox.engines.running_engines import running_engines
from hatbox.errors import ProfileError
from hatbox.store.base import Store, Transaction
from hatbox.store.processes import ProcessId, current_process

__all__ = ["ENDPOINTS_CHANGED", "ConnectedProgram", "OpenEndpoint", "PublishedEndpoint", "open_endpoints"]

logger = logging.getLogger("hatbox.engines")

ENDPOINTS_CHANGED: Final = "endpoints.changed"
"""The topic of a change of the records."""
_NO_EXTENSION: Final = ""
_KIND: Final = "endpoints"
_WRITE_SECONDS: Final = 0.2  # between two writes: a client may connect again and again
_Change = Callable[[Transaction], None]


class ConnectedProgram(msgspec.Struct, frozen=True):
    """The connections of one grant."""

    name: str
    """The purpose of its grant."""
    grant: str
    """The id of its grant; empty without one."""
    connections: int


class OpenEndpoint(msgspec.Struct, frozen=True):
    """An endpoint that an engine serves."""

    process: ProcessId
    cookie_store_id: str
    port: int
    programs: tuple[ConnectedProgram, ...] = ()


async def open_endpoints(store: Store) -> list[OpenEndpoint]:
    """The endpoints of running engines, in any process and on any machine."""
    found = await store.read(_find)
    alive = {each.process for each in await running_engines(store)} if found else set()
    return [each for each in found if each.process in alive]


class PublishedEndpoint:
    """The record of one endpoint of this process."""

    def __init__(self, store: Store, cookie_store_id: str, port: int) -> None:
        self._store = store
        self._endpoint = OpenEndpoint(current_process(), cookie_store_id, port)
        self._key = f"{self._endpoint.process.host} {self._endpoint.process.pid} {port}"
        self._writing: asyncio.Task[None] | None = None
        self._is_outdated = False

    def publish(self, programs: Iterable[tuple[str, str]]) -> None:
        """Store which programs are connected: the name and the grant of each connection. Returns at once."""
        counted = Counter(programs)
        connected = tuple(ConnectedProgram(name, grant, count) for (name, grant), count in sorted(counted.items()))
        self._endpoint = msgspec.structs.replace(self._endpoint, programs=connected)
        self._is_outdated = True
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write())

    async def withdraw(self) -> None:
        """Delete the record: the endpoint is closed."""
        self._is_outdated = False
        if self._writing is not None:
            await asyncio.gather(self._writing, return_exceptions=True)
        await self._try(self._delete)

    async def _write(self) -> None:
        while self._is_outdated:
            self._is_outdated = False
            await self._try(self._put)
            await asyncio.sleep(_WRITE_SECONDS)

    async def _try(self, change: _Change) -> None:
        try:
            await self._store.write(change)
        except ProfileError as error:
            logger.debug("the record of an endpoint was not written: %s", error)

    def _put(self, transaction: Transaction) -> None:
        for _, key, value in transaction.extensions.find(_KIND, _NO_EXTENSION):
            process = _decode(value).process
            if process.is_local and not process.is_running:
                transaction.extensions.delete(_NO_EXTENSION, _KIND, key)
        transaction.extensions.put(_NO_EXTENSION, _KIND, self._key, msgspec.json.encode(self._endpoint))
        transaction.changes.append(ENDPOINTS_CHANGED, b"{}")

    def _delete(self, transaction: Transaction) -> None:
        transaction.extensions.delete(_NO_EXTENSION, _KIND, self._key)
        transaction.changes.append(ENDPOINTS_CHANGED, b"{}")


def _find(transaction: Transaction) -> list[OpenEndpoint]:
    return [_decode(value) for _, _, value in transaction.extensions.find(_KIND, _NO_EXTENSION)]


_decode = msgspec.json.Decoder(OpenEndpoint).decode
