"""What an identity is, and how one is looked up. Changing identities is the business of hatbox.identities.

Plain functions of a transaction. This module does not know the profile, nor how anything is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from hatbox.errors import AmbiguousIdentity, IdentityMismatch, IdentityNotFound, InvalidIdentity
from hatbox.identities import palette
from hatbox.identities.ids import cookie_store_id_of, user_context_id
from hatbox.javascript.text import well_formed
from hatbox.store.base import IdentityRow, Transaction

__all__ = [
    "CREATED",
    "HIDDEN",
    "MOVED",
    "REMOVED",
    "SHOWN",
    "UPDATED",
    "ContextualIdentity",
    "IdentityLike",
    "cookie_store_id_of_identity",
    "decode_change",
    "find",
    "get",
    "query",
    "record_change",
    "resolve",
    "row_of",
    "set_hidden",
]


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


CREATED, UPDATED, REMOVED = "identities.created", "identities.updated", "identities.removed"
MOVED, HIDDEN, SHOWN = "identities.moved", "identities.hidden", "identities.shown"


def get(transaction: Transaction, cookie_store_id: str) -> ContextualIdentity:
    """The identity with this id."""
    return _identity(row_of(transaction, cookie_store_id))


def query(transaction: Transaction, name: str | None = None) -> list[ContextualIdentity]:
    """All identities in the user's order, or those with exactly this name; an empty name is no filter."""
    return [_identity(row) for row in transaction.identities.find(well_formed(name) if name else None)]


def find(transaction: Transaction, name_or_id: str) -> ContextualIdentity:
    """The one identity that has this id or this name, for people who type names."""
    found = {identity.cookie_store_id: identity for identity in query(transaction, name_or_id) if name_or_id}
    number = user_context_id(name_or_id)
    row = transaction.identities.get(number) if number else None
    if row is not None:
        found[name_or_id] = _identity(row)
    if not found:
        raise IdentityNotFound(name_or_id, _nearest(name_or_id, transaction.identities.names(limit=2_000)))
    if len(found) > 1:
        raise AmbiguousIdentity(name_or_id, list(found))
    return next(iter(found.values()))


def resolve(transaction: Transaction, identity: ContextualIdentity) -> ContextualIdentity:
    """The identity that an object stands for, as it is now. The object may be old, or come from another profile."""
    known = get(transaction, identity.cookie_store_id)
    if known.name != identity.name:  # icon and color do not tell who somebody is
        raise IdentityMismatch(identity.cookie_store_id, identity.name, known.name)
    return known


def row_of(transaction: Transaction, cookie_store_id: str) -> IdentityRow:
    """The row of the identity with this id."""
    number = user_context_id(cookie_store_id)
    row = transaction.identities.get(number) if number else None
    if row is None:
        raise InvalidIdentity(cookie_store_id)
    return row


def cookie_store_id_of_identity(identity: IdentityLike) -> str:
    """The cookieStoreId of what was given as an identity."""
    if isinstance(identity, ContextualIdentity):
        return identity.cookie_store_id
    if isinstance(identity, str):
        return identity
    raise TypeError(f"an identity is named by its cookieStoreId or by itself, not by {identity!r}")


def set_hidden(transaction: Transaction, cookie_store_id: str, *, hidden: bool) -> bool:
    """Mark an identity as hidden or shown, and tell of it; whether it was not so already."""
    number, name, icon, color, was_hidden = row_of(transaction, cookie_store_id)
    if was_hidden == hidden:
        return False
    transaction.identities.update(number, hidden=int(hidden))
    record_change(transaction, HIDDEN if hidden else SHOWN, (number, name, icon, color, int(hidden)))
    return True


def record_change(transaction: Transaction, topic: str, row: IdentityRow) -> ContextualIdentity:
    """Tell of something that happened to an identity; returns it."""
    identity = _identity(row)
    transaction.changes.append(topic, _encode(identity))
    return identity


def decode_change(payload: bytes) -> ContextualIdentity:
    """The identity that a change is about."""
    return _decode(payload)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ContextualIdentity).decode


def _identity(row: IdentityRow) -> ContextualIdentity:
    number, name, icon, color, hidden = row
    return ContextualIdentity(name, icon, color, cookie_store_id_of(number), bool(hidden))


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    import difflib  # only for people who mistype

    by_folded = {known.casefold(): known for known in names}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    return [by_folded[folded] for folded in close]
