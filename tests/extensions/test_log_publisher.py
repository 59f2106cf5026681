"""Console lines of extensions reach programs that watch them. Nothing is written while none does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import hatbox
from hatbox.extension_data.log_watching import LogRecord, end_log, read_log, watch_log, watched_until
from hatbox.extensions.log_publisher import LogPublisher
from hatbox.extensions.log_ring import LogRing
from hatbox.extensions.runtime import LogEntry
from tests.store.in_loop import in_loop
from tests.waiting import until_awaited

AREA = "logs@hatbox.example"


def line(text: str, level: str = "log") -> LogEntry:
    return LogEntry("console", level, text)


async def lines_in(profile: hatbox.Profile) -> LogRecord:
    return await profile.store.read(lambda each: read_log(each, AREA))


async def all_values(profile: hatbox.Profile) -> int:
    return len(await profile.store.read(lambda each: each.extensions.load(AREA)))


@in_loop
async def test_the_last_lines_and_the_next_ones_reach_a_program_that_watches(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as running, hatbox.open(path) as page:
        logs = LogPublisher(running.store)
        logs.start(AREA)
        logs.add(AREA, line("before"))
        await asyncio.sleep(0)
        assert await all_values(page) == 0  # nothing is written while none watches
        await page.store.write(lambda each: watch_log(each, AREA))

        async def has(text: str) -> bool:
            return text in [each.text for each in (await lines_in(page)).lines]

        await until_awaited(lambda: has("before"))
        logs.add(AREA, line("after", "error"))
        await until_awaited(lambda: has("after"))
        record = await lines_in(page)
        assert [(each.number, each.level, each.text) for each in record.lines] == [
            (1, "log", "before"),
            (2, "error", "after"),
        ]
        logs.add(AREA, line("last words"))
        await logs.stop(AREA)
        assert await has("last words")
        await page.store.write(lambda each: end_log(each, AREA))
        assert not (await lines_in(page)).lines


@in_loop
async def test_lines_are_deleted_when_the_watch_has_expired(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        logs = LogPublisher(profile.store)
        await profile.store.write(lambda each: watch_log(each, AREA))
        logs.start(AREA)
        await until_awaited(lambda: lines_stored(profile))
        await profile.store.write(lambda each: each.extensions.put(AREA, "log.watchers", "gone", b"1.0"))
        await profile.store.write(lambda each: each.extensions.clear(AREA, "log.watchers"))
        logs.add(AREA, line("unwatched"))
        await until_awaited(lambda: is_empty(profile))
        assert await profile.store.read(lambda each: watched_until(each, AREA)) is None
        await logs.stop(AREA)


async def lines_stored(profile: hatbox.Profile) -> bool:
    return await profile.store.read(lambda each: each.extensions.get(AREA, "log.lines", "") is not None)


async def is_empty(profile: hatbox.Profile) -> bool:
    return await all_values(profile) == 0


@in_loop
async def test_a_flood_is_cut_and_fills_neither_the_profile_nor_the_log(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        logs = LogPublisher(profile.store)
        logs.start(AREA)
        await profile.store.write(lambda each: watch_log(each, AREA))
        await until_awaited(lambda: lines_stored(profile))
        before = (await profile.store.read(lambda each: each.changes.latest_commits(1)))[0].sequence
        started = asyncio.get_running_loop().time()
        for number in range(50_000):
            logs.add(AREA, line(f"{number} " + "x" * 5000 if number % 1000 == 0 else f"{number}"))
            if number % 100 == 0:
                await asyncio.sleep(0)
        seconds = asyncio.get_running_loop().time() - started

        async def has_last() -> bool:
            return [each.text for each in (await lines_in(profile)).lines][-1:] == ["49999"]

        await until_awaited(has_last)
        record = await lines_in(profile)
        assert len(record.lines) <= 201
        assert sum(len(each.text) for each in record.lines) < 40_000
        assert any(each.text.endswith("lines dropped") for each in record.lines)
        commits = await profile.store.read(lambda each: each.changes.latest_commits(10_000))
        of_log = [each for each in commits if each.sequence > before]
        assert len(of_log) <= (seconds + 2) / 0.2 + 3  # at most five a second
        assert all(len(payload) < 100 for each in of_log for _, payload in each.changes)
        await logs.stop(AREA)


def test_a_flood_leaves_its_last_lines_and_says_how_many_were_dropped() -> None:
    ring = LogRing()
    ring.add(line("first"), 1.0)
    assert [each.text for each in ring.record().lines] == ["first"]
    for number in range(1000):
        ring.add(line(str(number)), 2.0)
    texts = [each.text for each in ring.record().lines]
    assert texts[-1] == "999"
    assert "… 900 lines dropped" in texts
    assert not ring.has_new
    numbers = [each.number for each in ring.record().lines]
    assert numbers == sorted(set(numbers))


def test_a_long_line_is_cut_and_a_lone_surrogate_replaced() -> None:
    ring = LogRing()
    ring.add(line("a" * 10_000), 1.0)
    ring.add(line("\ud800"), 1.0)
    long, broken = (each.text for each in ring.record().lines)
    assert len(long) == 2_001
    assert broken == "\ufffd"
