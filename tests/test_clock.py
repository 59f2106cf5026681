from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from hatbox.clock import Clock

HOUR = 3600


def with_clock(use: Callable[[Clock], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(20):
            await use(Clock())

    asyncio.run(main())


def test_it_tells_the_time_and_can_be_moved() -> None:
    async def use(clock: Clock) -> None:
        assert abs(clock.time() - time.time()) < 60
        await clock.advance(HOUR)
        assert abs(clock.time() - time.time() - HOUR) < 60
        with pytest.raises(ValueError, match="must not be negative"):
            await clock.advance(-1)

    with_clock(use)


def test_what_falls_due_is_done_at_its_own_time_in_order_before_the_move_ends() -> None:
    async def use(clock: Clock) -> None:
        start, done = clock.time(), []

        def job(name: str) -> Callable[[], Awaitable[None]]:
            async def do() -> None:
                await asyncio.sleep(0)
                done.append((name, round(clock.time() - start)))

            return do

        clock.call_at(start + 20, job("later"))
        clock.call_at(start + 10, job("sooner"))
        clock.call_at(start + 10, job("sooner, but asked for after it"))
        clock.call_at(start + 90, job("too late"))
        await clock.advance(60)
        assert done == [("sooner", 10), ("sooner, but asked for after it", 10), ("later", 20)]
        await clock.advance(30)
        assert done[3:] == [("too late", 90)]

    with_clock(use)


def test_a_job_that_asks_for_the_next_one_is_done_as_often_as_time_has_passed() -> None:
    async def use(clock: Clock) -> None:
        times = []

        async def again() -> None:
            times.append(clock.time())
            clock.call_at(clock.time() + 60, again)

        clock.call_at(clock.time() + 60, again)
        await clock.advance(10 * 60 + 1)
        assert len(times) == 10

    with_clock(use)


def test_time_passes_by_itself_too() -> None:
    async def use(clock: Clock) -> None:
        done: asyncio.Queue[str] = asyncio.Queue()

        async def job() -> None:
            done.put_nowait("done")

        clock.call_at(clock.time() + 0.01, job)
        assert await done.get() == "done"
        clock.call_at(clock.time() - HOUR, job)
        assert await done.get() == "done"

    with_clock(use)


def test_what_is_cancelled_is_not_done_and_what_fails_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def use(clock: Clock) -> None:
        done = []

        async def job() -> None:
            done.append(1)

        async def fail() -> None:
            raise RuntimeError("on purpose")

        cancelled = clock.call_at(clock.time() + 10, job)
        clock.call_at(clock.time() + 10, fail)
        kept = clock.call_at(clock.time() + 10, job)
        cancelled.cancel()
        cancelled.cancel()
        await clock.advance(HOUR)
        kept.cancel()
        assert done == [1]
        assert "on purpose" in caplog.text

    with_clock(use)
