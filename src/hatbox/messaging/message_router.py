"""The messages of the extensions that run in this process. Nothing of them is stored, or leaves it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any, Final, NamedTuple, Protocol

from hatbox.errors import ApiError, HatboxError
from hatbox.events import NO_ANSWER, UNHEARD, Event
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.messaging.context import Address, Context
from hatbox.messaging.message_event import Inbox
from hatbox.messaging.ports import Channel, Port, copied
from hatbox.tabs.tab_model import Tab

__all__ = ["NO_RECEIVER", "Connection", "Message", "Messages", "PortNews", "Running"]

logger = logging.getLogger("hatbox.messaging")

NO_RECEIVER: Final = "Could not establish connection. Receiving end does not exist."
MOST_PORTS: Final = 4096
"""Ports that one context may have open at a time."""


class Running(Protocol):
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

    sender: Context
    tab: Tab | None
    """The tab that the sender is in."""
    address: Address
    content: Any


class Connection(NamedTuple):
    """A port that somebody opens."""

    sender: Context
    tab: Tab | None
    address: Address
    channel: Channel


class PortNews(NamedTuple):
    """What has happened to a script's end of a port: `message` or `disconnect`."""

    context: Context
    number: int
    kind: str
    detail: Any


class Messages:
    """Messages and ports between contexts, and the extensions that are here to get them."""

    def __init__(self, find_tab: Callable[[int], Awaitable[Tab]]) -> None:
        self._find_tab = find_tab
        self.running: dict[str, Running] = {}
        """The extensions that run in this process."""
        self.contexts: list[Context] = []
        """The contexts of them that are alive, oldest first."""
        self.on_message: Inbox[Message] = Inbox("runtime.onMessage")
        self.on_message_external: Inbox[Message] = Inbox("runtime.onMessageExternal")
        self.on_connect: Inbox[Connection] = Inbox("runtime.onConnect")
        self.on_connect_external: Inbox[Connection] = Inbox("runtime.onConnectExternal")
        self.on_port: Event[PortNews] = Event("ports.onNews")
        """Tells scripts what has happened to their ends of ports."""
        self.on_lull: Inbox[Context] = Inbox("ports.onLull")
        """Asks a script whether it has heard all that it was told so far."""
        self._numbers = count(1)
        self._tasks: set[asyncio.Future[Any]] = set()

    def join(self, context: Context) -> None:
        """A context is there."""
        context.gone = False
        if context not in self.contexts:
            self.contexts.append(context)

    def leave(self, context: Context) -> None:
        """It is gone, and its ports with it."""
        context.gone = True
        if context in self.contexts:
            self.contexts.remove(context)
        for port in list(context.ports.values()):
            port.disconnect()

    async def send(self, sender: Context, address: Address, content: Any) -> Any:
        """Send a message; returns the first answer, or UNDEFINED where those who got it have none."""
        if not sender.scripted:
            content = copied(content)
        await self._reach(sender, address)
        inside = address.extension_id == sender.extension_id
        inbox = self.on_message if inside else self.on_message_external
        answer = await inbox.ask(Message(sender, await self._tab_of(sender), address, content))
        if answer is UNHEARD:
            raise ApiError(NO_RECEIVER)
        return UNDEFINED if answer is NO_ANSWER else answer

    def connect(self, sender: Context, address: Address, name: str, number: int | None = None) -> Port:
        """Open a port. It can be used at once; where nobody listens it is disconnected later, with the error.

        `number` is what a script calls it.
        """
        if len(sender.ports) >= MOST_PORTS:
            raise ApiError(f"Too many ports are open: {MOST_PORTS}")
        if number in sender.ports:
            raise ApiError(f"There is a port {number} already")
        channel = Channel(name, self._deliver, self._caught_up)
        port = channel.connect(sender, -next(self._numbers) if number is None else number)
        self._begin(self._open(channel, sender, address))
        return port

    def accept(self, connection: Connection, context: Context, sender: Mapping[str, Any]) -> Port:
        """The end of a port for a context that listens to connections."""
        return connection.channel.accept(context, next(self._numbers), sender)

    async def _open(self, channel: Channel, sender: Context, address: Address) -> None:
        try:
            await self._reach(sender, address)
            inside = address.extension_id == sender.extension_id
            inbox = self.on_connect if inside else self.on_connect_external
            taken = inbox.offer(Connection(sender, await self._tab_of(sender), address, channel))
            for _, answer in taken:
                answer.add_done_callback(_forget)
            await asyncio.sleep(0)  # what Python listens with may be a coroutine: it comes as far as its first wait
            scripts = [answer for offer, answer in taken if offer.taken_by is not None and offer.taken_by.scripted]
            if scripts:
                await asyncio.wait(scripts)
            if not channel.targets:
                raise ApiError(NO_RECEIVER)
        except HatboxError as error:
            channel.failed(error if isinstance(error, ApiError) else ApiError(NO_RECEIVER))
        else:
            channel.opened()

    async def _reach(self, sender: Context, address: Address) -> None:
        """Wake the extension that is meant."""
        running = self.running.get(address.extension_id)
        if running is None:
            raise ApiError(NO_RECEIVER)
        if sender.scripted and sender.extension_id == address.extension_id:
            return  # it is awake, and may be about to run for the first time
        try:
            await running.wake()
        except HatboxError as error:
            logger.warning("%s does not wake for a message: %s", address.extension_id, error)
            raise ApiError(NO_RECEIVER) from error

    async def _tab_of(self, sender: Context) -> Tab | None:
        if sender.tab_id is None:
            return None
        try:
            return await self._find_tab(sender.tab_id)
        except ApiError:
            return None  # it has been closed meanwhile

    def _deliver(self, port: Port, kind: str, detail: Any) -> None:
        if port.context.scripted:
            self.on_port.emit(PortNews(port.context, port.number, kind, detail))
        elif kind == "message":
            port.got(detail)
        else:
            port.was_closed()

    def _caught_up(self, port: Port) -> Awaitable[Any] | None:
        if not port.context.scripted:
            return None
        answers = [answer for _, answer in self.on_lull.offer(port.context)]
        return asyncio.gather(*answers, return_exceptions=True)

    def _begin(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _forget(answer: asyncio.Future[Any]) -> None:
    """Nobody asks how it went: whoever listens to connections has none to give."""
    if not answer.cancelled():
        answer.exception()
