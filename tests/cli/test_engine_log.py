"""What engines leave behind, and where their logs can be found."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hatbox.cli.engine_log import discard, log_folder, log_of, open_log, set_aside
from hatbox.store.sqlite import SqliteStore
from tests.cli import engines
from tests.cli.conftest import Cli, Start
from tests.site import Site


@pytest.fixture
def site(profile: Path) -> Iterator[Site]:
    with Site() as site:
        yield site
    engines.end(profile)


def left(profile: Path) -> list[str]:
    return sorted(each.name for each in profile.parent.glob("profile.db-engine*"))


def stored() -> list[Path]:
    return sorted(log_folder().glob("*")) if log_folder().exists() else []


# ----------------------------------------------------------------------------------------------- what a user finds


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_engine_that_ends_in_order_leaves_no_file(cli: Cli, profile: Path, site: Site, number: int) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    assert left(profile) == ["profile.db-engine", "profile.db-engine.log"]
    engines.end(profile, number)
    assert (left(profile), stored()) == ([], [])


@pytest.mark.parametrize("command", [["tabs"], ["show", "Work"], ["hide", "Work"]])
def test_what_a_killed_engine_has_left_is_put_away_and_its_log_is_named(
    cli: Cli, profile: Path, site: Site, command: list[str]
) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    engines.end(profile, signal.SIGKILL)
    said = cli(*command).err
    (log,) = stored()
    assert f"The last background engine did not shut down cleanly. Its log is {log}\n" in said
    assert '"event":"ready"' in log.read_text("utf-8")
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert left(profile) == []
    assert "did not shut down cleanly" not in cli(*command).err


@pytest.mark.skipif(os.name != "posix", reason="there is no such signal")
def test_the_log_of_a_crash_says_where_python_was(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    engines.end(profile, signal.SIGSEGV)
    cli("tabs")
    (log,) = stored()
    assert "Segmentation fault" in log.read_text("utf-8")
    assert site.url("/page/1") not in log.read_text("utf-8")


def test_the_next_engine_starts_with_a_log_of_its_own(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    first: int = engines.holder(profile).process  # type: ignore[union-attr]
    engines.end(profile, signal.SIGKILL)
    result = cli("open", "Personal", site.url("/page/2"), "--engine", "http")
    (log,) = stored()
    assert (result.status, result.out.count("Opened")) == (0, 1)
    assert str(log) in result.err
    assert str(first) in log.read_text("utf-8")
    assert str(first) not in log_of(SqliteStore(profile)).read_text("utf-8")


def test_programs_get_no_line_that_they_cannot_read(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    engines.end(profile, signal.SIGKILL)
    result = cli("tabs", "--json")
    assert (len(result.json), result.err) == (1, "")
    assert len(stored()) == 1


def test_the_log_of_an_engine_that_runs_is_not_touched(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    for command in (["tabs"], ["hide", "Work"], ["show", "Work"], ["open", "Personal", site.url("/page/2")]):
        assert cli(*command).err == ""
    assert set_aside(log_of(SqliteStore(profile))) is None
    discard(log_of(SqliteStore(profile)))
    assert left(profile) == ["profile.db-engine", "profile.db-engine.log"]


def test_what_an_engine_has_complained_about_is_stored_when_it_ends_in_order(
    program: Start, cli: Cli, profile: Path
) -> None:
    cli("list")
    descriptor = open_log(log_of(SqliteStore(profile)))
    os.write(descriptor, b'{"event":"warning","message":"the page is lost"}\n')
    process = program("browse", "--engine", "http", "--json", "--quiet", "--until-empty", stdout=descriptor)
    os.close(descriptor)
    process.communicate(timeout=60)
    assert process.returncode == 0
    (log,) = stored()
    assert "the page is lost" in log.read_text("utf-8")
    assert left(profile) == []


def test_an_engine_in_the_foreground_leaves_the_log_of_another_alone(program: Start, cli: Cli, profile: Path) -> None:
    cli("list")
    writing = open_log(log_of(SqliteStore(profile)))
    process = program("browse", "--engine", "http", "--until-empty")
    process.communicate(timeout=60)
    assert left(profile) == ["profile.db-engine.log"]
    os.close(writing)


# -------------------------------------------------------------------------------------------------- one log by itself


def test_a_log_that_cannot_be_stored_stays_where_it_is(profile: Path) -> None:
    log_folder().parent.mkdir(parents=True)
    log_folder().write_text("a file in its place")
    log = log_of(SqliteStore(profile))
    log.write_text("words")
    assert set_aside(log) is None
    assert log.read_text() == "words"


def test_of_a_long_log_the_end_is_stored_and_of_many_logs_the_latest(profile: Path) -> None:
    log = log_of(SqliteStore(profile))
    for number in range(15):
        log.write_bytes(b"x" * 2**19 + b"end %d" % number)
        os.utime(log, (number, number))
        assert set_aside(log) is not None
    assert len(stored()) == 10
    assert all(each.stat().st_size == 2**18 for each in stored())
    assert sorted(int(each.read_bytes().split()[-1]) for each in stored()) == list(range(5, 15))


def test_an_empty_log_is_removed(profile: Path) -> None:
    log_of(SqliteStore(profile)).touch()
    assert set_aside(log_of(SqliteStore(profile))) is None
    assert (left(profile), stored()) == ([], [])


WRITE = """
import os, sys
from pathlib import Path
from hatbox.cli.engine_log import open_log
log = Path(sys.argv[1])
for number in range(50):
    descriptor = open_log(log)
    for line in range(50):
        os.write(descriptor, b"%d-%d-%d\\n" % (os.getpid(), number, line))
    assert os.path.samestat(os.fstat(descriptor), log.stat()), "the log was moved while it was in use"
    os.close(descriptor)
print("done")
"""


def test_no_log_is_moved_while_it_is_written_and_no_line_is_lost(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hatbox.cli.engine_log._MOST", 10**6)
    log, over = log_of(SqliteStore(profile)), threading.Event()

    def clean_up() -> None:
        while not over.is_set():
            set_aside(log)

    cleaners = [threading.Thread(target=clean_up) for _ in range(2)]
    for cleaner in cleaners:
        cleaner.start()
    command = [sys.executable, "-c", WRITE, str(log)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [writer.communicate(timeout=120)[0] for writer in writers]
    over.set()
    for cleaner in cleaners:
        cleaner.join()
    set_aside(log)
    assert said == ["done\n"] * 3
    lines = [line for each in stored() for line in each.read_text().split()]
    assert len(lines) == len(set(lines)) == 3 * 50 * 50
