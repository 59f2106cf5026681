"""The command browse: runs an engine in the foreground until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Final

from hatbox.cli.arguments.engine_options import (
    BrowserOption,
    EngineOption,
    HeadlessOption,
    NoIndicatorOption,
    select_engine,
)
from hatbox.cli.arguments.identity_arguments import check_identities, find_identity, find_store
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile
from hatbox.cli.program_end import stop_on_signals
from hatbox.cli.terminal.engine_notice import find_running_engines
from hatbox.cli.terminal.foreground import log_to_stderr
from hatbox.cli.terminal.output import print_json_line, print_line
from hatbox.cli.terminal.spinner import spinner
from hatbox.cli.terminal.tab_event_printer import TabEventPrinter
from hatbox.engines.background.engine_log import READY
from hatbox.engines.running_engines import already_running
from hatbox.engines.selection import EngineSelection
from hatbox.errors import InvalidTab
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity
from hatbox.plurals import number_of
from hatbox.profile import Profile
from hatbox.tabs import Tab
from hatbox.tasks import wait_for_first

__all__ = ["browse"]

logger = logging.getLogger("hatbox.cli")

_MAX_END_SECONDS: Final = (
    25.0  # less than `hatbox stop` waits. An engine saves the site data of all pages: see its own timeouts
)


def browse(
    identities: Annotated[
        list[str] | None,
        Argument(
            metavar="[NAME-OR-ID]...",
            help="Identities to show: their names or cookieStoreIds. An identity without tabs gets an empty one. "
            "The tabs of other identities are opened too.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        Option(
            "--identity",
            metavar="NAME-OR-ID",
            help="Open the tabs of this identity only: its name or its cookieStoreId; firefox-default is the default "
            "store. Can be repeated. Another engine, also on another machine, can open the tabs of other identities. "
            "Default: all identities that no other engine has.",
        ),
    ] = None,
    engine: EngineOption = None,
    browser: BrowserOption = None,
    headless: HeadlessOption = False,
    no_indicator: NoIndicatorOption = False,
    until_empty: Annotated[
        bool, Option("--until-empty", help="Exit when no tab is open, including hidden tabs.")
    ] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing about tabs.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run an engine that opens the tabs of the profile, until Ctrl-C or until the last window is closed.

    Applies what other programs change: opens, closes, hides and shows tabs. On exit, saves the site data of pages. The
    tabs stay in the profile for the next run.

    One engine at a time opens the tabs of an identity. `hatbox status` shows which engine has which identities.
    """
    selection = select_engine(engine, browser, headless=headless, no_indicator=no_indicator, identities=only)
    opened = open_profile(profile)

    async def run() -> None:
        with stop_on_signals(as_json=as_json, seconds=_MAX_END_SECONDS) as end:
            end.save_with(opened.save)
            async with opened:
                await find_running_engines(opened, as_json=as_json)
                await check_identities(opened, only or [])
                found = [await find_identity(opened, each) for each in identities or []]
                for each in found:
                    await _check_served(opened, each, only)
                printer = _StatusPrinter(quiet=quiet, as_json=as_json)
                await _run_engine(opened, selection, found, printer, until_empty=until_empty)

    with log_to_stderr(as_json=as_json):
        asyncio.run(run())
    opened.engine_log.finish()


