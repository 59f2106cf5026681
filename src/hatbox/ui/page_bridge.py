"""The host side of the bridge for one page: calls and listeners, with the parts that extensions use.

A page runs no scripts of a package and has its own storage and network, so other messages end its session. Knows no
namespace by name.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from hatbox.extensions.runtime.call_bridge import CallBridge
from hatbox.extensions.runtime.host import Host, LogEntry
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.ui.lasting_calls import LastingCalls
from hatbox.ui.page_calls import PageCalls
from hatbox.ui.page_limits import PageLimits
from hatbox.ui.page_messages import PageMessages
from hatbox.ui.page_session import PageSession

__all__ = ["PageBridge"]

logger = logging.getLogger("hatbox.ui")


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
        outgoing = PageMessages(session, limits.results)
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
