"""The WebSockets of pages, and the sessions that they open and resume."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import TypeAlias
from weakref import WeakValueDictionary

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from hatbox.errors import ProfileError
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.wire_frames import ProtocolError
from hatbox.tasks import Tasks
from hatbox.ui.access_keys import AccessKeys
from hatbox.ui.page_bridge import PageBridge
from hatbox.ui.page_frames import (
    Challenge,
    Hello,
    Welcome,
    decode_answer,
    decode_hello,
    encode_challenge,
    encode_numbered,
    encode_welcome,
)
from hatbox.ui.page_limits import PageLimits
from hatbox.ui.page_session import PageSession
from hatbox.ui.protocols import abort

__all__ = ["PageSockets"]

logger = logging.getLogger("hatbox.ui")

CreateBridge: TypeAlias = Callable[[PageSession, bool], Awaitable[PageBridge]]
"""Connects a session to the API. The flag is whether the page may repeat calls that it has sent to another server."""

_GOING_AWAY = 1001  # the close code of a page that is closed or reloaded
_INVALID = 1002
_TRY_LATER = 1013
_REFUSED = 4403  # the page has to be opened with a new link
_ACKNOWLEDGE_SECONDS = 0.05
_CHECK_SECONDS = 0.05
_CLOSE_SECONDS = 1.0


class PageSockets:
    """The sessions of all pages. `create_bridge` connects a session to the API; see ManagerServer."""

    def __init__(self, create_bridge: CreateBridge, limits: PageLimits) -> None:
        self._create_bridge = create_bridge
        self._limits = limits
        self._pages: dict[str, _Page] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by the id of the session
        self._opening = 0
        self._tasks = Tasks()
        self._is_accepting = False
        self._was_used = False
        self._last_use = 0.0
        self._used = asyncio.Event()

    @property
    def connected(self) -> int:
        """The number of connected pages."""
        return sum(page.socket is not None for page in self._pages.values())

    @property
    def sessions(self) -> int:
        """The number of sessions: of connected pages, and of those that may reconnect or finish their calls."""
        return len(self._pages)

    def accept(self) -> None:
        """Open sessions from now on, until `close`."""
        self._is_accepting = True

    def note_use(self) -> None:
        """A page was connected or closed, or is being loaded."""
        self._last_use = asyncio.get_running_loop().time()
        self._used.set()

    async def wait_until_unused(self, grace: float) -> None:
        """Wait until a page was open, and for `grace` seconds none is open or being loaded."""
        loop = asyncio.get_running_loop()
        while True:
            is_idle = self._was_used and not self._pages
            left = self._last_use + grace - loop.time() if is_idle else None
            if left is not None and left <= 0:
                return
            self._used.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._used.wait(), left)

    async def serve(self, websocket: WebSocket, keys: AccessKeys) -> None:
        """Serve a WebSocket with an accepted cookie until it is closed.

        The page must have the key of this server, or prove that it had its session before a restart.
        """
        await websocket.accept()
        try:
            hello = decode_hello(await self._receive(websocket))
            if not keys.is_page_key(hello.key) and not await self._is_proven(websocket, hello.session, keys):
                await _close(websocket, _REFUSED, "open the page with a new link")
                return
            page, welcome = await self._open(hello)
            secret = keys.session_secret(hello.session)
            welcome = msgspec.structs.replace(welcome, secret=secret, key=keys.page_key)
        except (WebSocketDisconnect, KeyError):  # KeyError: a binary message
            return
        except (TimeoutError, ProtocolError) as error:
            await _close(websocket, _INVALID, str(error))
            return
        except ProfileError as error:
            logger.warning("manager page: reading the earlier calls of a page failed: %s", error)
            await _close(websocket, _TRY_LATER, "the profile cannot be read")
            return
        if page is None:
            await _close(websocket, _TRY_LATER, "too many pages" if self._is_accepting else "the server is closing")
            return
        await page.serve(websocket, welcome)

    async def _receive(self, websocket: WebSocket) -> str:
        return await asyncio.wait_for(websocket.receive_text(), self._limits.request_timeout)

    async def _is_proven(self, websocket: WebSocket, session_id: str, keys: AccessKeys) -> bool:
        challenge = Challenge(secrets.token_hex(32))
        await websocket.send_text(encode_challenge(challenge))
        text = await self._receive(websocket)
        try:
            return keys.proves(session_id, challenge.challenge, decode_answer(text))
        except ProtocolError:  # a page that was reloaded sends its calls without waiting
            return False

    async def close(self) -> None:
        """End all sessions, and open no other one."""
        self._is_accepting = False
        for page in [*self._pages.values()]:
            page.session.end(Exit("stopped"))
        self._tasks.cancel()
        await self._tasks.wait()

    async def _open(self, hello: Hello) -> tuple[_Page | None, Welcome]:
        """Resume a session or create it. A page whose session exists does not wait until others are created."""
        if (resumed := self._resume(hello)) is not None:
            return resumed
        async with self._locks.setdefault(hello.session, asyncio.Lock()):
            if (resumed := self._resume(hello)) is not None:  # created meanwhile
                return resumed
            if not self._is_accepting or len(self._pages) + self._opening >= self._limits.pages:
                return None, Welcome(False, 0)
            self._opening += 1
            try:
                return await self._create(hello), Welcome(False, 0)
            finally:
                self._opening -= 1

    def _resume(self, hello: Hello) -> tuple[_Page, Welcome] | None:
        page = self._pages.get(hello.session)
        if page is None or not page.session.running:
            return None
        if hello.received > page.session.sent:  # frames of an earlier server: the welcome to this session was lost
            page.session.end(Exit("protocol", "the page has opened another session"))
            page.session.on_frame()
            return None
        page.session.acknowledge(hello.received)
        return page, Welcome(True, page.session.received)

    async def _create(self, hello: Hello) -> _Page | None:
        session = PageSession(hello.session, self._limits)
        bridge = await self._create_bridge(session, hello.calls > 0)
        if not self._is_accepting:  # any more
            session.end(Exit("stopped"))
            return None
        page = self._pages[hello.session] = _Page(session, bridge, self._limits, self._on_change)
        session.exited.add_done_callback(lambda _: self._remove(page))
        return page

    def _on_change(self, page: _Page) -> None:
        if page.socket is None and page.session.running:
            self._tasks.spawn(page.expire())
        self._was_used = True
        self.note_use()

    def _remove(self, page: _Page) -> None:
        if self._pages.get(page.session.id) is page:
            del self._pages[page.session.id]
        self.note_use()


class _Page:
    """A page: its session, and its current WebSocket."""

    def __init__(
        self, session: PageSession, bridge: PageBridge, limits: PageLimits, on_change: Callable[[_Page], None]
    ) -> None:
        self.session = session
        self.socket: WebSocket | None = None
        self._bridge = bridge
        self._limits = limits
        self._on_change = on_change
        self._is_closed = False

    async def serve(self, websocket: WebSocket, welcome: Welcome) -> None:
        """Serve a WebSocket, in place of an earlier one of the same page."""
        before, self.socket = self.socket, websocket
        self._is_closed = False
        if before is not None:
            await _close(before, _TRY_LATER, "the page has connected again")
        self._on_change(self)
        wake = asyncio.Event()
        self.session.on_frame = wake.set
        writer = asyncio.ensure_future(self._write(websocket, welcome, wake))
        try:
            code = await self._read(websocket)
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        reason = "" if self.session.running else str(self.session.exited.result())
        await _close(websocket, _INVALID if reason else _TRY_LATER, reason)
        if self.socket is websocket:
            self.socket = None
            self._is_closed = code == _GOING_AWAY
            self._on_change(self)

    async def expire(self) -> None:
        """End the session when its page is closed and its calls are done, or if it does not reconnect."""
        loop = asyncio.get_running_loop()
        is_closed = self._is_closed
        deadline = loop.time() + (self._limits.closing_timeout if is_closed else self._limits.resume_timeout)
        while self.socket is None and self.session.running:
            if loop.time() >= deadline or (is_closed and not self._bridge.is_busy):
                self.session.end(Exit("exited", "the page was closed" if is_closed else "the page was lost"))
                return
            await asyncio.sleep(_CHECK_SECONDS if is_closed else min(1.0, deadline - loop.time()))

    async def _read(self, websocket: WebSocket) -> int:
        """Read until the connection is closed; returns the close code."""
        while self.session.running and self.socket is websocket:
            await self.session.wait_until_readable()
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                return int(message.get("code") or 0)
            text = message.get("text")
            if text is None:
                self.session.end(Exit("protocol", "a binary message"))
            elif self.socket is websocket:
                self.session.handle(text)
        return 0

    async def _write(self, websocket: WebSocket, welcome: Welcome, wake: asyncio.Event) -> None:
        """Send what waits for the page, until cancelled. A page that does not read loses its connection."""
        number = 0  # of the last frame that was sent here
        acknowledged = welcome.received
        try:
            await self._send(websocket, encode_welcome(welcome))
            while self.session.running:
                wake.clear()
                while frames := self.session.frames_after(number):
                    for each, text in frames:
                        number, acknowledged = each, self.session.received
                        await self._send(websocket, text)
                try:
                    late = None if acknowledged == self.session.received else _ACKNOWLEDGE_SECONDS
                    await asyncio.wait_for(wake.wait(), late)
                except TimeoutError:
                    acknowledged = self.session.received
                    await self._send(websocket, encode_numbered(0, acknowledged, "[]"))
            await _close(websocket, _INVALID, str(self.session.exited.result()))
        except TimeoutError:
            logger.warning("manager page: it read nothing for %g s", self._limits.send_timeout)
            abort(websocket)
        except (WebSocketDisconnect, RuntimeError, OSError):
            pass  # closed by the page: the reader handles it

    async def _send(self, websocket: WebSocket, text: str) -> None:
        await asyncio.wait_for(websocket.send_text(text), self._limits.send_timeout)


async def _close(websocket: WebSocket, code: int, reason: str) -> None:
    if websocket.application_state is WebSocketState.CONNECTED:
        with contextlib.suppress(TimeoutError, RuntimeError, WebSocketDisconnect, OSError):
            await asyncio.wait_for(websocket.close(code, reason[:100]), _CLOSE_SECONDS)
