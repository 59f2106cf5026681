"""Another program that has the profile open, in a process of its own, and changes it when a test says so."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tests.waiting import in_time

__all__ = ["SecondProgram", "second_program"]

_PROGRAM: Final = """
import ast, asyncio, sys, hatbox

async def main():
    async with hatbox.open(sys.argv[1]) as profile:
        for line in sys.stdin:
            await eval(compile(line, "line", "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT))
            print("done", flush=True)

asyncio.run(main())
"""


class SecondProgram:
    """The running program."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def run(self, expression: str) -> None:
        """Evaluate an expression there, such as `await profile.identities.create("Travel")`."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{expression}\n".encode())
        assert await in_time(stdout.readline(), expression) == b"done\n", expression


@asynccontextmanager
async def second_program(profile: str) -> AsyncIterator[SecondProgram]:
    """Start it. `profile` is the address of the profile."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _PROGRAM, profile, stdin=PIPE, stdout=PIPE)
    try:
        yield SecondProgram(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await in_time(process.wait(), "the second program has not ended")
