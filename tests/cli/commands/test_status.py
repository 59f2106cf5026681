"""status, and browse --identity, with real engines in processes of their own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hatbox.store.processes import current_process
from tests.cli import engines
from tests.cli.conftest import Cli, Start
from tests.marks import starts
from tests.site import Site

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"
MACHINE = current_process().machine
ROOT = Path(__file__).parents[3]
EXTENSION = "container-switcher@hatbox.example"

ELSEWHERE = """
import asyncio, sys
from hatbox.store import processes
processes.host_id = lambda: "other-machine/boot"
import hatbox
from pathlib import Path
async def main():
    async with hatbox.open() as profile:
        await profile.extensions.start(Path("examples/container-switcher"))
        async with profile.http_engine(identities=["Personal", "Work"]):
            print("ready", flush=True)
            await asyncio.to_thread(sys.stdin.readline)
asyncio.run(main())
"""


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


@pytest.fixture
@starts("process")
def elsewhere(cli: Cli) -> Iterator[subprocess.Popen[str]]:
    """An engine and an extension on another machine."""
    cli("list")
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", ELSEWHERE], cwd=ROOT, **pipes) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def ready(process: subprocess.Popen[bytes]) -> Any:
    assert process.stdout
    return msgspec.json.decode(process.stdout.readline())


def running(text: str) -> list[str]:
    """The lines about engines and extensions, after those about the profile."""
    return text.partition("\n\n")[2].splitlines()


def test_it_describes_the_profile_and_names_the_programs_that_have_it_open(program: Start, cli: Cli) -> None:
    process = program("browse", "--engine", "http", "--json")
    ready(process)
    found = cli("status", "--json").json["profile"]
    info = cli("profile", "info", "--json").json
    for name in ("label", "store", "format", "encrypted", "identities", "cookies", "tabs", "extensions"):
        assert found[name] == info[name]
    assert found["identities"] == 4
    text = cli("status").out
    assert info["label"] in text
    assert f"{info['store']}, format {info['format']}" in text
    if found["programs"] is not None and sys.platform == "linux":
        assert any(str(process.pid) in each for each in found["programs"])


def test_without_engines_it_says_how_to_start_one(cli: Cli) -> None:
    result = cli("status")
    assert (result.status, running(result.out)) == (0, [])
    assert result.err == "No engine is running. Start one with: hatbox browse\n"
    found = cli("status", "--json").json
    assert (found["engines"], found["extensions"]) == ([], [])


def test_it_lists_the_engines_with_their_identities_and_processes(program: Start, cli: Cli) -> None:
    some = program("browse", "--identity", "Work", "--identity", PERSONAL, "--engine", "http", "--json")
    ready(some)
    rest = program("browse", "--engine", "http", "--json")
    ready(rest)
    first, second = running(cli("status").out)
    assert first.split()[:5] == ["HTTP", "Work,", "Personal", MACHINE, str(some.pid)]
    assert second.split()[:5] == ["HTTP", "all", "others", MACHINE, str(rest.pid)]
    found = cli("status", "--json").json["engines"]
    assert [(each["engine"], each["machine"], each["pid"]) for each in found] == [
        ("HTTP", MACHINE, some.pid),
        ("HTTP", MACHINE, rest.pid),
    ]
    assert [each["identities"] for each in found] == [
        [{"name": "Work", "cookieStoreId": WORK}, {"name": "Personal", "cookieStoreId": PERSONAL}],
        None,
    ]
    assert all(isinstance(each["since"], float) for each in found)
    some.send_signal(signal.SIGTERM)
    assert some.wait(30) == 0
    (line,) = running(cli("status").out)
    assert line.split()[:4] == ["HTTP", "all", MACHINE, str(rest.pid)]
    assert "Identities" in cli("status", tty=True).out


def test_a_removed_identity_is_listed_by_its_id(program: Start, cli: Cli) -> None:
    ready(program("browse", "--identity", "Work", "--identity", "firefox-default", "--engine", "http", "--json"))
    cli("remove", "Work", "--yes")
    assert " ".join(running(cli("status").out)).split()[1:3] == [f"{WORK},", "firefox-default"]


def test_what_runs_on_another_machine_is_named_with_it(cli: Cli, elsewhere: subprocess.Popen[str]) -> None:
    engine, _, extension = running(cli("status").out)
    assert engine.split()[:5] == ["HTTP", "Personal,", "Work", "other-machine", str(elsewhere.pid)]
    assert extension.split() == ["Container", "switcher", EXTENSION, "other-machine", str(elsewhere.pid)]
    (found,) = cli("status", "--json").json["extensions"]
    assert (found["id"], found["name"]) == (EXTENSION, "Container switcher")
    assert (found["machine"], found["pid"]) == ("other-machine", elsewhere.pid)
    refused = cli("browse", "--identity", "Work", "--engine", "http", "--json")
    assert refused.status == 1
    assert refused.error == {
        "type": "EngineAlreadyRunning",
        "message": f'identity "Work" is already open in the HTTP engine (pid {elsewhere.pid} on other-machine). '
        "Use that engine, or stop it first.",
        "engine": "HTTP",
        "pid": elsewhere.pid,
        "machine": "other-machine",
        "cookieStoreId": WORK,
    }
    again = cli("run", str(ROOT / "examples" / "container-switcher"))
    assert again.status == 1
    assert f"is already running (pid {elsewhere.pid} on other-machine)" in again.err
    elsewhere.kill()
    elsewhere.wait()
    found = cli("status", "--json").json
    assert (found["engines"], found["extensions"]) == ([], [])


def test_each_engine_prints_only_what_happens_to_its_tabs(program: Start, cli: Cli, site: Site) -> None:
    some = program("browse", "--identity", "Work", "--engine", "http", "--json")
    ready(some)
    rest = program("browse", "--engine", "http", "--json", "--until-empty", "Banking")
    assert ready(rest)["tabs"] == 1
    assert cli("open", "Personal", site.url("/page/2")).status == 0
    assert cli("open", "Work", site.url("/page/1")).status == 0
    assert [(each["event"], each["tab"]["identity"]) for each in (ready(some), ready(some))] == [
        ("opened", "Work"),
        ("loaded", "Work"),
    ]
    cli("close", "--identity", "Personal")
    cli("close", "--identity", "Banking")
    assert rest.wait(30) == 0  # the tab of Work is not among its tabs
    assert some.poll() is None
    assert cli("hide", "Work").status == 0


def test_an_identity_to_show_has_to_be_among_those_of_the_engine(program: Start, cli: Cli) -> None:
    cli("list")
    result = cli("browse", "Banking", "--identity", "Work", "--engine", "http")
    assert result.status == 2
    assert "Banking is not among the identities given with --identity" in result.err
    unknown = cli("browse", "--identity", "Wrok", "--engine", "http")
    assert unknown.status == 1
    assert 'identity not found: "Wrok"' in unknown.err
    some = program("browse", "--identity", "Work", "--engine", "http", "--json")
    ready(some)
    refused = cli("browse", "Work", "--engine", "http")
    assert refused.status == 1
    assert f'identity "Work" is already open in the HTTP engine (pid {some.pid})' in refused.err
    assert cli("tabs", "--json").json == []


def test_an_engine_whose_identities_are_removed_ends(program: Start, cli: Cli) -> None:
    some = program("browse", "--identity", "Work", "--identity", "Personal", "--engine", "http", "--quiet", "--json")
    ready(some)
    cli("remove", "Work", "--yes")
    assert some.poll() is None
    cli("remove", "Personal", "--yes")
    _, err = some.communicate(timeout=30)
    assert some.returncode == 0
    assert msgspec.json.decode(err) == {"event": "warning", "message": "all identities of this engine were removed"}
