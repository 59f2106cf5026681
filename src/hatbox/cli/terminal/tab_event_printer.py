"""Prints tab events while an engine runs."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from hatbox.cli.arguments.tab_arguments import with_identities
from hatbox.cli.terminal.output import print_json_line, print_tab, tab_document
from hatbox.events import Event
from hatbox.identity.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.tabs import Tab
from hatbox.tabs.tab_model import TabRemoval, TabUpdate

__all__ = ["TabEventPrinter"]


class TabEventPrinter:
    """Prints each page of the served identities that is opened, loaded, hidden, shown or closed, in order."""

    def __init__(self, profile: Profile, serves: Callable[[str], bool], *, as_json: bool) -> None:
        self._profile = profile
        self._serves = serves
        self._as_json = as_json
        self._queue: asyncio.Queue[tuple[str, Tab]] = asyncio.Queue()
        self._identities: dict[str, ContextualIdentity] = {}
        self._unused: int | None = None
        """The unused blank tab, for which engines open no page."""

    @contextlib.contextmanager
    def printing(self) -> Iterator[None]:
        """Print events while the body runs."""
        tabs = self._profile.tabs
        listeners: list[tuple[Event[Any], Callable[[Any], None]]] = [
            (tabs.on_created, self._on_created),
            (tabs.on_updated, self._on_updated),
            (tabs.on_removed, self._on_removed),
        ]
        for event, listener in listeners:
            event.add_listener(listener)
        task = asyncio.create_task(self._print_events())
        try:
            yield
        finally:
            task.cancel()
            for event, listener in listeners:
                event.remove_listener(listener)

    async def drain(self) -> None:
        """Wait until all events so far are printed."""
        await self._queue.join()

    def _on_created(self, tab: Tab) -> None:
        self._put("opened", tab)

    def _on_updated(self, update: TabUpdate) -> None:
        tab = update.tab
        if "hidden" in update.changed:
            self._put("hidden" if tab.hidden else "shown", tab)
        if "status" in update.changed and not tab.loading:
            self._put("failed" if tab.error else "loaded", tab)

    def _on_removed(self, removal: TabRemoval) -> None:
        self._put("closed", removal.tab)

    def _put(self, what: str, tab: Tab) -> None:
        if self._serves(tab.cookie_store_id):
            self._queue.put_nowait((what, tab))

    async def _print_events(self) -> None:
        self._unused = await self._profile.tabs.unused_tab()
        while True:
            what, tab = await self._queue.get()
            if what == "opened":
                self._unused = await self._profile.tabs.unused_tab() or self._unused
            if tab.id == self._unused and what in ("opened", "closed"):
                self._queue.task_done()
                continue
            identity = await self._identity_of(tab)
            with contextlib.suppress(OSError):  # the reader has closed the pipe; the engine continues
                if self._as_json:
                    print_json_line({"event": what, "tab": tab_document(tab, identity)}, sys.stdout)
                else:
                    print_tab(what.capitalize(), tab, identity, sys.stdout)
            self._queue.task_done()

    async def _identity_of(self, tab: Tab) -> ContextualIdentity | None:
        """The identity of a tab. If it was removed, as it was last read."""
        ((_, identity),) = await with_identities(self._profile, [tab])
        if identity is not None:
            self._identities[tab.cookie_store_id] = identity
        return identity or self._identities.get(tab.cookie_store_id)
