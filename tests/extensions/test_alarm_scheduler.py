from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.extension_data.alarms import fire_due
from hatbox.extensions.alarm_scheduler import AlarmScheduler
from hatbox.extensions.extension import Extension
from tests.api.caller import extension_browser
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno

ID = "test@example.org"
LISTEN = "globalThis.fired = []; browser.alarms.onAlarm.addListener(alarm => { fired.push(alarm.name); });"


def with_alarms(tmp_path: Path, use: Any) -> None:
    """A profile whose process fires the alarms of one extension."""

    async def main() -> None:
        async with asyncio.timeout(30), hatbox.open(tmp_path / "profile.db") as profile:
            scheduler = AlarmScheduler(profile.store, profile.clock)
            scheduler.watch(ID)
            await use(profile, extension_browser(profile, ["alarms"], ID).alarms, scheduler)
            scheduler.unwatch(ID)
            scheduler.unwatch(ID)

    asyncio.run(main())


def test_an_alarm_fires_when_its_time_has_come_and_not_before(tmp_path: Path) -> None:
    async def use(profile: Profile, alarms: Any, _: AlarmScheduler) -> None:
        fired: list[Any] = []
        alarms.onAlarm.addListener(fired.append)
        await alarms.create("tea", {"delayInMinutes": 3})
        await profile.clock.advance(2 * 60)
        assert fired == []
        await profile.clock.advance(61)
        assert [alarm["name"] for alarm in fired] == ["tea"]
        assert abs(fired[0]["scheduledTime"] / 1000 - profile.clock.time()) < 5
        assert await alarms.getAll() == []
        await profile.clock.advance(600)
        assert len(fired) == 1

    with_alarms(tmp_path, use)


def test_one_with_a_period_fires_again_and_again_until_it_is_cleared(tmp_path: Path) -> None:
    async def use(profile: Profile, alarms: Any, _: AlarmScheduler) -> None:
        fired: list[Any] = []
        alarms.onAlarm.addListener(lambda alarm: fired.append((alarm["name"], alarm["periodInMinutes"])))
        await alarms.create("hourly", {"periodInMinutes": 60})
        await alarms.create("once", {"delayInMinutes": 90, "periodInMinutes": 0})
        await profile.clock.advance(3 * 3600 + 1)
        assert fired == [("hourly", 60), ("once", 0), ("hourly", 60), ("hourly", 60)]
        assert [alarm["name"] for alarm in await alarms.getAll()] == ["hourly"]
        assert await alarms.clear("hourly") is True
        await profile.clock.advance(3 * 3600)
        assert len(fired) == 4

    with_alarms(tmp_path, use)


def test_the_next_alarm_is_the_earliest_whatever_was_set_or_cleared_in_between(tmp_path: Path) -> None:
    async def use(profile: Profile, alarms: Any, _: AlarmScheduler) -> None:
        fired: list[Any] = []
        alarms.onAlarm.addListener(lambda alarm: fired.append(alarm["name"]))
        for name, minutes in (("late", 30), ("early", 10), ("gone", 5), ("moved", 1), ("same", 10)):
            await alarms.create(name, {"delayInMinutes": minutes})
        await alarms.clear("gone")
        await alarms.create("moved", {"delayInMinutes": 20})
        await profile.clock.advance(3600)
        assert fired == ["early", "same", "moved", "late"]

    with_alarms(tmp_path, use)


def test_overdue_alarms_fire_in_order_of_time_and_periods_start_now(tmp_path: Path) -> None:
    async def use(profile: Profile, alarms: Any, scheduler: AlarmScheduler) -> None:
        scheduler.unwatch(ID)
        fired: list[Any] = []
        alarms.onAlarm.addListener(lambda alarm: fired.append(alarm["name"]))
        for name, when in (("b", 3000), ("c", 1000), ("a", 3000), ("later", 10**15)):
            await alarms.create(name, {"when": when, "periodInMinutes": 1 if name == "c" else 0})
        await profile.store.write(lambda transaction: fire_due(transaction, ID, 500_000))
        assert fired == ["c", "b", "a"]
        left = {alarm["name"]: alarm["scheduledTime"] for alarm in await alarms.getAll()}
        assert left == {"c": 560_000, "later": 10**15}

    with_alarms(tmp_path, use)


