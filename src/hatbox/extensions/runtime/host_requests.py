"""Requests of the host to an extension process: run, evaluate, call a listener. Matches responses by id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from hatbox.errors import ExtensionTerminated
from hatbox.extensions.runtime.message_parsing import script_error
from hatbox.extensions.runtime.outgoing_messages import OutgoingMessages
from hatbox.extensions.runtime.script_connection import ScriptConnection

__all__ = ["HostRequests"]


class HostRequests:
    """The requests without a response."""

    def __init__(self, connection: ScriptConnection, outgoing: OutgoingMessages) -> None:
        self._connection = connection
        self._outgoing = outgoing
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._pending)

    def send(self, kind: str, *fields: Any, timeout: float | None = None) -> Awaitable[Any]:
        """Send a request now, also if the result is never awaited: the order of requests is the order of calls.

        Raises ScriptError, TimeoutError, and ExtensionTerminated if the process ends first.
        """
        self._last_id += 1
        number = self._last_id
        response: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._connection.running:
            self._pending[number] = response
            self._outgoing.send([kind, number, *fields])
        else:
            response.set_exception(self.termination())
        return self._wait(number, response, timeout)

    def resolve(self, number: int, ok: bool, value: Any) -> None:
        """A response was received. It is ignored if the caller does not wait any more."""
        response = self._pending.get(number)
        if response is None or response.done():
            return
        if ok:
            response.set_result(value)
        else:
            response.set_exception(script_error(value))

    def fail_all(self) -> None:
        """The process has ended."""
        for response in self._pending.values():
            if not response.done():
                response.set_exception(self.termination())

    def termination(self) -> ExtensionTerminated:
        """The error for requests to a process that has ended."""
        exited = self._connection.exited
        return ExtensionTerminated(
            f"the extension process has ended: {exited.result() if exited.done() else 'it was stopped'}"
        )

    async def _wait(self, number: int, response: asyncio.Future[Any], timeout: float | None) -> Any:
        try:
            async with asyncio.timeout(timeout):
                return await response
        finally:
            self._pending.pop(number, None)
