"""Copies an identity inside a profile, as a transaction function.

The copy has a UUID of its own. It has no tabs: a clone is made to do something else, and the same pages in a second
window would load at once with the same session. It has no site rules either: a site belongs to one identity.
Nor does it have the history: the original made those visits.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.archive.identity_archive import read_identity
from hatbox.archive.identity_restore import copy_contents
from hatbox.errors import InvalidIdentity
from hatbox.identity.ids import cookie_store_id_of
from hatbox.identity.model import CREATED, record_change
from hatbox.store.base import Transaction

__all__ = ["copy_identity"]

_NOT_COPIED: Final = frozenset({"maker", "import"})  # settings that describe where the original comes from


def copy_identity(transaction: Transaction, user_context_id: int, name: str) -> int:
    """Copy an identity, right after the original. Returns the id of the copy."""
    original = read_identity(transaction, user_context_id)
    if original is None:
        raise InvalidIdentity(cookie_store_id_of(user_context_id))
    identities = transaction.identities
    new = identities.insert(name, original.icon, original.color)
    if original.index + 1 < identities.count() - 1:
        identities.move([new], original.index + 1)
    record_change(transaction, CREATED, (new, name, original.icon, original.color, 0))
    settings = {name: value for name, value in original.settings.items() if name not in _NOT_COPIED}
    copy_contents(transaction, new, msgspec.structs.replace(original, settings=settings, tabs=[]))
    return new
