"""A profile, and extensions of a few lines running in it: what the tests of the runtime have in common."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.api.caller import Caller
from hatbox.extensions.runtime import Boot, FetchRequest, FetchResponse, LogEntry, Runtime, RuntimeLimits, describe
from hatbox.extensions.runtime.api_host import ApiHost
from hatbox.extensions.runtime.network import Network

UUID = "3c079a9e-0c5c-4d0b-8a4e-2d9f7b0c5a11"
BASE = f"moz-extension://{UUID}/"
CAMEL = "contextualIdentities"

needs_deno = pytest.mark.deno


class Host(ApiHost):
    """The real host, which keeps what is logged."""

    def __init__(self, profile: Profile, caller: Caller, files: Mapping[str, str], network: Network | None) -> None:
        super().__init__(profile._dispatcher, caller, lambda path: _encoded(files.get(path)), network)
        self.caller = caller
        self.entries: list[LogEntry] = []
        self.routes: dict[str, Callable[[], Awaitable[str]]] = {}
        """Functions that answer a script's fetch() of a URL, in place of the network."""
        self._said = asyncio.Event()

    def use(self, profile: Profile) -> None:
        """Answer from another profile from now on. There must be no listeners."""
        self._dispatcher = profile._dispatcher
        self._events.clear()

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        route = self.routes.get(request.url)
        if route is None:
            return await super().fetch(request)
        return FetchResponse(request.url, 200, "OK", [], False, (await route()).encode())

    def log(self, entry: LogEntry) -> None:
        self.entries.append(entry)
        self._said.set()

    @property
    def lines(self) -> list[str]:
        return [entry.text for entry in self.entries if entry.kind == "console"]

    async def said(self, text: str) -> LogEntry:
        """Wait until a line, or an error, contains this."""
        async with asyncio.timeout(20):
            while True:
                for entry in self.entries:
                    if text in entry.text:
                        return entry
                self._said.clear()
                await self._said.wait()


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


class Lab:
    """Starts extensions in one profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.host: Host
        """The host of the extension that was started last."""
        self._running: list[Runtime] = []
        self._hosts: list[Host] = []

    async def start(
        self,
        *scripts: str,
        permissions: Iterable[str] = (CAMEL,),
        caller: Caller | None = None,
        files: Mapping[str, str] | None = None,
        limits: RuntimeLimits | None = None,
        network: Network | None = None,
        polyfills: Iterable[tuple[str, str]] = (),
        data: Mapping[str, Any] | None = None,
        navigator: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Runtime:
        """An extension with these classic background scripts, which have run: 0.js, 1.js, …"""
        caller = caller or Caller("lab@example.org", permissions)
        named = {f"{index}.js": script for index, script in enumerate(scripts)}
        host = self.host = Host(self.profile, caller, {**(files or {}), **named}, network)
        boot = Boot(
            UUID,
            caller.id,
            {"name": "Lab", "version": "1"},
            describe(caller),
            data=data or {},
            navigator=navigator or {},
            polyfills=list(polyfills),
        )
        runtime = await Runtime.start(host, boot, limits, **options)
        self._running.append(runtime)
        self._hosts.append(host)
        await runtime.run_scripts(list(named))
        return runtime

    async def close(self) -> None:
        await asyncio.gather(*(runtime.stop() for runtime in self._running))
        for host in self._hosts:
            await host.close()


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[Lab]:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        lab = Lab(profile)
        try:
            yield lab
        finally:
            await lab.close()


def in_lab(tmp_path: Path, use: Callable[[Lab], Awaitable[None]], seconds: float = 180) -> None:
    async def main() -> None:
        async with asyncio.timeout(seconds), opened(tmp_path) as lab:
            await use(lab)

    asyncio.run(main())
