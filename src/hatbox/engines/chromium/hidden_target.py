"""A document that no window shows (Target.createTarget with `hidden`), and a CDP session with it.

Playwright has no sessions for hidden targets, so messages are tunneled (Target.sendMessageToTarget). The target ends
with its browser-level session, and with the browser.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from typing import Any, Final

import msgspec
from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.sessions import Session

__all__ = ["HiddenTarget"]

_ENDED: Final = "the hidden page has ended"
_CLOSE_TIMEOUT: Final = 5.0


class HiddenTarget:
    """A hidden document, and the CDP session with it."""

    def __init__(self, session: Session, target_id: str, session_id: str) -> None:
        self.id = target_id
        """The target id, which is the id of the main frame too."""
        self._session = session
        self._session_id = session_id
        self._numbers = itertools.count(1)
        self._replies: dict[int, asyncio.Future[Any]] = {}
        self._sending: set[asyncio.Task[Any]] = set()
        self._listeners: dict[str, list[Callable[[dict[str, Any]], None]]] = {}
        self.is_open = True
        session.on("Target.receivedMessageFromTarget", log_exceptions(self._on_message))
        session.on("Target.detachedFromTarget", log_exceptions(self._on_detached))
        session.on("close", log_exceptions(lambda _: self._end()))  # with the browser

    @classmethod
    async def open(cls, browser: Browser | None, context_id: str | None = None) -> HiddenTarget:
        """Open a blank hidden document, by default in a browser context of its own. Raises a Playwright Error."""
        if browser is None:
            raise PlaywrightError("the browser is closed")
        session = await Session.of_browser(browser)
        try:
            target = await _create(session, context_id)
            attached = await session.send("Target.attachToTarget", {**target, "flatten": False})
        except BaseException:
            await session.detach()
            raise
        return cls(session, target["targetId"], attached["sessionId"])

    async def expose_protocol(self, binding: str) -> None:
        """Give the scripts of the document a CDP connection with the whole browser, as a global of this name."""
        params = {"targetId": self.id, "bindingName": binding}
        await self._session.send("Target.exposeDevToolsProtocol", params)

    def send(self, method: str, params: dict[str, Any] | None = None) -> asyncio.Future[Any]:
        """Send a command now; the future of its result. Fails with Playwright's Error."""
        number = next(self._numbers)
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        reply.add_done_callback(_retrieve_exception)  # the result may not be awaited
        if not self.is_open:
            reply.set_exception(PlaywrightError(_ENDED))
            return reply
        self._replies[number] = reply
        message = msgspec.json.encode({"id": number, "method": method, "params": params or {}}).decode()
        tunneled = {"sessionId": self._session_id, "message": message}
        task = asyncio.ensure_future(self._session.send("Target.sendMessageToTarget", tunneled))
        self._sending.add(task)
        task.add_done_callback(lambda done: self._on_sent(number, done))
        return reply

    def on(self, event: str, listener: Callable[[dict[str, Any]], None]) -> None:
        """Call the listener for each event of this name. `Target.detachedFromTarget` is the last one."""
        self._listeners.setdefault(event, []).append(listener)

    async def close(self) -> None:
        """Close the document, also if its scripts do not respond. May be called twice."""
        if self.is_open:
            with contextlib.suppress(PlaywrightError):
                await self._session.send("Target.closeTarget", {"targetId": self.id}, _CLOSE_TIMEOUT)
            self._end()
        await self._session.detach()

    def _on_sent(self, number: int, done: asyncio.Task[Any]) -> None:
        self._sending.discard(done)
        if done.cancelled() or done.exception() is None:
            return
        if (reply := self._replies.pop(number, None)) is not None and not reply.done():
            reply.set_exception(PlaywrightError(_ENDED))

    def _on_message(self, event: dict[str, Any]) -> None:
        if event["sessionId"] != self._session_id:
            return
        message = msgspec.json.decode(event["message"])
        if "method" in message:
            for listener in tuple(self._listeners.get(message["method"], ())):
                log_exceptions(listener)(message["params"])
        elif (reply := self._replies.pop(message["id"], None)) is not None and not reply.done():
            if "error" in message:
                reply.set_exception(PlaywrightError(message["error"]["message"]))
            else:
                reply.set_result(message["result"])

    def _on_detached(self, event: dict[str, Any]) -> None:
        if event["sessionId"] == self._session_id:
            self._end()

    def _end(self) -> None:
        if not self.is_open:
            return
        self.is_open = False
        replies, self._replies = self._replies, {}
        for reply in replies.values():
            if not reply.done():
                reply.set_exception(PlaywrightError(_ENDED))
        for listener in self._listeners.get("Target.detachedFromTarget", ()):
            listener({"sessionId": self._session_id})


async def _create(session: Session, context_id: str | None) -> Any:
    """Create the target. Chromium creates the first hidden one only while a page is open."""
    own = {"browserContextId": context_id}
    if context_id is None:
        own = await session.send("Target.createBrowserContext", {"disposeOnDetach": True})
    hidden = {"url": "about:blank", "hidden": True, **own}
    with contextlib.suppress(PlaywrightError):
        return await session.send("Target.createTarget", hidden)
    other = await session.send("Target.createBrowserContext", {"disposeOnDetach": True})
    await session.send("Target.createTarget", {"url": "about:blank", **other})
    try:
        return await session.send("Target.createTarget", hidden)
    finally:
        await session.send("Target.disposeBrowserContext", other)


def _retrieve_exception(reply: asyncio.Future[Any]) -> None:
    if not reply.cancelled():
        reply.exception()
