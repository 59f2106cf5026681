"""Identities: what they are, the rules for changing them, and the service that Python programs use.

The rules are plain functions of a transaction, so that the browser face and the Python face keep the same ones. This
module does not know the profile, nor how anything is stored.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec

from hatbox import palette
from hatbox.cookie_store_ids import cookie_store_id_of, identity_number
from hatbox.cookies.stores import forget_cookies
from hatbox.errors import (
    AmbiguousIdentity,
    DuplicateIdentity,
    IdsExhausted,
    InvalidIdentity,
    InvalidName,
    InvalidPosition,
    NoSuchIdentity,
    StaleIdentity,
)
from hatbox.events import Event
from hatbox.javascript import is_blank, well_formed
from hatbox.store.base import Change, IdentityRow, Store, Transaction

__all__ = ["ContextualIdentity", "Identities", "IdentityLike"]


class ContextualIdentity(msgspec.Struct, frozen=True, rename="camel"):
    """A named, colored, iconified identity with a cookie store of its own."""

    name: str
    icon: str
    color: str
    cookie_store_id: str
    hidden: bool = False

    @property
    def icon_url(self) -> str:
        """The address by which Firefox knows the icon."""
        return palette.icon_url(self.icon)

    @property
    def color_code(self) -> str:
        """The color as #rrggbb."""
        return palette.color_code(self.color)


IdentityLike: TypeAlias = str | ContextualIdentity
"""Where an identity is asked for: its cookieStoreId, or the identity itself."""


# ---------------------------------------------------------------------------------------------------- the rules

_LARGEST_NUMBER: Final = 2**32 - 2  # what a browser can hold; Firefox keeps 2**32 - 1 for itself

CREATED, UPDATED, REMOVED = "identities.created", "identities.updated", "identities.removed"
MOVED, HIDDEN, SHOWN = "identities.moved", "identities.hidden", "identities.shown"


def get(transaction: Transaction, cookie_store_id: str) -> ContextualIdentity:
    """The identity with this id."""
    return _identity(_row(transaction, cookie_store_id))


def query(transaction: Transaction, name: str | None = None) -> list[ContextualIdentity]:
    """All identities in the user's order, or those with exactly this name; an empty name is no filter."""
    return [_identity(row) for row in transaction.identities.find(well_formed(name) if name else None)]


def create(transaction: Transaction, name: str, color: str, icon: str) -> ContextualIdentity:
    """A new identity, at the end of the list."""
    icon, color = palette.accepted_icon(icon), palette.accepted_color(color)
    name = _accepted_name(name)
    number = transaction.identities.insert(name, icon, color)
    if number > _LARGEST_NUMBER:
        raise IdsExhausted
    return _noted(transaction, CREATED, (number, name, icon, color, 0))


def update(
    transaction: Transaction,
    cookie_store_id: str,
    name: str | None = None,
    color: str | None = None,
    icon: str | None = None,
) -> ContextualIdentity:
    """Change what is given and keep the rest, also where it is a value that this version does not know."""
    number, old_name, old_icon, old_color, hidden = _row(transaction, cookie_store_id)
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
    return _noted(transaction, UPDATED, (number, name, icon, color, hidden))


def move(transaction: Transaction, cookie_store_ids: Sequence[str], position: int) -> None:
    """Move these, in their old order, to `position` in the list of the others; -1 is the end."""
    if not cookie_store_ids:
        return
    last = transaction.identities.count() - len(cookie_store_ids)
    if not -1 <= position <= last:
        raise InvalidPosition(position)
    rows: dict[int, IdentityRow] = {}
    for cookie_store_id in cookie_store_ids:
        row = _row(transaction, cookie_store_id)
        if row[0] in rows:
            raise DuplicateIdentity(cookie_store_id)
        rows[row[0]] = row
    transaction.identities.move(list(rows), last if position == -1 else position)
    for row in rows.values():
        _noted(transaction, MOVED, row)


def remove(transaction: Transaction, cookie_store_id: str) -> ContextualIdentity:
    """Drop the identity and all that belongs to it; returns it as it was."""
    row = _row(transaction, cookie_store_id)
    forget_cookies(transaction, row[0])
    transaction.identities.delete(row[0])
    return _noted(transaction, REMOVED, row)


