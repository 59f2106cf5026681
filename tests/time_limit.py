"""A test that does not end is named, with what it waits for, and ends the run: without this, a run would never end."""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import os
import sys
import threading
from collections.abc import Generator
from typing import Final

import pytest

__all__ = ["TimeLimit"]

_SECONDS_FOR_STACKS: Final = 5


class TimeLimit:
    """A plugin that ends the process of a test that takes too long, set-up and teardown included.

    An exception would not reach a test that waits in a C function, nor end one whose fixtures wait, too. pytest-xdist
    reports the test as failed.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        assert sys.__stderr__ is not None
        self._errors = os.fdopen(os.dup(sys.__stderr__.fileno()), "w")  # while a test runs, pytest replaces stderr

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Limit the time of this test."""
        timer = threading.Timer(self._seconds, self._end, [item.nodeid])
        timer.daemon = True
        # Python may not get to run a thread, for example while a regular expression is matched.
        faulthandler.dump_traceback_later(self._seconds + _SECONDS_FOR_STACKS, exit=True, file=self._errors)
        timer.start()
        try:
            return (yield)
        finally:
            timer.cancel()
            faulthandler.cancel_dump_traceback_later()

    def _end(self, test: str) -> None:
        print(f"\n{test} has not ended within {self._seconds:g} seconds.", file=self._errors)
        for each in gc.get_objects():
            if isinstance(each, asyncio.Task) and not each.done():
                each.print_stack(file=self._errors)
        self._errors.flush()
        faulthandler.dump_traceback(self._errors)
        os._exit(1)
