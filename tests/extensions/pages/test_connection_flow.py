"""How the host sends to a document, and how it acknowledges: without a browser."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any

import pytest

from hatbox.extensions.pages.cdp_connection import TEXT_COST, CdpConnection
from hatbox.extensions.runtime import Exit, RuntimeLimits
from hatbox.extensions.runtime.wire_frames import ProtocolError, WireFrame, encode_frame


class Session:
    """Stores commands, which are answered by `answer`."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []
        self._replies: list[asyncio.Future[Any]] = []

    def send(self, method: str, params: dict[str, Any] | None = None) -> asyncio.Future[Any]:
        assert method == "Runtime.callFunctionOn"
        assert params is not None
        text, total = [each["value"] for each in params["arguments"]]
        self.calls.append((text, total))
        self._replies.append(asyncio.get_running_loop().create_future())
        return self._replies[-1]

    async def answer(self) -> None:
        replies, self._replies = self._replies, []
        for reply in replies:
            reply.set_result({"result": {"type": "undefined"}})
        await settle()


class Receiver:
    def __init__(self) -> None:
        self.is_behind = False
        self.frames: list[WireFrame] = []
        self.states: list[bool] = []

    def received(self, frames: Sequence[WireFrame]) -> None:
        if frames[0].messages == ["bad"]:
            raise ProtocolError("bad")
        self.frames.extend(frames)

    def writable(self, ready: bool) -> None:
        self.states.append(ready)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def function_id() -> str | None:
    return "function"


async def connect(limits: RuntimeLimits | None = None) -> tuple[Session, Receiver, CdpConnection, list[Exit]]:
    session, receiver = Session(), Receiver()
    ended: list[Exit] = []
    connection = CdpConnection(session, function_id(), limits or RuntimeLimits(), ended.append)
    connection.receiver = receiver
    await settle()
    return session, receiver, connection, ended


def in_a_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


@in_a_loop
async def test_frames_are_sent_at_once_and_those_beyond_four_in_flight_travel_together() -> None:
    session, _, connection, _ = await connect()
    for number in range(10):
        connection.send(encode_frame([["r", number]]))
    assert [json.loads(text) for text, _ in session.calls] == [[["r", number]] for number in range(4)]
    await session.answer()
    assert [json.loads(text) for text, _ in session.calls[4:]] == [[["r", number] for number in range(4, 10)]]


@in_a_loop
async def test_frames_before_the_receive_function_is_known_wait_in_order() -> None:
    session = Session()
    known: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
    connection = CdpConnection(session, known, RuntimeLimits())
    connection.receiver = Receiver()
    connection.send(encode_frame([["first"]]))
    connection.send(encode_frame([["second"]]))
    await settle()
    assert session.calls == []
    known.set_result("function")
    await settle()
    assert [json.loads(text) for text, _ in session.calls] == [[["first"], ["second"]]]


@in_a_loop
async def test_texts_are_acknowledged_before_the_document_has_to_wait_and_not_while_reading_is_paused() -> None:
    session, receiver, connection, _ = await connect()
    text = json.dumps([["x" * 1_100_000]])
    connection.binding_called(text)
    assert [call[0] for call in session.calls] == [""]
    assert session.calls[0][1] == len(text) + TEXT_COST
    connection.set_reading(False)
    connection.binding_called(text)
    assert len(session.calls) == 1
    assert len(receiver.frames) == 2
    connection.set_reading(True)
    assert session.calls[1][1] == 2 * session.calls[0][1]


@in_a_loop
async def test_texts_that_wait_to_be_handled_are_acknowledged_when_they_were_handled() -> None:
    session, receiver, connection, _ = await connect()
    receiver.is_behind = True
    connection.binding_called(json.dumps([["x" * 1_100_000]]))
    await asyncio.sleep(0.02)
    assert session.calls == []
    receiver.is_behind = False
    async with asyncio.timeout(30):
        while not session.calls:  # noqa: ASYNC110 - a timer of the connection
            await asyncio.sleep(0.01)


@in_a_loop
async def test_a_document_that_does_not_read_pauses_the_host_and_is_ended_at_the_limit() -> None:
    session, receiver, connection, ended = await connect(RuntimeLimits(max_send_buffer=4 << 20))
    connection.send(encode_frame([["x" * (3 << 19)]]))
    assert receiver.states == [False]
    await session.answer()
    assert receiver.states == [False, True]
    for _ in range(4):
        connection.send(encode_frame([["x" * (3 << 19)]]))
    assert [each.reason for each in ended] == ["unresponsive"]
    assert (await connection.exited).reason == "unresponsive"


@pytest.mark.parametrize("text", ['["bad"]', "{}", "not JSON", '["\ud800"]', json.dumps(["x" * 2000])])
def test_a_text_that_breaks_the_protocol_ends_the_connection_once(text: str) -> None:
    async def main() -> None:
        _, receiver, connection, ended = await connect(RuntimeLimits(frame=1000))
        connection.binding_called(text)
        connection.binding_called('[["later"]]')
        assert [each.reason for each in ended] == ["protocol"]
        assert receiver.frames == []
        assert not connection.running

    asyncio.run(main())


@in_a_loop
async def test_a_document_without_the_receive_function_is_closed() -> None:
    async def missing() -> str | None:
        return None

    ended: list[Exit] = []
    connection = CdpConnection(Session(), missing(), RuntimeLimits(), ended.append)
    assert (await connection.exited).reason.startswith("crashed")
    assert len(ended) == 1


@in_a_loop
async def test_stopping_waits_for_callbacks() -> None:
    _, _, connection, ended = await connect()
    called: list[str] = []
    connection.exited.add_done_callback(lambda done: called.append(done.result().reason))
    assert (await connection.stop()).reason == "stopped"
    assert called == ["stopped"]
    assert ended == []
