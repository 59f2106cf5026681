"""The MCP server: when it is ready, and a call of its tool `identity`, against a bare server of the SDK in one run.

    python -m benchmarks.mcp_server [--starts 9] [--calls 500]

Both speak over standard input and output with a client that only writes and reads lines, so that the time of a client
is not in the figures. Ready: from the start of the process until tools/list is answered. The bare server has one tool,
which returns a line of text. Starts alternate, and so do calls, so that both see the same load of the machine. Times
are medians. The CPU time of a start, with the end of the process, depends less on the load.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from rich.console import Console

from benchmarks.bars import Bar, bars_table
from hatbox.maintenance import create_profile

BARE: Final = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("bare")


@server.tool(structured_output=False)
async def identity() -> str:
    """Which identity."""
    return "one"


server.run("stdio")
'''
MAX_CALL: Final = 1.5
MAX_READY: Final = 1.3
_LIMIT: Final = 1 << 24  # bytes of one line


class Lines:
    """A client of one server: a request is a line, and so is its answer."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._writer, self._reader = process.stdin, process.stdout
        self._id = 0

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request."""
        self._id += 1
        self._write({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while line := await self._reader.readline():
            answer = json.loads(line)
            if answer.get("id") == self._id:
                result: dict[str, Any] = answer["result"]
                return result
        raise EOFError(f"the server has ended during {method}")

    async def connect(self) -> None:
        """Initialize the connection, and list the tools."""
        client = {"name": "benchmark", "version": "1"}
        await self.request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (await self.request("tools/list"))["tools"]

    async def call_seconds(self) -> float:
        """The time of one call of the tool `identity`."""
        start = perf_counter()
        result = await self.request("tools/call", name="identity", arguments={})
        seconds = perf_counter() - start
        assert not result.get("isError")
        return seconds

    def _write(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")


@contextlib.asynccontextmanager
async def connected(command: Sequence[str]) -> AsyncIterator[tuple[Lines, float]]:
    """A connected server, and the seconds that it took."""
    pipe = asyncio.subprocess.PIPE
    start = perf_counter()
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, limit=_LIMIT
    )
    try:
        lines = Lines(process)
        await lines.connect()
        yield lines, perf_counter() - start
    finally:
        assert process.stdin is not None
        process.stdin.close()  # the normal end of a server
        await process.wait()


async def ready_seconds(commands: Sequence[Sequence[str]], starts: int) -> tuple[list[float], list[float]]:
    """The median time until each server is ready, and its CPU time."""
    seconds: list[list[float]] = [[] for _ in commands]
    used: list[list[float]] = [[] for _ in commands]
    for number in range(starts + 1):
        for place, command in enumerate(commands):
            before = cpu_seconds_of_children()
            async with connected(command) as (_, taken):
                pass
            if number:  # the first start compiles
                seconds[place].append(taken)
                used[place].append(cpu_seconds_of_children() - before)
    return [median(each) for each in seconds], [median(each) for each in used]


def cpu_seconds_of_children() -> float:
    """The CPU time of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


async def call_seconds(commands: Sequence[Sequence[str]], calls: int) -> list[float]:
    """The median time of a call of each server."""
    seconds: list[list[float]] = [[] for _ in commands]
    async with contextlib.AsyncExitStack() as stack:
        servers = [(await stack.enter_async_context(connected(each)))[0] for each in commands]
        for number in range(calls + calls // 10):
            for place, server in enumerate(servers):
                taken = await server.call_seconds()
                if number >= calls // 10:  # the first calls fill caches
                    seconds[place].append(taken)
    return [median(each) for each in seconds]


async def measure(folder: Path, starts: int, calls: int) -> list[Bar]:
    """Print the medians; returns the bars."""
    program, profile = folder / "bare.py", folder / "profile.db"
    program.write_text(BARE, "utf-8")
    create_profile(profile)
    bare = [sys.executable, str(program)]
    own = [sys.executable, "-m", "hatbox", "mcp", "--identity", "Work", "--profile", str(profile)]
    ready, used = await ready_seconds([own, bare], starts)
    call = await call_seconds([own, bare], calls)
    console = Console()
    console.print(f"Ready: hatbox mcp {ready[0] * 1000:.0f} ms, a bare server of the SDK {ready[1] * 1000:.0f} ms.")
    console.print(f"CPU time of a start: {used[0] * 1000:.0f} ms and {used[1] * 1000:.0f} ms.")
    console.print(f"The tool identity: {call[0] * 1000:.2f} ms, a bare tool {call[1] * 1000:.2f} ms.")
    console.print(f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.")
    return [
        ("ready, against a bare server", ready[0] / ready[1], "<=", MAX_READY),
        ("the tool identity, against a bare tool", call[0] / call[1], "<=", MAX_CALL),
    ]


def main() -> None:
    """Measure, print, and exit with 1 if a bar is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--starts", type=int, default=9)
    parser.add_argument("--calls", type=int, default=500)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bars = asyncio.run(measure(Path(folder), given.starts, given.calls))
    Console().print(bars_table(bars))
    sys.exit(any(ratio > bar for _, ratio, _, bar in bars))


if __name__ == "__main__":
    main()
