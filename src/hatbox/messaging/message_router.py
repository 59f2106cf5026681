"""Routes messages and ports between the extensions that run in this process. Messages are not stored."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from hatbox.errors import ApiError, HatboxError
from hatbox.events import NO_RESPONSE, NOT_DELIVERED, Event
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.messaging.context import ExtensionContext, Recipient
from hatbox.messaging.message_event import Delivery, MessageEvent
from hatbox.messaging.ports import Channel, Port, structured_clone
from hatbox.tabs.tab_model import Tab
from hatbox.tasks import Tasks

if TYPE_CHECKING:
    from hatbox.messaging.native_messaging import NativeMessaging

__all__ = ["NO_RECEIVER", "Connection", "Message", "MessageRouter", "PortDelivery", "RunningExtension"]

logger = logging.getLogger("hatbox.messaging")

NO_RECEIVER: Final = "Could not establish connection. Receiving end does not exist."
MAX_PORTS: Final = 4096
"""Maximum of open ports of a context."""


class RunningExtension(Protocol):
    """An extension that runs in this process."""

    @property
    def id(self) -> str:
        """The extension id."""

    @property
    def area(self) -> str:
        """The data area."""

    async def wake(self) -> None:
        """Start the background, if it is suspended."""

    def reload(self) -> None:
        """Restart it from its files."""


class Message(NamedTuple):
    """A message to be delivered."""

    sender: ExtensionContext
    tab: Tab | None
    """The tab of the sender."""
    recipient: Recipient
    content: Any


class Connection(NamedTuple):
    """A connection to be delivered."""

    sender: ExtensionContext
    tab: Tab | None
    recipient: Recipient
    channel: Channel


class PortDelivery(NamedTuple):
    """A delivery to a JavaScript end of a port. `kind` is `message` or `disconnect`."""

    context: ExtensionContext
    number: int
    kind: str
    detail: Any


class MessageRouter:
    """Delivers messages and connections to contexts, waking suspended extensions."""

    def __init__(self, find_tab: Callable[[int], Awaitable[Tab]]) -> None:
        self._find_tab = find_tab
        self.running: dict[str, RunningExtension] = {}
        """The extensions that run in this process."""
        self.on_running_changed: Event[None] = Event("extensions.onRunningChanged")
        """Emitted after an extension was started, reloaded or stopped."""
        self.contexts: list[ExtensionContext] = []
        """Their open contexts, oldest first."""
        self.on_message: MessageEvent[Message] = MessageEvent("runtime.onMessage")
        self.on_message_external: MessageEvent[Message] = MessageEvent("runtime.onMessageExternal")
        self.on_connect: MessageEvent[Connection] = MessageEvent("runtime.onConnect")
        self.on_connect_external: MessageEvent[Connection] = MessageEvent("runtime.onConnectExternal")
        self.on_port_delivery: Event[PortDelivery] = Event("ports.onDelivery")
        """Delivers to the JavaScript ends of ports."""
        self.on_port_sync: MessageEvent[ExtensionContext] = MessageEvent("ports.onSync")
        """JavaScript contexts respond once they have received all earlier deliveries."""
        self._numbers = count(1)
        self._tasks = Tasks()

    @cached_property
    def native(self) -> NativeMessaging:
        """The native applications of the extensions."""
        from hatbox.messaging.native_messaging import NativeMessaging  # few extensions need it

        return NativeMessaging(self._deliver, self._wait_for_ack)

    async def close(self) -> None:
        """Wait until the native applications have ended. All contexts are closed."""
        if "native" in vars(self):
            await self.native.close()

    def add_context(self, context: ExtensionContext) -> None:
        """Register an open context."""
        context.closed = False
        if context not in self.contexts:
            self.contexts.append(context)

    def remove_context(self, context: ExtensionContext) -> None:
        """Close a context and disconnect its ports."""
        context.closed = True
        if context in self.contexts:
            self.contexts.remove(context)
        for port in list(context.ports.values()):
            port.disconnect()
        callbacks, context.on_close = context.on_close, []
        for callback in callbacks:
            callback()

    async def send(self, sender: ExtensionContext, recipient: Recipient, content: Any) -> Any:
        """Send a message; returns the first response, or UNDEFINED without one. Raises ApiError without a receiver."""
        if not sender.is_javascript:
            content = structured_clone(content)
        await self._wake_recipient(sender, recipient)
        is_internal = recipient.extension_id == sender.extension_id
        event = self.on_message if is_internal else self.on_message_external
        response = await event.request(Message(sender, await self._tab_of(sender), recipient, content))
        if response is NOT_DELIVERED:
            raise ApiError(NO_RECEIVER)
        return UNDEFINED if response is NO_RESPONSE else response

    def connect(self, sender: ExtensionContext, recipient: Recipient, name: str, number: int | None = None) -> Port:
        """Open a port, which can be used at once. Without a receiver it is disconnected later, with an error.

        `number` is the port number that the JavaScript side chose.
        """
        channel = self.open_channel(sender, name, number)
        self._tasks.spawn(self._open(channel, sender, recipient))
        return channel.source

    def open_channel(self, sender: ExtensionContext, name: str, number: int | None) -> Channel:
        """Create a port with only the end of the sender. Raises ApiError if it has too many ports."""
        number = self._port_number(sender, number)
        channel = Channel(name, self._deliver, self._wait_for_ack)
        channel.connect(sender, number)
        return channel

    def connect_native(
        self, sender: ExtensionContext, application: str, number: int | None = None
    ) -> tuple[Port, asyncio.Future[None]]:
        """Open a port to a native application, as connect() does. The future is done when the application has ended."""
        return self.native.connect(sender, application, self._port_number(sender, number))

    def accept(self, connection: Connection, context: ExtensionContext, sender: Mapping[str, Any]) -> Port:
        """The end of a port in a context that listens to connections."""
        return connection.channel.accept(context, next(self._numbers), sender)

    def _port_number(self, sender: ExtensionContext, number: int | None) -> int:
        """Check the number of a new port, or choose one. Raises ApiError."""
        if len(sender.ports) >= MAX_PORTS:
            raise ApiError(f"Too many ports are open: {MAX_PORTS}")
        if number in sender.ports:
            raise ApiError(f"Port {number} already exists")
        return -next(self._numbers) if number is None else number

    async def _open(self, channel: Channel, sender: ExtensionContext, recipient: Recipient) -> None:
        try:
            await self._wake_recipient(sender, recipient)
            is_internal = recipient.extension_id == sender.extension_id
            event = self.on_connect if is_internal else self.on_connect_external
            accepted = event.deliver(Connection(sender, await self._tab_of(sender), recipient, channel))
            for _, response in accepted:
                response.add_done_callback(_ignore_result)
            await asyncio.sleep(0)  # a Python listener that is a coroutine runs up to its first await
            if pending := [response for delivery, response in accepted if _is_javascript(delivery)]:
                await asyncio.wait(pending)
            if not channel.targets:
                raise ApiError(NO_RECEIVER)
        except HatboxError as error:
            channel.failed(error if isinstance(error, ApiError) else ApiError(NO_RECEIVER))
        else:
            channel.opened()

    async def _wake_recipient(self, sender: ExtensionContext, recipient: Recipient) -> None:
        """Start the background of the recipient's extension."""
        running = self.running.get(recipient.extension_id)
        if running is None:
            raise ApiError(NO_RECEIVER)
        is_own = sender.extension_id == recipient.extension_id
        if sender.is_javascript and sender.kind == "BACKGROUND" and is_own:
            return  # it is running, or its first start is in progress
        try:
            await running.wake()
        except HatboxError as error:
            logger.warning(
                "message not delivered: starting the event page of %s failed: %s", recipient.extension_id, error
            )
            raise ApiError(NO_RECEIVER) from error

    async def _tab_of(self, sender: ExtensionContext) -> Tab | None:
        if sender.tab_id is None:
            return None
        try:
            return await self._find_tab(sender.tab_id)
        except ApiError:
            return None  # closed meanwhile

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
        responses = [response for _, response in self.on_port_sync.deliver(port.context)]
        return asyncio.gather(*responses, return_exceptions=True)


def _is_javascript(delivery: Delivery[Any]) -> bool:
    return delivery.accepted_by is not None and delivery.accepted_by.is_javascript


def _ignore_result(response: asyncio.Future[Any]) -> None:
    """Retrieve the exception, which asyncio would log otherwise. Connections have no response."""
    if not response.cancelled():
        response.exception()
