"""The MCP server: when it is ready, and a call of its tool `identity`, against a bare server of the SDK in one run.

    python -m benchmarks.mcp_server

Both speak over standard input and output with a client that only writes and reads lines, so that the time of a client
is not in the figures. Ready: from the start of the process until tools/list is answered. The bare server has one tool,
which returns a line of text. Starts alternate, and so do calls, so that both see the same load of the machine. Times
are medians. The CPU time of a start, with the end of the process, depends less on the load.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final, TypeAlias

from benchmarks.benchmark import Benchmark, Figure, Measured
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
_LIMIT: Final = 1 << 24  # bytes of one line


Pair: TypeAlias = tuple[float, float]


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
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=_LIMIT)
    try:
        lines = Lines(process)
        await lines.connect()
        yield lines, perf_counter() - start
    finally:
        assert process.stdin is not None
        process.stdin.close()  # the normal end of a server
        await process.wait()


def cpu_seconds_of_children() -> float:
    """The CPU time of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


async def ready_milliseconds(commands: Sequence[Sequence[str]], starts: int, warm_up: int) -> tuple[Pair, Pair]:
    """The median time until each server is ready, and its CPU time."""
    times: list[list[float]] = [[] for _ in commands]
    used: list[list[float]] = [[] for _ in commands]
    for number in range(warm_up + starts):
        for place, command in enumerate(commands):
            before = cpu_seconds_of_children()
            async with connected(command) as (_, taken):
                pass
            if number >= warm_up:  # the first start compiles
                times[place].append(taken)
                used[place].append(cpu_seconds_of_children() - before)
    return _medians(times), _medians(used)


async def call_milliseconds(commands: Sequence[Sequence[str]], calls: int) -> Pair:
    """The median time of a call of each server."""
    times: list[list[float]] = [[] for _ in commands]
    async with contextlib.AsyncExitStack() as stack:
        servers = [(await stack.enter_async_context(connected(each)))[0] for each in commands]
        for number in range(calls + calls // 10):
            for place, server in enumerate(servers):
                taken = await server.call_seconds()
                if number >= calls // 10:  # the first calls fill caches
                    times[place].append(taken)
    return _medians(times)


def _medians(seconds: list[list[float]]) -> Pair:
    own, bare = (median(each) * 1e3 for each in seconds)
    return own, bare


async def measure(folder: Path, starts: int, warm_up: int, calls: int) -> Measured:
    """The medians."""
    program, profile = folder / "bare.py", folder / "profile.db"
    program.write_text(BARE, "utf-8")
    create_profile(profile)
    own = [sys.executable, "-m", "hatbox", "mcp", "--identity", "Work", "--profile", str(profile)]
    commands = (own, [sys.executable, str(program)])
    ready, used = await ready_milliseconds(commands, starts, warm_up)
    return {
        "tool `identity`": await call_milliseconds(commands, calls),
        "ready: tools/list is answered": ready,
        "CPU time of a start": used,
    }


BENCHMARK = Benchmark(
    measure,
    [
        Figure("tool `identity`", "ms", "bare server", at_most=1.5),
        Figure("ready: tools/list is answered", "ms", "bare server", at_most=1.3),
        Figure("CPU time of a start", "ms", "bare server"),
    ],
    starts=(9, 1),
    warm_up=(1, 0),
    calls=(500, 1),
)

if __name__ == "__main__":
    BENCHMARK.main()
