"""The generated table of all commands: their functions, one-line helps and parameters, readable without Typer.

`python -m hatbox.cli.table.generate` writes it. A command that is missing in it works, but starts more slowly.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Final, TypedDict

__all__ = ["TABLE_FILE", "CommandEntry", "ParameterEntry", "command_table"]

TABLE_FILE: Final = Path(__file__).with_name("command_table.json")


class ParameterEntry(TypedDict):
    """A parameter of a command."""

    name: str
    """The name in the function."""
    options: list[str]
    """How an option is spelled; empty for an argument."""
    type: str
    """text, integer, number or flag; anything else is left to Typer."""
    multiple: bool
    required: bool
    metavar: str
    help: str


class CommandEntry(TypedDict):
    """A command."""

    function: str
    """Its path in hatbox.cli.commands."""
    help: str
    """The first paragraph of its help, on one line."""
    parameters: list[ParameterEntry]


@cache
def command_table() -> dict[str, CommandEntry]:
    """The commands by name; those of a group as "cookies list"."""
    table: dict[str, CommandEntry] = json.loads(TABLE_FILE.read_bytes())
    return table
