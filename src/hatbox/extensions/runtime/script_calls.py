"""Requests of scripts to the host: API calls, files and fetches, until their results are sent."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable
from typing import Any

from hatbox.errors import ApiError, NetworkError
from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.host import Host
from hatbox.extensions.runtime.incoming_messages import IncomingMessages
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.message_parsing import split_path
from hatbox.extensions.runtime.outgoing_messages import UNEXPECTED, OutgoingMessages
from hatbox.extensions.runtime.script_connection import ScriptConnection
from hatbox.extensions.runtime.wire_frames import ProtocolError

__all__ = ["ScriptCalls", "error_message"]

logger = logging.getLogger("hatbox.extensions")


class ScriptCalls:
    """The pending requests of one extension process. While there are too many, the process is not read."""

    def __init__(
        self,
        host: Host,
        extension_id: str,
        limits: RuntimeLimits,
        connection: ScriptConnection,
        outgoing: OutgoingMessages,
        incoming: IncomingMessages,
    ) -> None:
        self._host = host
        self._extension_id = extension_id
        self._max_pending = limits.calls
        self._connection = connection
        self._outgoing = outgoing
        self._incoming = incoming
        self._pending: dict[int, asyncio.Future[Any]] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def call(self, request_id: int, path: str, arguments: list[Any], *, user_input: bool = False) -> None:
        """Call an API function. A result that is available at once is queued, and sent with the next flush."""
        namespace, member = split_path(path)
        try:
            call = self._host.call_with_user_input if user_input else self._host.call
            result = call(namespace, member, arguments)
        except Exception as error:  # noqa: BLE001 - sent to the script
            self._outgoing.queued.append(self._error_result(request_id, error))
            return
        if isinstance(result, asyncio.Future):
            if result.done():  # reads complete at once
                self._outgoing.queued.append(self._result(request_id, result))
                return
        elif not inspect.isawaitable(result):
            self._outgoing.queued.append([protocol.RESULT, request_id, True, result])
            return
        self.respond(request_id, result)

    def _error_result(self, request_id: int, error: Exception) -> list[Any]:
        return [protocol.RESULT, request_id, False, error_message(error, self._extension_id)]

    def use_indexed_db(self, request_id: int, operation: str, fields: list[Any]) -> None:
        """Use databases of IndexedDB."""
        try:
            result = self._host.use_indexed_db(operation, fields)
        except ApiError as error:
            self._outgoing.queued.append([protocol.RESULT, request_id, False, str(error)])
        else:
            self.respond(request_id, result)

    def respond(self, request_id: int, result: Awaitable[Any]) -> None:
        """Send the result of a request when it is available."""
        future = asyncio.ensure_future(result)
        if request_id in self._pending:
            future.cancel()
            raise ProtocolError(f"request id {request_id} is in use")
        self._pending[request_id] = future
        self._incoming.turns.started(future)
        future.add_done_callback(lambda done: self._on_done(request_id, done))
        if len(self._pending) > self._max_pending:
            self._incoming.pauses.set("calls", True)

    def cancel(self, request_id: int) -> None:
        """Cancel a request, if it is pending."""
        if request_id in self._pending:
            self._pending[request_id].cancel()

    def cancel_all(self) -> None:
        """Cancel all requests: the process has ended."""
        for result in list(self._pending.values()):
            result.cancel()

    def _on_done(self, request_id: int, done: asyncio.Future[Any]) -> None:
        del self._pending[request_id]
        if not self._connection.running:
            if not done.cancelled():
                done.exception()  # retrieved, or asyncio would log it
            return
        message = self._result(request_id, done)
        if self._pending:
            self._outgoing.send_soon(message)
            if len(self._pending) <= self._max_pending // 2:
                self._incoming.pauses.set("calls", False)
        else:  # no other result can share the frame
            self._outgoing.send(message)

    def _result(self, request_id: int, done: asyncio.Future[Any]) -> list[Any]:
        try:
            return [protocol.RESULT, request_id, True, done.result()]
        except asyncio.CancelledError:
            return [protocol.RESULT, request_id, False, UNEXPECTED]
        except Exception as error:  # noqa: BLE001 - sent to the script
            return self._error_result(request_id, error)


def error_message(error: Exception, extension_id: str) -> str:
    """The error message for a script. Errors that are not meant for scripts are logged, and replaced."""
    if isinstance(error, (ApiError, NetworkError)):
        return str(error)
    logger.error("API call of %s failed", extension_id, exc_info=error)
    return UNEXPECTED
