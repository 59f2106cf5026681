"""Python programs for tests that start hundreds: each is forked from a process that has imported Hatbox.

A fork is a process of its own, with its own arguments, environment, folder and streams. What it saves is the import,
most of the CPU time of a command. Tests of the import itself start `sys.executable`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

__all__ = ["ProgramServer"]

ROOT = Path(__file__).parents[2]
CLIENT = Path(__file__).with_name("client.py")


class ProgramServer:
    """The process that forks. `hidden` are packages that it does not import, so that its programs may lack them."""

    def __init__(self, hidden: Sequence[str] = ()) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="programs-")
        self._address = f"{self._folder.name}/socket"
        command = [sys.executable, "-m", "tests.program_server.server", self._address, *hidden]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def __enter__(self) -> ProgramServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()  # it exits at the end of its input
        self._folder.cleanup()

    def write_command(self, path: Path, *arguments: str, not_for: str = "") -> None:
        """Write an executable file that runs `python ARGUMENTS…` with more arguments.

        `not_for` are the first arguments of programs that are not forked.
        """
        fork = " ".join(f"'{each}'" for each in (sys.executable, "-ISB", CLIENT, self._address, *arguments))
        start = f"""case "$*" in "{not_for}"*) exec '{sys.executable}' "$@"; esac\n""" if not_for else ""
        path.write_text(f'#!/bin/sh\n{start}exec {fork} "$@"\n', "utf-8")
        path.chmod(0o755)
