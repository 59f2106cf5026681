from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli


def test_the_environment_names_the_profile(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HATBOX_PROFILE", str(tmp_path / "mine.db"))
    cli("create", "Clients", "--create")
    assert "Clients" in cli("list", "--profile", str(tmp_path / "mine.db")).out


@pytest.mark.parametrize("arguments", [["--profile", "{}", "create", "X"], ["create", "X", "--profile", "{}"]])
def test_the_option_wins_over_the_environment(
    cli: Cli, tmp_path: Path, profile: Path, arguments: list[str], no_profile: None
) -> None:
    other = tmp_path / "other" / "profile.db"
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
