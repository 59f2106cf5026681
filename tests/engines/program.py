"""A program in a process of its own that uses a profile as it is told, with or without an engine, line by line in JSON.

`python -m tests.engines.program PATH [ENGINE [IDENTITY...]]`, where ENGINE is a name of adapters.py. `Program` is the
other side.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

import hatbox
from tests.engines.adapters import ADAPTERS

ROOT = Path(__file__).parents[2]


class Answer(msgspec.Struct, frozen=True):
    """What became of a call, and between which times it was made, in nanoseconds of time.monotonic."""

    value: Any = None
    error: str = ""
    before: int = 0
    after: int = 0


class Program:
    """The process, for tests to command. Used with `with`."""

    def __init__(self, path: Path | str, engine: str = "", *identities: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.engines.program", str(path), engine, *identities],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._finish()  # it is ready

    @property
    def pid(self) -> int:
        return self._process.pid

    def tabs(self, name: str, *arguments: Any, **named: Any) -> Any:
        """A call of profile.tabs."""
        return self.call("tabs", name, *arguments, **named).value

    def identities(self, name: str, *arguments: Any, **named: Any) -> Any:
        """A call of profile.identities."""
        return self.call("identities", name, *arguments, **named).value

    def engine(self, name: str, *arguments: Any) -> Any:
        """A call of the engine's runner."""
        return self.call("engine", name, *arguments).value

    def call(self, on: str, name: str, *arguments: Any, **named: Any) -> Answer:
        """A call, and when it was made."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps([on, name, arguments, named]) + "\n")
        self._process.stdin.flush()
        return self._finish()

    def kill(self) -> None:
        """End it without a chance to clean up."""
        self._process.kill()
        self._process.wait()

    def _finish(self) -> Answer:
        assert self._process.stdout
        answer = msgspec.json.decode(self._process.stdout.readline() or '{"error":"it has ended"}', type=Answer)
        assert not answer.error, answer.error
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._process:  # closes the pipes, which ends it, and waits
            if kind is not None:
                self._process.kill()


async def main(path: str, engine: str = "", *identities: str) -> None:
    async with contextlib.AsyncExitStack() as stack:
        profile = await stack.enter_async_context(hatbox.open(path))
        runner = None
        if engine:
            runner = await stack.enter_async_context(ADAPTERS[engine].run(profile, identities or None))
        objects = {"tabs": profile.tabs, "identities": profile.identities, "engine": runner}
        say(Answer())
        while line := await asyncio.to_thread(sys.stdin.readline):
            on, name, arguments, named = json.loads(line)
            before = time.monotonic_ns()
            try:
                value = await getattr(objects[on], name)(*arguments, **named)
                say(Answer(msgspec.to_builtins(value), "", before, time.monotonic_ns()))
            except Exception as error:  # noqa: BLE001 - the test gets it
                say(Answer(error=f"{type(error).__name__}: {error}"))


def say(answer: Answer) -> None:
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
