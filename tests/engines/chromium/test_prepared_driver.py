"""A driver that is started before it is needed is taken once, or stopped."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from hatbox.engines.chromium import driver_connection
from hatbox.engines.chromium.driver_connection import PreparedDriver, start_driver
from tests.store.in_loop import in_loop


class Drivers:
    """Stands for Playwright."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started: list[object] = []
        self.stopped: list[object] = []
        self.may_start = asyncio.Event()
        self.may_start.set()
        monkeypatch.setattr(driver_connection, "_started_driver", self._start)
        monkeypatch.setattr(driver_connection, "stop_driver", self._stop)
        monkeypatch.setattr(driver_connection, "_process_of", lambda _: None)

    async def _start(self) -> object:
        await self.may_start.wait()
        self.started.append(object())
        return self.started[-1]

    async def _stop(self, driver: object) -> None:
        self.stopped.append(driver)


@in_loop
async def test_it_is_taken_once_and_then_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    drivers = Drivers(monkeypatch)
    prepared = PreparedDriver(300)
    taken = [await start_driver() for _ in range(2)]
    assert taken == drivers.started and len(taken) == 2
    await prepared.close()
    assert drivers.stopped == []


@in_loop
async def test_one_that_has_ended_meanwhile_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    drivers = Drivers(monkeypatch)
    prepared = PreparedDriver(300)
    ended = SimpleNamespace(returncode=-9)
    monkeypatch.setattr(driver_connection, "_process_of", lambda each: ended if each is drivers.started[0] else None)
    assert await start_driver() is drivers.started[1]
    await prepared.close()


@in_loop
async def test_it_is_stopped_if_it_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    drivers = Drivers(monkeypatch)
    for prepared in (PreparedDriver(300), PreparedDriver(0)):  # the second at once
        await prepared.close()
    assert len(drivers.stopped) == 2 and drivers.stopped == drivers.started
    await start_driver()
    assert len(drivers.started) == 3


@in_loop
async def test_it_is_stopped_if_who_has_taken_it_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    drivers = Drivers(monkeypatch)
    drivers.may_start.clear()
    prepared = PreparedDriver(300)
    taking = asyncio.ensure_future(start_driver())
    await asyncio.sleep(0)
    taking.cancel()
    await asyncio.wait([taking])
    drivers.may_start.set()
    await prepared.close()
    assert len(drivers.stopped) == 1 and drivers.stopped == drivers.started
