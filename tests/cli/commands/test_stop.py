"""stop, with real engines in processes of their own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hatbox.engines.background import stopping
from hatbox.store.processes import ProcessId, host_id
from tests.cli import engines
from tests.cli.commands.test_status import elsewhere, ready, site
from tests.cli.conftest import Cli, Start
from tests.postgres import is_on_server
from tests.site import Site

__all__ = ["elsewhere", "site"]

posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


@pytest.fixture(autouse=True)
def no_engine_is_left(profile: Path, surroundings: None) -> Iterator[None]:
    yield
    engines.end(profile)


def test_without_an_engine_nothing_is_stopped(cli: Cli) -> None:
    assert cli("stop") == (0, "", "No engine is running.\n")
    assert cli("stop", "--json").json == {"stopped": [], "running": []}


@pytest.mark.smoke
@pytest.mark.process
@posix
def test_a_background_engine_is_stopped_and_its_tabs_stay(cli: Cli, site: Site) -> None:
    assert cli("open", "Work", site.url("/page/1"), "--engine", "http").status == 0
    (engine,) = cli("status", "--json").json["engines"]
    assert engine["background"] is True
    if sys.platform == "linux" and not is_on_server():
        assert f"hatbox browse (pid {engine['pid']})" in cli("profile", "info", "--json").json["programs"]
    result = cli("stop")
    assert result == (0, f"Stopped the HTTP engine (pid {engine['pid']}).\n", "")
    assert cli("status", "--json").json["engines"] == []
    assert len(cli("tabs", "--json").json) == 1
    assert cli("stop").status == 0


@posix
def test_an_engine_in_a_terminal_is_stopped_only_by_force(program: Start, cli: Cli) -> None:
    process = program("browse", "--engine", "http", "--json")
    ready(process)
    result = cli("stop")
    assert (result.status, result.out) == (1, "")
    assert "it runs in a terminal or another program" in result.err
    assert process.poll() is None
    assert cli("stop", "--force").out == f"Stopped the HTTP engine (pid {process.pid}).\n"
    assert process.wait(60) == 0


@posix
def test_an_engine_that_does_not_answer_is_killed_only_by_force(program: Start, cli: Cli) -> None:
    process = program("browse", "--engine", "http", "--json")
    ready(process)
    process.send_signal(signal.SIGSTOP)
    result = cli("stop", "--force", "--max-time", "0.1", "--json")
    assert result.json["stopped"][0]["pid"] == process.pid
    assert process.wait(60) == -signal.SIGKILL


@pytest.mark.process
@posix
def test_an_engine_that_does_not_exit_in_time_is_named(cli: Cli, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("open", "Work", site.url("/page/1"), "--engine", "http")
    (engine,) = cli("status", "--json").json["engines"]
    os.kill(engine["pid"], signal.SIGSTOP)
    result = cli("stop", "--max-time", "0.1", "--json")
    os.kill(engine["pid"], signal.SIGCONT)
    assert result.status == 1
    assert "did not exit within 0.1 seconds" in result.json["running"][0]["reason"]


def test_an_engine_of_another_machine_is_never_stopped(cli: Cli, elsewhere: subprocess.Popen[str]) -> None:
    result = cli("stop", "--force")
    assert result.status == 1
    assert "it runs on other-machine. Stop it there" in result.err
    assert elsewhere.poll() is None


@posix
def test_an_engine_of_another_user_is_not_stopped(program: Start, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    process = program("browse", "--engine", "http", "--json")
    ready(process)
    monkeypatch.setattr(stopping, "_owner", lambda _: os.getuid() + 1)
    result = cli("stop", *([] if os.getuid() == 0 else ["--force"]))
    assert result.status == 1
    assert "belongs to another user" in result.err
    assert process.poll() is None


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs descriptors of processes")
def test_a_process_that_exits_after_the_check_gives_its_number_to_no_victim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The number of a process that has just exited may be that of another one."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        checked: list[bool] = []

        class Exits(ProcessId):
            @property
            def is_running(self) -> bool:
                if not checked:
                    checked.append(True)
                    process.communicate(timeout=60)
                    return True
                return False

        sent: list[int] = []
        monkeypatch.setattr(os, "kill", lambda pid, _: sent.append(pid))
        assert asyncio.run(stopping.stop_process(Exits(host_id(), process.pid, ""), 10, kill=True))
        assert (checked, sent) == ([True], [])
