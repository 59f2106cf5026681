from __future__ import annotations

from pathlib import Path

import pytest
import typer

from hatbox.cli import COMMANDS, reference
from hatbox.cli.reference import Undocumented

DOCUMENT = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_reference_in_the_docs_is_current() -> None:
    hint = "make it anew: python -m hatbox.cli.reference > docs/reference/cli.md"
    assert DOCUMENT.read_text("utf-8") == reference.reference(), hint


def test_every_command_is_in_the_reference() -> None:
    registered = {command.name for command in reference.app.registered_commands}
    assert registered == set(COMMANDS)
    for name in registered:
        assert f"\n## hatbox {name}\n" in DOCUMENT.read_text("utf-8")


def test_no_row_of_a_table_has_more_cells_than_its_head() -> None:
    rows = [line for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith("| ")]
    assert [row for row in rows if row.replace("\\|", "").count("|") != 3] == []


def _silent(option: bool = False) -> None:
    pass


def _half_silent(option: bool = False) -> None:
    """It has help, but its option has none."""


@pytest.mark.parametrize("command", [_silent, _half_silent])
def test_a_command_or_an_option_without_help_is_an_error(monkeypatch: pytest.MonkeyPatch, command: object) -> None:
    silent = typer.Typer()
    silent.command("silent")(command)  # type: ignore[type-var]
    silent.command("other")(_half_silent)
    monkeypatch.setattr(reference, "app", silent)
    monkeypatch.setattr(reference, "COMMANDS", {"silent": command})
    with pytest.raises(Undocumented, match="hatbox silent"):
        reference.reference()
