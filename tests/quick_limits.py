"""A test without a marker that starts a process, or takes too much CPU time, fails with the words "mark it".

So the quick run stays quick without a list of slow tests. The limits are those of the test itself: what only the first
test of a process pays for, such as imports, is not counted, because a test above the limit of time runs again. On a
busy machine the same work takes more CPU time, so what counts is how much a known piece of work takes at that moment.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any, Final

import pytest
from _pytest.runner import runtestprotocol

from tests.marks import is_quick

__all__ = ["QuickLimits"]

_CPU_SECONDS: Final = 0.5
_RUNS: Final = 3  # at most
_PIECES: Final = 60  # of work, which a quiet machine does in half a second
_STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})


class QuickLimits:
    """A plugin that fails a test whose marker is missing. Tests marked `smoke` may start processes."""

    def __init__(self, *, limits_cpu: bool) -> None:
        self._limits_cpu = limits_cpu
        self._started: list[str] = []
        self._starts = _STARTS  # an audit hook also runs when Python ends, after modules have lost their names
        sys.addaudithook(self._on_event)

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in self._starts:
            self._started.append(str(arguments[0]) if event == "subprocess.Popen" else event)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a quick test as pytest does, and check what it has used."""
        if not is_quick(item) or item.get_closest_marker("smoke"):
            return None
        location = item.location
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=location)
        for _ in range(_RUNS):
            reports, seconds = self._run(item, nextitem)
            is_cheap = not self._limits_cpu or seconds <= _CPU_SECONDS or seconds <= _PIECES * _seconds_of_a_piece()
            if is_cheap or any(report.failed for report in reports):
                break
        if all(report.passed for report in reports):
            if self._started:
                self._fail(reports[1], f"it starts a process ({self._started[0]})")
            elif not is_cheap:
                self._fail(reports[1], f"it takes {seconds:.1f} s of CPU time")
        for report in reports:
            if report.when == "call" or not report.passed:  # the others would only be sent to the process that prints
                item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=location)
        return True

    def _run(self, item: pytest.Item, nextitem: pytest.Item | None) -> tuple[list[pytest.TestReport], float]:
        self._started.clear()
        before = time.process_time()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        return reports, time.process_time() - before

    @staticmethod
    def _fail(report: pytest.TestReport, problem: str) -> None:
        report.outcome = "failed"
        report.longrepr = f"mark it: {problem}, and has no marker that says so (tests/marks.py)."


def _seconds_of_a_piece() -> float:
    times = []
    for _ in range(5):
        before = time.process_time()
        texts = {}
        for number in range(60_000):
            texts[number % 1_000] = str(number)
        times.append(time.process_time() - before)
    return statistics.median(times)
