"""Arguments of the listeners of runtime.onMessage and onConnect, for the contexts that are recipients."""

from __future__ import annotations

from typing import Any, NamedTuple

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.messaging.message_event import Delivery
from hatbox.messaging.message_router import Connection, Message, MessageRouter
from hatbox.schema.results import Converter

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
    """Builds listener arguments. `convert_sender` converts a runtime.MessageSender for scripts."""

    def __init__(self, messages: MessageRouter, convert_sender: Converter) -> None:
        self._messages = messages
        self._convert_sender = convert_sender

    def message(self, caller: ExtensionCaller, delivery: Delivery[Message]) -> tuple[Any, _MessageSender, Any] | None:
        """(message, sender, sendResponse)"""
        message = delivery.content
        if not message.recipient.matches(caller.context, message.sender):
            return None
        delivery.accepted_by = caller.context
        return message.content, _sender(caller, message), delivery.respond

    def connection(self, caller: ExtensionCaller, delivery: Delivery[Connection]) -> tuple[Any] | None:
        """(port)"""
        connection = delivery.content
        context = caller.context
        if not connection.recipient.matches(context, connection.sender):
            return None
        delivery.accepted_by = context
        port = self._messages.accept(connection, context, self._convert_sender(_sender(caller, connection)))
        if not context.is_javascript:
            return (port,)
        return ({"number": port.number, "name": port.name, "sender": port.sender},)


def _sender(caller: ExtensionCaller, sent: Message | Connection) -> _MessageSender:
    """The sender, as far as the caller may see its tab."""
    context, tab = sent.sender, sent.tab
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
