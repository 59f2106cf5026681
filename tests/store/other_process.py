"""A second process on the same profile, for tests to command. The other side of the pipe is worker.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.postgres import address_of

WORKER = Path(__file__).with_name("worker.py")


class Refused(Exception):
    """The call raised in the other process; `kind` is the name of the error's class."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class OtherProcess:
    """A process that does what worker.Worker can do. Used with `with`."""

    def __init__(self, path: Path | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        if path is not None:
            self.call("open", address_of(path))

    def call(self, name: str, /, *arguments: Any, **named: Any) -> Any:
        """Have something done there, and wait for what becomes of it."""
        self.begin(name, *arguments, **named)
        return self.finish()

    def begin(self, name: str, /, *arguments: Any, **named: Any) -> None:
        """Have something done there, and do not wait for it."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"call": name, "arguments": arguments, "named": named}) + "\n")
        self._process.stdin.flush()

    def finish(self) -> Any:
        """What has become of the earliest call that was begun and not finished."""
        assert self._process.stdout
        answer = json.loads(self._process.stdout.readline() or '{"error": "Died", "message": "the process has ended"}')
        if "error" in answer:
            raise Refused(answer["error"], answer["message"])
        return answer["value"]

    def identities(self, name: str, /, *arguments: Any, **named: Any) -> Any:
        """One call of its profile's identities."""
        return self.call("identities", name, *arguments, **named)

    def kill(self) -> None:
        """End it without a chance to clean up."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._process:  # closes the pipes, which ends it, and waits
            if kind is not None:
                self._process.kill()
