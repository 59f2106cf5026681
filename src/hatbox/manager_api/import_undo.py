"""Imports identities, and undoes that: transaction functions.

New identities go to the trash, unless they are used since. The others are hidden or shown as before, and get the
cookies and site data back that they had, unless these were changed since. The record of an import has both, with their
values.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import suppress
from typing import NamedTuple

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.errors import InvalidIdentity, TrashSwitchedOff
from hatbox.formats.base import Bundle, ImportReport
from hatbox.formats.bundle_transfer import arrange, import_bundle
from hatbox.identities import changes, trash_rows
from hatbox.identity import model
from hatbox.identity.ids import cookie_store_id_of, user_context_id_of
from hatbox.manager_api.sites.cookie_removal import changes_between, undo_changes
from hatbox.manager_api.sites.cookie_undo import CookieUndo
from hatbox.store.base import CookieRow, Transaction
from hatbox.store.profile_settings import read_profile_settings
from hatbox.tabs.site_data import record_saved

__all__ = ["ImportUndo", "ImportUndoResult", "import_identities", "undo_import"]


class _OriginChange(NamedTuple):
    store: int
    origin: str
    before: bytes | None
    after: bytes


class ImportUndo(NamedTuple):
    """What an import has changed."""

    cookies: Sequence[CookieUndo]
    """Also those of new identities."""
    origins: Sequence[_OriginChange]
    """Those of identities that were there."""
    hidden: Sequence[tuple[str, bool]]
    """The identities that it has hidden or shown, with what they were."""
    before: Sequence[int]
    """The identities before it, in their order."""
    after: Sequence[int]
    """The identities after it."""

    @property
    def created(self) -> list[int]:
        """The new identities."""
        return sorted(set(self.after) - set(self.before))

    @property
    def size(self) -> int:
        """An estimate of the memory that it takes, in bytes."""
        site_data = sum(len(each.before or b"") + len(each.after) for each in self.origins)
        return site_data + sum(each.size for each in self.cookies)


class ImportUndoResult(NamedTuple):
    """What stays as the import, or a later change, has left it."""

    identities: int
    """New identities that have other cookies or tabs since."""
    cookies: int
    origins: int


def import_identities(
    transaction: Transaction, bundle: Bundle, now: float, running: Container[str]
) -> tuple[ImportReport, ImportUndo | None]:
    """Import a bundle. See hatbox.formats.bundle_transfer.import_bundle.

    Without a trash, an import that creates identities cannot be undone: they would be deleted for ever.
    """
    hidden = {each.cookie_store_id: each.hidden for each in model.query(transaction)}
    order = transaction.identities.ids()
    cookies: dict[int, list[CookieRow]] = {}
    site_data: dict[tuple[int, str], bytes | None] = {}

    def read_matched(ids: Sequence[str | None]) -> None:
        """Read what the import may change, and no other site data: that may be a gigabyte."""
        for cookie_store_id, entry in zip(ids, bundle.entries, strict=True):
            if cookie_store_id is None:
                continue
            store = user_context_id_of(cookie_store_id) or 0
            if entry.cookies and store not in cookies:
                cookies[store] = transaction.cookies.load(store)
            if store in {0, *order}:
                for each in entry.site_data:
                    site_data[store, each.origin] = transaction.site_data.get(store, each.origin)

    report = import_bundle(transaction, bundle, cookie_time(transaction, now), running=running, on_matched=read_matched)
    undo = ImportUndo(
        [CookieUndo(store, changes_between(rows, transaction.cookies.load(store))) for store, rows in cookies.items()],
        [
            _OriginChange(*key, before, after)
            for key, before in site_data.items()
            if (after := transaction.site_data.get(*key)) is not None and before != after
        ],
        [
            (each.cookie_store_id, not each.hidden)
            for each in model.query(transaction)
            if hidden.get(each.cookie_store_id) is (not each.hidden)
        ],
        order,
        transaction.identities.ids(),
    )
    can_undo = not undo.created or read_profile_settings(transaction).has_trash
    return report, undo if can_undo else None


def undo_import(transaction: Transaction, undo: ImportUndo, now: float, running: Container[str]) -> ImportUndoResult:
    """Undo an import. `running` has the cookieStoreIds of identities whose site data is in a running browser.

    Raises TrashSwitchedOff or TooLargeForTrash, and changes nothing.
    """
    is_arranged = transaction.identities.ids() == undo.after
    written = {each.user_context_id: each for each in undo.cookies}
    in_use = [each for each in undo.created if not _remove(transaction, each, written.get(each))]
    superseded = 0
    for store in written.keys() - undo.created:
        with suppress(InvalidIdentity):  # it was removed since
            superseded += undo_changes(transaction, written[store], now).superseded
    for cookie_store_id, was_hidden in undo.hidden:
        with suppress(InvalidIdentity):
            (changes.hide if was_hidden else changes.show)(transaction, cookie_store_id)
    restored = [each.store for each in undo.origins if _restore(transaction, each, running)]
    for store in set(restored):
        record_saved(transaction, store)
    if is_arranged:
        arrange(transaction, [*map(cookie_store_id_of, undo.before)])
    return ImportUndoResult(len(in_use), superseded, len(undo.origins) - len(restored))


def _remove(transaction: Transaction, created: int, written: CookieUndo | None) -> bool:
    """Put a new identity into the trash. False if it has cookies or tabs that the import has not written."""
    row = transaction.identities.get(created)
    if row is None:  # it was removed since
        return True
    imported = () if written is None else [each.after for each in written.changes if each.after is not None]
    changed = changes_between(imported, transaction.cookies.load(created))
    if any(each.after is not None for each in changed) or transaction.tabs.counts_by_store([created]).get(created):
        return False
    if not read_profile_settings(transaction).has_trash:
        raise TrashSwitchedOff(row[1])
    trash_rows.remove(transaction, cookie_store_id_of(created))
    return True


def _restore(transaction: Transaction, change: _OriginChange, running: Container[str]) -> bool:
    store, origin, before, after = change
    if cookie_store_id_of(store) in running or transaction.site_data.get(store, origin) != after:
        return False
    if before is None:
        transaction.site_data.delete(store, origin)
    else:
        transaction.site_data.put(store, origin, before)
    return True
