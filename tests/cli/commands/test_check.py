"""The command check (cli/check.py)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import hatbox
from tests.cli.conftest import Cli
from tests.store.test_check import change


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "profile.db"
    with hatbox.open_sync(path) as profile:
        profile.identities.create("Travel", color="red", icon="pet")
    return path


def test_a_sound_profile_is_reported_with_status_0(cli: Cli, path: Path) -> None:
    result = cli("check", "--profile", str(path))
    assert (result.status, result.err) == (0, "")
    assert result.out == f"{path}: no damage found\n"
    document = cli("check", "--profile", str(path), "--json").json
    assert document["damaged"] is False
    assert document["rows"]["identities"] == 5


def test_damage_is_listed_with_status_1_and_the_next_step(cli: Cli, path: Path) -> None:
    change(path, "UPDATE identities SET name = 'Trave1' WHERE id = 6")
    before = path.read_bytes()
    result = cli("check", "--profile", str(path))
    assert result.status == 1
    assert f"{path}: 1 problem found" in result.out
    assert "table identities: the row 6 has a wrong checksum" in result.out
    assert "--repair NEW-FILE" in result.out
    document = cli("check", "--profile", str(path), "--json")
    assert document.status == 1
    assert document.json["problems"] == [{"place": "table identities", "problem": "the row 6 has a wrong checksum"}]
    assert path.read_bytes() == before


def test_a_repair_says_what_was_saved_and_what_was_lost(cli: Cli, path: Path, tmp_path: Path) -> None:
    change(path, "UPDATE identities SET name = 'Trave1' WHERE id = 6")
    new = tmp_path / "new.db"
    result = cli("check", "--profile", str(path), "--repair", str(new))
    assert result.status == 1
    assert f"Saved into {new}:" in result.out
    assert ["identities", "4", "1"] in [line.split() for line in result.out.splitlines()]
    assert cli("check", "--profile", str(new)).status == 0
    again = cli("check", "--profile", str(path), "--repair", str(new), "--json")
    assert again.status == 1
    assert "it exists" in again.error["message"]
    document = cli("check", "--profile", str(path), "--repair", str(tmp_path / "other.db"), "--json").json
    assert document["repaired"]["lost"]["identities"] == 1


def test_a_profile_with_a_damaged_header_is_repaired(cli: Cli, path: Path, tmp_path: Path) -> None:
    path.write_bytes(bytes(100) + path.read_bytes()[100:])
    assert "not a Hatbox profile" in cli("check", "--profile", str(path)).err
    new = tmp_path / "new.db"
    assert cli("check", "--profile", str(path), "--repair", str(new)).status == 1
    assert "Travel" in cli("list", "--profile", str(new)).out


def test_no_profile_is_created_by_a_check(cli: Cli, tmp_path: Path) -> None:
    result = cli("check", "--profile", str(tmp_path / "none.db"))
    assert result.status == 1
    assert "does not exist" in result.err
    assert list(tmp_path.glob("none*")) == []


def test_the_damage_that_an_error_names_is_the_damage_that_is_repaired(cli: Cli, path: Path, tmp_path: Path) -> None:
    """The commands that an error message names work as printed."""
    copy = tmp_path / "copy.db"
    shutil.copyfile(path, copy)
    change(copy, "UPDATE identities SET name = 'Trave1' WHERE id = 6")
    error = cli("list", "--profile", str(copy)).err
    assert f"`hatbox --profile '{copy}' check` lists" in error
    assert f"`hatbox --profile '{copy}' check --repair NEW-FILE`" in error


@pytest.mark.parametrize("more", [[], ["--json"], ["--repair", "new.db"]])
def test_the_password_of_an_address_is_not_printed(cli: Cli, monkeypatch: pytest.MonkeyPatch, more: list[str]) -> None:
    address = "postgresql://u:secret@h/db"
    monkeypatch.setenv("HATBOX_PROFILE", address)
    for result in (cli("check", "--profile", address, *more), cli("check", *more)):
        assert result.status == 1
        assert "postgresql://" in result.err
        assert "secret" not in result.out + result.err


def test_the_password_of_the_new_profile_is_not_printed(cli: Cli, path: Path) -> None:
    result = cli("check", "--profile", str(path), "--repair", "postgresql://u:secret@h/db")
    assert result.status == 1
    assert "secret" not in result.out + result.err
