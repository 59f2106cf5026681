"""The host side of the bridge for code that only calls functions and listens: a page of Hatbox, or a Python script.

It runs no scripts of a package and has its own storage and network, so other messages end the connection. Knows no
namespace by name.
"""

from __future__ import annotations

import asyncio
import reprlib
from collections.abc import Callable
from typing import Any

from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.fair_turns import FairTurns
from hatbox.extensions.runtime.host import Host, LogEntry
from hatbox.extensions.runtime.host_requests import HostRequests
from hatbox.extensions.runtime.incoming_messages import IncomingMessages
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.outgoing_messages import OutgoingMessages
from hatbox.extensions.runtime.script_calls import ScriptCalls
from hatbox.extensions.runtime.script_connection import ScriptConnection
from hatbox.extensions.runtime.script_listeners import ScriptListeners
from hatbox.extensions.runtime.wire_frames import ProtocolError

__all__ = ["CallBridge"]


class CallBridge:
    """Passes the messages of a connection to a host until the connection ends."""

    def __init__(
        self,
        host: Host,
        connection: ScriptConnection,
        caller_id: str,
        limits: RuntimeLimits,
        outgoing: OutgoingMessages,
        *,
        log: Callable[[LogEntry], None],
        turns: str,
    ) -> None:
        """`turns` tells the connections of one caller apart, of which each has its own turns."""
        self._connection = connection
        self._outgoing = outgoing
        fair_turns = FairTurns.of_loop().of_extension(f"{caller_id} {turns}")
        self.incoming = IncomingMessages(
            connection, limits, self._handle, outgoing.flush, host.shared_snapshot, fair_turns, _is_call
        )
        """The messages that are handled in turns."""
        self._requests = HostRequests(connection, outgoing)
        self._listeners = ScriptListeners(
            host, caller_id, limits.listeners, self._requests, outgoing, log=log, on_dispatch=lambda: None
        )
        self._calls: ScriptCalls

    def start(self, calls: ScriptCalls) -> None:
        """Receive messages. `calls` calls the functions."""
        self._calls = calls
        self._connection.receiver = self.incoming
        self._connection.exited.add_done_callback(self._on_exit)

    def _handle(self, message: Any) -> None:
        match message:
            case [protocol.CALL, int(request_id), str(path), list(arguments)]:
                self._calls.call(request_id, path, arguments)
            case [protocol.LISTENER, str(path), int(listener_id), True, list(extra)]:
                self._listeners.add(path, listener_id, extra)
            case [protocol.LISTENER, str(_), int(listener_id), False]:
                self._listeners.remove(listener_id)
            case [protocol.RESPONSE, int(request_id), bool(ok), value]:
                self._requests.resolve(request_id, ok, value)
            case [protocol.CANCEL, int(request_id)]:
                self._calls.cancel(request_id)
            case _:
                raise ProtocolError(f"invalid message: {reprlib.repr(message)}")

    def _on_exit(self, _: asyncio.Future[Exit]) -> None:
        self._requests.fail_all()
        self._calls.cancel_all()
        self.incoming.clear()
        self._listeners.remove_all()


def _is_call(message: Any) -> bool:
    return type(message) is list and bool(message) and message[0] == protocol.CALL
