from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.postgres import shared_cluster, sqlite_file


def test_the_environment_names_the_profile(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HATBOX_PROFILE", str(tmp_path / "mine.db"))
    cli("create", "Clients", "--create")
    assert "Clients" in cli("list", "--profile", str(tmp_path / "mine.db")).out


@pytest.mark.parametrize("arguments", [["--profile", "{}", "create", "X"], ["create", "X", "--profile", "{}"]])
def test_the_option_wins_over_the_environment(
    cli: Cli, tmp_path: Path, profile: Path, arguments: list[str], no_profile: None
) -> None:
    other = sqlite_file(tmp_path / "other" / "profile.db")
    cli("profile", "create", str(other))
    assert cli(*(each.format(other) for each in arguments)).status == 0
    assert other.exists()
    assert not profile.exists()


def test_json_may_stand_before_the_verb(cli: Cli) -> None:
    assert cli("--json", "list").out == cli("list", "--json").out


@pytest.mark.parametrize("arguments", [["--profile", "", "list"], ["list", "--profile", ""]])
def test_an_empty_path_is_wrong_usage_and_not_the_default(
    cli: Cli, profile: Path, arguments: list[str], no_profile: None
) -> None:
    assert cli(*arguments).status == 2
    assert not profile.exists()


@pytest.mark.parametrize("suffix", ["", "-engine", "-engine.log", "-process-7-0123456789ab"])
def test_no_output_overwrites_a_file_of_the_profile(cli: Cli, profile: Path, suffix: str) -> None:
    cli("list")
    result = cli("export", "--all", "-f", "json-lines", "--output", f"{profile}{suffix}")
    assert result.status == 2
    assert "is the profile itself" in result.err


@pytest.mark.parametrize(
    "arguments",
    [["list"], ["get", "Work"], ["create", "X"], ["fetch", "Work", "http://127.0.0.1:1/"], ["tabs"], ["status"]],
)
@pytest.mark.parametrize("given", ["option", "environment"])
def test_a_mistyped_profile_is_not_created_and_the_nearest_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], given: str
) -> None:
    existing, mistyped = sqlite_file(tmp_path / "work.db"), sqlite_file(tmp_path / "wrok.db")
    assert cli("profile", "create", str(existing)).status == 0
    (tmp_path / "wrok.db.txt").write_text("not a profile")
    if given == "environment":
        monkeypatch.setenv("HATBOX_PROFILE", str(mistyped))
    result = cli(*arguments, *(["--profile", str(mistyped)] if given == "option" else []), "--json")
    assert (result.status, result.out) == (1, "")
    assert result.error["type"] == "ProfileNotFound"
    assert result.error["nearest"] == [str(existing)]
    assert f"Did you mean {existing}?" in result.error["message"]
    assert not mistyped.exists()


def test_a_mistyped_folder_is_not_created_and_the_nearest_is_named(cli: Cli, tmp_path: Path) -> None:
    existing = sqlite_file(tmp_path / "profiles" / "work.db")
    cli("profile", "create", str(existing))
    mistyped = tmp_path / "profile" / "work.db"
    result = cli("list", "--profile", str(mistyped), "--json")
    assert result.error["nearest"] == [str(existing)]
    assert not mistyped.parent.exists()


def test_create_creates_the_profile_that_is_named(cli: Cli, tmp_path: Path) -> None:
    for number, arguments in enumerate((["--create", "list"], ["list", "--create"])):
        path = sqlite_file(tmp_path / f"{number}.db")
        assert cli(*arguments, "--profile", str(path)).status == 0
        assert path.exists()
    assert cli("list", "--profile", str(tmp_path / "third.db")).status == 1  # --create holds for one command line


def test_the_default_profile_is_created_by_any_command(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HATBOX_PROFILE")
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    assert "Work" in cli("list").out


@pytest.mark.server
def test_a_similar_schema_is_named(cli: Cli) -> None:
    name = f"clients_{uuid.uuid4().hex}"
    cluster = shared_cluster()
    assert cli("profile", "create", cluster.address(schema=name)).status == 0
    mistyped = cluster.address(schema=name.replace("clients", "client"))
    result = cli("list", "--profile", mistyped, "--json")
    assert result.error["type"] == "ProfileNotFound"
    assert result.error["nearest"][0] == f"?schema={name}"
    assert cli("list", "--profile", mistyped).status == 1
    assert cli("list", "--profile", mistyped, "--create").status == 0
