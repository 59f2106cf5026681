from __future__ import annotations

import asyncio
import gc
import logging

import pytest

from hatbox.tasks import Tasks, wait_for_first
from tests.store.in_loop import in_loop


@pytest.mark.slow
@in_loop
async def test_a_task_runs_to_its_end_without_another_reference() -> None:
    tasks = Tasks()
    ended = asyncio.Event()

    async def work() -> None:
        await asyncio.sleep(0)
        ended.set()

    tasks.spawn(work())
    gc.collect()
    await tasks.wait()
    assert ended.is_set()
    assert not tasks


@in_loop
async def test_waiting_includes_tasks_that_running_tasks_start() -> None:
    tasks = Tasks()
    order: list[str] = []

    async def second() -> None:
        order.append("second")

    async def first() -> None:
        tasks.spawn(second())
        order.append("first")

    tasks.spawn(first())
    await tasks.wait()
    assert order == ["first", "second"]


@in_loop
async def test_an_error_is_reported_once_and_cancelling_is_no_error() -> None:
    errors: list[BaseException] = []
    tasks = Tasks(errors.append)

    async def fail() -> None:
        raise ValueError("wrong")

    tasks.spawn(fail())
    blocked = tasks.spawn(asyncio.Event().wait())
    await asyncio.sleep(0)
    tasks.cancel()
    await tasks.wait()
    assert [str(error) for error in errors] == ["wrong"]
    assert blocked.cancelled()


@in_loop
async def test_without_a_handler_errors_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    tasks = Tasks()

    async def fail() -> None:
        raise ValueError("wrong")

    with caplog.at_level(logging.ERROR, "hatbox"):
        tasks.spawn(fail())
        await tasks.wait()
    assert "background task failed" in caplog.text
    assert "wrong" in caplog.text


@in_loop
async def test_a_task_may_cancel_the_others_without_cancelling_itself() -> None:
    tasks = Tasks()
    blocked = tasks.spawn(asyncio.Event().wait())

    async def stop() -> str:
        tasks.cancel()
        await asyncio.sleep(0)
        return "done"

    assert await tasks.spawn(stop()) == "done"
    assert blocked.cancelled()


@in_loop
async def test_the_first_to_end_ends_the_others_and_its_error_is_raised() -> None:
    waiting = asyncio.Event()
    cancelled = asyncio.Event()

    async def wait() -> None:
        try:
            await waiting.wait()
        finally:
            cancelled.set()

    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        await wait_for_first(wait(), fail())
    assert cancelled.is_set()
    waiting.set()
    await wait_for_first(wait(), asyncio.Event().wait())
