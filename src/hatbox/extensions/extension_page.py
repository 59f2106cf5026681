"""A page of an extension whose script is Python: what a popup, a tab or a content script would do, a test can do."""

from __future__ import annotations

from collections.abc import Awaitable
from types import TracebackType
from typing import Any

from hatbox.api.browser import Browser
from hatbox.api.caller import ExtensionCaller
from hatbox.api.dispatcher import Dispatcher
from hatbox.messaging.message_router import MessageRouter
from hatbox.messaging.ports import Port

__all__ = ["ExtensionPage"]


class ExtensionPage:
    """A page of an extension. It sends messages to the background and to the other pages, and gets theirs.

    `with` closes it at the end; when the extension stops, it is closed as well.
    """

    def __init__(self, dispatcher: Dispatcher, messages: MessageRouter, caller: ExtensionCaller) -> None:
        self.browser = Browser(dispatcher, caller)
        """`browser` as a script of the page sees it."""
        self.caller = caller
        self._messages = messages

    @property
    def url(self) -> str:
        """Its address."""
        return self.caller.context.url

    def send_message(self, message: Any) -> Awaitable[Any]:
        """Send a message, as runtime.sendMessage() does; resolves to the first answer."""
        reply: Awaitable[Any] = self.browser.runtime.sendMessage(self.caller.extension_id, message, None)
        return reply

    def connect(self, name: str = "") -> Port:
        """Open a port, as runtime.connect() does."""
        port: Port = self.browser.runtime.connect({"name": name})
        return port

    @property
    def on_message(self) -> Any:
        """runtime.onMessage: `addListener(listener)`, called with the message, the sender and a function to answer."""
        return self.browser.runtime.onMessage

    @property
    def on_connect(self) -> Any:
        """runtime.onConnect: `addListener(listener)`, called with a port."""
        return self.browser.runtime.onConnect

    def close(self) -> None:
        """Close it: its ports are disconnected, and it gets no more messages."""
        self._messages.remove_context(self.caller.context)

    def __enter__(self) -> ExtensionPage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<page {self.url}>"
