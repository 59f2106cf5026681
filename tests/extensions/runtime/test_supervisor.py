from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hatbox.extensions.runtime import Exit, ExtensionTerminated, Runtime
from hatbox.extensions.runtime.supervisor import BackOff, Supervisor
from tests.extensions.runtime.lab import Lab, in_lab, needs_deno

pytestmark = needs_deno


def test_pauses_grow_up_to_a_bound() -> None:
    assert [BackOff(first=1, factor=2, max_delay=5).delay(crashes) for crashes in (1, 2, 3, 4, 50)] == [1, 2, 4, 5, 5]


def test_what_crashes_is_started_again_and_what_crashes_too_often_is_not(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        told: list[tuple[Exit, float | None]] = []
        started: asyncio.Queue[Runtime] = asyncio.Queue()
        given_up = asyncio.Event()

        async def start() -> Runtime:
            runtime = await lab.start("var marker = 1;")
            started.put_nowait(runtime)
            return runtime

        def on_exit(ended: Exit, pause: float | None) -> None:
            told.append((ended, pause))
            if pause is None:
                given_up.set()

        supervisor = Supervisor(start, BackOff(first=0.01, max_crashes=3), on_exit)
        first = await supervisor.start()
        for _ in range(3):
            runtime = await started.get()
            assert await runtime.evaluate("marker") == 1
            runtime.process.end(Exit("protocol", "a test"))
            await runtime.exited
        await asyncio.wait_for(given_up.wait(), 10)
        assert [pause for _, pause in told] == [0.01, 0.02, None]
        assert {ended.reason for ended, _ in told} == {"protocol"}
        assert first is not runtime
        assert supervisor.runtime is None
        await supervisor.stop()

    in_lab(tmp_path, use)


def test_what_is_stopped_stays_so(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        told: list[object] = []
        supervisor = Supervisor(lambda: lab.start(), BackOff(first=0.0), lambda *ended: told.append(ended))
        runtime = await supervisor.start()
        with pytest.raises(RuntimeError):
            await supervisor.start()
        await supervisor.stop()
        assert (await runtime.exited).reason == "stopped"
        assert told == []
        with pytest.raises(ExtensionTerminated):
            await runtime.evaluate("1")

    in_lab(tmp_path, use)


def test_what_does_not_start_again_is_tried_again(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        attempts = 0

        async def start() -> Runtime:
            nonlocal attempts
            attempts += 1
            if attempts == 2:
                raise ExtensionTerminated("no luck")
            if attempts > 2:
                again.set()
            return await lab.start()

        again = asyncio.Event()
        told: list[Exit] = []
        supervisor = Supervisor(start, BackOff(first=0.0), lambda ended, _: told.append(ended))
        (await supervisor.start()).process.end(Exit("protocol"))
        await asyncio.wait_for(again.wait(), 10)
        assert [ended.reason for ended in told] == ["protocol", "crashed: it did not start"]
        await supervisor.stop()

    in_lab(tmp_path, use)


@pytest.mark.parametrize("has_run", [True, False])
def test_what_does_not_wake_is_tried_again_but_what_never_ran_is_not(tmp_path: Path, has_run: bool) -> None:
    async def use(lab: Lab) -> None:
        attempts = 0
        again = asyncio.Event()
        told: list[Exit] = []

        async def start() -> Runtime:
            nonlocal attempts
            attempts += 1
            if attempts == 1:
                supervisor.runtime = await lab.start()  # it was there already when it broke down
                raise ExtensionTerminated("no luck")
            again.set()
            return await lab.start()

        supervisor = Supervisor(start, BackOff(first=0.0), lambda ended, _: told.append(ended))
        with pytest.raises(ExtensionTerminated):
            await supervisor.start(has_run=has_run)
        assert supervisor.runtime is None
        assert supervisor.restarting is has_run
        if has_run:
            await asyncio.wait_for(again.wait(), 10)
        assert [ended.reason for ended in told] == ["crashed: it did not start"] * has_run
        await supervisor.stop()

    in_lab(tmp_path, use)
