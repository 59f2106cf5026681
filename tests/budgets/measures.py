"""Counts the work of each section of the table: `python -m tests.budgets.measures SECTION FILE`."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, TypeAlias
from unittest import mock

from playwright._impl.transport import PipeTransport

import hatbox
from hatbox.child_processes import children
from tests.budgets.counting import Work, counting_work
from tests.engines.chromium import shared_driver
from tests.extensions.runtime.lab import Lab
from tests.postgres import shared_cluster
from tests.site import Site

__all__ = ["MEASURES"]

Counts: TypeAlias = dict[tuple[str, str], int]

CALLS: Final = "Python calls"
STATEMENTS: Final = "SQL statements"
_MANIFEST: Final = {
    "manifest_version": 2,
    "name": "First",
    "version": "1",
    "background": {"scripts": ["background.js"]},
}
SITE: Final = "https://site.example/"

Measured: TypeAlias = Callable[[str, Callable[[int], Awaitable[object]]], Awaitable[None]]


def _of(what: str, work: Work) -> Counts:
    return {(what, CALLS): work.calls, (what, STATEMENTS): work.statements}


async def _each_call(profile: hatbox.Profile, measured: Measured) -> None:
    """Measure what programs do most."""
    made = [await profile.identities.create(f"Identity {number}", color="red", icon="pet") for number in range(8)]
    ids = [each.cookie_store_id for each in made]
    await measured("`get`", lambda number: profile.identities.get(ids[number]))
    await measured("`create`", lambda number: profile.identities.create(f"New {number}", color="red", icon="pet"))
    await measured("`update`", lambda number: profile.identities.update(ids[number], name=f"Other {number}"))
    await measured("`remove`", lambda number: profile.identities.remove(ids[number]))
    cookies = await profile.cookie_store(ids[7])
    for number in range(2):
        await cookies.receive([f"a={-number}; Secure"], SITE)
    await measured("a Cookie header", lambda _: cookies.header(SITE))
    await measured("a stored Set-Cookie", lambda number: cookies.receive([f"a={number + 1}; Secure"], SITE))


def calls(folder: Path) -> Counts:
    """What a call needs in a profile on disk."""
    counts: Counts = {}

    async def run() -> None:
        with counting_work() as counter:
            async with hatbox.open(folder / "profile.db") as profile:

                async def measured(what: str, work: Callable[[int], Awaitable[object]]) -> None:
                    counts.update(_of(what, await counter.least(work)))

                await _each_call(profile, measured)

    asyncio.run(run())
    return counts


def trips(_: Path) -> Counts:
    """How often a call waits for PostgreSQL."""
    counts: Counts = {}

    async def run() -> None:
        async with hatbox.open(shared_cluster().new_address()) as profile:
            store: Any = profile.store

            async def measured(what: str, work: Callable[[int], Awaitable[object]]) -> None:
                found = []
                for number in range(5):
                    before = store._worker.trips
                    await work(number)
                    found.append(store._worker.trips - before)
                counts[what, "round trips"] = min(found)

            await _each_call(profile, measured)

    asyncio.run(run())
    return counts


def javascript(folder: Path) -> Counts:
    """What a call of a script in Deno needs: one of two, so that what both have in common is not counted."""

    async def run() -> Counts:
        with counting_work() as counter:
            async with hatbox.open(folder / "profile.db") as profile:
                lab = Lab(profile)
                try:
                    runtime = await lab.start()
                    call = "browser.contextualIdentities.get('firefox-container-1')"
                    await runtime.evaluate(f"{call}.then(() => 1)")  # opens a snapshot
                    once = await counter.least(lambda _: runtime.evaluate(f"{call}.then(() => 1)"))
                    twice = await counter.least(lambda _: runtime.evaluate(f"{call}.then(() => {call}).then(() => 1)"))
                finally:
                    await lab.close()
        return _of("`get`, called by a script", Work(twice.calls - once.calls, twice.statements - once.statements))

    (folder / "manifest.json").write_text(json.dumps(_MANIFEST))
    (folder / "background.js").write_text("console.log('the first line')")
    started = _command("run", str(folder), "--profile", str(folder / "profile.db"))
    modules, size = _report(started, folder / "report.json", is_endless=True)
    first = "the first line of an extension"
    return asyncio.run(run()) | {(first, "modules"): modules, (first, "KB"): round(size / 1024)}


def chromium(folder: Path) -> Counts:
    """What a cookie needs that a page sets, and an identity that is opened."""

    async def run(site: Site) -> Counts:
        with counting_work() as counter:
            async with hatbox.open(folder / "profile.db") as profile, profile.chromium(headless=True) as engine:
                page = await engine.new_page("Work", site.url("/page/1"))
                await engine.wait_until_settled()
                stored: asyncio.Queue[Any] = asyncio.Queue()
                profile.browser(["cookies", "<all_urls>"]).cookies.onChanged.addListener(stored.put_nowait)

                async def change(number: int) -> None:
                    await page.evaluate(f"document.cookie = 'a=value{number}'")
                    while (await stored.get())["cookie"]["value"] != f"value{number}":
                        pass

                await change(100)
                work = await counter.least(change)
                messages = [await _messages(profile, engine) for _ in range(5)]
        return _of("a cookie that a page sets", work) | {("an identity that is opened", "messages"): min(messages)}

    with Site() as site:
        return shared_driver.run(run(site))


async def _messages(profile: hatbox.Profile, engine: hatbox.ChromiumRunner) -> int:
    """How many messages Playwright's driver gets until the first page of an identity is open."""
    made = await profile.identities.create("Opened", color="red", icon="pet")
    await engine.wait_until_settled()
    with mock.patch.object(PipeTransport, "send", autospec=True, side_effect=PipeTransport.send) as send:
        await engine.new_page(made)
        await engine.wait_until_settled()
    return send.call_count


