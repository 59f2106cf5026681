"""Connections to Chromium beside Playwright's, tunneled through one of Playwright's browser sessions.

A session that is attached to the browser target without `flatten` is a complete connection of its own: Chromium
separates its auto-attach, sessions and overrides from those of others, and ends all of it with the session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from playwright.async_api import Browser

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.sessions import Session

__all__ = ["ProtocolTunnel", "ProtocolTunnels"]

_MAX_UNSENT: Final = 64
_MAX_UNSENT_SIZE: Final = 16 * 2**20  # characters


class ProtocolTunnel:
    """One connection. `on_message` gets each message of Chromium, `on_closed` is called once."""

    def __init__(
        self, session: Session, session_id: str, on_message: Callable[[str], None], on_closed: Callable[[], None]
    ) -> None:
        self.session_id = session_id
        self.on_message = on_message
        self._session = session
        self._on_closed: Callable[[], None] | None = on_closed
        self._sending: dict[asyncio.Future[Any], int] = {}  # with the size of the message

    def send(self, message: str) -> None:
        """Send a message. Messages are sent in order. After the end, nothing is sent."""
        if self._on_closed is not None:
            self._start("Target.sendMessageToTarget", {"sessionId": self.session_id, "message": message})

    async def drain(self) -> None:
        """Wait until few messages are unsent: a client that floods waits here."""
        while len(self._sending) > _MAX_UNSENT or sum(self._sending.values()) > _MAX_UNSENT_SIZE:
            await asyncio.wait(self._sending, return_when=asyncio.FIRST_COMPLETED)

    def close(self) -> None:
        """End the connection with all that it has changed in pages. Closing twice has no effect."""
        if self._on_closed is not None:
            self.lost()
            self._start("Target.detachFromTarget", {"sessionId": self.session_id})

    def lost(self) -> None:
        """The connection has ended."""
        on_closed, self._on_closed = self._on_closed, None
        if on_closed is not None:
            on_closed()

    def _start(self, method: str, params: dict[str, Any]) -> None:
        sending = asyncio.ensure_future(self._session.send_without_limit(method, params))  # a client may flood
        self._sending[sending] = len(params.get("message", ""))
        sending.add_done_callback(self._on_sent)

    def _on_sent(self, sending: asyncio.Future[Any]) -> None:
        self._sending.pop(sending, None)
        if not sending.cancelled() and sending.exception() is not None:
            self.lost()  # the browser or the session has ended


class ProtocolTunnels:
    """All tunnels of one browser. They share one session of Playwright, which is not the engine's own."""

    def __init__(self, browser: Browser, session: Session, target_id: str) -> None:
        self._session = session
        self._target_id = target_id
        self._tunnels: dict[str, ProtocolTunnel] = {}
        session.on("Target.receivedMessageFromTarget", log_exceptions(self._on_message))
        session.on("Target.detachedFromTarget", log_exceptions(self._on_detached))
        browser.on("disconnected", log_exceptions(lambda _: self._lose_all()))

    @classmethod
    async def open(cls, browser: Browser) -> ProtocolTunnels:
        """Raises Playwright's Error."""
        session = await Session.of_browser(browser)
        info = await session.send("Target.getTargetInfo")
        return cls(browser, session, info["targetInfo"]["targetId"])

    async def connect(self, on_message: Callable[[str], None], on_closed: Callable[[], None]) -> ProtocolTunnel:
        """A new connection. Raises Playwright's Error."""
        params = {"targetId": self._target_id, "flatten": False}
        attached = await self._session.send("Target.attachToTarget", params)
        tunnel = ProtocolTunnel(self._session, attached["sessionId"], on_message, on_closed)
        self._tunnels[tunnel.session_id] = tunnel
        return tunnel

    def disconnect(self, tunnel: ProtocolTunnel) -> None:
        """Close a tunnel."""
        self._tunnels.pop(tunnel.session_id, None)
        tunnel.close()

    async def close(self) -> None:
        """Close all tunnels and the session."""
        for tunnel in [*self._tunnels.values()]:
            self.disconnect(tunnel)
        await self._session.detach()

    def _on_message(self, event: dict[str, Any]) -> None:
        if tunnel := self._tunnels.get(event["sessionId"]):
            tunnel.on_message(event["message"])

    def _on_detached(self, event: dict[str, Any]) -> None:
        if tunnel := self._tunnels.pop(event["sessionId"], None):
            tunnel.lost()

    def _lose_all(self) -> None:
        tunnels, self._tunnels = self._tunnels, {}
        for tunnel in tunnels.values():
            tunnel.lost()
