"""The generated parts of docs/performance.md: the machine, and a table for each program."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.benchmark import HEADINGS, Result
from hatbox.engines.chromium.launch import find_browser
from tests.firefox import find_firefox
from tests.postgres import find_programs

__all__ = ["MACHINE", "PAGE", "part", "rows", "write_page"]

PAGE: Final = Path(__file__).parents[1] / "docs" / "performance.md"
MACHINE: Final = "machine"


def write_page(programs: Mapping[str, Sequence[Result]], load: float) -> None:
    """Write the results of one run: all programs, and the load of the machine when it started."""
    text = _replaced(PAGE.read_text("utf-8"), MACHINE, _machine(load))
    for name, results in programs.items():
        text = _replaced(text, name, "\n".join(rows(results)))
    PAGE.write_text(text, "utf-8")


def rows(results: Sequence[Result]) -> list[str]:
    """The lines of a table in Markdown."""
    table = [HEADINGS, ("---", "--:", "---", "--:", "--:", "---"), *(each.row for each in results)]
    return [f"| {' | '.join(cells)} |" for cells in table]


def part(text: str, name: str) -> str:
    """The generated part with this name. Raises KeyError if the page has none."""
    found = _pattern(name).search(text)
    if found is None:
        raise KeyError(f"{PAGE} has no part {_marks(name)}")
    return found[1]


def _replaced(text: str, name: str, generated: str) -> str:
    part(text, name)
    start, end = _marks(name)
    return _pattern(name).sub(lambda _: f"{start}\n\n{generated}\n\n{end}", text)


def _pattern(name: str) -> re.Pattern[str]:
    start, end = map(re.escape, _marks(name))
    return re.compile(f"{start}\n\n?(.*?)\n?\n?{end}", re.DOTALL)


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- figures of {name} -->", f"<!-- end of {name} -->"


def _machine(load: float) -> str:
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    postgres = find_programs()
    programs = [find_browser(), find_firefox(), postgres and postgres / "postgres"]
    versions = [
        f"Python {platform.python_version()}",
        f"SQLite {sqlite3.sqlite_version}",
        *(_version(program) for program in programs if program is not None),
    ]
    processors = f"{os.cpu_count()} processors ({model[1]})" if model else f"{os.cpu_count()} processors"
    return (
        f"Measured on {datetime.now(UTC):%-d %B %Y} on {processors}, load {load:.1f} when it started. "
        f"{', '.join(versions)}."
    )


def _version(program: str | os.PathLike[str]) -> str:
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
