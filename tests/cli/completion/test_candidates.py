from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cli import COMMANDS, GROUPS
from hatbox.cli.completion.candidates import candidates
from hatbox.cli.completion.shells import read_line
from tests.cli.conftest import Cli
from tests.postgres import sqlite_file


def values(*words: str) -> list[str]:
    return [each.value for each in candidates(words[:-1], words[-1])]


def test_every_command_is_offered_with_its_help() -> None:
    found = {each.value: each.help for each in candidates([], "")}
    assert set(found) == {*COMMANDS, *GROUPS, "help", "version"}
    assert all(found.values())
    assert values("help", "rem") == ["remove"]
    assert values("help", "cookies", "cl") == ["clear"]


def test_names_of_the_profile_are_offered(cli: Cli, tmp_path: Path) -> None:
    cli("create", "Clients")
    assert values("get", "") == ["Personal", "Work", "Banking", "Shopping", "Clients"]
    assert values("rm", "-y", "Clients", "W") == ["Work"]
    assert values("get", "Work", "") == []
    other = sqlite_file(tmp_path / "other.db")
    cli("profile", "create", str(other))
    assert "Clients" not in values("get", "--profile", str(other), "")


def test_values_of_options_are_offered() -> None:
    assert values("create", "X", "--icon", "brief") == ["briefcase"]
    assert values("create", "X", "--icon=brief") == ["--icon=briefcase"]
    assert values("open", "Work", "--engine", "") == ["chromium", "http"]
    assert "cookies.txt" in values("import", "")
    assert "json-lines" in values("export", "--all", "-f", "")
    assert values("move", "Work", "--to", "f") == ["first"]


def test_grants_and_their_actions_are_offered(cli: Cli) -> None:
    made = cli("grant", "create", "-i", "Work", "--json").json["grant"]["id"]
    assert values("grant", "revoke", "") == [made]
    assert values("activity", "--grant", "") == [made]
    assert values("grant", "create", "--action", "cookie") == ["cookies", "cookieValues"]
    assert values("grant", "create", "-i", "W") == ["Work"]
    assert values("settings", "Work", "--activity", "") == ["on", "off"]


def test_an_option_that_was_given_is_not_offered_again() -> None:
    assert "--color" not in values("create", "X", "--color", "red", "--")
    assert "--header" in values("fetch", "Work", "--header", "a: b", "--")


def test_two_identities_with_one_name_are_offered_by_id(cli: Cli) -> None:
    cli("create", "Work")
    assert "Work" not in values("get", "")
    assert "firefox-container-2" in values("get", "")


def test_an_identity_with_the_name_of_an_option_is_offered_by_id(cli: Cli) -> None:
    created = cli("create", "--json", "--", "--json").json
    assert "--json" not in values("get", "")
    assert created["cookieStoreId"] in values("get", "")


def test_tabs_and_extensions_are_offered(cli: Cli, tmp_path: Path) -> None:
    extension = tmp_path / "extension"
    extension.mkdir()
    (extension / "manifest.json").write_text('{"manifest_version": 2, "name": "My one", "version": "1"}')
    assert cli("extensions", "install", str(extension)).status == 0
    assert values("extensions", "remove", "") == ["My one"]
    assert values("run", "My") == ["My one"]
    script = tmp_path / "open.py"
    script.write_text("await browser.tabs.create({'url': 'about:blank'})")
    assert cli("run", str(script)).status == 0
    assert len(values("close", "")) == 1


def test_completion_creates_no_profile_and_no_file(profile: Path, no_profile: None) -> None:
    assert values("get", "") == []
    assert not profile.exists()
    assert [each for each in profile.parent.iterdir() if each.name.startswith("profile.db")] == []


def test_completion_leaves_no_file_beside_the_profile(cli: Cli, profile: Path) -> None:
    before = sorted(profile.parent.iterdir())
    assert values("get", "")
    assert sorted(profile.parent.iterdir()) == before


@pytest.mark.parametrize("content", [b"", b"my diary", b"SQLite format 3\0" + bytes(4000)])
def test_a_damaged_profile_gives_no_names_and_no_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(content)
    assert values("get", "--profile", str(path), "") == []
    assert path.read_bytes() == content


@pytest.mark.process
def test_a_server_that_does_not_answer_is_given_up_quickly(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"postgresql://u@127.0.0.1:{server.getsockname()[1]}/db"
        environment = {
            **os.environ,
            "HATBOX_PROFILE": address,
            "_HATBOX_COMPLETE": "complete_bash",
            "COMP_WORDS": "hatbox\nget\n",
            "COMP_CWORD": "2",
        }
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "hatbox"], env=environment, capture_output=True, timeout=60, check=False
        )
        assert (done.stdout, done.stderr) == (b"", b"")
        assert time.monotonic() - started < 20  # of one second, on a busy machine


@given(
    st.lists(
        st.sampled_from(["get", "open", "--profile", "--", "-", "--color", "=", "x", "", "cookies", "help"])
        | st.text(max_size=4)
    )
)
def test_no_line_makes_completion_fail(words: list[str]) -> None:
    line = read_line("bash", {"COMP_WORDS": "\n".join(["hatbox", *words]), "COMP_CWORD": str(len(words))})
    candidates([word.replace("\0", "") for word in line.words], line.incomplete)
    read_line("zsh", {"_TYPER_COMPLETE_ARGS": " ".join(["hatbox", *words])})
