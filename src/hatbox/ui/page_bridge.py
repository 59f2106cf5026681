"""The host side of the bridge for one page: calls and listeners, with the parts that extensions use.

A page runs no scripts of a package and has its own storage and network, so other messages end its session. Knows no
namespace by name.
"""

from __future__ import annotations

import asyncio
import logging
import reprlib
from collections.abc import Collection
from typing import Any

from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.fair_turns import FairTurns
from hatbox.extensions.runtime.host import Host, LogEntry
from hatbox.extensions.runtime.host_requests import HostRequests
from hatbox.extensions.runtime.incoming_messages import IncomingMessages
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.script_listeners import ScriptListeners
from hatbox.extensions.runtime.wire_frames import ProtocolError
from hatbox.ui.page_calls import PageCalls
from hatbox.ui.page_limits import PageLimits
from hatbox.ui.page_messages import PageMessages
from hatbox.ui.page_session import PageSession

__all__ = ["PageBridge"]

logger = logging.getLogger("hatbox.ui")


class PageBridge:
    """Passes the messages of a session to a host until the session ends. `done`: see PageCalls."""

    def __init__(
        self, host: Host, session: PageSession, caller_id: str, limits: PageLimits, done: Collection[int] = ()
    ) -> None:
        self._session = session
        bounds = RuntimeLimits(frame=limits.text, calls=limits.calls, listeners=limits.listeners)
        outgoing = PageMessages(session, limits.results)
        turns = FairTurns.of_loop().of_extension(f"{caller_id} {session.id}")
        self._incoming = IncomingMessages(
            session, bounds, self._handle, outgoing.flush, host.shared_snapshot, turns, _is_call
        )
        self._requests = HostRequests(session, outgoing)
        self._calls = PageCalls(host, caller_id, bounds, session, outgoing, self._incoming, done)
        self._listeners = ScriptListeners(
            host, caller_id, bounds.listeners, self._requests, outgoing, log=_log, on_dispatch=lambda: None
        )
        session.receiver = self._incoming
        session.exited.add_done_callback(self._on_exit)

    @property
    def is_busy(self) -> bool:
        """Whether calls of the page have no result yet."""
        return self._incoming.is_behind or len(self._calls) > 0

    def take_records(self) -> list[int]:
        """The ids of calls whose results the page has: see hatbox.store.recorded_calls."""
        return self._calls.take_records()

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
        self._incoming.clear()
        self._listeners.remove_all()


def _is_call(message: Any) -> bool:
    return type(message) is list and bool(message) and message[0] == protocol.CALL


def _log(entry: LogEntry) -> None:
    logger.warning("manager page: %s", entry)
