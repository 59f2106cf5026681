"""The bridge to the content scripts of one extension in one document, or to an extension page in a frame of a web page.

It is opened by their first message.
The extension and the document come from the execution context that Chromium reports, never from a message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit

from hatbox.api.dispatcher import Dispatcher
from hatbox.extensions.content_scripts.content_api import ContentScriptApi
from hatbox.extensions.content_scripts.extension_world import ExtensionWorld
from hatbox.extensions.content_scripts.page_frames import PageFrame, WorldContext
from hatbox.extensions.pages.cdp_connection import CdpConnection, take_receiver
from hatbox.extensions.runtime import Exit, Runtime
from hatbox.messaging.context import ExtensionContext
from hatbox.messaging.message_router import MessageRouter
from hatbox.tasks import Tasks

__all__ = ["DocumentBridge"]

_MAX_EARLY: Final = 1 << 22  # characters of messages before the tab of the page is known; the pipe sends less


class DocumentBridge:
    """The content scripts of an extension in a document, as a context that sends and receives messages."""

    def __init__(
        self,
        world: ExtensionWorld,
        frame: PageFrame,
        context: WorldContext,
        *,
        dispatcher: Dispatcher,
        messages: MessageRouter,
        closing: Tasks,
        grant_frame: Callable[[str], Awaitable[str]],
        on_closed: Callable[[], None],
    ) -> None:
        self.world = world
        self.frame = frame
        self.extension_context = ExtensionContext(
            world.extension.id, "", "", kind=None, frame_id=frame.number, is_javascript=True
        )
        """The context of its messages."""
        self.runtime: Runtime | None = None
        self._world_context = context
        self._dispatcher = dispatcher
        self._messages = messages
        self._closing = closing
        self._grant_frame = grant_frame
        self._on_closed = on_closed
        self._api: ContentScriptApi | None = None
        self._connection: CdpConnection | None = None
        self._early: list[str] = []
        self._early_size = 0
        self._opening: asyncio.Task[None] | None = None
        self._is_closed = False
        self.update_url()

    def receive(self, text: str, tab_id: int | None, find_tab: Callable[[], Awaitable[int | None]]) -> None:
        """Handle a message of the scripts. `find_tab` is used if the tab of the page is not known yet."""
        if self._connection is not None:
            self._connection.binding_called(text)
        elif not self._is_closed and self._early_size <= _MAX_EARLY:
            self._early.append(text)
            self._early_size += len(text)
            if self._opening is None:
                if tab_id is not None:
                    self._open(tab_id)
                else:
                    self._opening = asyncio.ensure_future(self._open_later(find_tab))

    def update_url(self) -> None:
        """The document has another URL: pushState, or a document in the same window."""
        url = self.world.urls.extension_url(self.frame.url or "about:blank")
        parts = urlsplit(url)
        self.extension_context.url = url
        is_tuple = parts.scheme in ("http", "https", "file", "ftp", "moz-extension")
        self.extension_context.origin = f"{parts.scheme}://{parts.netloc}" if is_tuple else "null"

    def close(self, cause: str = "the document was closed") -> None:
        """The document or the extension has ended: ports are disconnected."""
        if self._is_closed:
            return
        self._is_closed = True
        self._early.clear()
        if self._opening is not None:
            self._opening.cancel()
        if self._connection is not None:
            self._connection.closed(Exit("exited", cause))
        self._messages.remove_context(self.extension_context)
        self._on_closed()
        if self._api is not None:
            self._closing.spawn(self._api.close())

    async def _open_later(self, find_tab: Callable[[], Awaitable[int | None]]) -> None:
        tab_id = await find_tab()
        if tab_id is None:
            self.close("the page has no tab")
        elif not self._is_closed:
            self._open(tab_id)

    def _open(self, tab_id: int) -> None:
        world, session = self.world, self._world_context.session
        self.extension_context.tab_id = tab_id
        self._api = ContentScriptApi(
            self._dispatcher,
            world.caller(self.extension_context),
            world.loaded.package.read,
            world.extension.log,
            self._grant_frame,
        )
        is_page = self._world_context.world == ""
        name = world.frame_names.receiver if is_page else world.names.receiver
        receiver = take_receiver(session, self._world_context.unique_id, name)
        self._connection = CdpConnection(session, receiver, world.limits)
        self.runtime = Runtime(self._api, world.boot(), world.limits, self._connection)
        self._messages.add_context(self.extension_context)
        self._connection.exited.add_done_callback(lambda _: self.close())
        early, self._early = self._early, []
        for text in early:
            self._connection.binding_called(text)
