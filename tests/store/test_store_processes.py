"""The identity of processes, on this machine and on others (store/processes.py, store/sqlite/processes.py)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hatbox.errors import ProfileLocked
from hatbox.store import processes
from hatbox.store.lease import LeaseHolder
from hatbox.store.processes import ProcessId, current_process, start_time
from hatbox.store.sqlite import SqliteStore
from hatbox.store.sqlite.file_lease import FileLease
from tests.store.in_loop import in_loop
from tests.store.test_contract import opened

ELSEWHERE = """
import asyncio, os, sys
from pathlib import Path
from hatbox.store import processes
if sys.argv[2]:
    processes.host_id = lambda: sys.argv[2]
from hatbox.store.sqlite import SqliteStore
async def main():
    store = SqliteStore(Path(sys.argv[1]))
    await store.open()
    await store.register_process()
    print("registered", *processes.current_process(), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await store.close()
    print("closed", flush=True)
    sys.stdin.readline()
asyncio.run(main())
"""


class Other:
    """Another process that has the profile open, on another machine if `host` says so."""

    def __init__(self, path: Path, host: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", ELSEWHERE, str(path), host], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        word, name, pid, started_at = self.line().split()
        assert word == "registered"
        self.id = ProcessId(name, int(pid), started_at)

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline()

    def close_profile(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.line() == "closed\n"

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture
def foreign(path: Path) -> Iterator[Other]:
    other = Other(path, "other-machine/boot")
    yield other
    other.kill()


async def is_running(path: Path, process: ProcessId) -> bool:
    async with opened(SqliteStore(path)) as store:
        return await store.read(lambda each: each.processes.is_running(process))


def test_a_process_is_told_from_a_later_one_with_its_number() -> None:
    here = current_process()
    assert here == (processes.host_id(), os.getpid(), start_time(os.getpid()))
    assert here.is_local
    assert here.is_running
    assert not here._replace(started_at="another time").is_running
    assert not here._replace(pid=2**22 + 1).is_running


def test_a_message_names_the_machine_of_a_process_only_if_it_is_another() -> None:
    here = current_process()
    assert str(here) == f"pid {os.getpid()}"
    assert str(here._replace(host="other-machine/boot")) == f"pid {os.getpid()} on other-machine"


@pytest.mark.process
@in_loop
async def test_a_process_of_this_machine_is_running_until_it_ends(path: Path) -> None:
    other = Other(path, "")
    try:
        assert other.id.is_local
        assert await is_running(path, other.id)
    finally:
        other.kill()
    assert not await is_running(path, other.id)
    assert not [each for each in path.parent.iterdir() if "-process-" in each.name]


@pytest.mark.process
@in_loop
async def test_a_process_of_another_machine_is_running_while_it_is_registered(path: Path, foreign: Other) -> None:
    assert not foreign.id.is_local
    assert await is_running(path, foreign.id)
    assert not await is_running(path, foreign.id._replace(started_at="another time"))
    foreign.close_profile()
    assert not await is_running(path, foreign.id)


@pytest.mark.process
@in_loop
async def test_a_killed_process_of_another_machine_is_not_running(path: Path, foreign: Other) -> None:
    foreign.kill()
    assert not await is_running(path, foreign.id)
    assert not [each for each in path.parent.iterdir() if "-process-" in each.name]


@pytest.mark.process
@in_loop
async def test_a_transaction_does_not_touch_the_lease_files(path: Path, foreign: Other) -> None:
    def leases() -> list[str]:
        return [each.name for each in path.parent.iterdir() if "-process-" in each.name]

    async with opened(SqliteStore(path)) as store:
        foreign.kill()
        assert not await store.read(lambda each: each.processes.is_running(foreign.id))
        assert not await store.write(lambda each: each.processes.is_running(foreign.id))
        assert len(leases()) == 1
        await store.register_process()
        assert len(leases()) == 1  # its own
        assert await store.read(lambda each: each.processes.is_running(each.processes.current))
    assert leases() == []


@in_loop
async def test_a_process_that_cannot_be_registered_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = LeaseHolder("process", ProcessId("same-name", os.getpid(), "another time"))

    async def acquire(*_: object) -> LeaseHolder:
        return other

    async with opened(SqliteStore(path)) as store:
        with monkeypatch.context() as patch:
            patch.setattr(FileLease, "acquire", acquire)
            with pytest.raises(ProfileLocked, match="cannot register this process"):
                await store.register_process()
        await store.register_process()  # not registered by the failed call
        assert len([each for each in path.parent.iterdir() if "-process-" in each.name]) == 1


@in_loop
async def test_the_id_of_a_local_process_says_nothing_about_another_machine(path: Path) -> None:
    assert not await is_running(path, current_process()._replace(host="other-machine/boot"))


@in_loop
async def test_a_process_stays_registered_until_all_its_stores_are_closed(path: Path) -> None:
    def leases() -> list[str]:
        return [each.name for each in path.parent.iterdir() if "-process-" in each.name]

    async with opened(SqliteStore(path)) as one:
        await one.register_process()
        async with opened(SqliteStore(path)) as other:
            await other.register_process()
        assert len(leases()) == 1
    assert leases() == []


@in_loop
async def test_registering_twice_is_no_error_and_closing_leaves_no_file(path: Path) -> None:
    async with opened(SqliteStore(path)) as store:
        await asyncio.gather(store.register_process(), store.register_process())
        await store.register_process()
    assert [each.name for each in path.parent.iterdir()] == ["profile.db"]
