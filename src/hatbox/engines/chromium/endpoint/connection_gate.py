"""Which connections an endpoint accepts: those of this user, few at a time until they have sent a valid token.

A connection that is closed ends soon, also if its client does not read: it would take the place of another one.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from typing import Any, Final, cast

from websockets.asyncio.server import ServerConnection

from hatbox.loopback.peer_user import UserCheck, can_check_users

__all__ = ["CLOSE_SECONDS", "MAX_WAITING", "ConnectionGate", "GuardedConnection"]

CLOSE_SECONDS: Final = 0.5
"""From the start of the closing handshake until the connection is aborted."""
MAX_WAITING: Final = 64
"""The connections without a valid token at a time."""
_MAX_CHECKS: Final = 4
_WRONG_SECONDS: Final = 0.1

logger = logging.getLogger("hatbox.engines.chromium.endpoint")


class ConnectionGate:
    """Checks the connections to one endpoint. `is_of_user` gets the ports of the client and of the server."""

    def __init__(self, is_of_user: Callable[[int, int], bool] | None = None) -> None:
        self._is_of_user = is_of_user
        self._open: set[GuardedConnection] = set()
        self._waiting: set[ServerConnection] = set()
        self._checks = asyncio.Semaphore(_MAX_CHECKS)

    @classmethod
    def for_this_user(cls) -> ConnectionGate:
        """Refuse other users, where the system names them."""
        if can_check_users():
            return cls(UserCheck().accepts)
        if sys.platform == "linux":
            logger.warning("endpoint: the tables of sockets in /proc are empty, so other users are not recognized")
        return cls()

    @property
    def checks_users(self) -> bool:
        """Whether connections of other users are refused."""
        return self._is_of_user is not None

    def admits(self, connection: GuardedConnection, transport: asyncio.Transport) -> bool:
        """Whether to read from a new connection."""
        client, server = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        if client is None or server is None:  # closed again
            return False
        if len(self._waiting) >= MAX_WAITING:
            logger.warning("endpoint: more than %d connections without a valid token", MAX_WAITING)
            return False
        if self._is_of_user is not None and not self._is_of_user(client[1], server[1]):
            logger.warning("endpoint: refused a connection that is not of this user, or closed again")
            return False
        self._open.add(connection)
        self._waiting.add(connection)
        return True

    def settle(self, connection: ServerConnection) -> None:
        """The connection has a valid token."""
        self._waiting.discard(connection)

    def remove(self, connection: GuardedConnection) -> None:
        """The connection is closed."""
        self._open.discard(connection)
        self._waiting.discard(connection)

    def close(self) -> None:
        """The endpoint is closed: its connections end soon, in whatever state they are."""
        for each in self._open:
            each.abort_soon()

    async def check(self, authorize: Callable[[], Any]) -> Any:
        """The result of a check of a token. A wrong one takes long, so that few can be guessed; others wait in turn."""
        async with self._checks:
            found = await authorize()
            if found is None:
                await asyncio.sleep(_WRONG_SECONDS)
            return found


class GuardedConnection(ServerConnection):
    """A connection that is closed at once if the gate does not admit it. Closing it takes at most CLOSE_SECONDS."""

    def __init__(self, gate: ConnectionGate, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._gate = gate

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        super().connection_made(transport)
        stream = cast(asyncio.Transport, transport)
        if not self._gate.admits(self, stream):
            stream.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._gate.remove(self)
        super().connection_lost(exc)

    async def close(self, *arguments: Any, **options: Any) -> None:
        """See ServerConnection. That waits for a client that does not read, before its time limit starts."""
        self.abort_soon()
        await super().close(*arguments, **options)

    def abort_soon(self) -> None:
        """End the connection after CLOSE_SECONDS, unless it has ended before."""
        self.loop.call_later(CLOSE_SECONDS, self.transport.abort)
