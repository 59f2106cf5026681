"""What the API costs from JavaScript, beside real Firefox and a bare Deno echo: `python -m benchmarks.extensions`.

One run, on one machine, each figure next to what it is compared with. They take turns, round by round, so that a noisy
neighbour hits all alike, calls are made in batches, and the best counts: what others take away is not what a call
costs. In Hatbox and in Firefox the very same JavaScript runs in the background of an extension, and looks at the clock
itself. The echo is a Deno that awaits an answer to a frame of the same text, from a host that sends back the bytes as
they came (benchmarks/echo.mjs). Firefox is left out where none is installed.

Firefox as it ships needs minutes for 10,000 creations, because each walks over all identities. So a few are made at
once where half of the 10,000 are there, and count for the average of all; `--full` makes all 10,000 of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.extension_folder import write_extension
from benchmarks.firefox_extensions import firefox, firefox_run, firefox_start, set_job
from benchmarks.memory import memory_of, with_children
from hatbox.extensions.runtime.command import cache_folder, command, environment
from hatbox.extensions.runtime.limits import RuntimeLimits
from tests.firefox import find_firefox

Run = Callable[[str], Awaitable[Any]]
"""Runs the body of an async function in the background of an extension, and gives what it returns."""
Taken = dict[str, list[float]]
"""What was measured, once for each round: microseconds a call, seconds to start, bytes."""

ECHO = Path(__file__).parent / "echo.mjs"
IDENTIFIED = {"browser_specific_settings": {"gecko": {"id": "benchmark@hatbox.test"}}}
MANIFEST: dict[str, Any] = {
    "manifest_version": 2,
    "name": "benchmark",
    "version": "1",
    "background": {"scripts": ["background.js"]},
    **IDENTIFIED,
}

GET = """
const api = browser.contextualIdentities;
const ids = (await api.query({})).map(identity => identity.cookieStoreId);
const pick = () => ids[Math.floor(Math.random() * ids.length)];
const sequence = async count => { for (let i = 0; i < count; i++) await api.get(pick()); };
const atOnce = count => Promise.all(Array.from({length: count}, () => api.get(pick())));
const best = async (way, count) => {
  let figure = Infinity;
  for (let batch = 0; batch <= @BATCHES@; batch++) { // the first is to warm up
    const started = performance.now();
    await way(count);
    if (batch > 0) figure = Math.min(figure, (performance.now() - started) / count * 1000);
  }
  return figure;
};
return {"get": await best(sequence, @IN_TURN@), "get at once": await best(atOnce, @AT_ONCE@)};
"""
CREATE = """
const started = performance.now();
await Promise.all(Array.from({length: @COUNT@}, (_, i) =>
  browser.contextualIdentities.create({name: "Client " + i, color: "blue", icon: "briefcase"})));
