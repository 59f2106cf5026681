"""Removes cookies of a store, and undoes changes of them. Transaction functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from hatbox.cookies.cookie import ChangeCause, JarChange
from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_rows import EXPIRES, cookie_of, expect_identity, put_changes
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.manager_api.sites.cookie_undo import CookieUndo, RowChange
from hatbox.store.base import CookieRow, CookieRowKey, Transaction

__all__ = ["Selection", "UndoResult", "changes_between", "remove_cookies", "rows_of_site", "undo_changes"]

_KEY: Final = 5  # columns of a row
_MAX_SEARCHED: Final = 50  # more cookies are found by reading the whole store


class Selection(NamedTuple):
    """The cookies to remove: one, those of a site, or all."""

    key: CookieRowKey | None = None
    site: str | None = None


class UndoResult(msgspec.Struct, frozen=True):
    """The result of an undo."""

    restored: int
    """The number of cookies that are as before."""
    superseded: int
    """The number of cookies that were set again since. They stay as they are."""


def remove_cookies(transaction: Transaction, user_context_id: int, selection: Selection, now: float) -> CookieUndo:
    """Remove cookies. The result has those that had not expired."""
    expect_identity(transaction, user_context_id)
    rows = _selected(transaction, user_context_id, selection)
    put_changes(transaction, user_context_id, [JarChange(cookie_of(row), True, ChangeCause.EXPLICIT) for row in rows])
    now = cookie_time(transaction, now)
    return CookieUndo(user_context_id, [RowChange(row[:_KEY], row, None) for row in rows if not _is_expired(row, now)])


def undo_changes(transaction: Transaction, undo: CookieUndo, now: float) -> UndoResult:
    """Make each cookie what it was before, with its times, unless it was changed since. Expired ones stay removed."""
    store = undo.user_context_id
    expect_identity(transaction, store)
    now = cookie_time(transaction, now)
    current = _current(transaction, undo)
    restored = superseded = 0
    changes: list[JarChange] = []
    for key, before, after in undo.changes:
        row = current.get(key)
        if not _is_same(row, after):
            superseded += not _is_same(row, before)
            restored += _is_same(row, before)
            continue
        if row is not None:
            changes.append(JarChange(cookie_of(row), True, ChangeCause.EXPLICIT))
        if before is not None and not _is_expired(before, now):
            changes.append(JarChange(cookie_of(before), False, ChangeCause.EXPLICIT))
        restored += before is None or not _is_expired(before, now)
    put_changes(transaction, store, changes)
    return UndoResult(restored, superseded)


def changes_between(before: Iterable[CookieRow], after: Iterable[CookieRow]) -> list[RowChange]:
    """The differences between two readings of a store."""
    old = {row[:_KEY]: row for row in before}
    new = {row[:_KEY]: row for row in after}
    pairs = ((key, old.get(key), new.get(key)) for key in {**old, **new})
    return [RowChange(*pair) for pair in pairs if not _is_same(pair[1], pair[2])]


def rows_of_site(transaction: Transaction, user_context_id: int, site: str) -> list[CookieRow]:
    """The cookies of a site. A public suffix, such as github.io, does not include the sites below it."""
    site_of = default_public_suffixes().site
    return [row for row in transaction.cookies.find(user_context_id, below=site) if site_of(row[0]) == site]


def _selected(transaction: Transaction, user_context_id: int, selection: Selection) -> Sequence[CookieRow]:
    if selection.key is not None:
        domain, _, _, name, _ = selection.key
        found = transaction.cookies.find(user_context_id, names=[name], domains=[domain])
        return [row for row in found if row[:_KEY] == selection.key]
    if selection.site is not None:
        return rows_of_site(transaction, user_context_id, selection.site)
    return transaction.cookies.load(user_context_id)


def _current(transaction: Transaction, undo: CookieUndo) -> dict[CookieRowKey, CookieRow]:
    keys = [each.key for each in undo.changes]
    if len(keys) > _MAX_SEARCHED:
        rows = transaction.cookies.load(undo.user_context_id)
    else:
        domains, names = sorted({key[0] for key in keys}), sorted({key[3] for key in keys})
        rows = transaction.cookies.find(undo.user_context_id, names=names, domains=domains)
    return {row[:_KEY]: row for row in rows}


def _is_same(one: CookieRow | None, other: CookieRow | None) -> bool:
    """Whether two rows are equal. When they were last used does not count."""
    return one is other or (one is not None and other is not None and one[:-1] == other[:-1])


def _is_expired(row: CookieRow, now: float) -> bool:
    expires = row[EXPIRES]
    return expires is not None and expires <= now