_REPORT: Final = """
import atexit, json, os, sys, tracemalloc
before = len(sys.modules)
tracemalloc.start()
def report():
    with open(os.environ["HATBOX_TEST_REPORT"], "w") as file:
        json.dump([len(sys.modules) - before, tracemalloc.get_traced_memory()[0]], file)
atexit.register(report)
"""
"""Runs before a program. At its end, it writes what has been imported, and the memory of Python's objects."""


def programs(folder: Path) -> Counts:
    """What programs import, and the memory of their Python objects."""
    profile = folder / "profile.db"

    async def prepare() -> None:
        async with hatbox.open(profile):
            pass

    asyncio.run(prepare())
    counts: Counts = {}
    for what, program in {
        "`import hatbox`": "import hatbox",
        "`hatbox list`": _command("list", "--profile", str(profile)),
        "`hatbox mcp`": _command("mcp", "--identity", "Work", "--profile", str(profile)),
    }.items():
        modules, size = _report(program, folder / "report.json")
        counts[what, "modules"], counts[what, "KB"] = modules, round(size / 1024)
    return counts


def _command(*arguments: str) -> str:
    return f"import runpy, sys; sys.argv[1:] = {list(arguments)!r}; runpy.run_module('hatbox', run_name='__main__')"


def _report(program: str, file: Path, *, is_endless: bool = False) -> tuple[int, int]:
    """The modules and the memory of a program at its end. An endless one is ended after its first line."""
    with subprocess.Popen(
        [sys.executable, "-c", _REPORT + program],
        env=os.environ | {"HATBOX_TEST_REPORT": str(file)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout
        if is_endless:
            assert process.stdout.readline()
            process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        assert is_endless or not process.returncode, output
    modules, size = json.loads(file.read_text())
    return modules, size


def profile(folder: Path) -> Counts:
    """What a profile that is open has, and what a commit makes durable."""

    async def run() -> tuple[int, int]:
        async with hatbox.open(folder / "profile.db") as opened:
            await opened.identities.query()
            return threading.active_count(), len([*children("self")])

    threads, processes = threading.active_count(), len([*children("self")])
    opened = asyncio.run(run())
    return {
        ("an open profile", "threads"): opened[0] - threads,
        ("an open profile", "processes"): opened[1] - processes,
    }


_COMMITS: Final = """
import asyncio, os, sys, hatbox

async def main():
    async with hatbox.open(sys.argv[1]) as profile:
        await profile.identities.create("first", color="red", icon="pet")
        for number in range(5):
            os.write(2, b"begin\\n")
            await profile.identities.create(f"{number}", color="red", icon="pet")
        os.write(2, b"begin\\n")

asyncio.run(main())
"""


def disk(folder: Path) -> Counts:
    """How often a commit waits for the disk."""
    trace = folder / "trace.txt"
    command = ["strace", "-f", "-o", str(trace), "-e", "trace=fsync,fdatasync,write", "-e", "write=2"]
    subprocess.run(
        [*command, sys.executable, "-c", _COMMITS, str(folder / "profile.db")],
        check=True,
        capture_output=True,
        timeout=120,
    )
    parts = re.split(r'write\(2, "begin', trace.read_text())[1:-1]
    return {("a commit", "fsyncs"): min(len(re.findall(r"\bf(?:data)?sync\(", part)) for part in parts)}


MEASURES: Final[dict[str, tuple[str, Callable[[Path], Counts]]]] = {
    "Calls": ("process", calls),
    "Calls of a profile in PostgreSQL": ("server", trips),
    "Calls of scripts": ("deno", javascript),
    "Chromium": ("browser", chromium),
    "Programs": ("process", programs),
    "An open profile": ("process", profile),
    "Disk": ("process", disk),
}
"""For each section of the table the marker of what it needs, and what counts it."""

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as _folder:
        _counts = MEASURES[sys.argv[1]][1](Path(_folder))
    shared_driver.stop()
    Path(sys.argv[2]).write_text(json.dumps([[*key, count] for key, count in _counts.items()]))
