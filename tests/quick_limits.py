"""In the quick run: a test that starts a process, or takes too much CPU time, fails with the words "mark it".

So the quick run stays quick without a list of slow tests. The limits are those of the test itself: what only the first
test of a process pays for, such as imports, is not counted, because a test above the limit of time runs a second time.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Final

import pytest
from _pytest.runner import runtestprotocol

__all__ = ["QuickLimits"]

_CPU_SECONDS: Final = 0.5
_STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})


class QuickLimits:
    """A plugin that fails a quick test whose marker is missing. Tests marked `smoke` may start processes."""

    def __init__(self, cpu_seconds: float = _CPU_SECONDS) -> None:
        self._cpu_seconds = cpu_seconds
        self._started: list[str] = []
        sys.addaudithook(self._on_event)

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _STARTS:
            self._started.append(str(arguments[0]) if event == "subprocess.Popen" else event)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test as pytest does, and check what it has used."""
        location = item.location
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=location)
        reports, problem = self._run(item, nextitem)
        if problem and "CPU" in problem and all(report.outcome == "passed" for report in reports):
            reports, problem = self._run(item, nextitem)
        if problem and not item.get_closest_marker("smoke"):
            last = reports[-1]
            last.outcome = "failed"
            last.longrepr = f"mark it: {problem}, and has no marker that says so (tests/marks.py)."
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=location)
        return True

    def _run(self, item: pytest.Item, nextitem: pytest.Item | None) -> tuple[list[pytest.TestReport], str]:
        self._started.clear()
        before = time.process_time()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        used = time.process_time() - before
        if self._started:
            return reports, f"it starts a process ({self._started[0]})"
        return reports, f"it takes {used:.1f} s of CPU time" if used > self._cpu_seconds else ""
