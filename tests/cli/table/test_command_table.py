from __future__ import annotations

from hatbox.cli import COMMANDS, GROUPS, PANELS
from hatbox.cli.table import TABLE_FILE
from hatbox.cli.table.generate import table_text


def test_the_generated_table_of_commands_is_current() -> None:
    assert TABLE_FILE.read_text("utf-8") == table_text(), "run: python -m hatbox.cli.table.generate"


def test_help_shows_every_command_in_one_panel() -> None:
    listed = [name for names in PANELS.values() for name in names]
    assert sorted(listed) == sorted({*COMMANDS, *GROUPS})
