"""One profile opened many times: in one process and in several, in every order, with kills in between.

POSIX advisory locks belong to the process: closing any descriptor of the database drops every lock that the process
holds on it. These tests fail when anything but SQLite opens the file while a handle of the process is open.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import hatbox
from hatbox.store.sqlite.lock import LockBusy, ProfileLock
from tests.store.in_loop import in_loop
from tests.store.kill_count import kill_count
from tests.store.other_process import OtherProcess

ROUNDS = kill_count(30)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, which may kill itself."""
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


def names_and_ids(path: Path) -> tuple[list[str], list[str]]:
    with hatbox.open_sync(path) as profile:
        found = profile.identities.query()
    return [identity.name for identity in found], [identity.cookie_store_id for identity in found]


@pytest.mark.process
@pytest.mark.parametrize("opened", ["hatbox.open_sync(path).open()", "asyncio.run(opened_async())"])
def test_what_resolved_on_one_handle_survives_a_kill_after_another_was_closed(path: Path, opened: str) -> None:
    """Two handles in one process, one closed; another process opens and closes the profile; then a kill."""
    program = f"""
        import asyncio, os, signal, subprocess, sys
        import hatbox
        path = sys.argv[1]

        async def opened_async():
            async with hatbox.open(path) as profile:
                await profile.identities.query()

        first = hatbox.open_sync(path)
        first.open()
        first.identities.create("before", color="red", icon="pet")
        second = {opened}
        if second is not None:
            second.close()
        subprocess.run([sys.executable, "-m", "hatbox", "--profile", path, "list"], check=True, capture_output=True)
        made = first.identities.create("resolved", color="red", icon="pet")
        print(made.cookie_store_id, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    ended = run(program, str(path))
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    found, ids = names_and_ids(path)
    assert found[4:] == ["before", "resolved"]
    assert ids[-1] == ended.stdout.strip()


@pytest.mark.process
@in_loop
async def test_another_process_does_not_lose_what_it_committed_after_a_handle_was_closed_here(path: Path) -> None:
    async with hatbox.open(path) as first:
        await first.identities.create("ours", color="red", icon="pet")
        async with hatbox.open(path) as second:
            await second.identities.query()
        with OtherProcess(path) as other:
            theirs = other.identities("create", "theirs", color="red", icon="pet")
        ours = await first.identities.create("ours again", color="red", icon="pet")
        assert ours.cookie_store_id != theirs["cookieStoreId"]
        found = [identity.name for identity in await first.identities.query()]
        assert found[4:] == ["ours", "theirs", "ours again"]
    assert names_and_ids(path)[0][4:] == ["ours", "theirs", "ours again"]


@pytest.mark.process
@pytest.mark.parametrize("count", [2, 10])
@in_loop
async def test_handles_may_be_opened_and_closed_in_any_order(path: Path, count: int) -> None:
    """After each step another process comes and goes, and every open handle sees all that was created so far."""
    choose = random.Random(count)
    expected: list[str] = []
    handles: list[hatbox.Profile] = []
    with OtherProcess() as other:
        for step in range(60):
            if len(handles) < count and (not handles or choose.random() < 0.6):
                handles.append(await hatbox.open(path))
            else:
                await handles.pop(choose.randrange(len(handles))).close()
            if handles:
                expected.append(f"step {step}")
                await choose.choice(handles).identities.create(f"step {step}", color="red", icon="pet")
            if step % 3 == 0:
                other.call("open", str(path))
                expected.append(f"other {step}")
                other.identities("create", f"other {step}", color="red", icon="pet")
                other.call("close")
            for handle in handles:
                assert [one.name for one in await handle.identities.query()][4:] == expected
        for handle in handles:
            await handle.close()
    found, ids = names_and_ids(path)
    assert found[4:] == expected
    assert len(set(ids)) == len(ids)


@pytest.mark.slow
def test_threads_and_loops_that_open_a_profile_at_once_lose_nothing(path: Path) -> None:
    made: list[str] = []
    failures: list[BaseException] = []

    def with_sync(number: int) -> None:
        for turn in range(5):
            with hatbox.open_sync(path) as profile:
                made.append(profile.identities.create(f"{number} {turn}", color="red", icon="pet").cookie_store_id)

    async def with_loop(number: int) -> None:
        for turn in range(5):
            async with hatbox.open(path) as profile:
                created = await profile.identities.create(f"{number} {turn}", color="red", icon="pet")
                made.append(created.cookie_store_id)

    def work(number: int) -> None:
        try:
            with_sync(number) if number % 2 else asyncio.run(with_loop(number))
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sorted(names_and_ids(path)[1][4:]) == sorted(set(made))
    assert len(made) == 30


KILLED = """
    import asyncio, itertools, os, random, sys
    import hatbox
    path, seed = sys.argv[1], int(sys.argv[2])

    async def main():
        choose, handles = random.Random(seed), []
        for step in itertools.count():
            if len(handles) < 4 and (not handles or choose.random() < 0.5):
                handles.append(await hatbox.open(path))
            else:
                await handles.pop(choose.randrange(len(handles))).close()
            if handles:
                made = await choose.choice(handles).identities.create(f"{seed} {step}", color="red", icon="pet")
                os.write(1, f"{made.cookie_store_id}\\n".encode())

    asyncio.run(main())
