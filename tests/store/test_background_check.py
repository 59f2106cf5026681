"""An open profile is checked without its user (store/sqlite/background_check.py)."""

# ruff: noqa: ASYNC240 - reading files is what these tests do, and nothing else waits for their loop

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
import threading
import time
from pathlib import Path

import pytest

import hatbox
from hatbox.store.sqlite import SqliteStore, background_check
from hatbox.store.sqlite.background_check import BackgroundCheck, last_check, note_check
from hatbox.store.sqlite.check import Examination, check
from tests.store.fuzz import make
from tests.store.in_loop import in_loop
from tests.store.test_check import copied
from tests.waiting import until

DAY = 24 * 60 * 60


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("background") / "closed", "database")


@pytest.fixture
def path(source: Path, tmp_path: Path) -> Path:
    path = copied(source, tmp_path)
    note_check(path, 1)
    if not last_check(path):
        pytest.skip("this file system has no extended attributes")
    note_check(path, 0)
    return path


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_check, "DELAY_SECONDS", 0)


def lose_rows(path: Path) -> None:
    """Damage that opening and reading do not notice: the header of a page counts fewer cells than it has."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'windows'").fetchone()
    with path.open("r+b") as file:
        file.seek((root - 1) * 4096 + 4)
        file.write(b"\x05")


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "hatbox-check"]


@pytest.mark.process
@in_loop
async def test_lost_rows_are_warned_of_while_the_profile_is_used(
    path: Path, at_once: None, caplog: pytest.LogCaptureFixture
) -> None:
    lose_rows(path)
    before = path.read_bytes()
    with caplog.at_level(logging.WARNING, "hatbox.store"):
        async with hatbox.open(path) as profile:
            assert len(await profile.identities.query()) == 16
            await until(lambda: bool(caplog.records))
    assert f"{path}: the profile is damaged" in caplog.text
    assert f"hatbox check --profile '{path}'" in caplog.text
    assert not last_check(path)  # the next program warns again
    assert path.read_bytes()[4096:] == before[4096:] or not check(path).is_sound


@in_loop
async def test_a_sound_profile_is_checked_once_a_week(
    path: Path, at_once: None, caplog: pytest.LogCaptureFixture
) -> None:
    async with hatbox.open(path):
        await until(lambda: last_check(path) > 0)
    async with hatbox.open(path):
        assert not threads()
    note_check(path, time.time() - 8 * DAY)
    async with hatbox.open(path):
        await until(lambda: time.time() - last_check(path) < DAY)
    note_check(path, time.time() + 8 * DAY)  # a clock that went wrong
    async with hatbox.open(path):
        await until(lambda: last_check(path) < time.time() + DAY)
    assert not caplog.records
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.process
def test_after_an_unclean_end_a_check_is_due(path: Path) -> None:
    note_check(path, time.time() - DAY)
    assert not BackgroundCheck(path, unclean=False).is_running
    check = BackgroundCheck(path, unclean=True)
    assert check.is_running
    check.stop()
    check.join()
    assert not last_check(path)


@pytest.mark.process
@in_loop
async def test_a_killed_program_makes_the_next_one_check(path: Path, at_once: None) -> None:
    path = make(path.parent / "unclean", "log")
    note_check(path, time.time() - DAY)
    async with hatbox.open(path):
        await until(lambda: last_check(path) > time.time() - DAY / 2)


@in_loop
async def test_a_program_that_ends_soon_does_not_wait_for_a_check(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.query()
    assert not threads()
    assert not last_check(path)


@in_loop
async def test_closing_stops_a_check_and_leaves_the_profile_sound(
    path: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check is stopped while a statement of SQLite runs."""
    started = threading.Event()

    def run(self: Examination) -> None:
        self._between()
        started.set()
        self._connection.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        ).fetchone()

    monkeypatch.setattr(Examination, "run", run)
    async with hatbox.open(path) as profile:
        await profile.identities.create("new", color="red", icon="pet")
        await until(started.is_set)
    assert not threads()
    assert not last_check(path)
    assert not path.with_name(f"{path.name}-wal").exists()
    monkeypatch.undo()
    assert check(path).rows["identities"] == 17


@in_loop
async def test_a_close_that_is_cancelled_leaves_no_profile_open(
    path: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, go_on = threading.Event(), threading.Event()

    def run(self: Examination) -> None:
        started.set()
        go_on.wait(10)

    monkeypatch.setattr(Examination, "run", run)
    store = SqliteStore(path)
    await store.open()
    await until(started.is_set)
    closing = asyncio.ensure_future(store.close())
    await asyncio.sleep(0)
    closing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await closing
    go_on.set()
    await until(lambda: not path.with_name(f"{path.name}-lock").exists())


@in_loop
async def test_a_profile_that_is_too_large_is_checked_without_the_longest_statement(
    path: Path, at_once: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    examine = Examination._examine_structure

    def too_long(self: Examination) -> None:
        examine(self)
        error = sqlite3.OperationalError("interrupted")
        error.sqlite_errorcode = sqlite3.SQLITE_INTERRUPT
        raise error

    monkeypatch.setattr(Examination, "_examine_structure", too_long)
    with caplog.at_level(logging.INFO, "hatbox.store"):
        async with hatbox.open(path):
            await until(lambda: last_check(path) > 0)
    assert "too large" in caplog.text


@in_loop
async def test_a_check_does_not_keep_the_log_from_being_emptied(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two pieces no transaction is open."""
    paused, go_on = threading.Event(), threading.Event()

    def between() -> None:
        paused.set()
        go_on.wait(10)

    monkeypatch.setattr("hatbox.store.sqlite.check._BATCH", 5)
    async with hatbox.open(path) as profile:
        from hatbox.store.sqlite.check import connect_to_read

        with contextlib.closing(connect_to_read(path, alone=False)) as connection:
            examination = Examination(path, connection, between)
            thread = threading.Thread(target=examination.run)
            thread.start()
            await until(paused.is_set)
            await profile.identities.create("new", color="red", icon="pet")
            with contextlib.closing(sqlite3.connect(path)) as other:
                assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
            go_on.set()
            thread.join()
            assert not examination.problems
