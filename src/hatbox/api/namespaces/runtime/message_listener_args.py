"""What listeners of the namespace runtime are told of messages and connections, and who is meant by them."""

from __future__ import annotations

from typing import Any, NamedTuple

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespaces.tabs.tab_access import asker_of
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.messaging.message_event import Offer
from hatbox.messaging.message_router import Connection, Message, Messages
from hatbox.schema.results import Shape

__all__ = ["Teller"]


class _Sender(NamedTuple):
    context_id: int
    id: str
    env_type: str
    url: str
    tab: TabView | None
    frame_id: int | None
    document_id: str
    origin: str


class Teller:
    """Makes what a listener gets. `shape` is that of a runtime.MessageSender."""

    def __init__(self, messages: Messages, shape: Shape) -> None:
        self._messages = messages
        self._shape = shape

    def message(self, caller: ExtensionCaller, offer: Offer[Message]) -> tuple[Any, _Sender, Any] | None:
        """(message, sender, sendResponse)"""
        message = offer.content
        if not message.address.reaches(caller.context, message.sender):
            return None
        offer.taken_by = caller.context
        return message.content, _sender(caller, message), offer.respond

    def connection(self, caller: ExtensionCaller, offer: Offer[Connection]) -> tuple[Any] | None:
        """(port)"""
        connection = offer.content
        context = caller.context
        if not connection.address.reaches(context, connection.sender):
            return None
        offer.taken_by = context
        port = self._messages.accept(connection, context, self._shape(_sender(caller, connection)))
        if not context.scripted:
            return (port,)
        return ({"number": port.number, "name": port.name, "sender": port.sender},)


def _sender(caller: ExtensionCaller, on_its_way: Message | Connection) -> _Sender:
    """Who has sent it, as the one who gets it may know."""
    context, tab = on_its_way.sender, on_its_way.tab
    return _Sender(
        context.number,
        context.extension_id,
        context.env_type,
        context.url,
        None if tab is None else TabView(tab, asker_of(caller)),
        None if tab is None else context.frame_id,
        context.document_id,
        context.origin,
    )