def hide(transaction: Transaction, cookie_store_id: str) -> None:
    """Hide all of the identity, until it is shown."""
    _set_hidden(transaction, cookie_store_id, 1, HIDDEN)


def show(transaction: Transaction, cookie_store_id: str) -> None:
    """Show all of the identity again."""
    _set_hidden(transaction, cookie_store_id, 0, SHOWN)


def find(transaction: Transaction, name_or_id: str) -> ContextualIdentity:
    """The one identity that has this id or this name, for people who type names."""
    found = {identity.cookie_store_id: identity for identity in query(transaction, name_or_id) if name_or_id}
    number = identity_number(name_or_id)
    row = transaction.identities.get(number) if number else None
    if row is not None:
        found[name_or_id] = _identity(row)
    if not found:
        raise NoSuchIdentity(name_or_id, _nearest(name_or_id, transaction.identities.names(limit=2_000)))
    if len(found) > 1:
        raise AmbiguousIdentity(name_or_id, list(found))
    return next(iter(found.values()))


def recognize(transaction: Transaction, identity: ContextualIdentity) -> ContextualIdentity:
    """The identity that an object stands for, as it is now. The object may be old, or come from another profile."""
    known = get(transaction, identity.cookie_store_id)
    if known.name != identity.name:  # icon and color do not tell who somebody is
        raise StaleIdentity(identity.cookie_store_id, identity.name, known.name)
    return known


def _row(transaction: Transaction, cookie_store_id: str) -> IdentityRow:
    number = identity_number(cookie_store_id)
    row = transaction.identities.get(number) if number else None
    if row is None:
        raise InvalidIdentity(cookie_store_id)
    return row


def _identity(row: IdentityRow) -> ContextualIdentity:
    number, name, icon, color, hidden = row
    return ContextualIdentity(name, icon, color, cookie_store_id_of(number), bool(hidden))


def _accepted_name(name: str) -> str:
    if is_blank(name):
        raise InvalidName
    return well_formed(name)


def _set_hidden(transaction: Transaction, cookie_store_id: str, hidden: int, topic: str) -> None:
    number, name, icon, color, was_hidden = _row(transaction, cookie_store_id)
    if was_hidden != hidden:
        transaction.identities.update(number, hidden=hidden)
        _noted(transaction, topic, (number, name, icon, color, hidden))


def _noted(transaction: Transaction, topic: str, row: IdentityRow) -> ContextualIdentity:
    identity = _identity(row)
    transaction.changes.append(topic, _encode(identity))
    return identity


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ContextualIdentity).decode


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    by_folded = {known.casefold(): known for known in names}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    return [by_folded[folded] for folded in close]


# -------------------------------------------------------------------------------------------------- the service


