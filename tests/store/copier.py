"""Copies of profiles in processes that can be killed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

__all__ = ["Copier", "started_copier"]


class Copier:
    """Copies profiles in processes that it can kill, each a fork of copy_worker.py."""

    def __init__(self, orders: IO[str], reports: IO[str]) -> None:
        self._orders = orders
        self._reports = reports

    def count(self, source: object, target: object) -> int:
        """Copy a profile; returns the number of function calls of that."""
        status, calls = self._copy(source, target, None)
        assert status == 0
        return calls

    def copy_and_kill(self, source: object, target: object, limit: int) -> int:
        """Copy a profile in a process that is killed at this number of function calls; returns its exit code."""
        return self._copy(source, target, limit)[0]

    def _copy(self, source: object, target: object, limit: int | None) -> tuple[int, int]:
        self._orders.write(json.dumps([str(source), str(target), limit]) + "\n")
        self._orders.flush()
        status, calls = json.loads(self._reports.readline())
        return status, calls


@contextmanager
def started_copier() -> Iterator[Copier]:
    """Start copy_worker.py. It ends when the block does."""
    command = [sys.executable, "-m", "tests.store.copy_worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdin
        assert process.stdout
        yield Copier(process.stdin, process.stdout)
