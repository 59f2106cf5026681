"""One process of `benchmarks.fleet_soak`. Reads a Job from its input; the profile is that of $HATBOX_PROFILE.

It prints `ready` and waits for a line, makes its requests and prints `done`. After another line it prints a Report.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import msgspec

import hatbox
from benchmarks.rotating_site import Visit
from benchmarks.session_history import Request

__all__ = ["Job", "Report"]

Get = Callable[[str], Awaitable[bytes]]


class Job(msgspec.Struct):
    """What a worker does: so many requests, each for a random one of these identities."""

    url: str
    identities: list[str]
    requests: int
    concurrent: int
    client: str
    """`httpx` or `aiohttp`."""
    seed: int


class Report(msgspec.Struct):
    """What a worker has done, and the Cookie header of its next request for each identity."""

    requests: list[Request]
    problems: list[str]
    errors: list[str]
    headers: dict[str, str]


async def _main() -> None:
    job = msgspec.json.decode(sys.stdin.readline(), type=Job)
    report = Report([], [], [], {})
    async with hatbox.open() as profile, AsyncExitStack() as clients:
        gets = {name: await _client(profile, name, job, clients) for name in job.identities}
        await _say("ready")
        choices = random.Random(job.seed)
        names = iter([choices.choice(job.identities) for _ in range(job.requests)])

        async def work() -> None:
            for name in names:
                await _request(name, gets[name], report)

        await asyncio.gather(*(work() for _ in range(job.concurrent)))
        await _say("done")
        for name in job.identities:
            report.headers[name] = await (await profile.cookie_store(name)).header(job.url)
    print(msgspec.json.encode(report).decode(), flush=True)


async def _request(name: str, get: Get, report: Report) -> None:
    started = time.monotonic()
    try:
        visit = msgspec.json.decode(await get(name), type=Visit)
    except Exception as error:  # noqa: BLE001 - every error is a fault of the run, and reported
        report.errors.append(f"{name}: {type(error).__name__}: {error}")
        return
    finished = time.monotonic()
    report.requests.append(Request(name, visit.sent, visit.issued, started, visit.issued_at, finished))
    if visit.problem:
        report.problems.append(f"{visit.problem}: {name} sent {visit.sent}")


async def _client(profile: hatbox.Profile, name: str, job: Job, clients: AsyncExitStack) -> Get:
    headers = {"X-Identity": name}
    if job.client == "aiohttp":
        session = await clients.enter_async_context(profile.aiohttp(name, headers=headers))

        async def get_with_aiohttp(_: str) -> bytes:
            async with session.get(job.url) as response:
                response.raise_for_status()
                return await response.read()

        return get_with_aiohttp
    client = await clients.enter_async_context(profile.httpx(name, headers=headers, timeout=60, trust_env=False))

    async def get_with_httpx(_: str) -> bytes:
        response = await client.get(job.url)
        return response.raise_for_status().content

    return get_with_httpx


async def _say(word: str) -> None:
    """Print a word, and wait for a line."""
    print(word, flush=True)
    await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    asyncio.run(_main())
