"""Writes the tests that have failed to a file, so that CI can run them once more: `pytest --write-failed FILE`."""

from __future__ import annotations

from pathlib import Path

import pytest

__all__ = ["FailedTests"]


class FailedTests:
    """A plugin of the process that reports. The file has a line for each test; pytest reads it as `@FILE`."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._failed: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that has failed, or whose process has ended."""
        if report.failed:
            self._failed[report.nodeid] = None

    def pytest_sessionfinish(self) -> None:
        """Write the file, which is empty if all have passed."""
        self._file.write_text("".join(f"{test}\n" for test in self._failed))
