"""Identities: the model, and transaction functions that look them up. The rules for changing them are in `changes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from hatbox.errors import AmbiguousIdentity, IdentityMismatch, IdentityNotFound, InvalidIdentity
from hatbox.identity import palette
from hatbox.identity.ids import (
    DEFAULT_COOKIE_STORE_ID,
    container_user_context_id,
    cookie_store_id_of,
    user_context_id_of,
)
from hatbox.javascript.text import well_formed
from hatbox.store.base import IdentityRow, Transaction

__all__ = [
    "CREATED",
    "HIDDEN",
    "MOVED",
    "REMOVED",
    "SETTINGS_CHANGED",
    "SHOWN",
    "UPDATED",
    "ContextualIdentity",
    "IdentityLike",
    "decode_change",
    "expect_identity",
    "find",
    "get",
    "id_of",
    "identity_of",
    "nearest_names",
    "query",
    "record_change",
    "resolve",
    "row_of",
    "set_hidden",
    "store_number",
]


class ContextualIdentity(msgspec.Struct, frozen=True, rename="camel"):
    """An identity: name, color and icon, with its own cookie store."""

    name: str
    icon: str
    color: str
    cookie_store_id: str
    hidden: bool = False

    @property
    def icon_url(self) -> str:
        """The URL of the icon in Firefox."""
        return palette.icon_url(self.icon)

    @property
    def color_code(self) -> str:
        """The color as #rrggbb."""
        return palette.color_code(self.color)


IdentityLike: TypeAlias = str | ContextualIdentity
"""An identity as argument: its name, its cookieStoreId or the object."""


CREATED, UPDATED, REMOVED = "identities.created", "identities.updated", "identities.removed"
MOVED, HIDDEN, SHOWN = "identities.moved", "identities.hidden", "identities.shown"
SETTINGS_CHANGED = "identities.settings"
"""The topic of a change of settings. Its payload is the cookieStoreId."""


def get(transaction: Transaction, cookie_store_id: str) -> ContextualIdentity:
    """The identity with this id."""
    return identity_of(row_of(transaction, cookie_store_id))


def query(transaction: Transaction, name: str | None = None) -> list[ContextualIdentity]:
    """All identities in the user's order, or those with exactly this name; an empty name is no filter."""
    return [identity_of(row) for row in transaction.identities.find(well_formed(name) if name else None)]


def find(transaction: Transaction, name_or_id: str) -> ContextualIdentity:
    """The identity with this name or cookieStoreId. Raises IdentityNotFound or AmbiguousIdentity."""
    found = {identity.cookie_store_id: identity for identity in query(transaction, name_or_id) if name_or_id}
    user_context_id = container_user_context_id(name_or_id)
    row = transaction.identities.get(user_context_id) if user_context_id else None
    if row is not None:
        found[name_or_id] = identity_of(row)
    if not found:
        raise IdentityNotFound(name_or_id, nearest_names(name_or_id, transaction.identities.names(limit=2_000)))
    if len(found) > 1:
        raise AmbiguousIdentity(name_or_id, list(found))
    return next(iter(found.values()))


def resolve(transaction: Transaction, identity: ContextualIdentity) -> ContextualIdentity:
    """The current state of an object, which may be outdated or from another profile. Raises IdentityMismatch."""
    known = get(transaction, identity.cookie_store_id)
    if known.name != identity.name:  # icon and color do not identify it
        raise IdentityMismatch(identity.cookie_store_id, identity.name, known.name)
    return known


def row_of(transaction: Transaction, cookie_store_id: str) -> IdentityRow:
    """The row of the identity with this cookieStoreId."""
    user_context_id = container_user_context_id(cookie_store_id)
    row = transaction.identities.get(user_context_id) if user_context_id else None
    if row is None:
        raise InvalidIdentity(cookie_store_id)
    return row


def id_of(transaction: Transaction, identity: IdentityLike) -> str:
    """The cookieStoreId of an identity, which may not exist. Raises IdentityNotFound for an unknown name."""
    if isinstance(identity, ContextualIdentity):
        return identity.cookie_store_id
    return identity if container_user_context_id(identity) else find(transaction, identity).cookie_store_id


def store_number(transaction: Transaction, identity: IdentityLike) -> int:
    """The userContextId of an identity, 0 for the default store. Raises if it does not exist."""
    if identity == DEFAULT_COOKIE_STORE_ID:
        return 0
    found = resolve(transaction, identity) if isinstance(identity, ContextualIdentity) else find(transaction, identity)
    return user_context_id_of(found.cookie_store_id) or 0


def expect_identity(identity: object) -> None:
    """Raise TypeError for an argument that cannot be an identity."""
    if not isinstance(identity, (str, ContextualIdentity)):
        raise TypeError(f"identity must be a name, a cookieStoreId or a ContextualIdentity, not {identity!r}")


def set_hidden(transaction: Transaction, cookie_store_id: str, *, hidden: bool) -> bool:
    """Mark an identity as hidden or shown. Returns whether it changed."""
    user_context_id, name, icon, color, was_hidden = row_of(transaction, cookie_store_id)
    if was_hidden == hidden:
        return False
    transaction.identities.update(user_context_id, hidden=int(hidden))
    record_change(transaction, HIDDEN if hidden else SHOWN, (user_context_id, name, icon, color, int(hidden)))
    return True


def record_change(transaction: Transaction, topic: str, row: IdentityRow) -> ContextualIdentity:
    """Append a record about an identity to the change log. Returns the identity."""
    identity = identity_of(row)
    transaction.changes.append(topic, _encode(identity))
    return identity


def decode_change(payload: bytes) -> ContextualIdentity:
    """Decode the identity of a change record."""
    return _decode(payload)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ContextualIdentity).decode


def identity_of(row: IdentityRow) -> ContextualIdentity:
    """The identity stored in a row."""
    user_context_id, name, icon, color, hidden = row
    return ContextualIdentity(name, icon, color, cookie_store_id_of(user_context_id), bool(hidden))


def nearest_names(name: str, names: Sequence[str]) -> list[str]:
    """Those of these names that are similar to a misspelled one."""
    import difflib  # imported for misspelled names only

    by_folded = {known.casefold(): known for known in names}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=3, cutoff=0.6)
    return [by_folded[folded] for folded in close]
