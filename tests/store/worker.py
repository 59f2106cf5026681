"""A program in a process of its own that uses profiles as it is told: one JSON line in, one JSON line out.

Run as a script by other_process.py. Imports nothing of the tests.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import msgspec

import hatbox


def main() -> None:
    worker = Worker()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"value": getattr(worker, request["call"])(*request["arguments"], **request["named"])}
        except Exception as error:  # noqa: BLE001 - the test gets it
            answer = {"error": type(error).__name__, "message": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    worker.close()


class Worker:
    """What a test may ask for."""

    def __init__(self) -> None:
        self._profile: hatbox.SyncProfile | None = None

    def open(self, path: str) -> None:
        self.close()
        profile = hatbox.open_sync(path)
        profile.open()
        self._profile = profile

    def close(self) -> None:
        if self._profile:
            self._profile.close()
            self._profile = None

    def become(self, user: int) -> None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)

    def identities(self, name: str, /, *arguments: Any, **named: Any) -> Any:
        """One call; what it returns, as plain data."""
        assert self._profile
        return msgspec.to_builtins(getattr(self._profile.identities, name)(*arguments, **named))

    def grants(self, name: str, /, *arguments: Any, **named: Any) -> Any:
        """One call of its grants."""
        assert self._profile
        return msgspec.to_builtins(getattr(self._profile.grants, name)(*arguments, **named))

    def record(self, *arguments: Any, **named: Any) -> None:
        """Record an action in the activity log."""
        assert self._profile
        self._profile.activity_log.record(*arguments, **named)

    def create_many(self, names: list[str]) -> list[tuple[str, int]]:
        """Create them one after the other: the ids, and when each call had returned."""
        assert self._profile
        made = []
        for name in names:
            identity = self._profile.identities.create(name, color="red", icon="circle")
            made.append((identity.cookie_store_id, time.monotonic_ns()))
        return made


if __name__ == "__main__":
    main()
