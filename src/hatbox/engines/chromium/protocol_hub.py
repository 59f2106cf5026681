"""A CDP connection beside Playwright's, that attaches to each page and frame before its first script runs.

Playwright forwards no messages of sessions that it did not create, and Chromium auto-attaches to pages only with such
sessions. So a hidden page has a connection of its own (Target.exposeDevToolsProtocol), and protocol_hub.js runs in it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from importlib.resources import files
from typing import Any, Final, Protocol

import msgspec
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.hidden_target import HiddenTarget
from hatbox.engines.chromium.launch import Launched
from hatbox.engines.chromium.sessions import within

__all__ = ["HubDelegate", "HubSession", "ProtocolHub"]

logger = logging.getLogger("hatbox.engines.chromium")

_SCRIPT: Final = files(__package__).joinpath("protocol_hub.js").read_text("utf-8")
_BINDING: Final = "hatboxReport"
_CONNECTION: Final = "hatboxConnection"
_START: Final = f"globalThis.hatboxHub = ({_SCRIPT})({_CONNECTION}, {_BINDING}); 0"
_LOST: Final = "the connection with the page was lost"


class HubSession:
    """The session of one page or out-of-process frame."""

    def __init__(self, hub: ProtocolHub, session_id: str, info: dict[str, Any], parent_id: str | None) -> None:
        self.id = session_id
        self.parent_id = parent_id
        """The session of the page or frame that contains it; None for pages."""
        self.target_id: str = info["targetId"]
        """The id of its topmost frame, too."""
        self.context_id: str = info.get("browserContextId", "")
        self.opener_id: str | None = info.get("openerId")
        self.parent_frame_id: str | None = info.get("parentFrameId")
        self.url: str = info["url"]
        self._hub = hub

    def send(self, method: str, params: dict[str, Any] | None = None) -> asyncio.Future[dict[str, Any]]:
        """Send a command now; the future of its result. Fails with Playwright's Error."""
        return self._hub.send(self.id, method, params or {})


class HubDelegate(Protocol):
    """Receives the sessions and events of pages and frames. All calls are synchronous and in the order of CDP."""

    def session_attached(self, session: HubSession) -> None:
        """A page or frame is attached."""

    def session_detached(self, session: HubSession) -> None:
        """The page or frame was closed, or the frame is in another process now."""

    def session_event(self, session: HubSession, name: str, params: dict[str, Any]) -> None:
        """An event of a session; `Page.frameTree` has the frames of a page that existed before."""

    def hub_lost(self) -> None:
        """The connection has ended: the browser is closed, or the hidden page has crashed."""


