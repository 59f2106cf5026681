"""`hatbox ui` in a process of its own, which a test can kill and start again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import IO, Any

from tests.postgres import address_for
from tests.waiting import in_time

__all__ = ["ServedProcess", "free_port", "profile_argument"]


def free_port() -> int:
    """A port that no program uses now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def profile_argument(path: Path) -> str:
    """The address of a profile for a process, in the store of this test run."""
    return address_for(path) if os.environ.get("HATBOX_TEST_STORE") == "postgres" else str(path)


class ServedProcess:
    """A running `hatbox ui --no-open --json`, with further arguments."""

    def __init__(self, process: asyncio.subprocess.Process, ready: dict[str, Any]) -> None:
        self.process = process
        self.link = str(ready["link"])
        self.port = int(ready["port"])

    @classmethod
    async def start(cls, profile: str, *arguments: str, state: Path | None = None) -> ServedProcess:
        """Start it, and wait until it accepts connections."""
        return await cls.ready(await cls.spawn(profile, *arguments, state=state))

    @staticmethod
    async def spawn(
        profile: str, *arguments: str, state: Path | None = None, stderr: IO[bytes] | None = None
    ) -> asyncio.subprocess.Process:
        """Start it. `stderr` gets its errors and notices."""
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "hatbox", "ui", "--no-open", "--json", "--create", "--profile", profile, *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, **({"XDG_STATE_HOME": str(state)} if state else {})},
        )

    @classmethod
    async def ready(cls, process: asyncio.subprocess.Process) -> ServedProcess:
        """Wait until a started process accepts connections."""
        assert process.stdout is not None
        line = await in_time(process.stdout.readline(), "`hatbox ui` has not printed its link")
        assert line, f"`hatbox ui` has ended with {await process.wait()}"
        return cls(process, json.loads(line))

    async def kill(self) -> None:
        """Kill it."""
        self.process.kill()
        await self.ended()

    async def interrupt(self) -> int | None:
        """Press Ctrl-C; returns the exit status."""
        self.press_ctrl_c()
        return await self.ended()

    def press_ctrl_c(self) -> None:
        """Press Ctrl-C, and do not wait."""
        self.process.send_signal(signal.SIGINT)

    async def ended(self) -> int | None:
        """Wait until it has ended; returns the exit status."""
        await in_time(self.process.communicate(), "`hatbox ui` has not ended")
        return self.process.returncode