"""


@pytest.mark.process
def test_nothing_that_resolved_is_lost_when_processes_with_many_handles_are_killed(path: Path) -> None:
    """Each round two processes open, close and create; one is killed at a random moment, the other a round later."""
    seed = random.randrange(2**32)
    choose = random.Random(seed)
    resolved: list[str] = []
    names_and_ids(path)

    def start(number: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", textwrap.dedent(KILLED), str(path), str(number)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")

    def end(process: subprocess.Popen[str], lines: int) -> None:
        with process:
            assert process.stdout
            reports = [process.stdout.readline().strip() for _ in range(lines)]
            process.kill()
            resolved.extend(report for report in [*reports, *process.stdout.read().split()] if report)
        assert process.returncode == -signal.SIGKILL

    older = start(0)
    for number in range(1, ROUNDS):
        newer = start(number)
        end(older, choose.randrange(1, 12))
        older = newer
        ids = names_and_ids(path)[1]
        assert set(resolved) <= set(ids), f"seed {seed}, round {number}"
        assert len(set(ids)) == len(ids)
    end(older, 1)
    ids = names_and_ids(path)[1]
    assert set(resolved) <= set(ids)
    assert len(set(resolved)) == len(resolved)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.process
def test_only_sqlite_opens_the_database_while_a_handle_is_open(path: Path) -> None:
    """Closing a descriptor of our own would drop SQLite's locks: with one handle open there must be none."""
    program = """
        import sys
        import hatbox
        path, opened = sys.argv[1], set()

        def watch(event, arguments):
            if event == "open" and str(arguments[0]).startswith(path):
                opened.add(str(arguments[0])[len(path):])

        with hatbox.open_sync(path):
            sys.addaudithook(watch)
            with hatbox.open_sync(path) as second:
                second.identities.create("a", color="red", icon="pet")
        print(*opened)
    """
    ended = run(program, str(path))
    assert ended.stdout.split() == ["-lock"], ended.stderr


# -------------------------------------------------------------------------------------------------------- the lock file


@pytest.fixture
def profile_path(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "profile.db"
    assert not list(tmp_path.iterdir())


def test_the_lock_is_exclusive_only_for_the_first_handle(profile_path: Path) -> None:
    first = ProfileLock(profile_path, 5)
    assert first.exclusive
    assert first.share()
    second = ProfileLock(profile_path, 5)
    assert not second.exclusive
    first.release()
    second.release()


def test_a_lock_that_stays_exclusive_is_waited_for_and_then_reported(profile_path: Path) -> None:
    first = ProfileLock(profile_path, 5)
    with pytest.raises(LockBusy):
        ProfileLock(profile_path, 0.05)
    first.release()
    ProfileLock(profile_path, 5).release()


def test_a_lock_file_that_the_last_handle_removed_is_not_mistaken_for_the_new_one(profile_path: Path) -> None:
    for order in itertools.permutations(range(3)):
        locks = [ProfileLock(profile_path, 5)]
        locks[0].share()
        locks += [ProfileLock(profile_path, 5) for _ in range(2)]
        for place in order:
            locks[place].release()
        assert not profile_path.with_name("profile.db-lock").exists()


@pytest.mark.process
def test_a_child_that_was_forked_does_not_keep_the_lock(profile_path: Path) -> None:
    lock = ProfileLock(profile_path, 5)
    lock.share()
    ready, end = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        os.write(ready[1], b".")
        os.close(end[1])
        os.read(end[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    lock.release()
    alone = ProfileLock(profile_path, 5)
    assert alone.exclusive
    alone.release()
    os.close(end[1])
    os.waitpid(child, 0)
    for descriptor in (*ready, end[0]):
        os.close(descriptor)