def test_an_alarm_of_one_extension_is_nothing_to_another(tmp_path: Path) -> None:
    async def use(profile: Profile, alarms: Any, scheduler: AlarmScheduler) -> None:
        other = extension_browser(profile, ["alarms"], "other@example.org").alarms
        scheduler.watch("other@example.org")
        received: list[Any] = []
        other.onAlarm.addListener(received.append)
        await alarms.create("mine", {"delayInMinutes": 1})
        assert await other.getAll() == []
        assert await other.get("mine") is None
        assert await other.clearAll() is False
        await profile.clock.advance(120)
        assert received == []
        scheduler.unwatch("other@example.org")

    with_alarms(tmp_path, use)


def test_two_processes_that_run_an_extension_fire_an_alarm_once(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "profile.db"
        async with asyncio.timeout(30), hatbox.open(path) as here, hatbox.open(path) as there:
            received: asyncio.Queue[str] = asyncio.Queue()
            schedulers = [AlarmScheduler(profile.store, profile.clock) for profile in (here, there)]
            for scheduler in schedulers:
                scheduler.watch(ID)
            alarms = extension_browser(here, ["alarms"], ID).alarms
            alarms.onAlarm.addListener(lambda alarm: received.put_nowait(alarm["name"]))
            await alarms.create("both", {"delayInMinutes": 1})
            await there.store.deliver_pending_changes()
            await asyncio.gather(here.clock.advance(61), there.clock.advance(61))
            await alarms.create("after", {"when": 1})
            assert [await received.get(), await received.get()] == ["both", "after"]

    asyncio.run(main())


@needs_deno
def test_alarms_end_with_the_extension(tmp_path: Path) -> None:
    async def main() -> None:
        folder = make(tmp_path, LISTEN, permissions=["alarms"])
        async with asyncio.timeout(60), hatbox.open(tmp_path / "profile.db") as profile:
            extension = await profile.extensions.start(folder)
            await extension.browser.alarms.create("a", {"delayInMinutes": 1})
            await profile.extensions.stop(extension)
            await profile.clock.advance(3600)
            extension = await profile.extensions.start(folder)
            assert await extension.evaluate("browser.alarms.getAll()") == []
            assert await extension.evaluate("fired") == []

    asyncio.run(main())


@needs_deno
def test_an_alarm_wakes_an_extension_that_sleeps(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        await extension.evaluate("browser.alarms.create('wake', {delayInMinutes: 5})")
        await extension.suspend()
        assert extension.runtime is None
        woken: asyncio.Queue[Any] = asyncio.Queue()
        extension.browser.storage.local.onChanged.addListener(woken.put_nowait)
        await profile.clock.advance(301)
        assert (await woken.get())["fired"]["newValue"] == "wake"
        assert extension.runtime is not None

    background = "browser.alarms.onAlarm.addListener(alarm => browser.storage.local.set({fired: alarm.name}));"
    run_made(tmp_path, use, background, persistent=False, permissions=["alarms", "storage"])


@pytest.mark.deno
def test_many_alarms_do_not_slow_down_creation(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        await extension.evaluate("for (let i = 0; i < 4000; i++) browser.alarms.create('a' + i, {delayInMinutes: 9})")
        async with asyncio.timeout(60):  # with all alarms looked through for each, it took minutes
            await profile.identities.create("Other", color="red", icon="circle")
            assert await extension.evaluate("browser.alarms.getAll().then(all => all.length)") == 4000

    run_made(tmp_path, use, permissions=["alarms"])


@pytest.mark.deno
def test_an_alarm_of_the_last_session_does_not_stand_before_those_of_this_one(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        await extension.evaluate("browser.alarms.create('early', {delayInMinutes: 1})")
        await profile.extensions.stop(extension)
        extension = await profile.extensions.start(extension.package)
        await extension.evaluate("browser.alarms.create('late', {delayInMinutes: 5})")
        assert profile.extensions._alarms._timers[extension.area] is not None

    run_made(tmp_path, use, permissions=["alarms"])
