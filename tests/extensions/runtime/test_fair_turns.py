"""A flood of one extension delays no other: turns of the event loop, and calls at work. Nothing here measures time."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from hatbox.extensions.runtime import Exit, RuntimeLimits, fair_turns
from hatbox.extensions.runtime.fair_turns import MAX_ACTIVE, MAX_EXTENSION_ACTIVE, FairTurns
from hatbox.extensions.runtime.incoming_messages import IncomingMessages
from hatbox.extensions.runtime.wire_frames import WireFrame
from tests.store.in_loop import in_loop

ONE_MESSAGE = RuntimeLimits(time_slice=-1.0)  # the slice is over after the first message
LONG = RuntimeLimits(time_slice=3600.0)


class Connection:
    """A connection that never ends. Records the messages that were handled, and the calls that were started."""

    def __init__(self, extension_id: str, handled: list[Any], limits: RuntimeLimits = LONG) -> None:
        self.running = self.reading = True
        self.ended: list[Exit] = []
        self.calls: list[asyncio.Future[None]] = []
        self.on_handled: Callable[[], None] = lambda: None
        self._handled = handled
        self.incoming = IncomingMessages(
            self,  # type: ignore[arg-type]
            limits,
            self._handle,
            lambda: None,
            nullcontext,
            FairTurns.of_loop().of_extension(extension_id),
            lambda message: message[0] == "call",
        )

    def send(self, *messages: tuple[str, Any], size: int = 1) -> None:
        self.incoming.received([WireFrame(list(messages), size)])

    def set_reading(self, wanted: bool) -> None:
        self.reading = wanted

    def end(self, reason: Exit) -> None:
        self.running = False
        self.ended.append(reason)

    def _handle(self, message: tuple[str, Any]) -> None:
        self._handled.append(message)
        if message[0] == "call":
            call: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.calls.append(call)
            self.incoming.turns.started(call)
        self.on_handled()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - counts turns of the event loop
            await asyncio.sleep(0)


@in_loop
async def test_another_extension_has_its_turn_after_one_slice_of_a_flood() -> None:
    handled: list[Any] = []
    flooding, calm = Connection("flooding@x", handled, ONE_MESSAGE), Connection("calm@x", handled, ONE_MESSAGE)
    flooding.send(*[("log", number) for number in range(100_000)])
    await asyncio.sleep(0)
    calm.send(("log", "calm 1"))  # a single message is handled at once
    assert handled[-1] == ("log", "calm 1")
    before = len(handled)
    calm.send(("log", "calm 2"), ("log", "calm 3"))
    await until(lambda: ("log", "calm 3") in handled)
    assert handled.index(("log", "calm 3")) - before <= 4
    flooding.incoming.clear()


@in_loop
async def test_ten_floods_have_one_slice_in_a_turn_of_the_event_loop() -> None:
    handled: list[Any] = []
    floods = [Connection(f"{number}@x", handled, ONE_MESSAGE) for number in range(10)]
    for each in floods:
        each.send(*[("log", each)] * 1000)
    for turn in range(100):
        await asyncio.sleep(0)
        assert len(handled) <= turn + 1
    await until(lambda: len(handled) >= 10)
    assert {connection for _, connection in handled[:10]} == {*floods}
    for each in floods:
        each.incoming.clear()


@in_loop
async def test_two_documents_of_an_extension_take_turns() -> None:
    handled: list[Any] = []
    first, second = Connection("a@x", handled, ONE_MESSAGE), Connection("a@x", handled, ONE_MESSAGE)
    first.send(*[("log", 1)] * 100_000)
    second.send(*[("log", 2)] * 100)
    await until(lambda: handled.count(("log", 2)) == 100)
    assert handled.count(("log", 1)) <= 101
    first.incoming.clear()


@in_loop
async def test_a_flood_of_calls_has_few_of_them_at_work_and_all_are_made_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fair_turns, "_CHECK_SECONDS", 3600.0)  # all calls are at work
    handled: list[Any] = []
    flooding = Connection("a@x", handled)
    total = MAX_ACTIVE * 5
    for start in range(0, total, MAX_ACTIVE):
        flooding.send(*[("call", start + number) for number in range(MAX_ACTIVE)])
    most = 0
    async with asyncio.timeout(60):
        while len(handled) < total or any(not call.done() for call in flooding.calls):
            await asyncio.sleep(0)
            pending = [call for call in flooding.calls if not call.done()]
            most = max(most, len(pending))
            if pending:
                pending[0].set_result(None)
    assert most == MAX_ACTIVE
    assert handled == [("call", number) for number in range(total)]


@in_loop
async def test_calls_at_work_are_limited_for_all_documents_of_an_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_turns, "_CHECK_SECONDS", 3600.0)  # all calls are at work
    handled: list[Any] = []
    documents = [Connection("a@x", handled) for _ in range(20)]
    for each in documents:
        each.send(*[("call", each)] * MAX_ACTIVE)
    for _ in range(100):
        await asyncio.sleep(0)
        assert len(handled) <= MAX_EXTENSION_ACTIVE
    assert len(handled) == MAX_EXTENSION_ACTIVE
    assert max(len(each.calls) for each in documents) <= MAX_ACTIVE
    other = Connection("b@x", handled)
    other.send(("call", other))
    assert handled[-1] == ("call", other)
    for each in documents:
        each.incoming.clear()


@in_loop
async def test_calls_that_wait_for_each_other_do_not_block_an_extension() -> None:
    """As with messages that a listener answers only after it has received all of them."""
    handled: list[Any] = []
    document, background = Connection("a@x", handled), Connection("a@x", handled)
    document.send(*[("call", number) for number in range(MAX_ACTIVE * 3)])
    background.send(("call", "background"), ("log", "done"))
    await until(lambda: len(handled) == MAX_ACTIVE * 3 + 2)
    assert not any(call.done() for call in document.calls)


@in_loop
async def test_a_document_that_floods_leaves_calls_to_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_turns, "_CHECK_SECONDS", 3600.0)
    handled: list[Any] = []
    document, background = Connection("a@x", handled), Connection("a@x", handled)
    document.send(*[("call", number) for number in range(MAX_ACTIVE * 3)])
    await until(lambda: document.incoming.turns.is_full)
    background.send(("call", "background"))
    assert handled[-1] == ("call", "background")
    assert len(document.calls) == MAX_ACTIVE


@in_loop
async def test_responses_pass_while_calls_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_turns, "_CHECK_SECONDS", 3600.0)
    handled: list[Any] = []
    documents = [Connection("a@x", handled) for _ in range(20)]
    for each in documents:
        each.send(*[("call", each)] * MAX_ACTIVE)
    background = Connection("a@x", handled)
    await until(lambda: background.incoming.turns.is_full)
    background.send(("response", 1))
    assert handled[-1] == ("response", 1)
    background.send(("response", 2), ("response", 3), ("call", "background"))
    await until(lambda: ("response", 3) in handled)
    assert len(handled) == MAX_EXTENSION_ACTIVE + 3
    async with asyncio.timeout(60):
        while ("call", "background") not in handled:
            pending = (call for each in documents for call in each.calls if not call.done())
            next(pending).set_result(None)
            await asyncio.sleep(0)
    for each in documents:
        each.incoming.clear()


@in_loop
async def test_messages_wait_while_the_process_does_not_read() -> None:
    handled: list[Any] = []
    connection = Connection("a@x", handled)
    connection.on_handled = lambda: connection.incoming.writable(False) if len(handled) == 100 else None
    connection.send(*[("log", number) for number in range(300)])
    await until(lambda: len(handled) >= 100)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(handled) <= 100 + 32  # results of at most one flush
    connection.on_handled = lambda: None
    connection.incoming.writable(True)
    await until(lambda: len(handled) == 300)
    assert handled == [("log", number) for number in range(300)]


@in_loop
async def test_a_connection_that_is_closed_is_freed() -> None:
    handled: list[Any] = []
    other = Connection("one@x", handled)
    other.send(("call", 0))
    closed = Connection("one@x", handled)
    closed.send(("call", 1))
    closed.calls.pop().set_result(None)
    await asyncio.sleep(0)
    closed.incoming.clear()
    freed = weakref.ref(closed)
    del closed
    gc.collect()
    assert freed() is None


@in_loop
async def test_unanswered_calls_of_a_document_do_not_stop_it_while_another_one_floods() -> None:
    handled: list[Any] = []
    waiting, flooding = Connection("one@x", handled), Connection("one@x", handled, ONE_MESSAGE)
    waiting.send(*[("call", number) for number in range(MAX_ACTIVE)], ("call", "next"))

    def repeat() -> None:
        if ("call", "next") not in handled:
            flooding.send(("log", 1), ("log", 2))

    flooding.on_handled = repeat
    repeat()
    await until(lambda: ("call", "next") in handled)


@in_loop
async def test_a_document_whose_message_fails_ends_and_others_go_on() -> None:
    handled: list[Any] = []
    broken, calm = Connection("one@x", handled), Connection("one@x", handled)

    def fail() -> None:
        raise RuntimeError("broken")

    broken.on_handled = fail
    broken.send(("log", 1), ("log", 2))
    calm.send(("log", "calm 1"), ("log", "calm 2"))
    await until(lambda: ("log", "calm 2") in handled)
    assert [each.reason for each in broken.ended] == ["protocol"]
    assert not calm.ended


@in_loop
async def test_a_process_whose_calls_wait_is_not_read_and_not_ended() -> None:
    handled: list[Any] = []
    connection = Connection("one@x", handled)
    connection.send(*[("call", number) for number in range(MAX_ACTIVE)])
    await until(lambda: len(connection.calls) == MAX_ACTIVE)
    for number in range(100):
        connection.send(("call", number), size=1 << 20)
    assert not connection.reading
    assert not connection.ended
    while connection.calls:
        connection.calls.pop().set_result(None)
        await asyncio.sleep(0)
    await until(lambda: connection.reading)
    assert not connection.ended


@in_loop
async def test_a_process_that_sends_and_does_not_read_is_ended() -> None:
    handled: list[Any] = []
    connection = Connection("one@x", handled)
    connection.incoming.writable(False)
    for number in range(65):
        connection.send(("call", number), size=1 << 20)
    assert connection.reading
    assert [each.reason for each in connection.ended] == ["unresponsive"]
