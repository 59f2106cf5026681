"""Runs extensions in the foreground, and prints their console output and status."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hatbox.cli.arguments.profile_creation import may_create
from hatbox.cli.commands.run.permission_prompt import PermissionQuestions, can_ask, grant_command, names_of
from hatbox.cli.program_end import stop_on_signals
from hatbox.cli.terminal.extension_log import log_line
from hatbox.cli.terminal.foreground import log_to_stderr
from hatbox.cli.terminal.output import print_json_line, print_line
from hatbox.engines.running_engines import BACKGROUND_VARIABLE
from hatbox.engines.selection import EngineSelection
from hatbox.errors import EngineAlreadyRunning
from hatbox.extension_data.extension_permissions import Permissions
from hatbox.extensions.background_place import BackgroundPlace, runs_in_chromium
from hatbox.extensions.package.manifest import Manifest, read_manifest
from hatbox.extensions.package.package_files import Package, open_package
from hatbox.extensions.package.user_languages import user_languages
from hatbox.extensions.runtime import DenoProcess, Exit, LogEntry, RuntimeLimits
from hatbox.tasks import wait_for_first

if TYPE_CHECKING:
    from hatbox.engines.base import Engine
    from hatbox.engines.runner import EngineRunner
    from hatbox.extensions.extension import Extension
    from hatbox.extensions.pages.page_browser import PageBrowser
    from hatbox.profile import Profile

__all__ = ["run_extensions"]


def run_extensions(
    extensions: Sequence[Path | Package],
    profile: str | None,
    selection: EngineSelection,
    *,
    inspect: bool,
    as_json: bool,
    require_sandbox: bool,
    background: BackgroundPlace | None = None,
) -> None:
    """Run extensions until a signal arrives, or until all have exited."""
    limits = RuntimeLimits(require_sandbox=require_sandbox)
    options = _Options(limits, inspect, as_json, background)

    async def run() -> None:
        with stop_on_signals(as_json=as_json) as end:
            first, *others = [each if isinstance(each, Package) else open_package(each) for each in extensions]
            # Start Deno first: importing the profile takes about as long as Deno needs to start.
            manifest = read_manifest(first)
            child = None
            if not _is_in_chromium(first, manifest, selection, options):
                child = await DenoProcess.start(limits, inspect=inspect, unsafe_eval=manifest.allows_eval)
            try:
                from hatbox.profile import Profile

                gc.enable()  # see __main__
                async with Profile(profile, create=may_create(profile)) as opened:
                    end.save_with(opened.save)
                    await _run(opened, [first, *others], selection, child, options)
            finally:
                if child is not None:
                    await child.stop()

    with log_to_stderr(as_json=as_json):
        asyncio.run(run())


class _Options(NamedTuple):
    limits: RuntimeLimits
    inspect: bool
    as_json: bool
    background: BackgroundPlace | None


def _is_in_chromium(package: Package, manifest: Manifest, selection: EngineSelection, options: _Options) -> bool:
    """Whether the background runs in Chromium, so that the engine has to be started first."""
    background, has_browser = manifest.background, selection.name == "chromium"
    return background is not None and runs_in_chromium(
        package, background, options.background, options.limits, has_browser=has_browser
    )


async def _run(
    opened: Profile,
    packages: Sequence[Package],
    selection: EngineSelection,
    child: DenoProcess | None,
    options: _Options,
) -> None:
    """Start the extensions, and an engine when the scripts of the first one run, so that they do not wait for it.

    If a background runs in Chromium, the engine is started first.
    """
    started, all_ended = asyncio.Event(), asyncio.Event()
    engines: list[EngineRunner] = []
    async with contextlib.AsyncExitStack() as stack:
        if _is_background():
            await stack.enter_async_context(_page_browser(opened, selection))
        if selection.name == "chromium" and any(
            _is_in_chromium(each, read_manifest(each), selection, options) for each in packages
        ):
            started.set()
            await _load_pages(opened, selection, stack, started, engines)
            loading = []
        else:
            loading = [asyncio.ensure_future(_load_pages(opened, selection, stack, started, engines))]
        starting = _start(opened, packages, child, options, started.set, all_ended.set)
        tasks = [asyncio.ensure_future(starting), *loading]
        try:
            for done in asyncio.as_completed(tasks):
                await done
            gc.freeze()  # collecting what is loaded by now would stop everything for about 40 ms, and find nothing
            await wait_for_first(all_ended.wait(), *(each.wait_until_stopped() for each in engines))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


async def _load_pages(
    opened: Profile,
    selection: EngineSelection,
    stack: contextlib.AsyncExitStack,
    started: asyncio.Event,
    engines: list[EngineRunner],
) -> None:
    """Start an engine and add it to `engines`, unless another process runs one for this profile.

    A background process, which the manager page has started, leaves the choice of an engine to the user.
    """
    await started.wait()
    if _is_background():
        return
    with contextlib.suppress(EngineAlreadyRunning):
        engines.append(await stack.enter_async_context(opened.engine(selection)))


def _page_browser(opened: Profile, selection: EngineSelection) -> PageBrowser:
    """Shows popups and options pages, which the user opens on the manager page."""
    from hatbox.extensions.pages.page_browser import PageBrowser

    def create() -> Engine:
        return opened.chromium(headless=selection.headless, browser=selection.browser).engine

    return PageBrowser(create, opened.extensions)


async def _start(
    opened: Profile,
    packages: Sequence[Package],
    child: DenoProcess | None,
    options: _Options,
    on_run: Callable[[], None],
    on_end: Callable[[], None],
) -> None:
    running = len(packages)
    questions = None if options.as_json or not can_ask() else PermissionQuestions()
    for package in packages:
        printer = _ExtensionPrinter(package, as_json=options.as_json, questions=questions)

        def on_exit(reason: Exit, delay: float | None, printer: _ExtensionPrinter = printer) -> None:
            nonlocal running
            printer.ended(reason, delay)
            running -= delay is None
            if not running:
                on_end()

        extension = await opened.extensions.start(
            package,
            inspect=options.inspect,
            limits=options.limits,
            decide=printer.decide,
            on_log=printer.log,
            on_exit=on_exit,
            on_run=on_run,
            child=child,
            background_place=options.background,
        )
        child = None
        await printer.started(extension, inspect=options.inspect)
        await printer.warn_of_same_id(opened, extension)


def _is_background() -> bool:
    return BACKGROUND_VARIABLE in os.environ


class _ExtensionPrinter:
    """Prints the status, the console output and the questions of one extension."""

    def __init__(self, package: Package, *, as_json: bool, questions: PermissionQuestions | None) -> None:
        self._package = package
        self._as_json = as_json
        self._questions = questions

    @functools.cached_property
    def _name(self) -> str:
        return read_manifest(self._package, languages=user_languages()).name

    async def started(self, extension: Extension, *, inspect: bool) -> None:
        self._name = extension.manifest.name
        for warning in extension.manifest.warnings:
            self._print("warning", warning)
        self._print("started", f"{extension.manifest.version} ({extension.id}) is running")
        if inspect and extension.runtime is not None and not extension.is_in_chromium:
            from hatbox.extensions.runtime.inspector import devtools_url

            url = await extension.runtime.process.inspector
            self._print("inspector", f"DevTools attach to {url}: open {devtools_url(url)} in Chrome")
            self._print(
                "inspector", "keep this URL secret; while the extension is inspected, its process may open sockets"
            )

    async def warn_of_same_id(self, opened: Profile, extension: Extension) -> None:
        """Warn if an extension from a folder has the id of an installed one, whose data it does not share."""
        if extension.area == extension.id:
            return
        for each in await opened.extensions.installed():
            if each.id == extension.id:
                text = f"{each.name} is installed with this id, from {each.path}; this one runs with separate data"
                self._print("warning", text)

    def log(self, entry: LogEntry) -> None:
        if _is_background():  # nothing bounds the file of its output; programs that watch get the lines
            return
        text = str(entry) if self._as_json else log_line(entry)
        self._print(entry.level if entry.kind == "console" else entry.kind, text)

    async def decide(self, requested: Permissions) -> bool:
        """Ask the user about permissions that it requests, or deny them and say how they are granted."""
        if self._questions is not None:
            return await self._questions.ask(self._name, requested)
        names, command = ", ".join(names_of(requested)), grant_command(self._name, requested)
        self._print("denied", f"denied the request for {names}. To grant it: {command}")
        return False

    def ended(self, reason: Exit, delay: float | None) -> None:
        restart = f"restarting in {delay:g} s" if delay is not None else "not restarting"
        self._print("ended", f"{reason}; {restart}")

    def _print(self, event: str, text: str) -> None:
        stream = sys.stderr if event in ("warning", "denied", "ended", "error", "rejection", "listener") else sys.stdout
        if self._as_json:
            print_json_line({"extension": self._name, "event": event, "message": text}, stream)
        else:
            for line in text.splitlines() or [""]:
                print_line(f"{self._name}: {line}", stream)
        stream.flush()
