"""The messages of the extensions that run in this process. Nothing of them is stored, or leaves it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any, Final, NamedTuple, Protocol

from hatbox.errors import ApiError, HatboxError
from hatbox.events import NO_RESPONSE, NOT_DELIVERED, Event
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.messaging.context import ExtensionContext, Recipient
from hatbox.messaging.message_event import MessageEvent
from hatbox.messaging.ports import Channel, Port, structured_clone
from hatbox.tabs.tab_model import Tab

__all__ = ["NO_RECEIVER", "Connection", "Message", "MessageRouter", "PortDelivery", "RunningExtension"]

logger = logging.getLogger("hatbox.messaging")

NO_RECEIVER: Final = "Could not establish connection. Receiving end does not exist."
MAX_PORTS: Final = 4096
"""Ports that one context may have open at a time."""


class RunningExtension(Protocol):
    """An extension that runs in this process."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def area(self) -> str:
        """Its data area."""

    async def wake(self) -> None:
        """Run its background, if it sleeps."""

    def reload(self) -> None:
        """Start it anew, from its files."""


class Message(NamedTuple):
    """A message on its way."""

    sender: ExtensionContext
    tab: Tab | None
    """The tab that the sender is in."""
    address: Recipient
    content: Any


class Connection(NamedTuple):
    """A port that somebody opens."""

    sender: ExtensionContext
    tab: Tab | None
    address: Recipient
    channel: Channel


class PortDelivery(NamedTuple):
    """What has happened to a script's end of a port: `message` or `disconnect`."""

    context: ExtensionContext
    number: int
    kind: str
    detail: Any


class MessageRouter:
    """Messages and ports between contexts, and the extensions that are here to get them."""

    def __init__(self, find_tab: Callable[[int], Awaitable[Tab]]) -> None:
        self._find_tab = find_tab
        self.running: dict[str, RunningExtension] = {}
        """The extensions that run in this process."""
        self.contexts: list[ExtensionContext] = []
        """The contexts of them that are alive, oldest first."""
        self.on_message: MessageEvent[Message] = MessageEvent("runtime.onMessage")
        self.on_message_external: MessageEvent[Message] = MessageEvent("runtime.onMessageExternal")
        self.on_connect: MessageEvent[Connection] = MessageEvent("runtime.onConnect")
        self.on_connect_external: MessageEvent[Connection] = MessageEvent("runtime.onConnectExternal")
        self.on_port_delivery: Event[PortDelivery] = Event("ports.onNews")
        """Tells scripts what has happened to their ends of ports."""
        self.on_port_sync: MessageEvent[ExtensionContext] = MessageEvent("ports.onLull")
        """Asks a script whether it has heard all that it was told so far."""
        self._numbers = count(1)
        self._tasks: set[asyncio.Future[Any]] = set()

    def add_context(self, context: ExtensionContext) -> None:
        """A context is there."""
        context.closed = False
        if context not in self.contexts:
            self.contexts.append(context)

    def remove_context(self, context: ExtensionContext) -> None:
        """It is gone, and its ports with it."""
        context.closed = True
        if context in self.contexts:
            self.contexts.remove(context)
        for port in list(context.ports.values()):
            port.disconnect()

    async def send(self, sender: ExtensionContext, address: Recipient, content: Any) -> Any:
        """Send a message; returns the first answer, or UNDEFINED where those who got it have none."""
        if not sender.is_javascript:
            content = structured_clone(content)
        await self._wake_recipient(sender, address)
        inside = address.extension_id == sender.extension_id
        inbox = self.on_message if inside else self.on_message_external
        answer = await inbox.request(Message(sender, await self._tab_of(sender), address, content))
        if answer is NOT_DELIVERED:
            raise ApiError(NO_RECEIVER)
        return UNDEFINED if answer is NO_RESPONSE else answer

    def connect(self, sender: ExtensionContext, address: Recipient, name: str, number: int | None = None) -> Port:
        """Open a port. It can be used at once; where nobody listens it is disconnected later, with the error.

        `number` is what a script calls it.
        """
        if len(sender.ports) >= MAX_PORTS:
            raise ApiError(f"Too many ports are open: {MAX_PORTS}")
        if number in sender.ports:
            raise ApiError(f"There is a port {number} already")
        channel = Channel(name, self._deliver, self._wait_for_ack)
        port = channel.connect(sender, -next(self._numbers) if number is None else number)
        self._begin(self._open(channel, sender, address))
        return port

    def accept(self, connection: Connection, context: ExtensionContext, sender: Mapping[str, Any]) -> Port:
        """The end of a port for a context that listens to connections."""
        return connection.channel.accept(context, next(self._numbers), sender)

    async def _open(self, channel: Channel, sender: ExtensionContext, address: Recipient) -> None:
        try:
            await self._wake_recipient(sender, address)
            inside = address.extension_id == sender.extension_id
            inbox = self.on_connect if inside else self.on_connect_external
            taken = inbox.deliver(Connection(sender, await self._tab_of(sender), address, channel))
            for _, answer in taken:
                answer.add_done_callback(_forget)
            await asyncio.sleep(0)  # what Python listens with may be a coroutine: it comes as far as its first wait
            scripts = [
                answer for offer, answer in taken if offer.accepted_by is not None and offer.accepted_by.is_javascript
            ]
            if scripts:
                await asyncio.wait(scripts)
            if not channel.targets:
                raise ApiError(NO_RECEIVER)
        except HatboxError as error:
            channel.failed(error if isinstance(error, ApiError) else ApiError(NO_RECEIVER))
        else:
            channel.opened()

    async def _wake_recipient(self, sender: ExtensionContext, address: Recipient) -> None:
        """Wake the extension that is meant."""
        running = self.running.get(address.extension_id)
        if running is None:
            raise ApiError(NO_RECEIVER)
        if sender.is_javascript and sender.extension_id == address.extension_id:
            return  # it is awake, and may be about to run for the first time
        try:
            await running.wake()
        except HatboxError as error:
            logger.warning("%s does not wake for a message: %s", address.extension_id, error)
            raise ApiError(NO_RECEIVER) from error

    async def _tab_of(self, sender: ExtensionContext) -> Tab | None:
        if sender.tab_id is None:
            return None
        try:
            return await self._find_tab(sender.tab_id)
        except ApiError:
            return None  # it has been closed meanwhile

    def _deliver(self, port: Port, kind: str, detail: Any) -> None:
        if port.context.is_javascript:
            self.on_port_delivery.emit(PortDelivery(port.context, port.number, kind, detail))
        elif kind == "message":
            port.on_message(detail)
        else:
            port.on_disconnect()

    def _wait_for_ack(self, port: Port) -> Awaitable[Any] | None:
        if not port.context.is_javascript:
            return None
        answers = [answer for _, answer in self.on_port_sync.deliver(port.context)]
        return asyncio.gather(*answers, return_exceptions=True)

    def _begin(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _forget(answer: asyncio.Future[Any]) -> None:
    """Nobody asks how it went: whoever listens to connections has none to give."""
    if not answer.cancelled():
        answer.exception()
