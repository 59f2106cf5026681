"""An extension page that is scripted in Python: a popup, a tab or a content script."""

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
    """An extension page. It exchanges messages with the background and with other pages.

    It is closed at the end of `with`, and when the extension stops.
    """

    def __init__(self, dispatcher: Dispatcher, messages: MessageRouter, caller: ExtensionCaller) -> None:
        self.browser = Browser(dispatcher, caller)
        """`browser` of the page."""
        self.caller = caller
        self._messages = messages

    @property
    def url(self) -> str:
        """The URL of the page."""
        return self.caller.context.url

    def send_message(self, message: Any) -> Awaitable[Any]:
        """Send a message with runtime.sendMessage(). Resolves to the first response."""
        reply: Awaitable[Any] = self.browser.runtime.sendMessage(self.caller.extension_id, message, None)
        return reply

    def connect(self, name: str = "") -> Port:
        """Open a port with runtime.connect()."""
        port: Port = self.browser.runtime.connect({"name": name})
        return port

    @property
    def on_message(self) -> Any:
        """runtime.onMessage: `addListener(listener)`, called with the message, the sender and sendResponse."""
        return self.browser.runtime.onMessage

    @property
    def on_connect(self) -> Any:
        """runtime.onConnect: `addListener(listener)`, called with a port."""
        return self.browser.runtime.onConnect

    def close(self) -> None:
        """Close the page: its ports are disconnected, and it receives no more messages."""
        self._messages.remove_context(self.caller.context)

    def __enter__(self) -> ExtensionPage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<page {self.url}>"
