"""Leases of the SQLite store: locked files beside the profile (store/sqlite/file_lease.py)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hatbox.errors import ProfileReadOnly
from hatbox.store.lease import LeaseHolder
from hatbox.store.processes import current_process
from hatbox.store.sqlite import SqliteStore

HOLD = """
import sys
from pathlib import Path
import asyncio
from hatbox.store.sqlite import SqliteStore
lease = SqliteStore(Path(sys.argv[1])).lease("engine")
assert asyncio.run(lease.acquire("test")) is None
print("held", flush=True)
sys.stdin.readline()
"""

HOLD_AND_FORK = HOLD.replace(
    'print("held"', 'import os\nif not os.fork():\n    sys.stdin.readline()\n    os._exit(0)\nprint("held"'
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


class Lease:
    """The lease, without an event loop around each call."""

    def __init__(self, profile: Path) -> None:
        self._lease = SqliteStore(profile).lease("engine")

    def acquire(self, purpose: str) -> LeaseHolder | None:
        return asyncio.run(self._lease.acquire(purpose))

    def holder(self) -> LeaseHolder | None:
        return asyncio.run(self._lease.holder())

    def release(self) -> None:
        asyncio.run(self._lease.release())


def hold(path: Path, program: str = HOLD) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.mark.process
def test_another_process_does_not_get_it_and_sees_the_holder(path: Path) -> None:
    process = hold(path)
    try:
        holder = Lease(path).acquire("mine")
        assert holder is not None
        assert (holder.purpose, holder.pid) == ("test", process.pid)
        assert holder.process is not None
        assert (holder.process.is_local, holder.process.is_running) == (True, True)
        assert Lease(path).holder() == holder
    finally:
        end(process)


@pytest.mark.process
def test_it_ends_with_its_process_however_that_ends(path: Path) -> None:
    end(hold(path))
    assert Lease(path).holder() is None
    lease = Lease(path)
    assert lease.acquire("next") is None
    assert Lease(path).holder() == LeaseHolder("next", current_process())
    lease.release()


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_of_the_holder_does_not_hold_it_on(path: Path) -> None:
    process = hold(path, HOLD_AND_FORK)
    process.kill()  # its child waits for a line that never comes, until the pipe is closed below
    process.wait()
    try:
        lease = Lease(path)
        assert lease.acquire("next") is None
        lease.release()
    finally:
        process.communicate()


def test_it_can_be_given_back_twice_and_taken_again(path: Path) -> None:
    lease = Lease(path)
    for _ in range(2):
        assert lease.acquire("a") is None
        assert Lease(path).acquire("b") == LeaseHolder("a", current_process())
        assert lease.acquire("a") == LeaseHolder("a", current_process())
        lease.release()
        lease.release()
    assert Lease(path).holder() is None


def test_links_to_one_profile_lead_to_one_lease(path: Path) -> None:
    path.touch()
    link = path.with_name("link.db")
    link.symlink_to(path)
    lease = Lease(path)
    assert lease.acquire("a") is None
    assert Lease(link).holder() == LeaseHolder("a", current_process())
    lease.release()


@pytest.mark.skipif(os.name != "posix", reason="files of POSIX")
@pytest.mark.parametrize("kind", ["pipe", "link", "hard link"])
def test_what_another_user_has_put_in_its_place_is_neither_waited_for_nor_written_to(path: Path, kind: str) -> None:
    file, other = path.with_name("profile.db-engine"), path.with_name("other")
    other.write_bytes(b"of another program")
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "link":
        file.symlink_to(other)
    else:
        file.hardlink_to(other)
    lease = Lease(path)
    assert lease.holder() is None
    with pytest.raises(ProfileReadOnly, match="move the file away"):
        lease.acquire("a")
    assert other.read_bytes() == b"of another program"


def test_only_its_owner_can_read_it(path: Path) -> None:
    lease = Lease(path)
    assert lease.acquire("a") is None
    assert path.with_name("profile.db-engine").stat().st_mode & 0o777 == 0o600
    lease.release()


def test_a_place_that_cannot_be_written_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(ProfileReadOnly, match=r"profile\.db-engine: cannot be written"):
        Lease(tmp_path / "nowhere" / "profile.db").acquire("a")


@pytest.mark.process
def test_somebody_who_only_looks_does_not_keep_anyone_from_taking_it(path: Path) -> None:
    looking = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys\nfrom pathlib import Path\nfrom hatbox.store.sqlite.file_lease import FileLease\n"
            "print('held', flush=True)\nwhile True: FileLease(Path(sys.argv[1])).read_holder()",
            str(path.with_name("profile.db-engine")),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert looking.stdout
        looking.stdout.readline()
        for _ in range(200):
            lease = Lease(path)
            assert lease.acquire("a") is None
            lease.release()
    finally:
        end(looking)


def test_nothing_is_left_beside_the_profile_after_an_orderly_end(path: Path) -> None:
    lease = Lease(path)
    assert lease.acquire("a") is None
    lease.release()
    assert list(path.parent.iterdir()) == []


@pytest.mark.process
def test_what_a_killed_holder_has_left_is_removed_by_the_next_who_looks(path: Path) -> None:
    end(hold(path))
    assert path.with_name("profile.db-engine").exists()
    assert Lease(path).holder() is None
    assert list(path.parent.iterdir()) == []


@pytest.mark.process
def test_a_file_in_its_place_is_never_removed_while_an_engine_holds_the_lease(path: Path) -> None:
    process = hold(path)
    try:
        for _ in range(20):
            Lease(path).holder()
            assert Lease(path).acquire("b") is not None
        assert path.with_name("profile.db-engine").exists()
    finally:
        end(process)


CONTEND = """
import os, sys
from pathlib import Path
import asyncio
from hatbox.store.sqlite import SqliteStore
path, rounds = Path(sys.argv[1]), int(sys.argv[2])
alone = path.with_name("alone")
sys.stdin.readline()
async def main():
    taken = 0
    while taken < rounds:
        lease = SqliteStore(path).lease("engine")
        if await lease.acquire("test") is not None:
            continue
        os.close(os.open(alone, os.O_CREAT | os.O_EXCL))  # fails if another process holds the lease as well
        os.unlink(alone)
        await lease.release()
        await SqliteStore(path).lease("engine").holder()
        taken += 1
