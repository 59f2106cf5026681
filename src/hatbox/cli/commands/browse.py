"""The command browse: an engine for a profile, held in this process until it is told to end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from hatbox.cli.commands.identities import find
from hatbox.cli.engine_choice import EngineSelection
from hatbox.cli.engine_log import READY, engine_of, leave, log_of
from hatbox.cli.engine_options import BrowserOption, EngineOption, HeadlessOption, MarksOption, chosen
from hatbox.cli.options import JsonOption, ProfileOption, path_of
from hatbox.cli.terminal.foreground import log_to_stderr, stop_on_signals
from hatbox.cli.terminal.output import print_json_line, print_line
from hatbox.cli.terminal.spinner import spinner
from hatbox.cli.terminal.tab_event_printer import TabEventPrinter
from hatbox.identities.model import ContextualIdentity
from hatbox.profile import Profile

__all__ = ["browse"]


def browse(
    identities: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME-OR-ID]...",
            help="Identities to show; one without tabs gets an empty one. The tabs of the others are opened as well.",
        ),
    ] = None,
    engine: EngineOption = None,
    browser: BrowserOption = None,
    headless: HeadlessOption = False,
    no_marks: MarksOption = False,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when no tab is left, hidden ones included.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not print what becomes of tabs.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open the tabs of the profile and keep them open, until Ctrl-C or until the last one is closed in its window.

    Whatever other programs do to tabs and identities happens here: open, close, hide, show. When it ends, what the
    pages have stored is saved, and the tabs stay in the profile for the next time.
    """
    choice = chosen(engine, browser, headless=headless, no_marks=no_marks)
    opened = Profile(path_of(profile))

    async def held() -> None:
        with stop_on_signals():
            async with opened:
                await engine_of(opened.store, as_json=as_json)
                found = [await find(opened, each) for each in identities or []]
                teller = _StatusPrinter(quiet=quiet, as_json=as_json)
                await _run_engine(opened, choice, found, teller, until_empty=until_empty)

    with log_to_stderr(as_json=as_json):
        asyncio.run(held())
    leave(log_of(opened.store))


class _StatusPrinter:
    """What is said of the engine itself."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet = quiet
        self.as_json = as_json

    def ready(self, choice: EngineSelection, tabs: int) -> None:
        if self.as_json:
            print_json_line({"event": READY, "engine": choice.name, "process": os.getpid(), "tabs": tabs}, sys.stdout)
        elif not self.quiet:
            opened = "No tab is open yet: `hatbox open` opens one" if not tabs else f"{_number(tabs)} to open"
            print_line(f"{choice.shown_name[0].upper()}{choice.shown_name[1:]} is running. {opened}.", sys.stdout)
            if sys.stdout.isatty():
                print_line("Ctrl-C ends it; the tabs stay for the next time.", sys.stdout)
            sys.stdout.flush()


async def _run_engine(
    opened: Profile,
    choice: EngineSelection,
    found: Sequence[ContextualIdentity],
    teller: _StatusPrinter,
    *,
    until_empty: bool,
) -> None:
    with contextlib.ExitStack() as turning:
        turning.enter_context(spinner(f"Starting {choice.shown_name}"))
        async with choice.runner(opened):
            for identity in found:
                await _ensure_tab(opened, identity)
            turning.close()
            vigil = _LastTabWatcher(opened)
            news = TabEventPrinter(opened, as_json=teller.as_json)
            try:
                with contextlib.nullcontext() if teller.quiet else news.printing():
                    teller.ready(choice, len(await opened.tabs.query()))
                    await vigil.end(at_once=until_empty, ever=until_empty or choice.has_windows)
                    await news.drain()
            finally:
                turning.enter_context(spinner("Saving what the pages have stored"))


async def _ensure_tab(opened: Profile, identity: ContextualIdentity) -> None:
    await opened.identities.show(identity)
    if not await opened.tabs.query(identity):
        await opened.tabs.open(identity)


class _LastTabWatcher:
    """Waits for the last tab to be closed."""

    def __init__(self, opened: Profile) -> None:
        self._tabs = opened.tabs
        self._changed = asyncio.Event()
        self._had_tabs = False
        self._tabs.on_created.add_listener(self._on_created)
        self._tabs.on_removed.add_listener(lambda _: self._changed.set())

    async def end(self, *, at_once: bool, ever: bool) -> None:
        """Resolves when there are no tabs left; where there were none from the beginning only if it may be at once."""
        self._had_tabs |= at_once
        while True:
            self._changed.clear()
            has_tabs = bool(await self._tabs.query())
            if ever and self._had_tabs and not has_tabs:
                return
            self._had_tabs |= has_tabs
            await self._changed.wait()

    def _on_created(self, _: object) -> None:
        self._had_tabs = True


def _number(count: int) -> str:
    return f"{count} tab" if count == 1 else f"{count} tabs"
