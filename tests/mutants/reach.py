"""Which tests reach which lines: coverage.py with a context for each test, also in processes that tests start.

As a plugin (`-p tests.mutants.reach`) it measures a run. `Reach` reads what was measured.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Final

import pytest
from coverage import Coverage, CoverageData

__all__ = ["Reach", "environment"]

_FOLDER: Final = "HATBOX_MUTANTS_REACH"
_SETTINGS: Final = "coverage.ini"
_START: Final = "import coverage\n\ncoverage.process_startup()\n"


def environment(folder: Path, files: Iterable[str], python_path: Path) -> dict[str, str]:
    """Variables with which pytest, and each Python process that a test starts, notes the lines of files in a folder."""
    start = folder / "start"
    start.mkdir(parents=True)
    (start / "sitecustomize.py").write_text(_START)
    # A process that a test starts has its name as context: pytest puts it into the environment.
    lines = ["[run]", "parallel = true", f"data_file = {folder}/data", "context = ${PYTEST_CURRENT_TEST-}", "include ="]
    settings = folder / _SETTINGS
    settings.write_text("\n".join([*lines, *(f"    {file}" for file in sorted(files))]) + "\n")
    return {
        _FOLDER: str(folder),
        "COVERAGE_PROCESS_START": str(settings),
        "PYTHONPATH": f"{start}{os.pathsep}{python_path}",
    }


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note the lines and the time of this test."""
    coverage = Coverage.current()  # sitecustomize has started it
    assert coverage is not None
    coverage.switch_context(item.nodeid)
    start = time.perf_counter()
    try:
        return (yield)
    finally:
        coverage.switch_context("")
        with Path(os.environ[_FOLDER], f"times.{os.getpid()}").open("a") as file:
            file.write(json.dumps([item.nodeid, time.perf_counter() - start]) + "\n")


class Reach:
    """What a run has noted."""

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = {}
        for file in folder.glob("times.*"):
            self.seconds |= dict(map(json.loads, file.read_text().splitlines()))
        self._lines: dict[str, dict[int, set[str]]] = {}
        data = CoverageData(str(folder / "data"))
        data.read()
        for path in data.measured_files():
            self._lines[path] = {
                line: {name for name in map(_test, contexts) if name in self.seconds}
                for line, contexts in data.contexts_by_lineno(path).items()
            }

    @staticmethod
    def combine(folder: Path) -> None:
        """Make one file of those that the processes have written."""
        coverage = Coverage(data_file=str(folder / "data"), config_file=str(folder / _SETTINGS))
        coverage.combine([str(folder)], strict=True)
        coverage.save()

    def tests(self, path: Path, lines: range) -> set[str]:
        """The tests that run one of these lines; of lines that run at an import, those that run any in the file."""
        here = self._lines.get(str(path), {})
        found = set().union(*(here.get(line, ()) for line in lines))
        return found or set().union(*here.values())


def _test(context: str) -> str:
    return context.rpartition(" (")[0] if context.endswith((" (call)", " (setup)", " (teardown)")) else context