asyncio.run(main())
print("never together", flush=True)
"""


@pytest.mark.process
def test_two_engines_never_hold_it_however_often_its_file_comes_and_goes(path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", CONTEND, str(path), "150"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate(timeout=120)[0] for process in processes] == ["never together\n"] * 4
    assert list(path.parent.iterdir()) == []


HOLD_AS_BEFORE = """
import fcntl, json, os, sys
file = open(sys.argv[1] + "-engine", "w")
fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
file.write(json.dumps({"engine": "chromium", "process": os.getpid()}))
file.flush()
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.mark.process
@pytest.mark.skipif(os.name != "posix", reason="there is no flock here")
def test_the_engine_of_an_earlier_version_is_seen(path: Path) -> None:
    process = hold(path, HOLD_AS_BEFORE)
    try:
        holder = Lease(path).holder()
        assert holder is not None
        assert (holder.purpose, holder.pid) == ("chromium", process.pid)
        assert holder.process is not None
        assert (holder.process.is_local, holder.process.is_running) == (True, True)
        assert Lease(path).acquire("http") == holder
    finally:
        end(process)
    assert Lease(path).holder() is None


def test_an_earlier_version_can_read_the_engine_and_its_process(path: Path) -> None:
    lease = Lease(path)
    assert lease.acquire("chromium") is None
    signed = json.loads(path.with_name("profile.db-engine").read_text("utf-8"))
    assert (signed["engine"], signed["process"]) == ("chromium", os.getpid())
    lease.release()
