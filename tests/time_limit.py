"""A test that does not end fails, and what it waits for is printed. Without this a run would never end."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import os
import signal
import sys
from collections.abc import Generator
from typing import Final

import pytest

__all__ = ["TimeLimit"]

_SECONDS_TO_FAIL: Final = 60.0


class TimeLimit:
    """A plugin that fails a test that takes too long, set-up and teardown included.

    The exception is raised in the main thread, where tests run. A test that has not even failed some time later, such
    as one that waits in a C function, is ended with its process. pytest-xdist then reports the test, and ends the run.
    """

    def __init__(self, seconds: float, seconds_to_fail: float = _SECONDS_TO_FAIL) -> None:
        self._seconds = seconds
        self._seconds_to_fail = seconds_to_fail
        assert sys.__stderr__ is not None
        self._errors = os.fdopen(os.dup(sys.__stderr__.fileno()), "w")  # while a test runs, pytest replaces stderr
        self._message = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Limit the time of this test."""
        self._message = f"{item.nodeid} has not ended within {self._seconds:g} seconds."
        # Python may not get to run a signal handler, for example in a C function.
        faulthandler.dump_traceback_later(self._seconds + self._seconds_to_fail, exit=True, file=self._errors)
        previous = signal.signal(signal.SIGALRM, self._fail)
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
            faulthandler.cancel_dump_traceback_later()

    def _fail(self, *_: object) -> None:
        print(f"\n{self._message}", file=self._errors)
        for task in gc.get_objects():
            if isinstance(task, asyncio.Task) and not task.done():
                task.print_stack(file=self._errors)
        self._errors.flush()
        faulthandler.dump_traceback(self._errors)
        pytest.fail(self._message)
