"""What becomes of tabs while an engine runs, told as it happens."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from hatbox.cli.identity_arguments import with_identities
from hatbox.cli.terminal.output import print_json_line, say_tab, tab_document
from hatbox.events import Event
from hatbox.identities.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.tabs import Tab
from hatbox.tabs.first_tab import first_tab
from hatbox.tabs.tab_model import TabRemoval, Update

__all__ = ["TabEventPrinter"]


class TabEventPrinter:
    """Tells of every page that is opened, loaded, hidden, shown or closed, in the order in which it happens."""

    def __init__(self, profile: Profile, *, as_json: bool) -> None:
        self._profile = profile
        self._as_json = as_json
        self._queue: asyncio.Queue[tuple[str, Tab]] = asyncio.Queue()
        self._names: dict[str, ContextualIdentity] = {}
        self._unused: int | None = None
        """The blank tab of the first window, which no engine displays until it is used."""

    @contextlib.contextmanager
    def printing(self) -> Iterator[None]:
        """Tell, until it is left."""
        tabs = self._profile.tabs
        listened: list[tuple[Event[Any], Callable[[Any], None]]] = [
            (tabs.on_created, self._on_created),
            (tabs.on_updated, self._on_updated),
            (tabs.on_removed, self._on_removed),
        ]
        for event, listener in listened:
            event.add_listener(listener)
        telling = asyncio.create_task(self._tell())
        try:
            yield
        finally:
            telling.cancel()
            for event, listener in listened:
                event.remove_listener(listener)

    async def drain(self) -> None:
        """Resolves when all that has happened was told."""
        await self._queue.join()

    def _on_created(self, tab: Tab) -> None:
        self._queue.put_nowait(("opened", tab))

    def _on_updated(self, update: Update) -> None:
        tab = update.tab
        if "hidden" in update.changed:
            self._queue.put_nowait(("hidden" if tab.hidden else "shown", tab))
        if "status" in update.changed and not tab.loading:
            self._queue.put_nowait(("failed" if tab.error else "loaded", tab))

    def _on_removed(self, removal: TabRemoval) -> None:
        self._queue.put_nowait(("closed", removal.tab))

    async def _tell(self) -> None:
        self._unused = await self._profile.tabs.read(first_tab)
        while True:
            what, tab = await self._queue.get()
            if what == "opened":
                self._unused = await self._profile.tabs.read(first_tab) or self._unused
            if tab.id == self._unused and what in ("opened", "closed"):
                self._queue.task_done()
                continue
            identity = await self._identity_of(tab)
            with contextlib.suppress(OSError):  # nobody reads it any more; the pages are open all the same
                if self._as_json:
                    print_json_line({"event": what, "tab": tab_document(tab, identity)}, sys.stdout)
                else:
                    say_tab(what.capitalize(), tab, identity, sys.stdout)
            self._queue.task_done()

    async def _identity_of(self, tab: Tab) -> ContextualIdentity | None:
        """The identity of a tab, which may be gone when its tabs are told to be closed."""
        ((_, identity),) = await with_identities(self._profile, [tab])
        if identity is not None:
            self._names[tab.cookie_store_id] = identity
        return identity or self._names.get(tab.cookie_store_id)
