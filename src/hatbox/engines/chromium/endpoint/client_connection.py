"""One client of an endpoint: carries messages between its WebSocket, its filter and its tunnel to Chromium."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from hatbox.engines.chromium.endpoint.authorization import Authorization
from hatbox.engines.chromium.endpoint.client_activity import CONNECT
from hatbox.engines.chromium.endpoint.client_files import ClientFiles
from hatbox.engines.chromium.endpoint.client_filter import ClientFilter
from hatbox.engines.chromium.endpoint.connection_gate import CLOSE_SECONDS
from hatbox.engines.chromium.endpoint.download_reports import DownloadReport
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.endpoint.messages import (
    ClientAction,
    CompileScript,
    CookiesChanged,
    EndConnection,
    Output,
    PageCreation,
    PageDriven,
    ToBrowser,
    ToClient,
)
from hatbox.engines.chromium.endpoint.protocol_tunnel import ProtocolTunnel, ProtocolTunnels
from hatbox.engines.chromium.endpoint.script_compiler import ScriptCompiler
from hatbox.engines.chromium.identity_context import IdentityContext
from hatbox.engines.endpoint_options import NO_OPTIONS, EndpointOptions

__all__ = ["ClientConnection"]

logger = logging.getLogger("hatbox.engines.chromium.endpoint")

_NORMAL: Final = 1000
_REFUSED: Final = 1008
_TOO_SLOW: Final = EndConnection("the client reads too slowly")
_UNREADABLE: Final = (msgspec.DecodeError, RecursionError, AttributeError, LookupError, TypeError)
_MAX_UNREAD: Final = 128 * 2**20  # characters
_LONG_SECONDS: Final = 0.002  # for a message


class ClientConnection:
    """A client that is connected to the context of an identity. `run` returns when the connection has ended."""

    def __init__(
        self,
        socket: ServerConnection,
        context: IdentityContext,
        pages: EndpointPages,
        compiler: ScriptCompiler,
        page_id: str = "",
        options: EndpointOptions = NO_OPTIONS,
    ) -> None:
        self._socket = socket
        self._context = context
        self._pages = pages
        self._compiler = compiler
        self._compiling: asyncio.Task[None] | None = None
        self._files = ClientFiles(options)
        self._filter = ClientFilter(context.context_id, page_id, has_windows=context.has_windows, files=self._files)
        self._tunnel: ProtocolTunnel | None = None
        self._record: Callable[[str, str], None] | None = None
        self._on_opened: Callable[[str], None] = lambda _: None
        self._end: asyncio.Future[EndConnection] = asyncio.get_running_loop().create_future()
        self._unread: deque[str] = deque()
        self._unread_size = 0
        self._can_write = asyncio.Event()
        self._creating = 0
        self._resume: asyncio.TimerHandle | None = None

    async def run(self, tunnels: ProtocolTunnels, authorization: Authorization) -> None:
        """Serve the client until it leaves, or its authorization or the context ends. Raises Playwright's Error."""
        self._record = authorization.record
        self._record(CONNECT, "")
        self._on_opened = lambda target_id: self._pages.opened(target_id, authorization, self._files)
        self._tunnel = await tunnels.connect(self._on_browser_message, lambda: self.end("the browser has ended"))
        self._pages.subscribe(self._on_withheld)
        self._pages.download_listeners.append(self._on_download)
        for target_id in self._pages.withheld:
            self._perform(self._filter.withhold(target_id))
        self._perform(self._filter.start())
        tasks = [
            asyncio.ensure_future(work)
            for work in (self._read(), self._write(), self._wait_for(authorization), self._wait_for_context())
        ]
        try:
            ended = await self._end
        finally:
            self._stop(tunnels)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if not ended.is_failure:
            with contextlib.suppress(TimeoutError):  # the client does not read
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._flush()
        await self._socket.close(_REFUSED if ended.is_failure else _NORMAL, ended.reason)

    def end(self, reason: str) -> None:
        """End the connection: nothing is sent or received from now on."""
        self._finish(EndConnection(reason))

    def _finish(self, ended: EndConnection) -> None:
        if not self._end.done():
            self._end.set_result(ended)

    def _stop(self, tunnels: ProtocolTunnels) -> None:
        self._pages.unsubscribe(self._on_withheld)
        self._pages.download_listeners.remove(self._on_download)
        if self._resume is not None:
            self._resume.cancel()
        if self._tunnel is not None:
            tunnels.disconnect(self._tunnel)
        while self._creating:
            self._set_creating(is_pending=False)

    # -------------------------------------------------------------------------------------------------------- messages

    async def _read(self) -> None:
        try:
            async for message in self._socket:
                if self._end.done():
                    return
                started = time.perf_counter()
                if isinstance(message, str):
                    self._perform(self._filter.from_client(message))
                used = time.perf_counter() - started
                while self._compiling is not None:
                    await asyncio.wait([self._compiling])
                if self._tunnel is not None:
                    await self._tunnel.drain()
                # Other work of the engine has its turn between the messages of a flood, and after long ones.
                await asyncio.sleep(0 if used < _LONG_SECONDS else used)
        except ConnectionClosed:
            pass
        except Exception:
            logger.exception("endpoint: filtering a message of a client failed")
        self._finish(EndConnection("the client has left", is_failure=False))

    async def _write(self) -> None:
        while True:
            await self._can_write.wait()
            self._can_write.clear()
            await self._flush()

    async def _flush(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while self._unread:
                text = self._unread.popleft()
                self._unread_size -= len(text)
                await self._socket.send(text)

    def _on_browser_message(self, text: str) -> None:
        if self._end.done():
            return
        try:
            self._perform(self._filter.from_browser(text, asyncio.get_running_loop().time()))
        except _UNREADABLE as error:
            logger.warning("endpoint: a message of Chromium was dropped: %s", type(error).__name__)

    def _on_withheld(self, target_id: str, is_withheld: bool) -> None:
        self._perform(self._filter.withhold(target_id) if is_withheld else self._filter.release(target_id))

    async def _on_download(self, report: DownloadReport) -> None:
        if self._filter.is_page(report.target_id):
            if report.path is not None:
                await asyncio.to_thread(self._files.deliver, report.path, report.guid)
            self._perform(self._filter.downloaded(report))

    def _perform(self, outputs: list[Output]) -> None:
        for output in outputs:
            match output:
                case ToBrowser(text=text) if self._tunnel is not None:
                    self._tunnel.send(text)
                case ToClient(text=text):
                    self._send(text)
                case PageDriven(target_id=target_id, is_opened=is_opened):
                    self._pages.drive(target_id)
                    if is_opened:
                        self._on_opened(target_id)
                case PageCreation(is_pending=is_pending):
                    self._set_creating(is_pending=is_pending)
                case ClientAction(action=action, url=url) if self._record is not None:
                    self._record(action, url)
                case CookiesChanged():
                    self._context.cookies.schedule_read()
                case CompileScript(source=source):
                    self._compiling = asyncio.ensure_future(self._compile(source))
                case EndConnection():
                    self._finish(output)
        self._schedule_resume()

    async def _compile(self, source: str) -> None:
        try:
            failure = await self._compiler.compile(source)
        except Exception:
            logger.exception("endpoint: compiling a script of a client failed")
            self._finish(EndConnection("a script could not be compiled"))
            return
        finally:
            self._compiling = None
        if not self._end.done():
            self._perform(self._filter.compiled(failure))

    def _send(self, text: str) -> None:
        self._unread.append(text)
        self._unread_size += len(text)
        self._can_write.set()
        if self._unread_size > _MAX_UNREAD:
            self._unread.clear()
            self._finish(_TOO_SLOW)

    def _set_creating(self, *, is_pending: bool) -> None:
        self._creating += 1 if is_pending else -1
        self._pages.set_creating(self._context.context_id, is_pending=is_pending)

    def _schedule_resume(self) -> None:
        if self._resume is None and (at := self._filter.next_resume) is not None:
            self._resume = asyncio.get_running_loop().call_at(at, self._resume_overdue)

    def _resume_overdue(self) -> None:
        self._resume = None
        self._perform(self._filter.resume_overdue(asyncio.get_running_loop().time()))

    # ------------------------------------------------------------------------------------------------------------ ends

    async def _wait_for(self, authorization: Authorization) -> None:
        with contextlib.suppress(Exception):
            await asyncio.shield(authorization.ended)
        self.end("the authorization has ended")

    async def _wait_for_context(self) -> None:
        await self._context.ended.wait()
        self.end("the identity was closed in the browser")
