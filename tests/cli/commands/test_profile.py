"""`hatbox profile` describes, creates and copies profiles."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hatbox.cli.terminal import progress_bar
from hatbox.store.sqlite.schema import FORMAT
from hatbox.store.tables.schema import TABLES
from tests.cli.conftest import Cli

SAVED = Path(__file__).parents[2] / "store" / "profiles"


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_create_says_what_it_made_and_where(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "profile.db"
    result = cli("profile", "create", str(path))
    assert (result.status, result.err) == (0, "")
    assert result.out == (
        f"Created the file {path}: a SQLite profile of format {FORMAT}, with {len(TABLES)} tables and 4 identities.\n"
    )
    assert [each["name"] for each in cli("list", "--json", "--profile", str(path)).json] == [
        *("Personal", "Work", "Banking", "Shopping")
    ]


def test_create_without_an_address_creates_the_profile_of_the_option_or_the_default(
    cli: Cli, tmp_path: Path, no_profile: None
) -> None:
    assert cli("profile", "create").status == 0
    assert (tmp_path / "profile.db").exists()
    assert cli("profile", "create", "--profile", str(tmp_path / "other.db"), "--json").json["created"] is True
    assert cli("--profile", str(tmp_path / "third.db"), "profile", "create", "--quiet").out == ""
    assert {"profile.db", "other.db", "third.db"} <= set(files(tmp_path))


def test_create_does_not_change_a_profile_that_exists_and_has_another_exit_status(cli: Cli, tmp_path: Path) -> None:
    cli("create", "Clients")
    before = files(tmp_path)
    result = cli("profile", "create", "--quiet")
    assert (result.status, result.out) == (3, "")
    assert result.err == f"{tmp_path / 'profile.db'}: this profile exists already. It was not changed.\n"
    assert cli("profile", "create", "--json").json["created"] is False
    assert files(tmp_path) == before


@pytest.mark.parametrize("verb", ["create", "info"])
def test_another_file_is_refused_and_stays_as_it_is(cli: Cli, tmp_path: Path, verb: str, no_profile: None) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader")
    result = cli("profile", verb, str(path))
    assert result.status == 1
    assert "is not a Hatbox profile" in result.err
    assert files(tmp_path) == {"letter.txt": b"Dear reader"}


@pytest.mark.parametrize("verb", ["create", "info"])
def test_two_addresses_or_an_empty_one_are_refused(cli: Cli, tmp_path: Path, verb: str, no_profile: None) -> None:
    assert "either as an argument or with --profile" in cli("profile", verb, "a.db", "--profile", "b.db").err
    assert "must not be empty" in cli("profile", verb, "").err
    assert files(tmp_path) == {}


def test_info_of_no_profile_is_an_error_and_creates_none(cli: Cli, tmp_path: Path, no_profile: None) -> None:
    result = cli("profile", "info", "--json")
    assert result.status == 1
    assert result.error["message"] == (
        f"{tmp_path / 'profile.db'}: no profile exists there. "
        f"Create it with: hatbox profile create '{tmp_path / 'profile.db'}'"
    )
    assert files(tmp_path) == {}


def test_info_counts_what_the_profile_contains_and_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    cli("create", "Clients")
    cli("cookies", "set", "Work", "https://site.example/", "a", "b")
    extension = tmp_path / "extension"
    extension.mkdir()
    (extension / "manifest.json").write_text('{"manifest_version": 2, "name": "One", "version": "1"}')
    assert cli("extensions", "install", str(extension)).status == 0
    before = files(tmp_path)
    found = cli("profile", "info", "--json").json
    assert files(tmp_path) == before
    assert (found["store"], found["label"]) == ("SQLite", str(tmp_path / "profile.db"))
    assert (found["format"], found["encrypted"], found["programs"]) == (FORMAT, False, [])
    counted = [found[name] for name in ("identities", "cookies", "tabs", "windows", "extensions")]
    assert counted == [5, 1, 0, 0, 1]
    assert found["size"] == len(before["profile.db"])
    assert len(found["uuid"]) == 36
    text = cli("profile", "info").out
    assert found["uuid"] in text
    assert "Identities   5\n" in text


@pytest.mark.process
def test_info_names_the_programs_that_have_it_open_and_the_last_change(cli: Cli) -> None:
    cli("profile", "create")
    code = "import hatbox, sys\nwith hatbox.open_sync() as p:\n p.identities.create('Made', color='red', icon='pet')\n"
    script = Path(cli("profile", "info", "--json").json["label"]).with_name("maker.py")
    script.write_text(f"{code} print('ready', flush=True)\n sys.stdin.read()\n")
    with subprocess.Popen([sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        found = cli("profile", "info", "--json").json
        text = cli("profile", "info").out
        process.communicate(b"")
    assert found["identities"] == 5
    change = found["lastChange"]
    assert (change["program"], change["process"]) == ("maker.py", process.pid)
    assert change["at"].endswith("+00:00")
    assert f"by maker.py (pid {process.pid}) on {change['machine']}" in text
    if sys.platform == "linux":
        assert str(process.pid) in found["programs"][0]


def test_info_of_an_earlier_format_says_so_and_does_not_upgrade_it(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript((SAVED / "v5.sql").read_text("utf-8"))
    before = files(tmp_path)
    found = cli("profile", "info", str(path), "--json").json
    assert (found["format"], found["uuid"], found["identities"]) == (5, None, None)
    assert "5, which is upgraded when the profile is next opened" in cli("profile", "info", str(path)).out
    assert files(tmp_path) == before


def test_copy_says_what_it_copied_and_where(cli: Cli, tmp_path: Path) -> None:
    cli("create", "Clients")
    source, target = tmp_path / "profile.db", tmp_path / "copy.db"
    before = files(tmp_path)
    result = cli("profile", "copy", str(source), str(target))
    expected = f"Copied {source} to {target}: 5 identities, 0 cookies, 0 tabs, 0 windows, 6 rows in all.\n"
    assert (result.status, result.out, result.err) == (0, expected, "")
    assert cli("list", "--profile", str(target)).out == cli("list").out
    assert files(tmp_path).items() >= before.items()


def test_copy_with_one_address_copies_the_profile_of_the_option_or_the_default(cli: Cli, tmp_path: Path) -> None:
    cli("create", "Clients")
    assert cli("profile", "copy", str(tmp_path / "a.db"), "--quiet").out == ""
    done = cli("profile", "copy", "--profile", str(tmp_path / "a.db"), str(tmp_path / "b.db"), "--json").json
    assert (done["source"], done["target"]) == (str(tmp_path / "a.db"), str(tmp_path / "b.db"))
    assert (done["created"], done["rows"]["identities"]) == (True, 5)
    assert cli("list", "--profile", str(tmp_path / "b.db")).out == cli("list").out


def test_copy_refuses_a_target_with_contents(cli: Cli, tmp_path: Path) -> None:
    target = str(tmp_path / "copy.db")
    cli("profile", "create")
    assert cli("profile", "create", target).status == 0
    assert cli("profile", "copy", target).status == 0
    cli("create", "Clients", "--profile", target)
    result = cli("profile", "copy", target)
    assert result.status == 1
    assert f"hatbox: {target}: it was changed since it was created" in result.err
    assert "Clients" in cli("list", "--profile", target).out


def test_copy_refuses_a_wrong_number_of_addresses(cli: Cli, tmp_path: Path, no_profile: None) -> None:
    assert cli("profile", "copy").status == 2
    assert "specify one source and one target" in cli("profile", "copy", "a", "b", "c").err
    assert "must not be empty" in cli("profile", "copy", "a.db", "").err
    assert "either as an argument or with --profile" in cli("profile", "copy", "a", "b", "--profile", "c").err
    assert files(tmp_path) == {}


def test_copy_shows_a_bar_where_a_person_is_looking(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_bar, "_MIN_TOTAL", 1)
    cli("profile", "create")
    assert "Copying" in cli("profile", "copy", str(tmp_path / "a.db"), tty=True).err
    assert cli("profile", "copy", str(tmp_path / "b.db"), "--quiet", tty=True).err == ""
    assert cli("profile", "copy", str(tmp_path / "c.db")).err == ""


@pytest.mark.parametrize("verb", ["create", "info", "copy"])
def test_an_unknown_store_is_an_error_without_the_password(cli: Cli, verb: str) -> None:
    result = cli("profile", verb, "nosuch://u:secret@host/db")
    assert result.status == 1
    assert "nosuch://…: no store for this scheme" in result.err
    assert "secret" not in result.err
