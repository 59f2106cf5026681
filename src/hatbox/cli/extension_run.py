"""Runs extensions in the foreground, several at once, and tells what their scripts say."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hatbox.cli.engine_choice import EngineSelection
from hatbox.cli.extension_log import log_line
from hatbox.cli.terminal.foreground import log_to_stderr, stop_on_signals
from hatbox.cli.terminal.output import print_json_line, print_line
from hatbox.errors import EngineAlreadyRunning
from hatbox.extensions.package.manifest import read_manifest
from hatbox.extensions.package.package_files import Package, open_package
from hatbox.extensions.package.user_languages import user_languages
from hatbox.extensions.runtime import DenoProcess, Exit, LogEntry, RuntimeLimits

if TYPE_CHECKING:
    from hatbox.extensions.extension import Extension
    from hatbox.profile import Profile

__all__ = ["run_extensions"]


def run_extensions(
    given: Sequence[Path | Package],
    profile: str | None,
    choice: EngineSelection,
    *,
    inspect: bool,
    as_json: bool,
    require_sandbox: bool,
) -> None:
    """Run extensions until a signal comes, or until none of them runs any more."""
    limits = RuntimeLimits(require_sandbox=require_sandbox)

    async def run() -> None:
        with stop_on_signals():
            first, *others = [each if isinstance(each, Package) else open_package(each) for each in given]
            # Before all else: while it starts, there is enough to do here.
            child = await DenoProcess.start(limits, inspect=inspect, unsafe_eval=read_manifest(first).allows_eval)
            try:
                from hatbox.profile import Profile  # only now: to import it takes as long as Deno to start

                gc.enable()  # see __main__
                async with Profile(profile) as opened:
                    await _run(opened, [first, *others], choice, child, limits, inspect=inspect, as_json=as_json)
            finally:
                await child.stop()

    with log_to_stderr(as_json=as_json):
        asyncio.run(run())


async def _run(
    opened: Profile,
    packages: Sequence[Package],
    choice: EngineSelection,
    child: DenoProcess,
    limits: RuntimeLimits,
    *,
    inspect: bool,
    as_json: bool,
) -> None:
    """Start the extensions, and an engine for their tabs as soon as the scripts of the first one run: they are not to
    wait for it, but may wait for a tab."""
    begun, all_ended = asyncio.Event(), asyncio.Event()
    async with contextlib.AsyncExitStack() as stack:
        under_way = [
            asyncio.ensure_future(
                _start(opened, packages, child, limits, begun.set, all_ended.set, inspect=inspect, as_json=as_json)
            ),
            asyncio.ensure_future(_load_pages(opened, choice, stack, begun)),
        ]
        try:
            for done in asyncio.as_completed(under_way):
                await done
            await all_ended.wait()
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.wait(under_way)


async def _load_pages(
    opened: Profile, choice: EngineSelection, stack: contextlib.AsyncExitStack, begun: asyncio.Event
) -> None:
    """An engine for the tabs of the profile, unless another process has one already: that one serves as well."""
    await begun.wait()
    with contextlib.suppress(EngineAlreadyRunning):
        await stack.enter_async_context(choice.runner(opened))


async def _start(
    opened: Profile,
    packages: Sequence[Package],
    child: DenoProcess | None,
    limits: RuntimeLimits,
    on_run: Callable[[], None],
    on_end: Callable[[], None],
    *,
    inspect: bool,
    as_json: bool,
) -> None:
    left = len(packages)
    for package in packages:
        teller = _ExtensionPrinter(package, as_json=as_json)

        def ended(reason: Exit, pause: float | None, teller: _ExtensionPrinter = teller) -> None:
            nonlocal left
            teller.ended(reason, pause)
            left -= pause is None
            if not left:
                on_end()

        extension = await opened.extensions.start(
            package, inspect=inspect, limits=limits, on_log=teller.log, on_exit=ended, on_run=on_run, child=child
        )
        child = None
        await teller.started(extension, inspect=inspect)
        await teller.warn_of_namesake(opened, extension)


class _ExtensionPrinter:
    """Prints what becomes of one extension, a line for each thing."""

    def __init__(self, package: Package, *, as_json: bool) -> None:
        self._package = package
        self._as_json = as_json

    @functools.cached_property
    def _name(self) -> str:
        return read_manifest(self._package, languages=user_languages()).name

    async def started(self, extension: Extension, *, inspect: bool) -> None:
        self._name = extension.manifest.name
        for warning in extension.manifest.warnings:
            self._say("warning", warning)
        self._say("started", f"{extension.manifest.version} ({extension.id}) is running")
        if inspect and extension.runtime is not None:
            from hatbox.extensions.runtime.inspector import devtools_url

            address = await extension.runtime.process.inspector
            self._say("inspector", f"DevTools attach to {address}: open {devtools_url(address)} in Chrome")
            self._say(
                "inspector", "keep this URL secret; while the extension is inspected, its process may open sockets"
            )

    async def warn_of_namesake(self, opened: Profile, extension: Extension) -> None:
        """Warn if an extension from a folder has the id of an installed one, whose data it does not share."""
        if extension.area == extension.id:
            return
        for each in await opened.extensions.installed():
            if each.id == extension.id:
                text = f"{each.name} is installed with this id, from {each.path}; this one runs with data of its own"
                self._say("warning", text)

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
