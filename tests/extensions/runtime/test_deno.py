"""The child as a process: limits, ends, the inspector."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hatbox.extensions.runtime import DenoProcess, Exit, ExtensionTerminated, RuntimeLimits
from hatbox.extensions.runtime.wire_frames import encode_frame
from tests.extensions.runtime.lab import CAMEL, Lab, in_lab, needs_deno

pytestmark = needs_deno


def test_a_child_that_does_not_read_is_ended_when_too_much_waits_for_it(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        limits = RuntimeLimits(max_send_buffer=1 << 20, ping_timeout=60.0)
        runtime = await lab.start("browser.contextualIdentities.onCreated.addListener(() => {});", limits=limits)
        running = asyncio.ensure_future(runtime.evaluate("for (;;);"))
        await asyncio.sleep(0)
        while runtime.process.running:
            await runtime.listeners.dispatch(f"{CAMEL}.onCreated", ["x" * 100_000], wait=False)
            await asyncio.sleep(0)
        ended = await runtime.exited
        assert ended.reason == "unresponsive"
        assert "does not read" in ended.detail
        with pytest.raises(ExtensionTerminated):
            await running

    in_lab(tmp_path, use)


def test_a_slow_child_is_waited_for_and_loses_nothing(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(
            "let seen = 0; browser.contextualIdentities.onCreated.addListener(() => { seen++; });"
        )
        busy = asyncio.ensure_future(runtime.evaluate("const end = Date.now() + 300; while (Date.now() < end); 1"))
        for _ in range(200):
            await runtime.listeners.dispatch(f"{CAMEL}.onCreated", ["x" * 10_000], wait=False)
            await asyncio.sleep(0)
        await busy
        assert await runtime.evaluate("seen") == 200

    in_lab(tmp_path, use)


def test_a_child_that_writes_frames_without_end_is_ended(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(limits=RuntimeLimits(frame=1000))
        runtime.process.pipe_data_received(1, (1001).to_bytes(4, "little"))
        ended = await runtime.exited
        assert (ended.reason, ended.detail) == ("protocol", "frame of 1001 bytes exceeds the limit of 1000")

    in_lab(tmp_path, use)


def test_beyond_the_calls_that_may_be_under_way_the_child_is_not_read(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        waiting: list[asyncio.Future[None]] = []

        def call(_: str, __: str, ___: list[object]) -> asyncio.Future[None]:
            waiting.append(asyncio.get_running_loop().create_future())
            return waiting[-1]

        runtime = await lab.start("let done = 0;", limits=RuntimeLimits(calls=10))
        lab.host.call = call  # type: ignore[method-assign,assignment]
        # Each in a frame of its own, as a forger would write them.
        for number in range(1, 41):
            runtime.process.pipe_data_received(1, encode_frame([["c", number, "a.b", []]]))
        assert not runtime.process.reading
        for each in waiting:
            each.set_result(None)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert runtime.process.reading
        assert await runtime.evaluate("1") == 1

    in_lab(tmp_path, use)


def test_frames_that_come_together_keep_the_loop_no_longer_than_one(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        called: list[int] = []

        def call(_: str, __: str, arguments: list[int]) -> None:
            called.extend(arguments)

        runtime = await lab.start(limits=RuntimeLimits(time_slice=0.0))
        lab.host.call = call  # type: ignore[method-assign,assignment]
        frames = [encode_frame([["c", number, "a.b", [number]]]) for number in (1, 2)]
        runtime.process.pipe_data_received(1, b"".join(frames))
        assert called == []  # with no time at all, each waits for a turn of the loop
        runtime._incoming._limits = RuntimeLimits()
        await runtime.evaluate("1")
        assert called == [1, 2]

    in_lab(tmp_path, use)


def test_a_child_that_was_started_ahead_is_taken(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        child = await DenoProcess.start(RuntimeLimits())
        runtime = await lab.start("const said = 'here';", child=child)
        assert runtime.process is child
        assert await runtime.evaluate("said") == "here"

    in_lab(tmp_path, use)


def test_a_child_that_speaks_before_it_is_asked_is_ended(tmp_path: Path) -> None:
    async def use(_: Lab) -> None:
        child = await DenoProcess.start(RuntimeLimits())
        child.pipe_data_received(1, encode_frame([["ready"]]))
        assert str(await child.exited) == "protocol (a message before the first one of the host)"

    in_lab(tmp_path, use)


def test_calls_are_held_while_their_answers_are_not_read(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(limits=RuntimeLimits(max_receive_buffer=1000))
        runtime._incoming.writable(False)
        for number in range(1, 11):
            runtime.process.pipe_data_received(1, encode_frame([["c", number, f"{CAMEL}.query", [{}]]]))
        assert runtime.pending_calls == 0
        runtime._incoming.writable(True)
        assert await runtime.evaluate("1") == 1
        runtime._incoming.writable(False)
        for number in range(11, 100):
            runtime.process.pipe_data_received(1, encode_frame([["c", number, f"{CAMEL}.query", [{}]]]))
        assert (await runtime.exited).reason == "unresponsive"

    in_lab(tmp_path, use)


def test_an_inspected_child_says_where_and_may_stand_still(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(inspect=True, limits=RuntimeLimits(ping_timeout=0.1))
        assert (await runtime.process.inspector).startswith("ws://127.0.0.1:")
        assert await runtime.evaluate("const end = Date.now() + 500; while (Date.now() < end); 1") == 1

    in_lab(tmp_path, use)


def test_a_child_that_is_busy_but_answers_in_time_lives(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(limits=RuntimeLimits(ping_timeout=2.0))
        await runtime.evaluate(
            "for (let i = 0; i < 30; i++) { const end = Date.now() + 100; while (Date.now() < end);"
            " await new Promise(done => setTimeout(done, 0)); }"
        )
        assert runtime.process.running

    in_lab(tmp_path, use)


def test_waiting_for_the_end_can_be_given_up_without_harm(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await runtime.exited
        assert (await runtime.stop()).reason == "stopped"
        assert (await runtime.exited).reason == "stopped"

    in_lab(tmp_path, use)


def test_a_child_that_is_not_read_can_be_ended_and_its_last_words_count(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        runtime.process.set_reading(False)
        runtime.process.end(Exit("protocol", "a test"))
        assert (await runtime.exited) == ("protocol", "a test")
        other = await lab.start("console.log('first'); setTimeout(() => { console.log('last'); for (;;); }, 0);")
        await lab.host.said("last")
        other.process.end(Exit("protocol"))
        await other.exited
        assert lab.host.lines == ["first", "last"]

    in_lab(tmp_path, use)
