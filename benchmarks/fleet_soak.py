"""Many processes refresh the sessions of many identities at once: `python -m benchmarks.fleet_soak`.

A site on loopback gives each identity a new session with each response. Faults are:

- foreign: a request with a cookie of another identity
- torn, incomplete: a request without some of the cookies that one response has set
- stale: a request with an old session, although a newer one was durable before it started (`session_history`)
- lost: a Set-Cookie value that was not committed, or more than once
- diverged: a process whose next Cookie header has not the session that was committed last
- errors: requests that failed

A run with a fault fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.fleet_worker import Job, Report
from benchmarks.session_history import stale_requests
from hatbox.cookies.cookie_stores import CookieChange

__all__ = ["Result", "soak"]

_SHOWN = 5  # faults of each kind that are printed
_CLIENTS = ("httpx", "aiohttp")
_LINE_BYTES = 2**30

Process = asyncio.subprocess.Process


class Result(msgspec.Struct):
    """What a run has shown."""

    requests: int
    seconds: float
    """From the first request to the last."""
    faults: dict[str, list[str]]
    """Faults by kind."""

    @property
    def summary(self) -> str:
        """The figures, and examples of each fault."""
        rate = self.requests / self.seconds if self.seconds else 0.0
        lines = [f"{self.requests:,} requests in {self.seconds:,.1f} s ({rate:,.0f}/s)"]
        for kind, found in self.faults.items():
            lines.append(f"{kind}: {len(found):,}")
            lines += [f"    {each}" for each in found[:_SHOWN]]
        return "\n".join(lines)

    @property
    def failed(self) -> bool:
        """Whether there was any fault."""
        return any(self.faults.values())


async def soak(address: str, *, processes: int, identities: int, requests: int, concurrent: int = 4) -> Result:
    """Run it on the profile at this address. Its identities are removed at the end."""
    async with hatbox.open(address) as profile, _site() as url:
        run = f"soak-{os.getpid()}-{time.time_ns():x}"
        made = [
            await profile.identities.create(f"{run}-{number}", color="blue", icon="circle")
            for number in range(identities)
        ]
        try:
            names = {identity.cookie_store_id: identity.name for identity in made}
            committed = _Committed(names)
            profile.cookies.on_changed.add_listener(committed.add)
            jobs = [
                Job(
                    url=url,
                    identities=list(names.values()),
                    requests=requests // processes + (number < requests % processes),
                    concurrent=concurrent,
                    client=_CLIENTS[number % len(_CLIENTS)],
                    seed=number,
                )
                for number in range(processes)
            ]
            seconds, reports = await _run(address, jobs)
            await profile.store.deliver_pending_changes()
            return Result(sum(len(each.requests) for each in reports), seconds, _faults(reports, committed))
        finally:
            for identity in made:
                await profile.identities.remove(identity)


class _Committed:
    """The sessions of each identity, in commit order."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self.tokens: defaultdict[str, list[str]] = defaultdict(list)

    def add(self, change: CookieChange) -> None:
        name = self._names.get(change.cookie_store_id)
        if name is not None and change.cookie.name == "sid" and not change.removed:
            self.tokens[name].append(change.cookie.value)


def _faults(reports: list[Report], committed: _Committed) -> dict[str, list[str]]:
    faults: dict[str, list[str]] = {kind: [] for kind in ("foreign", "torn", "incomplete", "stale", "lost", "diverged")}
    faults["errors"] = [error for report in reports for error in report.errors]
    for problem in (problem for report in reports for problem in report.problems):
        kind, _, text = problem.partition(": ")
        faults[kind].append(text)
    requests = [request for report in reports for request in report.requests]
    faults["stale"] += [f"{each.identity} sent {each.sent}" for each in stale_requests(requests)]
    issued = Counter(request.issued for request in requests)
    stored = Counter(token for tokens in committed.tokens.values() for token in tokens)
    faults["lost"] += [f"{token}: committed {stored[token]} times" for token in issued if stored[token] != 1]
    for number, report in enumerate(reports):
        for name, header in report.headers.items():
            last = committed.tokens[name][-1] if committed.tokens[name] else ""
            if sorted(header.split("; ")) != (
                sorted([f"sid={last}", f"twin={last}", f"user={name}"]) if last else [""]
            ):
                faults["diverged"].append(f"process {number} sends {header}; committed last: {last}")
    return faults


async def _run(address: str, jobs: list[Job]) -> tuple[float, list[Report]]:
    """Run the jobs, each in its own process. Returns the seconds of the requests, and the reports."""
    environment = {**os.environ, "HATBOX_PROFILE": address}  # not an argument: an address may contain a password
    async with contextlib.AsyncExitStack() as started:
        workers = [
            await started.enter_async_context(_process("benchmarks.fleet_worker", env=environment)) for _ in jobs
        ]
        for worker, job in zip(workers, jobs, strict=True):
            _write(worker, msgspec.json.encode(job))
        await _each(workers, "ready")
        start = time.monotonic()
        for worker in workers:
            _write(worker, b"")
        await _each(workers, "done")
        seconds = time.monotonic() - start
        for worker in workers:
            _write(worker, b"")
        return seconds, [msgspec.json.decode(await _read(worker), type=Report) for worker in workers]


@contextlib.asynccontextmanager
async def _site() -> AsyncIterator[str]:
    async with _process("benchmarks.rotating_site") as process:
        yield f"http://127.0.0.1:{int(await _read(process))}/"


@contextlib.asynccontextmanager
async def _process(module: str, env: dict[str, str] | None = None) -> AsyncIterator[Process]:
    """Run a module. It ends with its input, or is killed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=env,
        cwd=Path(__file__).parents[1],
        limit=_LINE_BYTES,
    )
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


async def _each(workers: list[Process], word: str) -> None:
    for worker in workers:
        said = (await _read(worker)).decode().strip()
        if said != word:
            raise RuntimeError(f"a worker ended with status {await worker.wait()}; its error is above")


def _write(process: Process, line: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(line + b"\n")


async def _read(process: Process) -> bytes:
    assert process.stdout is not None
    return await process.stdout.readline()


def measure(folder: Path, profile: str, processes: int, identities: int, requests: int, concurrent: int) -> Measured:
    """The rate, and the number of faults of each kind."""
    address = profile or str(folder / "profile.db")
    result = asyncio.run(
        soak(address, processes=processes, identities=identities, requests=requests, concurrent=concurrent)
    )
    print(result.summary)
    assert not result.failed, "a fault is above"
    return {"requests of 8 processes for 50 identities": result.requests / result.seconds}


BENCHMARK = Benchmark(
    measure,
    [Figure("requests of 8 processes for 50 identities", "/s")],
    profile=("", ""),  # a path or URL
    processes=(8, 2),
    identities=(50, 2),
    requests=(200_000, 20),  # of all processes together
    concurrent=(4, 2),  # requests of a process at once
)

if __name__ == "__main__":
    BENCHMARK.main()
