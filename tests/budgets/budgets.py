"""Reads the table of budgets, and compares what was counted with it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["TABLE", "Budget", "budgets", "counted", "differences", "with_counts"]

TABLE: Final = Path(__file__).with_name("budgets.md")

_ROOT: Final = Path(__file__).parents[2]
_SECONDS: Final = 120

_SECTION: Final = re.compile(r"^## (?P<name>.+)\n(?P<text>(?:(?!^## ).*\n?)*)", re.MULTILINE)
_ROW: Final = re.compile(
    r"^\| (?P<what>[^|]+?) \| (?P<unit>[^|]+?) \| (?P<number>[\d,]+) \| (?P<why>[^|]+?) \|$", re.MULTILINE
)
_TOLERANCES: Final = {"KB": 0.1, "modules": 0.05}
"""How far from its budget a count may be: another version of a dependency has other modules. All others are exact."""


class Budget(NamedTuple):
    """One row of the table."""

    what: str
    unit: str
    number: int
    why: str


def budgets(section: str) -> list[Budget]:
    """The rows of a section."""
    (text,) = (found["text"] for found in _SECTION.finditer(TABLE.read_text("utf-8")) if found["name"] == section)
    return [
        Budget(row["what"], row["unit"], int(row["number"].replace(",", "")), row["why"]) for row in _ROW.finditer(text)
    ]


def counted(section: str) -> dict[tuple[str, str], int]:
    """The counts of a section, in a process of its own: what has run before in a process changes them."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [sys.executable, "-m", "tests.budgets.measures", section, file.name]
        run = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=_SECONDS, check=False)
        assert run.returncode == 0, run.stderr
        return {(what, unit): count for what, unit, count in json.load(file)}


def differences(section: str, counts: Mapping[tuple[str, str], int]) -> list[str]:
    """What differs from the budgets of a section, one sentence for each row; empty if nothing does."""
    rows = {(row.what, row.unit): row for row in budgets(section)}
    found = [f"{what} ({unit}) is not counted: remove its row" for what, unit in rows.keys() - counts.keys()]
    for (what, unit), count in counts.items():
        row = rows.get((what, unit))
        if row is None:
            found.append(f"{what} needs {count:,} {unit}: add a row")
        elif abs(count - row.number) > row.number * _TOLERANCES.get(unit, 0):
            found.append(f"{what} needs {count:,} {unit}; its budget is {row.number:,} ({row.why})")
    return found


def with_counts(section: str, counts: Mapping[tuple[str, str], int]) -> str:
    """The text of the table, with these counts in a section."""

    def changed(row: re.Match[str]) -> str:
        count = counts.get((row["what"], row["unit"]), int(row["number"].replace(",", "")))
        return f"| {row['what']} | {row['unit']} | {count:,} | {row['why']} |"

    text = TABLE.read_text("utf-8")
    (found,) = (each for each in _SECTION.finditer(text) if each["name"] == section)
    return text[: found.start("text")] + _ROW.sub(changed, found["text"]) + text[found.end("text") :]
