"""Counts calls of Python functions of Hatbox, in all threads, and SQL statements of SQLite."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

import pytest

import hatbox
from hatbox.store.change_poller import ChangePoller
from hatbox.store.sqlite import profile_file, writer

__all__ = ["Work", "WorkCounter", "counting_work"]

_SOURCE: Final = str(Path(hatbox.__file__).parent)
_IDLE_SECONDS: Final = 0.01
_REPETITIONS: Final = 4  # of which the least counts: maintenance may fall into one


class Work(NamedTuple):
    """What a piece of work needed."""

    calls: int
    statements: int


class WorkCounter:
    """Counts what happens between begin() and end()."""

    def __init__(self) -> None:
        self.is_counting = False
        self.calls: list[str] = []
        self.statements: list[str] = []
        self._codes: dict[CodeType, bytes] = {}

    async def least(self, work: Callable[[int], Awaitable[object]]) -> Work:
        """What a call needs, which gets the number of the repetition."""
        calls, statements = [], []
        for number in range(_REPETITIONS):
            self.calls, self.statements, self.is_counting = [], [], True
            await work(number)
            await self._until_idle()
            self.is_counting = False
            calls.append(len(self.calls))
            statements.append(len(self.statements))
        return Work(min(calls), min(statements))

    async def _until_idle(self) -> None:
        """Wait until no thread of Hatbox works any more."""
        before = -1
        while before != len(self.calls):
            before = len(self.calls)
            await asyncio.sleep(_IDLE_SECONDS)

    def on_call(self, frame: FrameType, event: str, _: Any) -> None:
        """Note the start of a function: not that of a lambda or comprehension, not the continuation of a coroutine."""
        code = frame.f_code
        if not (self.is_counting and event == "call" and code.co_filename.startswith(_SOURCE)):
            return
        if code not in self._codes:
            self._codes[code] = code.co_code
        if (
            code.co_name[0] != "<" and self._codes[code][frame.f_lasti + 1] == 0
        ):  # the argument of RESUME: 0 at the start of a function
            self.calls.append(f"{code.co_filename.removeprefix(_SOURCE)}:{code.co_qualname}")

    def on_statement(self, sql: str) -> None:
        """Note a statement."""
        if self.is_counting:
            self.statements.append(sql)


@contextmanager
def counting_work() -> Iterator[WorkCounter]:
    """Profiles that are opened here are counted."""
    counter = WorkCounter()
    connect = profile_file._connect

    def traced(*arguments: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **named)
        connection.set_trace_callback(counter.on_statement)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profile_file, "_connect", traced)
        # Both happen after some time, so that their number depends on the machine.
        patch.setattr(ChangePoller, "start", lambda *_: None)
        patch.setattr(writer, "_CHECK_SECONDS", math.inf)
        threading.setprofile(counter.on_call)
        sys.setprofile(counter.on_call)
        try:
            yield counter
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
