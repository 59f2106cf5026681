"""The event for everything that a summary of an identity shows, coalesced: see coalesced_changes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from hatbox.activity_log.activity_rows import ACTIVITY_SETTING_CHANGED
from hatbox.cookies.cookie_expiry import ExpiredCookies
from hatbox.cookies.cookie_rows import COOKIE_CHANGED
from hatbox.events import Event
from hatbox.identity import model
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of
from hatbox.identity.settings import decode_settings_change
from hatbox.manager_api.coalesced_changes import MAX_IDS, StoreEvent
from hatbox.manager_api.identity_summaries import rule_counts
from hatbox.site_rules.site_rule import RULES_CHANGED
from hatbox.store.base import ChangeRecord, Store, Transaction
from hatbox.tabs import tab_model

__all__ = ["IdentityChanges", "IdentityEvent"]


class IdentityChanges(msgspec.Struct, frozen=True):
    """Identities whose summaries may have changed."""

    present: dict[str, bool] = {}
    """cookieStoreIds, and whether each exists after the last change."""
    order: bool = False
    """Whether the user's order has changed, or an identity was added."""
    all: bool = False
    """Everything may have changed; `present` is empty."""

    @property
    def changed(self) -> list[str]:
        """The identities to read again."""
        return [each for each, exists in self.present.items() if exists]

    @property
    def removed(self) -> list[str]:
        """The identities that were removed."""
        return [each for each, exists in self.present.items() if not exists]

    def merged(self, later: IdentityChanges) -> IdentityChanges:
        """Both in one payload."""
        present = {**self.present, **later.present}
        if self.all or later.all or len(present) > MAX_IDS:
            return _ALL
        return IdentityChanges(present, order=self.order or later.order)


_ALL: Final = IdentityChanges(order=True, all=True)


class IdentityEvent(StoreEvent[IdentityChanges]):
    """Emitted when identities, or what a summary counts, have changed, by any process or because cookies expired.

    The change log names the identities of a changed rule only if few rules have changed, and not those of a replaced
    rule. So the numbers of their rules are compared.
    """

    def __init__(self, store: Store, expired: Event[ExpiredCookies]) -> None:
        super().__init__(store, "hatbox.identities.onChanged", _DECODERS, IdentityChanges.merged, _ALL)
        self.follow(expired, _with_expired)
        self._rules: asyncio.Future[Counter[str]] | None = None  # the last known numbers

    def _update_subscription(self) -> None:
        super()._update_subscription()
        if not self:
            self._rules = None
        elif self._rules is None:
            self._rules = asyncio.ensure_future(self._store.read(_rules_of_identities))

    def _on_change(self, change: ChangeRecord) -> None:
        super()._on_change(change)
        if change.topic == RULES_CHANGED and self._rules is not None:
            before = self._rules
            self._rules = asyncio.ensure_future(self._store.read(_rules_of_identities))
            self._tasks.spawn(self._compare_rules(before, self._rules))

    async def _compare_rules(self, before: asyncio.Future[Counter[str]], after: asyncio.Future[Counter[str]]) -> None:
        old, new = await before, await after
        differing = {each: True for each in new if old[each] != new[each]}
        if differing:
            self.add(_ALL if len(differing) > MAX_IDS else IdentityChanges(differing))


def _rules_of_identities(transaction: Transaction) -> Counter[str]:
    """The number of rules of each identity that exists, also 0. One that was removed is not named again."""
    counts = rule_counts(transaction)
    return Counter({each: counts[each] for each in _ids(transaction)})


def _ids(transaction: Transaction) -> Iterable[str]:
    return (cookie_store_id_of(each) for each in transaction.identities.uuids().values())


class _OfTab(msgspec.Struct):
    cookie_store_id: str


class _OfRemovedTab(msgspec.Struct):
    tab: _OfTab


_decode_tab = msgspec.json.Decoder(_OfTab).decode
_decode_removed_tab = msgspec.json.Decoder(_OfRemovedTab).decode
_decode_cookie = msgspec.json.Decoder(tuple[int, msgspec.Raw, msgspec.Raw, msgspec.Raw]).decode


def _identity(payload: bytes) -> IdentityChanges:
    return IdentityChanges({model.decode_change(payload).cookie_store_id: True})


def _new_identity(payload: bytes) -> IdentityChanges:
    return IdentityChanges({model.decode_change(payload).cookie_store_id: True}, order=True)


def _removed_identity(payload: bytes) -> IdentityChanges:
    return IdentityChanges({model.decode_change(payload).cookie_store_id: False})


def _of(cookie_store_id: str) -> IdentityChanges | None:
    return None if cookie_store_id == DEFAULT_COOKIE_STORE_ID else IdentityChanges({cookie_store_id: True})


def _with_expired(expired: ExpiredCookies) -> IdentityChanges | None:
    present = {cookie_store_id_of(each): True for each in expired.stores if each}
    if expired.all or len(present) > MAX_IDS:
        return _ALL
    return IdentityChanges(present) if present else None


_DECODERS: Final[Mapping[str, Callable[[bytes], IdentityChanges | None]]] = {
    model.CREATED: _new_identity,
    model.UPDATED: _identity,
    model.HIDDEN: _identity,
    model.SHOWN: _identity,
    model.REMOVED: _removed_identity,
    model.MOVED: lambda _: IdentityChanges(order=True),
    model.SETTINGS_CHANGED: lambda payload: _of(decode_settings_change(payload)),
    ACTIVITY_SETTING_CHANGED: lambda payload: _of(decode_settings_change(payload)),
    tab_model.CREATED: lambda payload: _of(_decode_tab(payload).cookie_store_id),
    tab_model.REMOVED: lambda payload: _of(_decode_removed_tab(payload).tab.cookie_store_id),
    COOKIE_CHANGED: lambda payload: _of(cookie_store_id_of(_decode_cookie(payload)[0])),
}
