"""One profile has one engine at a time (engines/lease.py)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hatbox.engines.lease import Holder, Lease
from hatbox.errors import EngineAlreadyRunning, EngineError

HOLD = """
import sys
from pathlib import Path
from hatbox.engines.lease import Lease
lease = Lease(Path(sys.argv[1]))
lease.take("test")
print("held", flush=True)
sys.stdin.readline()
"""

HOLD_AND_FORK = HOLD.replace(
    'print("held"', 'import os\nif not os.fork():\n    sys.stdin.readline()\n    os._exit(0)\nprint("held"'
)


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


def test_nobody_else_gets_it_and_the_error_names_the_holder(path: Path) -> None:
    process = hold(path)
    try:
        with pytest.raises(EngineAlreadyRunning, match=rf"in the test engine \(pid {process.pid}\)") as caught:
            Lease(path).take("mine")
        assert (caught.value.engine, caught.value.process) == ("test", process.pid)
        assert Lease(path).holder() == Holder("test", process.pid)
    finally:
        end(process)


def test_it_ends_with_its_process_however_that_ends(path: Path) -> None:
    end(hold(path))
    assert Lease(path).holder() is None
    lease = Lease(path)
    lease.take("next")
    assert Lease(path).holder() == Holder("next", os.getpid())
    lease.release()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_of_the_holder_does_not_hold_it_on(path: Path) -> None:
    process = hold(path, HOLD_AND_FORK)
    process.kill()  # its child waits for a line that never comes, until the pipe is closed below
    process.wait()
    try:
        lease = Lease(path)
        lease.take("next")
        lease.release()
    finally:
        process.communicate()


def test_it_can_be_given_back_twice_and_taken_again(path: Path) -> None:
    lease = Lease(path)
    for _ in range(2):
        lease.take("a")
        with pytest.raises(EngineAlreadyRunning, match="a engine"):
            Lease(path).take("b")
        with pytest.raises(EngineAlreadyRunning, match="a engine"):
            lease.take("a")
        lease.release()
        lease.release()
    assert Lease(path).holder() is None


def test_links_to_one_profile_lead_to_one_lease(path: Path) -> None:
    path.touch()
    link = path.with_name("link.db")
    link.symlink_to(path)
    lease = Lease(path)
    lease.take("a")
    assert Lease(link).holder() == Holder("a", os.getpid())
    lease.release()


def test_only_its_owner_can_read_it(path: Path) -> None:
    lease = Lease(path)
    lease.take("a")
    assert path.with_name("profile.db-engine").stat().st_mode & 0o777 == 0o600
    lease.release()


def test_a_place_that_cannot_be_written_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="cannot be written"):
        Lease(tmp_path / "nowhere" / "profile.db").take("a")


def test_somebody_who_only_looks_does_not_keep_anyone_from_taking_it(path: Path) -> None:
    looking = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys\nfrom pathlib import Path\nfrom hatbox.engines.lease import Lease\n"
            "print('held', flush=True)\nwhile True: Lease(Path(sys.argv[1])).holder()",
            str(path),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert looking.stdout
        looking.stdout.readline()
        for _ in range(200):
            lease = Lease(path)
            lease.take("a")
            lease.release()
    finally:
        end(looking)


def test_nothing_is_left_beside_the_profile_after_an_orderly_end(path: Path) -> None:
    lease = Lease(path)
    lease.take("a")
    lease.release()
    assert list(path.parent.iterdir()) == []


def test_what_a_killed_holder_has_left_is_removed_by_the_next_who_looks(path: Path) -> None:
    end(hold(path))
    assert path.with_name("profile.db-engine").exists()
    assert Lease(path).holder() is None
    assert list(path.parent.iterdir()) == []


def test_a_file_in_its_place_is_never_removed_while_an_engine_holds_the_lease(path: Path) -> None:
    process = hold(path)
    try:
        for _ in range(20):
            Lease(path).holder()
            with pytest.raises(EngineAlreadyRunning):
                Lease(path).take("b")
        assert path.with_name("profile.db-engine").exists()
    finally:
        end(process)


CONTEND = """
import os, sys
from pathlib import Path
from hatbox.engines.lease import Lease
from hatbox.errors import EngineAlreadyRunning
path, rounds = Path(sys.argv[1]), int(sys.argv[2])
alone = path.with_name("alone")
sys.stdin.readline()
taken = 0
while taken < rounds:
    lease = Lease(path)
    try:
        lease.take("test")
    except EngineAlreadyRunning:
        continue
    os.close(os.open(alone, os.O_CREAT | os.O_EXCL))  # fails if another process holds the lease as well
    os.unlink(alone)
    lease.release()
    Lease(path).holder()
    taken += 1
print("never together", flush=True)
"""


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
