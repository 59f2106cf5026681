from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox import __version__
from hatbox.cli import ALIASES, GROUPS, without_aliases
from tests.cli.conftest import Cli


def test_names_that_people_type_work(cli: Cli) -> None:
    assert cli("ls") == cli("list")
    assert cli("--json", "ls") == cli("list", "--json")
    assert cli("cookies", "ls", "Work").status == 0
    assert cli("rm", "Work", "-y").out == "Removed Work (firefox-container-2)\n"
    assert cli("version").out == f"hatbox {__version__}\n"


def test_two_dashes_before_a_command_change_nothing(cli: Cli) -> None:
    assert cli("list").out
    assert cli("--", "list") == cli("list")
    assert cli("--", "ls", "--json") == cli("list", "--json")
    assert cli("--json", "--", "list") == cli("list", "--json")
    assert cli("--", "list", "--help") == cli("list", "--help")
    assert cli("--", "trash", "list", "--json") == cli("trash", "list", "--json")
    assert cli("--", "get", "--nosuch") == cli("get", "--nosuch")
    assert cli("--", "backup").status == 2  # without its file
    assert cli("--", "remove", "Work", "-y").out == "Removed Work (firefox-container-2)\n"
    for words in (["--", "--json"], ["--", "nosuch"], ["--", "--", "list"]):
        assert cli(*words).status == 2


def test_help_shows_the_help_of_a_command(cli: Cli) -> None:
    assert cli("help").out == cli("--help").out
    assert cli("help", "remove").out == cli("remove", "--help").out
    assert cli("help", "rm").out == cli("remove", "--help").out
    assert cli("help", "cookies", "set").out == cli("cookies", "set", "--help").out
    assert cli("help", "cookies").out == cli("cookies", "--help").out
    wrong = cli("help", "nosuch")
    assert (wrong.status, "No such command 'nosuch'" in wrong.err) == (2, True)


def test_an_identity_may_have_the_name_of_an_alias(cli: Cli) -> None:
    cli("create", "rm")
    assert cli("get", "rm").status == 0
    assert cli("rm", "-y", "rm").status == 0


def test_help_is_in_groups(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in ("60", "100"):
        monkeypatch.setenv("COLUMNS", columns)
        shown = cli("--help").out
        places = [shown.index(title) for title in ("Open pages", "Identities", "The profile")]
        assert places == sorted(places)
        assert "rm is remove" in " ".join(shown.split())


@given(
    st.lists(st.sampled_from(["ls", "rm", "help", "version", "cookies", "list", "--json", "--profile", "x", "--", ""]))
)
def test_a_command_line_without_aliases_has_none_to_replace(words: list[str]) -> None:
    once = without_aliases(words, ALIASES, GROUPS)
    if "help" not in words and "version" not in words:
        assert without_aliases(once, ALIASES, GROUPS) == once
