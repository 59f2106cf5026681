"""Imports identities, and undoes that: transaction functions.

New identities go to the trash. The others get the cookies and site data back that they had, unless these were changed
since. The record of an import has both, with their values.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import suppress
from typing import NamedTuple

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.errors import InvalidIdentity
from hatbox.formats.base import Bundle, ImportReport
from hatbox.formats.bundle_transfer import arrange, import_bundle
from hatbox.identities import trash_rows
from hatbox.identity.ids import cookie_store_id_of, user_context_id_of
from hatbox.manager_api.sites.cookie_removal import changes_between, undo_changes
from hatbox.manager_api.sites.cookie_undo import CookieUndo
from hatbox.store.base import CookieRow, Transaction
from hatbox.tabs.site_data import record_saved

__all__ = ["ImportUndo", "import_identities", "undo_import"]


class _OriginChange(NamedTuple):
    store: int
    origin: str
    before: bytes | None
    after: bytes


class ImportUndo(NamedTuple):
    """What an import has changed."""

    cookies: Sequence[CookieUndo]
    origins: Sequence[_OriginChange]
    before: Sequence[int]
    """The identities before it, in their order."""
    after: Sequence[int]
    """The identities after it."""

    @property
    def size(self) -> int:
        """An estimate of the memory that it takes, in bytes."""
        site_data = sum(len(each.before or b"") + len(each.after) for each in self.origins)
        return site_data + sum(each.size for each in self.cookies)


def import_identities(
    transaction: Transaction, bundle: Bundle, now: float, running: Container[str]
) -> tuple[ImportReport, ImportUndo]:
    """Import a bundle. See hatbox.formats.bundle_transfer.import_bundle."""
    order = transaction.identities.ids()
    cookies: dict[int, list[CookieRow]] = {}
    site_data: dict[int, dict[str, bytes]] = {}

    def read_matched(ids: Sequence[str | None]) -> None:
        for store in {user_context_id_of(each) or 0 for each in ids if each is not None} & {0, *order}:
            cookies[store] = transaction.cookies.load(store)
            site_data[store] = dict(transaction.site_data.load(store))

    report = import_bundle(transaction, bundle, cookie_time(transaction, now), running=running, on_matched=read_matched)
    changes = [
        CookieUndo(store, changes_between(rows, transaction.cookies.load(store))) for store, rows in cookies.items()
    ]
    origins = [
        _OriginChange(store, origin, before.get(origin), after)
        for store, before in site_data.items()
        for origin, after in transaction.site_data.load(store)
        if before.get(origin) != after
    ]
    undo = ImportUndo([each for each in changes if each.changes], origins, order, transaction.identities.ids())
    return report, undo


def undo_import(transaction: Transaction, undo: ImportUndo, now: float, running: Container[str]) -> None:
    """Undo an import. `running` has the cookieStoreIds of identities whose site data is in a running browser."""
    is_arranged = transaction.identities.ids() == undo.after
    for created in set(undo.after) - set(undo.before):
        with suppress(InvalidIdentity):  # it was removed since
            trash_rows.remove(transaction, cookie_store_id_of(created))
    for changed in undo.cookies:
        with suppress(InvalidIdentity):
            undo_changes(transaction, changed, now)
    for store in {each.store for each in undo.origins if _restore(transaction, each, running)}:
        record_saved(transaction, store)
    if is_arranged:
        arrange(transaction, [*map(cookie_store_id_of, undo.before)])


def _restore(transaction: Transaction, change: _OriginChange, running: Container[str]) -> bool:
    store, origin, before, after = change
    if cookie_store_id_of(store) in running or transaction.site_data.get(store, origin) != after:
        return False
    if before is None:
        transaction.site_data.delete(store, origin)
    else:
        transaction.site_data.put(store, origin, before)
    return True
