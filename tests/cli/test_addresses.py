"""A profile's address reaches its store unchanged from every command, and no output has its password."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hatbox
from tests.cli.conftest import Cli
from tests.store.url_store import ADDRESS, LABEL, PASSWORD, UrlStores, registered

COMMANDS = [
    ["list"],
    ["get", "Work"],
    ["get", "Nobody"],
    ["create", "Clients"],
    ["update", "Work", "--color", "red"],
    ["move", "Work", "--to", "first"],
    ["hide", "Work"],
    ["show", "Work"],
    ["remove", "Work", "--yes"],
    ["tabs"],
    ["close", "7"],
    ["import", "containers.json", "-"],
    ["export", "--all", "--format", "json-lines"],
    ["fetch", "Nobody", "http://localhost:1/"],
    ["fetch", "Work", "http://localhost:1/"],
    ["run", "script.py"],
    ["run", "nosuch.py"],
    ["check"],
    ["cookies", "list", "Work"],
    ["cookies", "set", "Work", "https://site.example/", "a", "b"],
    ["extensions", "list"],
    ["extensions", "trigger", "a@example", "action"],
    ["extensions", "install", "nosuch.zip"],
    ["profile", "info"],
    ["profile", "create"],
    ["profile", "copy", "copy.db"],
]


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[UrlStores]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text("print(profile, await profile.identities.query())\n1 / 0\n")
    with registered(tmp_path / "of-urls.db") as stores:
        stores.package.__dict__["create_at"](ADDRESS)
        stores.seen.clear()
        yield stores


@pytest.mark.parametrize("given", ["option", "option first", "environment"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_address_reaches_the_store_and_the_password_no_output(
    cli: Cli,
    stores: UrlStores,
    command: list[str],
    given: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("HATBOX_DEBUG", "1")  # errors with tracebacks
    arguments = [*command, "--profile", ADDRESS] if given == "option" else command
    if given == "option first":
        arguments = ["--profile", ADDRESS, *command]
    elif given == "environment":
        monkeypatch.setenv("HATBOX_PROFILE", ADDRESS)
    if command[0] == "run":
        arguments = ["run", *([] if given == "environment" else ["--profile", ADDRESS]), command[1]]
    for json in ([], ["--json"]):
        result = cli(*json, *arguments, stdin='{"version": 5, "lastUserContextId": 0, "identities": []}')
        assert PASSWORD not in result.out + result.err + caplog.text
    assert stores.seen or command == ["run", "nosuch.py"]
    assert set(stores.seen) <= {ADDRESS}
    assert not [path.name for path in Path().iterdir() if "urlstore" in path.name]


@pytest.mark.parametrize(
    "arguments",
    [["list", ADDRESS], ["profile", "info", "--nosuch", ADDRESS], ["profile", "copy", "a", "b", ADDRESS], [ADDRESS]],
    ids=["extra argument", "unknown option", "too many addresses", "no command"],
)
def test_a_mistake_on_the_command_line_does_not_show_the_password(cli: Cli, arguments: list[str]) -> None:
    for json in ([], ["--json"]):
        result = cli(*json, *arguments)
        assert result.status == 2
        assert PASSWORD not in result.out + result.err


def test_a_copy_from_and_into_an_address(cli: Cli, stores: UrlStores, tmp_path: Path) -> None:
    assert cli("profile", "copy", ADDRESS, str(tmp_path / "copy.db")).status == 0
    done = cli("profile", "copy", str(tmp_path / "copy.db"), ADDRESS)
    assert (done.status, done.err) == (0, "")
    assert f"Copied {tmp_path / 'copy.db'} to {LABEL}: " in done.out
    assert set(stores.seen) == {ADDRESS}


def test_python_passes_the_address_on(stores: UrlStores, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use() -> None:
        async with hatbox.open(ADDRESS) as profile:
            assert (profile.address, profile.label) == (ADDRESS, LABEL)
            assert PASSWORD not in repr(profile)

    asyncio.run(use())
    with hatbox.open_sync(ADDRESS) as profile:
        assert (profile.address, profile.label) == (ADDRESS, LABEL)
        assert PASSWORD not in repr(profile)
    monkeypatch.setenv("HATBOX_PROFILE", ADDRESS)
    assert hatbox.default_address() == ADDRESS
    with hatbox.open_sync() as profile:
        assert profile.address == ADDRESS
    assert set(stores.seen) == {ADDRESS}


def test_a_background_engine_gets_the_address_where_ps_does_not_show_it(
    stores: UrlStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[list[str], dict[str, str]]] = []

    def popen(command: list[str], *, env: dict[str, str], **_: Any) -> subprocess.Popen[bytes]:
        started.append((command, env))
        raise OSError("not started")

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setitem(os.environ, "HATBOX_PROFILE", "elsewhere.db")

    async def open_a_tab() -> None:
        async with hatbox.open(ADDRESS) as profile:
            await profile.open_tabs("Work", "http://localhost:1/", engine="http")

    with pytest.raises(OSError, match="not started"):
        asyncio.run(open_a_tab())
    [(command, environment)] = started
    assert PASSWORD not in " ".join(command)
    assert environment["HATBOX_PROFILE"] == ADDRESS
    assert set(stores.seen) == {ADDRESS}
