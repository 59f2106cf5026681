"""What engines leave behind, and where their logs can be found."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from hatbox.engines.background.engine_log import EngineLog, log_folder
from hatbox.store.sqlite import SqliteStore
from tests.cli import engines
from tests.cli.conftest import Cli, Start
from tests.site import Site

pytestmark = pytest.mark.process


@pytest.fixture
def site(profile: Path) -> Iterator[Site]:
    with Site() as site:
        yield site
    engines.end(profile)


def left(profile: Path) -> list[str]:
    return sorted(each.name for each in profile.parent.glob("profile.db-engine*"))


def stored() -> list[Path]:
    return sorted(log_folder().glob("*")) if log_folder().exists() else []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_engine_that_ends_in_order_leaves_no_file(cli: Cli, profile: Path, site: Site, number: int) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    assert left(profile) == ["profile.db-engine", "profile.db-engine.log"]
    engines.end(profile, number)
    assert (left(profile), stored()) == ([], [])


@pytest.mark.parametrize("command", [["tabs"], ["show", "Work"], ["hide", "Work"]])
def test_the_log_of_a_killed_engine_is_archived_and_its_path_printed(
    cli: Cli, profile: Path, site: Site, command: list[str]
) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    engines.end(profile, signal.SIGKILL)
    output = cli(*command).err
    (log,) = stored()
    assert f"The last background engine did not shut down cleanly. Its log is {log}\n" in output
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
    assert str(first) not in EngineLog.of(SqliteStore(profile)).path.read_text("utf-8")


def test_programs_get_no_line_that_they_cannot_read(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    engines.end(profile, signal.SIGKILL)
    result = cli("tabs", "--json")
    assert (len(result.json), result.err) == (1, "")
    assert len(stored()) == 1


def test_the_log_of_an_engine_that_runs_is_not_touched(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    for command in (
        ["tabs"],
        ["hide", "Work"],
        ["show", "Work"],
        ["open", "Personal", site.url("/page/2"), "--engine", "http"],
    ):
        assert cli(*command).err == ""
    log = EngineLog.of(SqliteStore(profile))
    assert log.archive() is None
    log.discard()
    assert left(profile) == ["profile.db-engine", "profile.db-engine.log"]


def test_what_an_engine_has_complained_about_is_stored_when_it_ends_in_order(
    program: Start, cli: Cli, profile: Path
) -> None:
    cli("list")
    descriptor = EngineLog.of(SqliteStore(profile)).open()
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
    writing = EngineLog.of(SqliteStore(profile)).open()
    process = program("browse", "--engine", "http", "--until-empty")
    process.communicate(timeout=60)
    assert left(profile) == ["profile.db-engine.log"]
    os.close(writing)
