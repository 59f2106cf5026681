"""Runs extensions in the foreground, several at once, and tells what their scripts say."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from hatbox.cli.engines import Choice
from hatbox.cli.extension_log import log_line
from hatbox.cli.foreground import complaints, stoppable
from hatbox.cli.output import print_json_line, print_line
from hatbox.errors import EngineBusy
from hatbox.extensions.extension import Extension
from hatbox.extensions.manifest import read_manifest
from hatbox.extensions.package import open_package
from hatbox.extensions.runtime import Exit, LogEntry
from hatbox.extensions.user_languages import user_languages
from hatbox.profile import Profile

__all__ = ["is_extension", "run_extensions"]

_ARCHIVES = (".xpi", ".zip")


def is_extension(path: Path) -> bool:
    """Whether it is meant as an extension: a folder, or an archive."""
    return path.is_dir() or path.suffix.lower() in _ARCHIVES


def run_extensions(
    paths: Sequence[Path], profile: Path | None, choice: Choice, *, inspect: bool, as_json: bool
) -> None:
    """Run extensions until a signal comes, or until none of them runs any more."""

    async def run() -> None:
        with stoppable():
            async with Profile(profile) as opened, _pages(opened, choice):
                await _run(opened, paths, inspect=inspect, as_json=as_json)

    with complaints(as_json=as_json):
        asyncio.run(run())


@contextlib.asynccontextmanager
async def _pages(opened: Profile, choice: Choice) -> AsyncIterator[None]:
    """An engine for the tabs of the profile, unless another process has one already: that one serves as well."""
    async with contextlib.AsyncExitStack() as stack:
        with contextlib.suppress(EngineBusy):
            await stack.enter_async_context(choice.runner(opened))
        yield


async def _run(opened: Profile, paths: Sequence[Path], *, inspect: bool, as_json: bool) -> None:
    left = len(paths)
    all_ended = asyncio.Event()

    for path in paths:
        teller = _Teller(str(path), as_json=as_json)

        def ended(reason: Exit, pause: float | None, teller: _Teller = teller) -> None:
            nonlocal left
            teller.ended(reason, pause)
            left -= pause is None
            if not left:
                all_ended.set()

        extension = await opened.extensions.start(path, inspect=inspect, on_log=teller.log, on_exit=ended)
        await teller.started(extension, inspect=inspect)
    await all_ended.wait()


class _Teller:
    """Prints what becomes of one extension, a line for each thing."""

    def __init__(self, place: str, *, as_json: bool) -> None:
        self._place = place
        self._as_json = as_json

    @functools.cached_property
    def _name(self) -> str:
        return read_manifest(open_package(self._place), languages=user_languages()).name

    async def started(self, extension: Extension, *, inspect: bool) -> None:
        self._name = extension.manifest.name
        for warning in extension.manifest.warnings:
            self._say("warning", warning)
        self._say("started", f"{extension.manifest.version} ({extension.id}) is running")
        if inspect and extension.runtime is not None:
            address = await extension.runtime.process.inspector
            self._say("inspector", f"DevTools attach to {address}; chrome://inspect lists it")

    def log(self, entry: LogEntry) -> None:
        text = str(entry) if self._as_json else log_line(entry)
        self._say(entry.level if entry.kind == "console" else entry.kind, text)

    def ended(self, reason: Exit, pause: float | None) -> None:
        again = f"it starts again in {pause:g} s" if pause is not None else "it is not started again"
        self._say("ended", f"{reason}; {again}")

    def _say(self, event: str, text: str) -> None:
        stream = sys.stderr if event in ("warning", "ended", "error", "rejection", "listener") else sys.stdout
        if self._as_json:
            print_json_line({"extension": self._name, "event": event, "message": text}, stream)
        else:
            for line in text.splitlines() or [""]:
                print_line(f"{self._name}: {line}", stream)
        stream.flush()
