"""Messages between Python contexts, without extensions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hatbox.errors import ApiError, InvalidTab
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.messaging.context import ExtensionContext, Recipient
from hatbox.messaging.message_event import Delivery
from hatbox.messaging.message_router import MAX_PORTS, NO_RECEIVER, Connection, Message, MessageRouter
from hatbox.messaging.ports import Port
from hatbox.tabs.tab_model import Tab
from tests.waiting import until


class FakeExtension:
    """An extension that counts its wake calls."""

    def __init__(self, extension_id: str) -> None:
        self.id = self.area = extension_id
        self.woken = 0

    async def wake(self) -> None:
        self.woken += 1

    def reload(self) -> None:
        raise AssertionError


class Desk:
    """Messages, and the contexts a, b and other of the extensions `mine` and `theirs`."""

    def __init__(self) -> None:
        self.messages = MessageRouter(self._no_tab)
        self.mine, self.theirs = FakeExtension("mine"), FakeExtension("theirs")
        self.messages.running |= {"mine": self.mine, "theirs": self.theirs}
        self.a, self.b = ExtensionContext("mine", "a", "o"), ExtensionContext("mine", "b", "o", kind="POPUP")
        self.other = ExtensionContext("theirs", "c", "p")

    async def _no_tab(self, tab_id: int) -> Tab:
        raise InvalidTab(tab_id)

    def listen(self, context: ExtensionContext, listener: Callable[..., Any], *, external: bool = False) -> None:
        """Listen to messages as the namespace does."""

        def forward(delivery: Delivery[Message]) -> Any:
            if not delivery.content.recipient.matches(context, delivery.content.sender):
                return None
            delivery.accepted_by = context
            return listener(delivery.content.content, delivery.respond)

        (self.messages.on_message_external if external else self.messages.on_message).add_listener(forward)

    def accept(self, context: ExtensionContext, listener: Callable[[Port], Any]) -> None:
        """Listen to connections."""

        def forward(delivery: Delivery[Connection]) -> Any:
            if not delivery.content.recipient.matches(context, delivery.content.sender):
                return None
            delivery.accepted_by = context
            return listener(
                self.messages.accept(delivery.content, context, {"id": delivery.content.sender.extension_id})
            )

        self.messages.on_connect.add_listener(forward)

    async def send(self, content: Any, to: str = "mine", sender: ExtensionContext | None = None) -> Any:
        return await self.messages.send(sender or self.a, Recipient(to), content)


def at_desk(use: Callable[[Desk], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(60):
            await use(Desk())

    asyncio.run(main())


def test_without_a_receiver_it_is_an_error() -> None:
    async def use(desk: Desk) -> None:
        for to in ("mine", "theirs", "unknown"):
            with pytest.raises(ApiError) as caught:
                await desk.send("hello", to)
            assert str(caught.value) == NO_RECEIVER

    at_desk(use)


def test_what_a_script_could_not_be_given_is_not_sent() -> None:
    async def use(desk: Desk) -> None:
        desk.listen(desk.b, lambda *_: None)
        loop: list[Any] = []
        loop.append(loop)
        for value in (object(), {"a": {1, 2, object()}}, loop):
            with pytest.raises(ApiError, match="could not be cloned"):
                await desk.send(value)

    at_desk(use)


def test_a_message_is_a_copy() -> None:
    async def use(desk: Desk) -> None:
        got: list[Any] = []
        desk.listen(desk.b, lambda message, _: got.append(message))
        sent = {"a": [1]}
        await desk.send(sent)
        sent["a"].append(2)
        assert got == [{"a": [1]}]

    at_desk(use)


def test_a_message_is_delivered_to_the_other_pages_of_the_extension_only() -> None:
    async def use(desk: Desk) -> None:
        received: list[str] = []
        for name, context in (("a", desk.a), ("b", desk.b), ("other", desk.other)):
            desk.listen(context, lambda *_, name=name: received.append(name))
            desk.listen(context, lambda *_, name=name: received.append(f"{name} external"), external=True)
        assert await desk.send(1) is UNDEFINED
        assert received == ["b"]
        await desk.send(1, "theirs")
        assert received == ["b", "other external"]
        await desk.send(1, "mine", desk.other)
        assert received == ["b", "other external", "a external", "b external"]
        assert (desk.mine.woken, desk.theirs.woken) == (2, 1)

    at_desk(use)


def test_a_script_in_a_page_gets_what_is_sent_to_its_tab_only() -> None:
    async def use(desk: Desk) -> None:
        received: list[str] = []
        script = ExtensionContext("mine", "https://a.example/", "https://a.example", kind=None, tab_id=7, frame_id=3)
        desk.listen(script, lambda *_: received.append("script"))
        desk.listen(desk.b, lambda *_: received.append("b"))
        for recipient in (
            Recipient("mine"),
            Recipient("mine", 8),
            Recipient("mine", 7, 0),
            Recipient("mine", 7, None, "unknown"),
            Recipient("theirs", 7),
        ):
            received.clear()
            try:
                await desk.messages.send(desk.a, recipient, 1)
            except ApiError:
                assert received == []
            assert "script" not in received
        for recipient in (
            Recipient("mine", 7),
            Recipient("mine", 7, 3),
            Recipient("mine", 7, None, script.document_id),
        ):
            received.clear()
            await desk.messages.send(desk.a, recipient, 1)
            assert received == ["script"]

    at_desk(use)


def test_a_page_that_is_closed_gets_nothing() -> None:
    async def use(desk: Desk) -> None:
        desk.messages.add_context(desk.b)
        desk.listen(desk.b, lambda *_: True)
        desk.messages.remove_context(desk.b)
        assert desk.messages.contexts == []
        with pytest.raises(ApiError, match="Receiving end"):
            await desk.send(1)

    at_desk(use)


def later(value: Any) -> Callable[..., Any]:
    async def answer(*_: Any) -> Any:
        await asyncio.sleep(0)
        return value

    return answer


def respond(value: Any, returned: Any = None) -> Callable[..., Any]:
    def answer(_: Any, function: Callable[[Any], None]) -> Any:
        function(value)
        return returned

    return answer


def raising(error: Exception) -> Callable[..., Any]:
    def answer(*_: Any) -> None:
        raise error

    return answer


@pytest.mark.parametrize(
    ("listeners", "answer"),
    [
        ([lambda *_: None], UNDEFINED),
        ([lambda *_: "returned"], UNDEFINED),
        ([lambda *_: False], UNDEFINED),
        ([respond(1)], 1),
        ([respond(None)], None),
        ([respond(1, True)], 1),
        ([respond(1, later("promised")())], "promised"),
        ([later(2)], 2),
        ([later(None)], None),
        ([lambda *_: None, respond(3)], 3),
        ([respond("first"), respond("second")], "first"),
        ([later("slow"), respond("fast")], "fast"),
    ],
)
def test_the_first_response_counts(listeners: list[Callable[..., Any]], answer: Any) -> None:
    async def use(desk: Desk) -> None:
        for listener in listeners:
            desk.listen(desk.b, listener)
        assert await desk.send("question") == answer

    at_desk(use)


def test_a_listener_may_respond_later() -> None:
    async def use(desk: Desk) -> None:
        functions: list[Callable[[Any], None]] = []

        def listener(_: Any, function: Callable[[Any], None]) -> bool:
            functions.append(function)
            return True

        desk.listen(desk.b, listener)
        sent = asyncio.ensure_future(desk.send(1))
        await until(lambda: functions)
        assert not sent.done()
        functions[0]("at last")
        functions[0]("too late")
        assert await sent == "at last"

    at_desk(use)


def test_the_sender_receives_the_error_of_a_listener(caplog: pytest.LogCaptureFixture) -> None:
    async def use(desk: Desk) -> None:
        desk.listen(desk.b, raising(ValueError("a value")))
        with pytest.raises(ApiError, match=r"^a value$"):
            await desk.send(1)
        assert "message listener raised" in caplog.text
        desk.listen(desk.b, raising(RuntimeError()))
        desk.messages.on_message.remove_listener(next(iter(desk.messages.on_message._listeners)))
        with pytest.raises(ApiError, match=r"^An unexpected error occurred$"):
            await desk.send(1)

    at_desk(use)


# ── Ports ──


def test_a_port_without_a_receiver_is_disconnected_with_the_error() -> None:
    async def use(desk: Desk) -> None:
        port = desk.messages.connect(desk.a, Recipient("mine"), "name")
        ended: asyncio.Future[Port] = asyncio.get_running_loop().create_future()
        port.onDisconnect.addListener(ended.set_result)
        port.postMessage("never received")
        assert await ended is port
        assert str(port.error) == NO_RECEIVER
        with pytest.raises(ApiError, match="Attempt to postMessage on disconnected port"):
            port.postMessage(1)
        with pytest.raises(ApiError):
            await port.receive()
        assert desk.a.ports == {}

    at_desk(use)


def test_what_is_posted_before_it_is_open_arrives_in_order_and_answers_come_back() -> None:
    async def use(desk: Desk) -> None:
        got: list[Any] = []

        def listener(port: Port) -> None:
            assert (port.name, port.sender) == ("talk", {"id": "mine"})
            port.onMessage.addListener(lambda message, same: got.append((message, same is port)))
            port.postMessage("hello")

        desk.accept(desk.b, listener)
        port = desk.messages.connect(desk.a, Recipient("mine"), "talk")
        assert port.sender is None
        for number in range(5):
            port.postMessage(number)
        assert await port.receive() == "hello"
        await until(lambda: len(got) == 5)
        assert got == [(number, True) for number in range(5)]

    at_desk(use)


def test_a_listener_that_is_a_coroutine_misses_no_message() -> None:
    async def use(desk: Desk) -> None:
        got: list[Any] = []

        async def listener(port: Port) -> None:
            while True:
                got.append(await port.receive())

        desk.accept(desk.b, listener)
        port = desk.messages.connect(desk.a, Recipient("mine"), "")
        port.postMessage("first")
        await until(lambda: got)
        assert got == ["first"]

    at_desk(use)


def test_two_listeners_of_a_page_get_the_same_port_and_two_pages_do_not() -> None:
    async def use(desk: Desk) -> None:
        ports: list[Port] = []
        third = ExtensionContext("mine", "third", "o", kind="TAB")
        for context in (desk.b, desk.b, third):
            desk.accept(context, ports.append)
        port = desk.messages.connect(desk.a, Recipient("mine"), "")
        await until(lambda: len(ports) == 3)
        assert ports[0] is ports[1]
        assert ports[2] is not ports[0]
        got = [asyncio.ensure_future(each.receive()) for each in ports[1:]]
        await asyncio.sleep(0)
        port.postMessage("to all")
        assert await asyncio.gather(*got) == ["to all", "to all"]
        # Without one of its ends there is no port.
        ended: list[str] = []
        for each in (port, *ports[1:]):
            each.onDisconnect.addListener(lambda same: ended.append(same.context.url))
        ports[0].disconnect()
        ports[0].disconnect()
        await until(lambda: len(ended) == 2)
        assert ended == ["a", "third"]
        assert [context.ports for context in (desk.a, desk.b, third)] == [{}, {}, {}]

    at_desk(use)


def test_the_ports_of_a_page_that_is_gone_are_disconnected() -> None:
    async def use(desk: Desk) -> None:
        ended: asyncio.Future[Port] = asyncio.get_running_loop().create_future()
        desk.accept(desk.b, lambda port: port.onDisconnect.addListener(ended.set_result))
        port = desk.messages.connect(desk.a, Recipient("mine"), "")
        await until(lambda: desk.b.ports)
        desk.messages.remove_context(desk.a)
        assert (await ended).error is None
        assert not port.open

    at_desk(use)


def test_invalid_listeners_and_too_many_ports_are_rejected() -> None:
    async def use(desk: Desk) -> None:
        port = desk.messages.connect(desk.a, Recipient("unknown"), "")
        with pytest.raises(ApiError, match=r"Invalid listener for Port.onMessage"):
            port.onMessage.addListener(5)  # type: ignore[arg-type]
        with pytest.raises(ApiError, match="could not be cloned"):
            port.postMessage(object())
        with pytest.raises(ApiError, match="already exists"):
            desk.messages.connect(desk.a, Recipient("unknown"), "", port.number)
        desk.a.ports |= dict.fromkeys(range(1, MAX_PORTS + 1), port)
        with pytest.raises(ApiError, match="Too many ports"):
            desk.messages.connect(desk.a, Recipient("unknown"), "")
        desk.a.ports.clear()

    at_desk(use)
