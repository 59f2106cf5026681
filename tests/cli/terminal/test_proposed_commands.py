from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.cli.terminal.proposed_commands import note_profile, with_profile
from hatbox.maintenance import create_profile
from tests.cli.conftest import Cli
from tests.postgres import address_of


def test_a_proposed_command_is_for_the_profile_of_the_command_line(cli: Cli, tmp_path: Path) -> None:
    other = address_of(tmp_path / "my other.db")
    create_profile(other)
    option = f"--profile '{other}'"
    assert cli("list", "--profile", other, "--name", "x").status == 0
    wrong = cli("get", "Wrok", "--profile", other)
    assert (
        wrong.err
        == f'hatbox: identity not found: "Wrok". Did you mean "Work"? List identities with: hatbox {option} list\n'
    )
    assert option in cli("get", "Wrok", "--profile", other, "--json").error["message"]
    assert f"Start one with: hatbox {option} browse\n" in cli("--profile", other, "status").err
    assert "with: hatbox browse\n" in cli("status").err


@pytest.mark.parametrize(
    "text",
    [
        "in use by: hatbox browse (pid 7)",
        "hatbox: run is no identity",
        "Create it with: hatbox profile create '/x/new.db'",
        "List the damage with: hatbox check --profile '/x/y.db'",
    ],
)
def test_what_is_no_command_for_this_profile_stays_as_it_is(text: str) -> None:
    note_profile("postgresql://me:secret@server/db")
    try:
        assert with_profile(text) == text
        assert with_profile("Run `hatbox ui`") == "Run `hatbox --profile 'postgresql://me:…@server/db' ui`"
    finally:
        note_profile(None)
