"""A program that uses Chromium with given options: `python -m … PATH OPTIONS`, with OPTIONS in JSON.

It runs the lines of Python that it reads, as JSON, and answers with what they return. `AttachedProgram` is the other
side.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import hatbox

ROOT = Path(__file__).parents[3]


class AttachedProgram:
    """The process, for tests to command. `engine` and `profile` are those of the program; `pages` is a list."""

    def __init__(self, path: Path, **options: object) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.engines.chromium.attached_program", str(path), json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    @classmethod
    async def start(cls, path: Path, **options: object) -> AttachedProgram:
        """Start it. Returns when it is attached, or has an engine."""
        program = cls(path, **options)
        await asyncio.to_thread(program._read)
        return program

    async def run(self, code: str) -> Any:
        """Run statements there, with `await` and `return`."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(code) + "\n")
        self._process.stdin.flush()
        return await asyncio.to_thread(self._read)

    async def stop(self) -> None:
        """Let it leave its `async with`, and wait until it has ended."""
        assert self._process.stdin
        self._process.stdin.close()
        assert await asyncio.to_thread(self._process.wait, 60) == 0
        self._close()

    def kill(self) -> None:
        """End it without a chance to clean up."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            assert stream
            stream.close()

    def _read(self) -> Any:
        assert self._process.stdout
        answer = json.loads(self._process.stdout.readline() or '{"error": "it has ended"}')
        assert "error" not in answer, answer["error"]
        return answer["value"]


async def main(path: str, options: str) -> None:
    names: dict[str, Any] = {"pages": []}
    async with hatbox.open(path) as profile, profile.chromium(**json.loads(options)) as engine:
        names |= {"engine": engine, "profile": profile}
        say({"value": None})
        while line := await asyncio.to_thread(sys.stdin.readline):
            try:
                exec("async def call():\n" + textwrap.indent(json.loads(line), "    "), names)
                say({"value": await names["call"]()})
            except Exception as error:  # noqa: BLE001 - the test gets it
                say({"error": f"{type(error).__name__}: {error}"})


def say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
