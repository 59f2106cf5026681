"""How many sites, tabs, rules, extensions and removed identities a profile has, and the event of their changes.

Each number is that of the list which the page shows. While the event has listeners, the change log says which numbers
may be others, and only those are counted again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Final, NamedTuple

from hatbox.cookies.cookie_expiry import ExpiredCookies
from hatbox.cookies.cookie_rows import COOKIE_CHANGED
from hatbox.events import Event
from hatbox.extension_data import installed_extensions, run_records
from hatbox.identities.trash_rows import TRASH_CHANGED
from hatbox.identity import model as identity_model
from hatbox.identity.ids import user_context_id_of
from hatbox.manager_api.coalesced_changes import StoreEvent
from hatbox.manager_api.counted_sites import CountedSites
from hatbox.site_rules.rule_rows import find_rules
from hatbox.site_rules.site_rule import RULES_CHANGED
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.tabs import tab_model

__all__ = ["CountsEvent", "ProfileCounts"]


class ProfileCounts(NamedTuple):
    """The numbers."""

    identities: int
    sites: int
    """The sites with cookies that have not expired, of all identities together."""
    tabs: int
    rules: int
    extensions: int
    """Those that are installed or running."""
    trash: int
    """The removed identities that can be restored."""


class CountsEvent(StoreEvent[bool]):
    """Emitted when a number may be another one. The payload says nothing."""

    def __init__(self, store: Store, expired: Event[ExpiredCookies]) -> None:
        decoders: dict[str, Callable[[bytes], bool | None]] = {
            topic: partial(self._changed, names) for topic, names in _TOPICS.items()
        }
        decoders[COOKIE_CHANGED] = self._cookie_changed
        decoders[identity_model.CREATED] = decoders[identity_model.REMOVED] = self._identity_changed
        super().__init__(store, "hatbox.onCountsChanged", decoders, lambda *_: True, resync=True)
        self.follow(expired, self._cookies_expired)
        self._sites = CountedSites(store)
        self._known: dict[str, int] = {}
        self._unchanged: set[str] = set()  # those of the numbers being counted that no change concerns
        self._counting = asyncio.Lock()

    async def count(self) -> ProfileCounts:
        """Count what is not known."""
        async with self._counting:
            if not self:  # changes are not reported
                self._forget()
            sites = await self._sites.count()
            wanted = [name for name in _COUNTERS if name not in self._known]
            self._unchanged = set(wanted)
            counted = await self._store.read(lambda each: {name: _COUNTERS[name](each) for name in wanted})
            numbers = self._known | counted
            self._known |= {name: number for name, number in counted.items() if name in self._unchanged}
            return ProfileCounts(sites=sites, **numbers)

    def _update_subscription(self) -> None:
        super()._update_subscription()
        self._forget()

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic == RESYNC:
            self._forget()
        super()._on_change(change)

    def _forget(self) -> None:
        self._sites.reset()
        self._known.clear()
        self._unchanged.clear()

    def _changed(self, names: Collection[str], _: bytes) -> bool:
        for name in names:
            self._known.pop(name, None)
        self._unchanged.difference_update(names)
        return True

    def _cookie_changed(self, payload: bytes) -> bool | None:
        return self._sites.cookie_changed(payload) or None

    def _cookies_expired(self, expired: ExpiredCookies) -> bool:
        if expired.all:
            self._sites.reset()
        for store in expired.stores:
            self._sites.store_changed(store)
        return True

    def _identity_changed(self, payload: bytes) -> bool:
        number = user_context_id_of(identity_model.decode_change(payload).cookie_store_id)
        if number is not None:
            self._sites.store_changed(number)
        return self._changed(("identities", "trash"), payload)


def _count_extensions(transaction: Transaction) -> int:
    running = {run.id for run in run_records.get_all(transaction)}
    known = installed_extensions.get_all(transaction)
    return sum(1 for each in known if each.permanent or each.area in running)


_COUNTERS: Final[Mapping[str, Callable[[Transaction], int]]] = {
    "identities": lambda transaction: transaction.identities.count(),
    "tabs": lambda transaction: sum(transaction.tabs.counts_by_store().values()),
    "rules": lambda transaction: len(find_rules(transaction)),
    "extensions": _count_extensions,
    "trash": lambda transaction: transaction.trash.count(),
}
_TOPICS: Final[Mapping[str, Collection[str]]] = {
    tab_model.CREATED: ("tabs",),
    tab_model.REMOVED: ("tabs",),
    RULES_CHANGED: ("rules",),
    TRASH_CHANGED: ("trash",),
    installed_extensions.CHANGED: ("extensions",),
    installed_extensions.INSTALLED: ("extensions",),
    installed_extensions.UNINSTALLED: ("extensions",),
    run_records.STARTED: ("extensions",),
    run_records.STOPPED: ("extensions",),
}
"""The topics of changes, and the numbers that they may change."""
