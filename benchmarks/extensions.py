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

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

import hatbox
from benchmarks.bars import Bar, bars_table
from benchmarks.firefox_extensions import firefox, firefox_run, firefox_start, set_job
from benchmarks.memory import memory_of, with_children
from hatbox.extensions.runtime.command import cache_folder, command, environment
from hatbox.extensions.runtime.limits import RuntimeLimits
from tests.firefox import find_firefox

Run = Callable[[str], Awaitable[Any]]
"""Runs the body of an async function in the background of an extension, and gives what it returns."""
Taken = dict[str, list[float]]
"""What was measured, once for each round: microseconds a call, seconds to start, bytes."""

MANY = 10_000
AT_ONCE = 1_000
FEW = 100
IN_TURN = 250  # a batch of awaited calls: short, but long enough for a clock that Firefox rounds to a millisecond
SETTLE = 5.0  # seconds until a start is over, and its memory what it stays
ECHO = Path(__file__).parent / "echo.mjs"
MANIFEST: dict[str, Any] = {
    "manifest_version": 2,
    "name": "benchmark",
    "version": "1",
    "browser_specific_settings": {"gecko": {"id": "benchmark@hatbox.test"}},
    "background": {"scripts": ["background.js"]},
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


def main() -> None:
    """Measure, print the tables, and say of each bar whether it is met."""
    parser = argparse.ArgumentParser(description="What the API costs from JavaScript.")
    parser.add_argument("--rounds", type=int, default=3, help="how often each figure is taken")
    parser.add_argument("--batches", type=int, default=10, help="batches of calls in one round")
    parser.add_argument("--full", action="store_true", help="10,000 creations also in Firefox as it ships")
    parser.add_argument("--no-firefox", action="store_true", help="do not measure Firefox")
    options = parser.parse_args()
    with_firefox = not options.no_firefox and find_firefox() is not None
    load = os.getloadavg()
    taken = asyncio.run(measure_calls(options.rounds, options.batches, with_firefox, options.full))
    taken |= measure_starts(options.rounds, with_firefox)
    figures = {name: min(rounds) for name, rounds in taken.items()}
    console = Console(width=130)
    said = ", ".join(f"{each:.1f}" for each in load)
    console.print(f"{os.cpu_count()} processors; load when it began {said}, when it ended {os.getloadavg()[0]:.1f}")
    print_figures(console, figures)
    print_bars(console, figures)


# ── Calls ──


async def measure_calls(rounds: int, batches: int, with_firefox: bool, full: bool) -> Taken:
    """Microseconds a call: ours, Firefox's, and the echo's."""
    taken: Taken = {}
    with tempfile.TemporaryDirectory(prefix="hatbox-benchmark-") as name, ExitStack() as stack:
        folder = Path(name)
        _write_extension(folder / "extension", "")
        browser = stack.enter_context(firefox()) if with_firefox else None
        async with hatbox.open(folder / "profile.db") as profile:
            extension = await profile.extensions.start(folder / "extension")
            runs: dict[str, Run] = {"Hatbox": extension.evaluate}
            if browser is not None:
                runs["Firefox"] = lambda body: asyncio.to_thread(firefox_run, browser, body)
            await _measure_gets(taken, runs, rounds, batches, "4 identities")
            for who, run in runs.items():
                taken[f"{who}: create"] = [await run(_filled(CREATE, COUNT=MANY))]
            await _measure_gets(taken, runs, rounds, batches, f"{MANY:,} identities")
    if with_firefox:
        taken["Firefox as shipped: create"] = [_as_shipped(full)]
    return taken


async def _measure_gets(taken: Taken, runs: dict[str, Run], rounds: int, batches: int, size: str) -> None:
    body = _filled(GET, BATCHES=batches, IN_TURN=IN_TURN, AT_ONCE=AT_ONCE)
    for _ in range(rounds):
        taken.setdefault("echo", []).append(await _echo(batches))
        for who, run in runs.items():
            for name, figure in (await run(body)).items():
                taken.setdefault(f"{who}: {name}, {size}", []).append(figure)


def _as_shipped(full: bool) -> float:
    """Microseconds a creation in Firefox as it ships: of all of them, or of some where half of them are there."""
    with firefox() as browser:
        if not full:
            firefox_run(browser, _filled(CREATE, COUNT=(MANY - FEW) // 2))
        set_job(browser, True)
        return float(firefox_run(browser, _filled(CREATE, COUNT=MANY if full else FEW)))


def _filled(body: str, **values: int) -> str:
    for name, value in values.items():
        body = body.replace(f"@{name}@", str(value))
    return body


def _write_extension(folder: Path, background: str) -> None:
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({**MANIFEST, "permissions": ["contextualIdentities"]}))
    (folder / "background.js").write_text(background)


# ── The echo ──


async def _echo(batches: int) -> float:
    """Microseconds for an awaited answer to a frame as long as that of a call, from a host that only sends it back."""
    loop = asyncio.get_running_loop()
    echo = _Echo(loop.create_future())
    arguments = [*command(RuntimeLimits())[:-1], str(ECHO)]
    transport, _ = await loop.subprocess_exec(lambda: echo, *arguments, env=environment(cache_folder() / "echo"))
    try:
        text = json.dumps(["c", 123456, "contextualIdentities.get", ["firefox-container-1"]], separators=(",", ":"))
        echo.send(msgspec.json.encode([batches, IN_TURN, text]))
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


def measure_starts(rounds: int, with_firefox: bool) -> Taken:
    """Seconds from the start of a program to the first line of its extension's background; bytes that both occupy."""
    taken: Taken = {}
    with tempfile.TemporaryDirectory(prefix="hatbox-benchmark-") as name:
        folder = Path(name)
        (folder / "firefox").mkdir()
        _write_extension(folder / "extension", FIRST_LINE)
        for index in range(-1, rounds):  # the first start of each fills its caches, and does not count
            settle = SETTLE if index == rounds - 1 else 0.0
            figures = {"Hatbox": _start(folder, settle)}
            if with_firefox:
                figures["Firefox"] = firefox_start(folder / "firefox", MANIFEST, settle)
            for who, (seconds, memory) in figures.items():
                if index >= 0:
                    taken.setdefault(f"{who}: start", []).append(seconds)
                if settle:
                    taken[f"{who}: memory"] = [memory]
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


# ── What is printed ──


def print_figures(console: Console, figures: dict[str, float]) -> None:
    """What was measured, a line for each figure."""
    rows = [
        *((f"get, awaited, {size:,} identities, µs", f"get, {size:,} identities", 1.0) for size in (4, MANY)),
        *(
            (f"get, 1,000 at once, {size:,} identities, µs", f"get at once, {size:,} identities", 1.0)
            for size in (4, MANY)
        ),
        ("create, 10,000 at once, µs", "create", 1.0),
        ("start to the first line, ms", "start", 1e3),
        ("memory, MB", "memory", 1e-6),
    ]
    table = Table(title="The best of all rounds", title_justify="left")
    for heading in ("", "echo", "Hatbox", "Firefox", "Firefox as shipped"):
        table.add_column(heading, justify="right" if heading else "left")
    for what, name, scale in rows:
        echo = figures["echo"] if name == "get, 4 identities" else None
        cells = [figures.get(f"{who}: {name}") for who in ("Hatbox", "Firefox", "Firefox as shipped")]
        table.add_row(what, *["-" if each is None else f"{each * scale:,.1f}" for each in (echo, *cells)])
    console.print(table)


def print_bars(console: Console, figures: dict[str, float]) -> None:
    """Each bar, what was measured, and whether it is met."""
    bars: list[Bar] = [
        ("get, awaited: echoes that one costs", figures["Hatbox: get, 4 identities"] / figures["echo"], "<=", 2.5)
    ]
    if "Firefox: create" in figures:
        bars += [
            (f"{what}: Firefox against Hatbox", figures[f"Firefox: {name}"] / figures[f"Hatbox: {name}"], ">=", bar)
            for what, name, bar in (
                ("get, awaited, 4 identities", "get, 4 identities", 2.5),
                ("get, awaited, 10,000 identities", "get, 10,000 identities", 8),
                ("get, 1,000 at once, 4 identities", "get at once, 4 identities", 5),
                ("get, 1,000 at once, 10,000 identities", "get at once, 10,000 identities", 25),
                ("create, 10,000 at once, recommendation job off", "create", 2),
                ("start to the first line", "start", 8),
                ("memory", "memory", 6),
            )
        ]
        shipped = figures["Firefox as shipped: create"] / figures["Hatbox: create"]
        bars.insert(-2, ("create, 10,000 at once, as shipped: Firefox against Hatbox", shipped, ">=", 50))
    console.print(bars_table(bars))


if __name__ == "__main__":
    main()