class _StatusPrinter:
    """Prints the status of the engine itself."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet = quiet
        self.as_json = as_json

    def ready(self, selection: EngineSelection, tabs: int) -> None:
        if self.as_json:
            print_json_line({"event": READY, "engine": selection.name, "pid": os.getpid(), "tabs": tabs}, sys.stdout)
        elif not self.quiet:
            name = selection.display_name
            to_open = "No tabs. Open one with: hatbox open" if not tabs else f"{number_of(tabs, 'tab')} to open."
            print_line(f"{name[0].upper()}{name[1:]} is running. {to_open}", sys.stdout)
            if sys.stdout.isatty():
                print_line("Press Ctrl-C to stop. The tabs stay in the profile.", sys.stdout)
            sys.stdout.flush()


async def _run_engine(
    opened: Profile,
    selection: EngineSelection,
    identities: Sequence[ContextualIdentity],
    printer: _StatusPrinter,
    *,
    until_empty: bool,
) -> None:
    with contextlib.ExitStack() as spinning:
        spinning.enter_context(spinner(f"Starting {selection.display_name}"))
        async with opened.engine(selection) as runner:
            for identity in identities:
                await _ensure_tab(opened, identity)
            spinning.close()
            watcher = _LastTabWatcher(opened, runner.serves)
            events = TabEventPrinter(opened, runner.serves, as_json=printer.as_json)
            try:
                with contextlib.nullcontext() if printer.quiet else events.printing():
                    printer.ready(selection, len(await watcher.tabs()))
                    forever = not (until_empty or selection.is_headed)
                    last_tab_closed = watcher.wait(even_without_tabs=until_empty, forever=forever)
                    removed = _wait_until_removed(opened, runner.identities)
                    await wait_for_first(last_tab_closed, runner.wait_until_stopped(), removed)
                    await events.drain()
            finally:
                spinning.enter_context(spinner("Saving site data"))


async def _check_served(opened: Profile, identity: ContextualIdentity, only: Sequence[str] | None) -> None:
    """Raise an error, before an engine is started, if it would not open the tabs of an identity."""
    if only:
        given = [await find_store(opened, each) for each in only]
        if identity not in given:
            raise bad_parameter(
                f"{identity.name} is not among the identities given with --identity", param_hint="[NAME-OR-ID]..."
            )
        return
    running = await opened.running_engine(identity)
    if running is not None and running.identities is not None:
        raise already_running(running.engine, running.process, identity=identity.cookie_store_id, name=identity.name)


async def _wait_until_removed(opened: Profile, cookie_store_ids: Sequence[str] | None) -> None:
    """Wait until all these identities are removed: an engine for them has nothing left to do."""
    left = set(cookie_store_ids or (DEFAULT_COOKIE_STORE_ID,))
    all_removed = asyncio.Event()

    def on_removed(identity: ContextualIdentity) -> None:
        left.discard(identity.cookie_store_id)
        if not left:
            all_removed.set()

    opened.identities.on_removed.add_listener(on_removed)
    try:
        await all_removed.wait()
    finally:
        opened.identities.on_removed.remove_listener(on_removed)
    logger.warning("all identities of this engine were removed")


async def _ensure_tab(opened: Profile, identity: ContextualIdentity) -> None:
    await opened.identities.show(identity)
    if not await opened.tabs.query(identity):
        await opened.tabs.open(identity)


class _LastTabWatcher:
    """Waits until the last tab of the engine is closed."""

    def __init__(self, opened: Profile, serves: Callable[[str], bool]) -> None:
        self._tabs = opened.tabs
        self._serves = serves
        self._changed = asyncio.Event()
        self._had_tabs = False
        self._open_tab: int | None = None
        self._tabs.on_created.add_listener(self._on_created)
        self._tabs.on_removed.add_listener(lambda _: self._changed.set())

    async def wait(self, *, even_without_tabs: bool, forever: bool) -> None:
        """Wait until no tab is open. If no tab has been open yet, return only if `even_without_tabs`."""
        self._had_tabs |= even_without_tabs
        while True:
            self._changed.clear()
            has_tabs = await self._has_tabs()
            if not forever and self._had_tabs and not has_tabs:
                return
            self._had_tabs |= has_tabs
            await self._changed.wait()

    async def tabs(self) -> list[Tab]:
        """The tabs that the engine opens."""
        return [tab for tab in await self._tabs.query() if self._serves(tab.cookie_store_id)]

    async def _has_tabs(self) -> bool:
        """Whether a tab is open. Reads all tabs only if the one that was open before is not."""
        with contextlib.suppress(InvalidTab):
            if self._open_tab is not None and self._serves((await self._tabs.get(self._open_tab)).cookie_store_id):
                return True
        self._open_tab = next((tab.id for tab in await self.tabs()), None)
        return self._open_tab is not None

    def _on_created(self, tab: Tab) -> None:
        self._had_tabs |= self._serves(tab.cookie_store_id)
