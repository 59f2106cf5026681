"""browse, in a process of its own, with the real HTTP engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.cli import engines
from tests.cli.conftest import Cli, Start
from tests.site import Site
from tests.waiting import block_until

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def no_engine_is_left(profile: Path, surroundings: None) -> Iterator[None]:
    yield
    engines.end(profile)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Site() as site:
        yield site


def line(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout
    return process.stdout.readline().decode().rstrip("\n")


def event(process: subprocess.Popen[bytes]) -> Any:
    return msgspec.json.decode(line(process))


def test_a_second_engine_is_refused(program: Start, cli: Cli) -> None:
    first = program("browse", "--engine", "http", "--json")
    assert event(first)["event"] == "ready"
    result = cli("browse", "Work", "--engine", "http")
    assert (result.status, result.out) == (1, "")
    assert f"already open in the HTTP engine (pid {first.pid})" in result.err
    assert cli("tabs", "--json").json == []
    assert first.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_the_tabs_stay_for_the_next_time(
    program: Start, cli: Cli, profile: Path, site: Site, number: int
) -> None:
    first = program("browse", "--engine", "http")
    assert line(first) == "The HTTP engine is running. No tabs. Open one with: hatbox open"
    cli("open", "Work", site.url("/page/1"))
    first.send_signal(number)
    _, err = first.communicate(timeout=30)
    assert (first.returncode, err) == (0, b"")
    assert engines.holder(profile) is None
    assert [tab["url"] for tab in cli("tabs", "--json").json] == [site.url("/page/1")]
    second = program("browse", "--engine", "http")
    assert line(second) == "The HTTP engine is running. 1 tab to open."


def test_it_prints_events(program: Start, cli: Cli, site: Site) -> None:
    process = program("browse", "--engine", "http")
    line(process)
    url = site.url("/page/1")
    cli("open", "Work", url)
    assert line(process) == f"Opened tab 1 in Work: {url}"
    assert line(process) == f"Loaded tab 1 in Work: {url} (Page 1)"
    cli("hide", "Work")
    assert line(process) == f"Hidden tab 1 in Work: {url} (Page 1)"
    cli("show", "Work")
    assert line(process) == f"Shown tab 1 in Work: {url} (Page 1)"
    cli("open", "Personal", "127.0.0.1:1")
    assert line(process).startswith("Opened tab 2 in Personal: http://127.0.0.1:1")
    assert line(process).startswith("Failed tab 2 in Personal: http://127.0.0.1:1")
    cli("close", "2")
    assert line(process).startswith("Closed tab 2 in Personal")
    cli("remove", "Work", "--yes")
    assert line(process) == f"Closed tab 1 in Work: {url} (Page 1)"
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0


def test_it_prints_events_as_lines_of_json(program: Start, cli: Cli, site: Site) -> None:
    process = program("browse", "--engine", "http", "--json")
    assert event(process) == {"event": "ready", "engine": "http", "pid": process.pid, "tabs": 0}
    cli("open", "Work", site.url("/page/1"))
    assert event(process)["event"] == "opened"
    loaded = event(process)
    assert (loaded["event"], loaded["tab"]["identity"], loaded["tab"]["title"]) == ("loaded", "Work", "Page 1")


def test_an_identity_that_is_named_is_shown_and_has_a_tab(program: Start, cli: Cli) -> None:
    cli("hide", "Work")
    process = program("browse", "Work", "Personal", "--engine", "http", "--json")
    assert event(process)["tabs"] == 2
    assert not cli("get", "Work", "--json").json["hidden"]
    assert [(tab["identity"], tab["url"]) for tab in cli("tabs", "--json").json] == [
        ("Work", "about:blank"),
        ("Personal", "about:blank"),
    ]
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    again = program("browse", "Work", "--engine", "http", "--json")
    assert event(again)["tabs"] == 2


def test_without_windows_it_goes_on_when_the_last_tab_is_closed(program: Start, cli: Cli) -> None:
    process = program("browse", "Work", "--engine", "http")
    line(process)
    cli("close", "1")
    cli("open", "Work")
    assert process.poll() is None


def test_until_empty_ends_it_with_the_last_tab_or_at_once(program: Start, cli: Cli, profile: Path) -> None:
    process = program("browse", "Work", "--until-empty", "--engine", "http", "--quiet", "--json")
    assert event(process)["event"] == "ready"
    cli("hide", "Work")
    cli("close", "1")
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, b"", b"")
    empty = program("browse", "--until-empty", "--engine", "http", "--quiet")
    assert empty.communicate(timeout=30) == (b"", b"")
    assert empty.returncode == 0


def test_it_continues_when_its_output_is_closed(program: Start, cli: Cli, site: Site) -> None:
    process = program("browse", "--engine", "http")
    line(process)
    assert process.stdout
    process.stdout.close()
    process.stdout = None
    for number in range(3):
        assert cli("open", "Work", site.url(f"/page/{number}")).status == 0
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 1  # as every command whose output is closed


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_ctrl_c_in_a_terminal_ends_it(profile: Path, program: Start) -> None:
    ours, theirs = os.openpty()
    try:
        process = program(
            "browse", "Work", "--engine", "http", stdin=theirs, stdout=theirs, preexec_fn=lambda: _control(theirs)
        )
        block_until(lambda: engines.holder(profile), "the engine")
        printed = b""
        while b"Press Ctrl-C to stop" not in printed:
            printed += os.read(ours, 1000)
        os.write(ours, b"\x03")
        assert process.wait(30) == 0
    finally:
        os.close(ours)
        os.close(theirs)


def _control(terminal: int) -> None:
    """Make a terminal that of a new session, so that its Ctrl-C is a signal."""
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


_LOSES_ITS_LEASE = """
import asyncio, sys
from hatbox.cli import invoke
from hatbox.engines.runner import EngineRunner
from hatbox.store.sqlite.store import SqliteStore
from tests.engines.losable_lease import LosableLease, losable

SqliteStore.lease = losable
enter = EngineRunner.__aenter__

async def lose(runner):
    entered = await enter(runner)
    asyncio.get_running_loop().call_later(0.01, lambda: asyncio.ensure_future(LosableLease.acquired[0].lose()))
    return entered

EngineRunner.__aenter__ = lose
sys.exit(invoke(sys.argv[1:]))
"""


def test_an_engine_that_loses_its_lease_ends_with_an_error(profile: Path) -> None:
    command = [sys.executable, "-c", _LOSES_ITS_LEASE, "browse", "Work", "--engine", "http", "--profile", str(profile)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert result.returncode == 1
    log, error = result.stderr.splitlines()
    assert log.startswith(f"hatbox: {profile}: lease of the HTTP engine lost (the connection was lost)")
    assert error.startswith(f"hatbox: {profile}: the HTTP engine was stopped, because it lost its lease")
    assert f"hatbox --profile '{profile}' status" in error
