"""Copies profiles, and is killed after a number of function calls. Without a number it reports how many it makes.

Forks a process for each line of its input: a JSON array of source, target and number of calls. It never opens a profile
itself, so that each copy begins in a clean process with all modules loaded. Answers with a JSON array of the exit code
and the number of calls.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from types import FrameType
from typing import Any

import hatbox.store.postgres
import hatbox.store.sqlite  # noqa: F401  both loaded before the first fork
from hatbox.maintenance import copy_profile


def main() -> None:
    for line in sys.stdin:
        source, target, limit = json.loads(line)
        reads, writes = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.write(writes, str(calls_of_copy(source, target, limit)).encode())
                os._exit(0)
            finally:
                os._exit(1)
        os.close(writes)
        _, status = os.waitpid(child, 0)
        with os.fdopen(reads) as report:
            calls = report.read()
        os.write(1, json.dumps([os.waitstatus_to_exitcode(status), int(calls or 0)]).encode() + b"\n")


def calls_of_copy(source: str, target: str, limit: int | None) -> int:
    """Copy a profile; returns the number of function calls. The process is killed at the limit."""
    calls = 0

    def count(_frame: FrameType, _event: str, _argument: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == limit:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)  # before and after every function, also those of SQLite and of the system
    copy_profile(source, target)
    sys.setprofile(None)
    return calls


if __name__ == "__main__":
    main()
