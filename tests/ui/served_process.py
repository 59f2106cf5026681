"""`hatbox ui` in a process of its own, which a test can kill and start again."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

from tests.postgres import address_for

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
        environment = {**os.environ, **({"XDG_STATE_HOME": str(state)} if state else {})}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "hatbox", "ui", "--no-open", "--json", "--create", "--profile", profile, *arguments),
            stdout=asyncio.subprocess.PIPE,
            env=environment,
        )
        assert process.stdout is not None
        line = await process.stdout.readline()
        return cls(process, json.loads(line))

    async def kill(self) -> None:
        """Kill it."""
        self.process.kill()
        await self.process.communicate()

    async def interrupt(self) -> int | None:
        """Press Ctrl-C; returns the exit status."""
        self.process.send_signal(2)
        await self.process.communicate()
        return self.process.returncode