return (performance.now() - started) / @COUNT@ * 1000;
"""
FIRST_LINE = "console.log(`first line ${performance.timeOrigin + performance.now()}`);"


def measure(
    folder: Path, rounds: int, batches: int, many: int, few: int, calls: int, warm_up: int, settle: float
) -> Measured:
    """All figures: the best of the rounds."""
    with_firefox = find_firefox() is not None
    taken = asyncio.run(measure_calls(folder, rounds, batches, many, calls, with_firefox))
    if with_firefox:
        taken["Firefox as shipped: create"] = [_as_shipped(many, few)]
    taken |= measure_starts(folder / "starts", rounds, warm_up, settle, with_firefox)
    best = {name: min(each) for name, each in taken.items()}
    figures = {DENO.what: (best["Hatbox: get, 4 identities"], best["echo"])}
    if with_firefox:
        figures[SHIPPED.what] = (best["Hatbox: create"], best["Firefox as shipped: create"])
        figures |= {
            figure.what: (best[f"Hatbox: {name}"], best[f"Firefox: {name}"]) for name, figure in FIREFOX.items()
        }
    return figures


# ── Calls ──


async def measure_calls(folder: Path, rounds: int, batches: int, many: int, calls: int, with_firefox: bool) -> Taken:
    """Microseconds a call: ours, Firefox's, and the echo's."""
    taken: Taken = {}
    with ExitStack() as stack:
        _write_extension(folder / "extension", "")
        browser = stack.enter_context(firefox()) if with_firefox else None
        async with hatbox.open(folder / "profile.db") as profile:
            extension = await profile.extensions.start(folder / "extension")
            runs: dict[str, Run] = {"Hatbox": extension.evaluate}
            if browser is not None:
                runs["Firefox"] = lambda body: asyncio.to_thread(firefox_run, browser, body)
            await _measure_gets(taken, runs, rounds, batches, calls, "4 identities")
            for who, run in runs.items():
                taken[f"{who}: create"] = [await run(_filled(CREATE, COUNT=many))]
            await _measure_gets(taken, runs, rounds, batches, calls, "10,000 identities")
    return taken


async def _measure_gets(taken: Taken, runs: dict[str, Run], rounds: int, batches: int, calls: int, size: str) -> None:
    body = _filled(GET, BATCHES=batches, IN_TURN=calls, AT_ONCE=4 * calls)
    for _ in range(rounds):
        taken.setdefault("echo", []).append(await _echo(batches, calls))
        for who, run in runs.items():
            for name, microseconds in (await run(body)).items():
                taken.setdefault(f"{who}: {name}, {size}", []).append(microseconds)


def _as_shipped(many: int, few: int) -> float:
    """Microseconds a creation in Firefox as it ships: of some where half of all are there."""
    with firefox() as browser:
        firefox_run(browser, _filled(CREATE, COUNT=(many - few) // 2))
        set_job(browser, True)
        return float(firefox_run(browser, _filled(CREATE, COUNT=few)))


def _filled(body: str, **values: int) -> str:
    for name, value in values.items():
        body = body.replace(f"@{name}@", str(value))
    return body


def _write_extension(folder: Path, background: str) -> None:
    write_extension(folder, {"background.js": background}, permissions=["contextualIdentities"], **IDENTIFIED)


# ── The echo ──


async def _echo(batches: int, calls: int) -> float:
    """Microseconds for an awaited answer to a frame as long as that of a call, from a host that only sends it back."""
    loop = asyncio.get_running_loop()
    echo = _Echo(loop.create_future())
    arguments = [*command(RuntimeLimits())[:-1], str(ECHO)]
    transport, _ = await loop.subprocess_exec(lambda: echo, *arguments, env=environment(cache_folder() / "echo"))
    try:
        text = json.dumps(["c", 123456, "contextualIdentities.get", ["firefox-container-1"]], separators=(",", ":"))
        echo.send(msgspec.json.encode([batches, calls, text]))
        return min(await echo.figures)
    finally:
        transport.close()


class _Echo(asyncio.SubprocessProtocol):
    def __init__(self, figures: asyncio.Future[list[float]]) -> None:
        self.figures = figures

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._stdin: Any = transport.get_pipe_transport(0)  # type: ignore[attr-defined]

    def send(self, payload: bytes) -> None:
        self._stdin.write(len(payload).to_bytes(4, "little") + payload)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1 and data[4:5] == b"[":
            self._stdin.write(data)
        elif fd == 1:
            self.figures.set_result(json.loads(data[4:])["figures"])

    def process_exited(self) -> None:
        if not self.figures.done():
            self.figures.set_exception(RuntimeError("the echo has ended"))


# ── Start and memory ──


def measure_starts(folder: Path, rounds: int, warm_up: int, settle: float, with_firefox: bool) -> Taken:
    """Milliseconds from the start of a program to the first line of its extension's background; MB of both."""
    taken: Taken = {}
    _write_extension(folder / "extension", FIRST_LINE)
    (folder / "firefox").mkdir()
    for index in range(-warm_up, rounds):  # the first start of each fills its caches, and does not count
        calm = settle if index == rounds - 1 else 0.0
        starts = {"Hatbox": _start(folder, calm)}
        if with_firefox:
            starts["Firefox"] = firefox_start(folder / "firefox", MANIFEST, calm)
        for who, (seconds, memory) in starts.items():
            if index >= 0:
                taken.setdefault(f"{who}: start", []).append(seconds * 1000)
            if calm:
                taken[f"{who}: memory"] = [memory / 1e6]
    return taken


def _start(folder: Path, settle: float) -> tuple[float, int]:
    """What `hatbox run` takes until the first line of the background, and what it occupies when it rests."""
    profile = folder / "profile.db"
    if not profile.exists():
        subprocess.run([sys.executable, "-m", "hatbox", "profile", "create", str(profile)], check=True)
    arguments = ["run", str(folder / "extension"), "--profile", str(profile)]
    begun = time.time()
    with _running(arguments, folder / "compiled") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.search(r"first line ([0-9.]+)", line):
                taken = float(found[1]) / 1000 - begun
                time.sleep(settle)
                return taken, memory_of(with_children(process.pid)) if settle else 0
    raise RuntimeError("hatbox run has ended before its extension said anything")


@contextmanager
def _running(arguments: list[str], compiled: Path) -> Iterator[subprocess.Popen[str]]:
    # As it is where Hatbox is installed: Python keeps what it has compiled, whatever the shell here says of that.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [sys.executable, "-m", "hatbox", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**kept, "PYTHONPYCACHEPREFIX": str(compiled)},
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


DENO = Figure("get, awaited, to a bare Deno", "µs", "bare Deno", at_most=2.5)
SHIPPED = Figure("create, 10,000 at once, to Firefox as shipped", "µs", "Firefox as shipped", at_least=50)
FIREFOX = {
    "get, 4 identities": Figure("get, awaited, 4 identities", "µs", "Firefox", at_least=2.5),
    "get, 10,000 identities": Figure("get, awaited, 10,000 identities", "µs", "Firefox", at_least=8),
    "get at once, 4 identities": Figure("get, 1,000 at once, 4 identities", "µs", "Firefox", at_least=5),
    "get at once, 10,000 identities": Figure("get, 1,000 at once, 10,000 identities", "µs", "Firefox", at_least=25),
    "create": Figure("create, 10,000 at once", "µs", "Firefox", at_least=2),
    "start": Figure("from `hatbox run` to the first line", "ms", "Firefox", at_least=8),
    "memory": Figure("memory of all processes", "MB", "Firefox", at_least=6),
}
BENCHMARK = Benchmark(
    measure,
    [DENO, *FIREFOX.values(), SHIPPED],
    rounds=(3, 1),
    batches=(10, 1),
    many=(10_000, 20),
    few=(100, 2),
    calls=(250, 2),  # a batch: short, but long enough for a clock that Firefox rounds to a millisecond
    warm_up=(1, 0),
    settle=(5.0, 0.01),  # seconds until a start is over, and its memory what it stays
)

if __name__ == "__main__":
    BENCHMARK.main()