class ProtocolHub:
    """The connection. Pages of contexts that were not added get no scripts."""

    def __init__(self, page: HiddenTarget, delegate: HubDelegate) -> None:
        self.sessions: dict[str, HubSession] = {}
        """The sessions by id."""
        self._page = page
        self._delegate = delegate
        self._numbers = itertools.count(1)
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._sent: dict[str, set[asyncio.Future[dict[str, Any]]]] = {}  # commands without a reply, by session
        self._queue: list[str] = []
        self._flush: asyncio.Handle | None = None
        self._closing: asyncio.Future[None] | None = None
        self._is_lost = False

    @classmethod
    async def open(cls, launched: Launched, delegate: HubDelegate) -> ProtocolHub:
        """Connect, and attach to all pages. Raises Playwright's Error."""
        hub = cls(await HiddenTarget.open(launched.browser), delegate)
        try:
            await within(hub._start(), "Target.exposeDevToolsProtocol")
        except BaseException:
            hub.close()
            raise
        return hub

    def add_context(self, context_id: str, cookie_store_id: str) -> None:
        """Add scripts to the pages of a browser context, open ones included: to documents that they load next."""
        self._post("context", context_id, cookie_store_id)

    def add_binding(self, name: str, world: str, on_reused: str) -> None:
        """Add a binding to the worlds of this name.

        `on_reused` is evaluated in such a world when a new document has the window of the empty one before it.
        """
        self._post("binding", name, world, on_reused)

    def remove_binding(self, name: str) -> None:
        """Remove a binding from new documents, and receive no more calls of it from open ones."""
        self._post("unbind", name)

    def embed(self, frame_id: str, binding: str, source: str, origin: str) -> None:
        """Add a binding and a script to the main world of the documents that a frame in a process of its own loads.

        The frame may be attached later. The script must remove the binding from documents that it is not meant for.
        Calls of documents that are not of `origin` are dropped, and both are removed when the frame shows another one.
        """
        self._post("embed", frame_id, binding, source, origin)

    def set_script(self, key: str, source: str, world: str | None) -> None:
        """Run a script in each new document, in the world of this name or the main world. Replaces that of the key.

        %COOKIE_STORE_ID% in the source is replaced by that of the page.
        """
        self._post("script", key, source, world)

    def remove_script(self, key: str) -> None:
        """Remove the script of a key from later documents."""
        self._post("remove", key)

    async def wait_until_ready(self, frame_id: str | None = None) -> None:
        """Wait until changes made so far are applied in all pages that are open, or in the session of one frame."""
        number, reply = self._expect_reply()
        self._post("wait", number, frame_id)
        await within(reply, "Page.addScriptToEvaluateOnNewDocument")

    def send(self, session_id: str, method: str, params: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        """Send a command to a session; the future of its result. Fails with Playwright's Error."""
        number, reply = self._expect_reply()
        reply.add_done_callback(_retrieve_exception)  # the result may not be awaited
        if session_id in self.sessions:
            self._sent.setdefault(session_id, set()).add(reply)
            reply.add_done_callback(lambda _: self._sent.get(session_id, set()).discard(reply))
            self._post("send", number, session_id, method, params)
        elif not reply.done():
            reply.set_exception(PlaywrightError(_LOST))
        return reply

    def close(self) -> None:
        """End the connection, which removes the scripts from later documents."""
        if not self._is_lost:
            self._lose()
            self._closing = asyncio.ensure_future(self._page.close())

    async def _start(self) -> None:
        self._page.on("Runtime.bindingCalled", self._on_reports)
        self._page.on("Inspector.targetCrashed", self._on_crash)
        self._page.on("Target.detachedFromTarget", lambda _: self._lose())
        await self._page.expose_protocol(_CONNECTION)
        await self._page.send("Runtime.enable")
        await self._page.send("Runtime.addBinding", {"name": _BINDING})
        started = self._replies[0] = asyncio.get_running_loop().create_future()
        self._run(_START)
        await started

    def _post(self, name: str, *arguments: Any) -> None:
        text = msgspec.json.encode([name, arguments]).decode()
        self._queue.append(f"hatboxHub(...JSON.parse({json.dumps(text)}))")
        if self._flush is None:
            self._flush = asyncio.get_running_loop().call_soon(self._send_queue)

    def _send_queue(self) -> None:
        """Send all commands of this turn of the event loop in one message."""
        self._flush = None
        expression = ";".join(self._queue)
        self._queue.clear()
        if not self._is_lost:
            self._run(expression)

    def _run(self, expression: str) -> None:
        self._page.send("Runtime.evaluate", {"expression": expression}).add_done_callback(_log_failure)

    def _expect_reply(self) -> tuple[int, asyncio.Future[dict[str, Any]]]:
        number = next(self._numbers)
        reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if self._is_lost:
            reply.set_exception(PlaywrightError(_LOST))
        else:
            self._replies[number] = reply
            reply.add_done_callback(lambda _: self._replies.pop(number, None))
        return number, reply

    def _on_reports(self, event: dict[str, Any]) -> None:
        if event["name"] == _BINDING:
            for report in msgspec.json.decode(event["payload"]):
                self._on_report(report)

    def _on_crash(self, _: dict[str, Any]) -> None:
        logger.error("content scripts: the hidden page of the CDP connection has crashed")
        self._lose()

    def _on_report(self, report: list[Any]) -> None:
        match report:
            case ["event", session_id, name, params] if session := self.sessions.get(session_id):
                self._delegate.session_event(session, name, params)
            case ["reply", number, error, result] if (reply := self._replies.get(number)) and not reply.done():
                if error is None:
                    reply.set_result(result)
                else:
                    reply.set_exception(PlaywrightError(error))
            case ["attached", session_id, info, parent_id]:
                session = self.sessions[session_id] = HubSession(self, session_id, info, parent_id)
                self._delegate.session_attached(session)
            case ["detached", session_id] if session := self.sessions.pop(session_id, None):
                self._end(session)

    def _end(self, session: HubSession) -> None:
        """Chromium does not reply to commands of a closed session."""
        for reply in self._sent.pop(session.id, ()):
            if not reply.done():
                reply.set_exception(PlaywrightError(_LOST))
        self._delegate.session_detached(session)

    def _lose(self) -> None:
        if self._is_lost:
            return
        self._is_lost = True
        for reply in [*self._replies.values()]:
            if not reply.done():
                reply.set_exception(PlaywrightError(_LOST))
                reply.exception()
        sessions, self.sessions = self.sessions, {}
        for session in sessions.values():
            self._end(session)
        self._delegate.hub_lost()


def _retrieve_exception(reply: asyncio.Future[Any]) -> None:
    if not reply.cancelled():
        reply.exception()


def _log_failure(evaluated: asyncio.Future[dict[str, Any]]) -> None:
    """An exception of CDP itself is reported as detached."""
    if evaluated.cancelled() or evaluated.exception() is not None:
        return
    if details := evaluated.result().get("exceptionDetails"):
        logger.error("content scripts: protocol_hub.js failed: %s", details)