class Identities:
    """The identities of a profile, for Python: typed, in snake_case, with keyword arguments.

    A call begins at once, and what it returns can be awaited; when it resolves, the change is on disk.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._following = False
        self.on_created = self._event("on_created")
        """Tells of each new identity."""
        self.on_updated = self._event("on_updated")
        """Tells of each identity whose name, color or icon was set, also to the same."""
        self.on_removed = self._event("on_removed")
        """Tells of each removed identity, as it was."""
        self.on_moved = self._event("on_moved")
        """Tells of each identity that was moved to another place in the list."""
        self.on_hidden = self._event("on_hidden")
        """Tells of each identity that was hidden."""
        self.on_shown = self._event("on_shown")
        """Tells of each identity that was shown again."""
        self._events = {
            CREATED: self.on_created,
            UPDATED: self.on_updated,
            REMOVED: self.on_removed,
            MOVED: self.on_moved,
            HIDDEN: self.on_hidden,
            SHOWN: self.on_shown,
        }

    def get(self, identity: IdentityLike) -> asyncio.Future[ContextualIdentity]:
        """The identity with this cookieStoreId."""
        cookie_store_id = _id_of(identity)
        return self._store.read(lambda transaction: get(transaction, cookie_store_id))

    def query(self, name: str | None = None) -> asyncio.Future[list[ContextualIdentity]]:
        """All identities in the user's order, or those with exactly this name."""
        _expect_text(optional=True, name=name)
        return self._store.read(lambda transaction: query(transaction, name))

    def find(self, name_or_id: str) -> asyncio.Future[ContextualIdentity]:
        """The one identity with this name or id; raises NoSuchIdentity or AmbiguousIdentity, which offer help."""
        _expect_text(name_or_id=name_or_id)
        return self._store.read(lambda transaction: find(transaction, name_or_id))

    def recognize(self, identity: IdentityLike) -> asyncio.Future[ContextualIdentity]:
        """The identity that a name, an id or an object stands for, as it is now.

        Raises as `find` does; for an object, InvalidIdentity if its id is unknown, and StaleIdentity if that id has
        another name here: the object was renamed since, or is one of another profile.
        """
        if isinstance(identity, ContextualIdentity):
            return self._store.read(lambda transaction: recognize(transaction, identity))
        return self.find(identity)

    def create(self, name: str, *, color: str, icon: str) -> asyncio.Future[ContextualIdentity]:
        """A new identity, at the end of the list."""
        _expect_text(name=name, color=color, icon=icon)
        return self._store.write(lambda transaction: create(transaction, name, color, icon))

    def update(
        self, identity: IdentityLike, *, name: str | None = None, color: str | None = None, icon: str | None = None
    ) -> asyncio.Future[ContextualIdentity]:
        """Change what is given and keep the rest; resolves to the identity as it is now."""
        cookie_store_id = _id_of(identity)
        _expect_text(optional=True, name=name, color=color, icon=icon)
        return self._store.write(lambda transaction: update(transaction, cookie_store_id, name, color, icon))

    def move(self, identities: IdentityLike | Sequence[IdentityLike], position: int) -> asyncio.Future[None]:
        """Move one or several, in their old order, to `position` in the list of the others; -1 is the end."""
        several = [identities] if isinstance(identities, (str, ContextualIdentity)) else identities
        ids = [_id_of(identity) for identity in several]
        if type(position) is not int:
            raise TypeError(f"position must be an integer, not {position!r}")
        return self._store.write(lambda transaction: move(transaction, ids, position))

    def remove(self, identity: IdentityLike) -> asyncio.Future[ContextualIdentity]:
        """Drop an identity and all that belongs to it; resolves to it as it was."""
        cookie_store_id = _id_of(identity)
        return self._store.write(lambda transaction: remove(transaction, cookie_store_id))

    def hide(self, identity: IdentityLike) -> asyncio.Future[None]:
        """Hide all of an identity, until it is shown."""
        cookie_store_id = _id_of(identity)
        return self._store.write(lambda transaction: hide(transaction, cookie_store_id))

    def show(self, identity: IdentityLike) -> asyncio.Future[None]:
        """Show all of an identity again."""
        cookie_store_id = _id_of(identity)
        return self._store.write(lambda transaction: show(transaction, cookie_store_id))

    def _event(self, name: str) -> Event[ContextualIdentity]:
        return Event(f"identities.{name}", clock=lambda: self._store.calls, on_interest=self._follow_if_wanted)

    def _follow_if_wanted(self) -> None:
        wanted = any(self._events.values())
        if wanted and not self._following:
            self._store.follow(self._hear)
        elif self._following and not wanted:
            self._store.unfollow(self._hear)
        self._following = wanted

    def _hear(self, change: Change) -> None:
        if event := self._events.get(change.topic):
            event.emit(_decode(change.payload), change.call)


def _id_of(identity: IdentityLike) -> str:
    if isinstance(identity, ContextualIdentity):
        return identity.cookie_store_id
    if isinstance(identity, str):
        return identity
    raise TypeError(f"an identity is named by its cookieStoreId or by itself, not by {identity!r}")


def _expect_text(*, optional: bool = False, **arguments: str | None) -> None:
    for name, value in arguments.items():
        if not (isinstance(value, str) or (optional and value is None)):
            raise TypeError(f"{name} must be a string, not {value!r}")
