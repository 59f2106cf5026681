"""The host side of the bridge for one page: calls and listeners, with the parts that extensions use.

A page runs no scripts of a package and has its own storage and network, so other messages end its session. Knows no
namespace by name.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any, Final

from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.call_bridge import CallBridge
from hatbox.extensions.runtime.host import Host, LogEntry
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.outgoing_messages import OutgoingMessages
from hatbox.extensions.runtime.wire_frames import encode_frame
from hatbox.ui.lasting_calls import LastingCalls
from hatbox.ui.page_calls import PageCalls
from hatbox.ui.page_limits import PageLimits
from hatbox.ui.page_session import PageSession

__all__ = ["PageBridge"]

logger = logging.getLogger("hatbox.ui")
_MIB: Final = 1 << 20
_SMALL_PART: Final = 16  # of the limit: smaller results are never refused


class PageBridge:
    """Passes the messages of a session to a host until the session ends. `lasting`, `done`: see PageCalls."""

    def __init__(
        self,
        host: Host,
        session: PageSession,
        caller_id: str,
        limits: PageLimits,
        lasting: LastingCalls,
        done: Collection[int] = (),
    ) -> None:
        bounds = RuntimeLimits(frame=limits.text, calls=limits.calls, listeners=limits.listeners)
        outgoing = _PageMessages(session, limits.results)
        self._bridge = CallBridge(host, session, caller_id, bounds, outgoing, log=_log, turns=session.id)
        self._calls = PageCalls(host, caller_id, bounds, session, outgoing, self._bridge.incoming, done, lasting)
        self._bridge.start(self._calls)

    @property
    def is_busy(self) -> bool:
        """Whether calls of the page have no result yet."""
        return self._bridge.incoming.is_behind or len(self._calls) > 0

    def take_records(self) -> list[int]:
        """The ids of calls whose results the page has: see hatbox.store.recorded_calls."""
        return self._calls.take_records()


def _log(entry: LogEntry) -> None:
    logger.warning("manager page: %s", entry)


class _PageMessages(OutgoingMessages):
    """See OutgoingMessages. `limit` is for the bytes of results that the page has not acknowledged.

    A result that is too large becomes an error of its call. Otherwise the session would end, the page would open
    another one and send the call again, and so on.
    """

    def __init__(self, session: PageSession, limit: int) -> None:
        super().__init__(session)
        self._session = session
        self._limit = limit

    def _limited(self, messages: list[list[Any]], frame: bytes) -> bytes:
        room = self._limit - self._session.unacknowledged_bytes
        if len(frame) <= max(room, self._limit // _SMALL_PART):
            return frame
        limited = []
        for message in messages:
            size = len(encode_frame([message]))
            if message[0] == protocol.RESULT and size > self._limit // _SMALL_PART and size > room:
                limited.append([protocol.RESULT, message[1], False, _too_large(size)])
            else:
                room -= size
                limited.append(message)
        return encode_frame(limited)


def _too_large(size: int) -> str:
    return (
        f"The result has {max(1, round(size / _MIB))} MB, which is too large for this page. "
        "Use the command line for it, such as `hatbox export`."
    )
