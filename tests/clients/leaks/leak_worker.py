"""A process that sends requests with one client, and records at the boundary to C what it looks up and connects to.

Reads a job as JSON from standard input; writes the results as JSON to standard output.
"""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import sys
from collections.abc import Callable
from typing import Any

from hatbox import open as open_profile
from hatbox import open_sync

EVENTS: list[tuple[str, str]] = []
LOGGED: list[str] = []


def record(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        EVENTS.append(("lookup", str(arguments[0])))
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        EVENTS.append(("connect", f"{arguments[1][0]}:{arguments[1][1]}"))


class LogRecorder(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        LOGGED.append(record.getMessage())


def unverified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def httpx_async(job: dict[str, Any], run: Callable[..., Any]) -> None:
    async with (
        open_profile(job["profile"]) as profile,
        profile.httpx("Work", verify=False, follow_redirects=True) as client,
    ):

        async def get(url: str, timeout: float) -> int:
            return int((await client.get(url, timeout=timeout)).status_code)

        await each_case(job, profile.identities.set_settings, get, run)


async def aiohttp_client(job: dict[str, Any], run: Callable[..., Any]) -> None:
    import aiohttp

    async with open_profile(job["profile"]) as profile, profile.aiohttp("Work", trust_env=True) as session:

        async def get(url: str, timeout: float) -> int:
            limit = aiohttp.ClientTimeout(total=timeout)
            async with session.get(url, ssl=False, timeout=limit) as response:
                await response.read()
                return response.status

        await each_case(job, profile.identities.set_settings, get, run)


async def http_engine(job: dict[str, Any], run: Callable[..., Any]) -> None:
    async with open_profile(job["profile"]) as profile:

        async def get(url: str, timeout: float) -> int:
            async with profile.http_engine(timeout=timeout, verify=False) as engine:
                tab = await engine.wait_until_loaded((await profile.tabs.open("Work", url)).id)
                if tab.error:
                    raise RuntimeError(tab.error)
                return tab.http_status or 0

        await each_case(job, profile.identities.set_settings, get, run)


async def fetch_command(job: dict[str, Any], run: Callable[..., Any]) -> None:
    """`hatbox fetch` in a thread: it has an event loop of its own."""
    from tests.cli.conftest import run_here

    async with open_profile(job["profile"]) as profile:

        async def get(url: str, timeout: float) -> int:
            arguments = ["fetch", "Work", url, "-k", "-L", "-f", "-m", str(timeout), "--profile", job["profile"]]
            status, out, err = await asyncio.to_thread(run_here, *arguments)
            if status:
                raise RuntimeError(out + err)
            return 200

        await each_case(job, profile.identities.set_settings, get, run)


async def each_case(job: dict[str, Any], set_settings: Any, get: Any, run: Callable[..., Any]) -> None:
    for case in job["cases"]:
        await set_settings("Work", proxy=case["proxy"])
        EVENTS.clear()
        try:
            run(case, status=await get(case["url"], case["timeout"]))
        except Exception as error:  # noqa: BLE001 - the report has it
            run(case, error=f"{error!r} {error}")


def sync_client(job: dict[str, Any], name: str, run: Callable[..., Any]) -> None:
    with open_sync(job["profile"]) as profile:
        get: Any
        if name == "httpx":
            client = profile.httpx("Work", verify=False, follow_redirects=True)

            def get(url: str, timeout: float) -> int:
                return int(client.get(url, timeout=timeout).status_code)

        elif name == "requests":
            session = profile.requests("Work")

            def get(url: str, timeout: float) -> int:
                return int(session.get(url, timeout=timeout, verify=False).status_code)

        else:
            import urllib.request

            opener = profile.urllib("Work", urllib.request.HTTPSHandler(context=unverified()))

            def get(url: str, timeout: float) -> int:
                with opener.open(url, timeout=timeout) as response:
                    response.read()
                    return int(response.status)

        for case in job["cases"]:
            profile.identities.set_settings("Work", proxy=case["proxy"])
            EVENTS.clear()
            try:
                run(case, status=get(case["url"], case["timeout"]))
            except Exception as error:  # noqa: BLE001 - the report has it
                run(case, error=f"{error!r} {error}")


ASYNC: dict[str, Any] = {
    "async-httpx": httpx_async,
    "aiohttp": aiohttp_client,
    "engine": http_engine,
    "fetch": fetch_command,
}


def main() -> None:
    import warnings

    warnings.simplefilter("ignore")
    job = json.load(sys.stdin)
    results: list[dict[str, Any]] = []

    def run(case: dict[str, Any], status: int = 0, error: str = "") -> None:
        results.append({**case, "status": status, "error": error, "events": list(EVENTS)})

    logging.getLogger().addHandler(LogRecorder())
    logging.getLogger().setLevel(logging.DEBUG)
    sys.addaudithook(record)
    if job["client"] in ASYNC:
        asyncio.run(ASYNC[job["client"]](job, run))
    else:
        sync_client(job, job["client"], run)
    json.dump({"results": results, "logged": LOGGED}, sys.stdout)


if __name__ == "__main__":
    main()
