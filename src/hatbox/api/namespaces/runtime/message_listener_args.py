"""What listeners of the namespace runtime are told of messages and connections, and who is meant by them."""

from __future__ import annotations

from typing import Any, NamedTuple

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.messaging.message_event import Delivery
from hatbox.messaging.message_router import Connection, Message, MessageRouter
from hatbox.schema.results import Shape

__all__ = ["MessageListenerArgs"]


class _MessageSender(NamedTuple):
    context_id: int
    id: str
    env_type: str
    url: str
    tab: TabView | None
    frame_id: int | None
    document_id: str
    origin: str


class MessageListenerArgs:
    """Makes what a listener gets. `shape` is that of a runtime.MessageSender."""

    def __init__(self, messages: MessageRouter, shape: Shape) -> None:
        self._messages = messages
        self._shape = shape

    def message(self, caller: ExtensionCaller, offer: Delivery[Message]) -> tuple[Any, _MessageSender, Any] | None:
        """(message, sender, sendResponse)"""
        message = offer.content
        if not message.address.matches(caller.context, message.sender):
            return None
        offer.accepted_by = caller.context
        return message.content, _sender(caller, message), offer.respond

    def connection(self, caller: ExtensionCaller, offer: Delivery[Connection]) -> tuple[Any] | None:
        """(port)"""
        connection = offer.content
        context = caller.context
        if not connection.address.matches(context, connection.sender):
            return None
        offer.accepted_by = context
        port = self._messages.accept(connection, context, self._shape(_sender(caller, connection)))
        if not context.is_javascript:
            return (port,)
        return ({"number": port.number, "name": port.name, "sender": port.sender},)


def _sender(caller: ExtensionCaller, on_its_way: Message | Connection) -> _MessageSender:
    """Who has sent it, as the one who gets it may know."""
    context, tab = on_its_way.sender, on_its_way.tab
    return _MessageSender(
        context.number,
        context.extension_id,
        context.env_type,
        context.url,
        None if tab is None else TabView(tab, tab_access(caller)),
        None if tab is None else context.frame_id,
        context.document_id,
        context.origin,
    )
