"""Identities: the rules for changing them, and the service that Python programs use.

The rules are plain functions of a transaction, so that the browser face and the Python face keep the same ones. This
module does not know the profile, nor how anything is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from hatbox.cookies.cookie_stores import delete_cookies
from hatbox.errors import DuplicateIdentity, IdsExhausted, InvalidName, InvalidPosition
from hatbox.identities import palette
from hatbox.identities.model import (
    CREATED,
    HIDDEN,
    MOVED,
    REMOVED,
    SHOWN,
    UPDATED,
    ContextualIdentity,
    IdentityLike,
    cookie_store_id_of_identity,
    decode_change,
    find,
    get,
    query,
    record_change,
    resolve,
    row_of,
    set_hidden,
)
from hatbox.javascript.text import is_blank, well_formed
from hatbox.store.base import IdentityRow, Store, Transaction
from hatbox.store.change_events import ChangeEvents
from hatbox.tabs.visibility import close_all, hide_all, show_all

__all__ = ["ContextualIdentity", "Identities", "IdentityLike", "find", "get", "query"]


# ---------------------------------------------------------------------------------------------------- the rules

_LARGEST_NUMBER: Final = 2**32 - 2  # what a browser can hold; Firefox keeps 2**32 - 1 for itself


def create(transaction: Transaction, name: str, color: str, icon: str) -> ContextualIdentity:
    """A new identity, at the end of the list."""
    icon, color = palette.accepted_icon(icon), palette.accepted_color(color)
    name = _accepted_name(name)
    number = transaction.identities.insert(name, icon, color)
    if number > _LARGEST_NUMBER:
        raise IdsExhausted
    return record_change(transaction, CREATED, (number, name, icon, color, 0))


def update(
    transaction: Transaction,
    cookie_store_id: str,
    name: str | None = None,
    color: str | None = None,
    icon: str | None = None,
) -> ContextualIdentity:
    """Change what is given and keep the rest, also where it is a value that this version does not know."""
    number, old_name, old_icon, old_color, hidden = row_of(transaction, cookie_store_id)
    # Where several values are wrong, the order of the checks decides which one is named: here it is not that of create.
    color = old_color if color is None else palette.accepted_color(color)
    icon = old_icon if icon is None else palette.accepted_icon(icon)
    name = old_name if name is None else _accepted_name(name)
    # Only what is new: a name that is written, even the same, is written to its index as well, a third of the cost.
    changed = {"name": name} if name != old_name else {}
    if color != old_color:
        changed["color"] = color
    if icon != old_icon:
        changed["icon"] = icon
    if changed:
        transaction.identities.update(number, **changed)
    return record_change(transaction, UPDATED, (number, name, icon, color, hidden))


def move(transaction: Transaction, cookie_store_ids: Sequence[str], position: int) -> None:
    """Move these, in their old order, to `position` in the list of the others; -1 is the end."""
    if not cookie_store_ids:
        return
    last = transaction.identities.count() - len(cookie_store_ids)
    if not -1 <= position <= last:
        raise InvalidPosition(position)
    rows: dict[int, IdentityRow] = {}
    for cookie_store_id in cookie_store_ids:
        row = row_of(transaction, cookie_store_id)
        if row[0] in rows:
            raise DuplicateIdentity(cookie_store_id)
        rows[row[0]] = row
    transaction.identities.move(list(rows), last if position == -1 else position)
    for row in rows.values():
        record_change(transaction, MOVED, row)


def remove(transaction: Transaction, cookie_store_id: str) -> ContextualIdentity:
    """Drop the identity and all that belongs to it; returns it as it was."""
    row = row_of(transaction, cookie_store_id)
    close_all(transaction, row[0])
    delete_cookies(transaction, row[0])
    transaction.site_data.clear(row[0])
    transaction.identities.delete(row[0])
    return record_change(transaction, REMOVED, row)


def hide(transaction: Transaction, cookie_store_id: str) -> None:
    """Hide all of the identity, until it is shown."""
    if set_hidden(transaction, cookie_store_id, hidden=True):
        hide_all(transaction, cookie_store_id)


def show(transaction: Transaction, cookie_store_id: str) -> None:
    """Show all of the identity again."""
    if set_hidden(transaction, cookie_store_id, hidden=False):
        show_all(transaction, cookie_store_id)


def _accepted_name(name: str) -> str:
    if is_blank(name):
        raise InvalidName
    return well_formed(name)


# -------------------------------------------------------------------------------------------------- the service


class Identities:
    """The identities of a profile, for Python: typed, in snake_case, with keyword arguments.

    A call begins at once, and what it returns can be awaited; when it resolves, the change is on disk.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        feed = ChangeEvents(store, "identities")
        self.on_created = feed.event("on_created", CREATED, decode_change)
        """Tells of each new identity."""
        self.on_updated = feed.event("on_updated", UPDATED, decode_change)
        """Tells of each identity whose name, color or icon was set, also to the same."""
        self.on_removed = feed.event("on_removed", REMOVED, decode_change)
        """Tells of each removed identity, as it was."""
        self.on_moved = feed.event("on_moved", MOVED, decode_change)
        """Tells of each identity that was moved to another place in the list."""
        self.on_hidden = feed.event("on_hidden", HIDDEN, decode_change)
        """Tells of each identity that was hidden."""
        self.on_shown = feed.event("on_shown", SHOWN, decode_change)
        """Tells of each identity that was shown again."""

    def get(self, identity: IdentityLike) -> asyncio.Future[ContextualIdentity]:
        """The identity with this cookieStoreId."""
        cookie_store_id = cookie_store_id_of_identity(identity)
        return self._store.read(lambda transaction: get(transaction, cookie_store_id))

    def query(self, name: str | None = None) -> asyncio.Future[list[ContextualIdentity]]:
        """All identities in the user's order, or those with exactly this name."""
        _expect_text(optional=True, name=name)
        return self._store.read(lambda transaction: query(transaction, name))

    def find(self, name_or_id: str) -> asyncio.Future[ContextualIdentity]:
        """The one identity with this name or id; raises IdentityNotFound or AmbiguousIdentity, which offer help."""
        _expect_text(name_or_id=name_or_id)
        return self._store.read(lambda transaction: find(transaction, name_or_id))

    def resolve(self, identity: IdentityLike) -> asyncio.Future[ContextualIdentity]:
        """The identity that a name, an id or an object stands for, as it is now.

        Raises as `find` does; for an object, InvalidIdentity if its id is unknown, and IdentityMismatch if that id has
        another name here: the object was renamed since, or is one of another profile.
        """
        if isinstance(identity, ContextualIdentity):
            return self._store.read(lambda transaction: resolve(transaction, identity))
        return self.find(identity)

    def create(self, name: str, *, color: str, icon: str) -> asyncio.Future[ContextualIdentity]:
        """A new identity, at the end of the list."""
        _expect_text(name=name, color=color, icon=icon)
        return self._store.write(lambda transaction: create(transaction, name, color, icon))

    def update(
        self, identity: IdentityLike, *, name: str | None = None, color: str | None = None, icon: str | None = None
    ) -> asyncio.Future[ContextualIdentity]:
        """Change what is given and keep the rest; resolves to the identity as it is now."""
        cookie_store_id = cookie_store_id_of_identity(identity)
        _expect_text(optional=True, name=name, color=color, icon=icon)
        return self._store.write(lambda transaction: update(transaction, cookie_store_id, name, color, icon))

    def move(self, identities: IdentityLike | Sequence[IdentityLike], position: int) -> asyncio.Future[None]:
        """Move one or several, in their old order, to `position` in the list of the others; -1 is the end."""
        several = [identities] if isinstance(identities, (str, ContextualIdentity)) else identities
        ids = [cookie_store_id_of_identity(identity) for identity in several]
        if type(position) is not int:
            raise TypeError(f"position must be an integer, not {position!r}")
        return self._store.write(lambda transaction: move(transaction, ids, position))

    def remove(self, identity: IdentityLike) -> asyncio.Future[ContextualIdentity]:
        """Drop an identity and all that belongs to it; resolves to it as it was."""
        cookie_store_id = cookie_store_id_of_identity(identity)
        return self._store.write(lambda transaction: remove(transaction, cookie_store_id))

    def hide(self, identity: IdentityLike) -> asyncio.Future[None]:
        """Hide all of an identity, until it is shown."""
        cookie_store_id = cookie_store_id_of_identity(identity)
        return self._store.write(lambda transaction: hide(transaction, cookie_store_id))

    def show(self, identity: IdentityLike) -> asyncio.Future[None]:
        """Show all of an identity again."""
        cookie_store_id = cookie_store_id_of_identity(identity)
        return self._store.write(lambda transaction: show(transaction, cookie_store_id))


def _expect_text(*, optional: bool = False, **arguments: str | None) -> None:
    for name, value in arguments.items():
        if not (isinstance(value, str) or (optional and value is None)):
            raise TypeError(f"{name} must be a string, not {value!r}")
