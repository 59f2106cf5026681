"""Takes the unused identities of a new profile for those of an archive: a transaction function.

Every profile starts with Personal, Work, Banking and Shopping. A backup of another profile has them too, with other
UUIDs. Without this, its Work would be "Work (2)" beside one that nobody has used.
"""

from __future__ import annotations

from collections.abc import Iterable

from hatbox.archive.identity_archive import read_identity
from hatbox.archive.selection import IdentityEntry
from hatbox.grants.grant_rows import find_grants
from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.base import Transaction
from hatbox.store.tables.new_profile import NEW_IDENTITIES

__all__ = ["take_unused"]


def take_unused(transaction: Transaction, entries: Iterable[IdentityEntry]) -> None:
    """Give each unused first identity the UUID of the archived one that has its name, icon and color."""
    here = transaction.identities.uuids()
    unused = {row[1:4]: row[0] for row in NEW_IDENTITIES if _is_unused(transaction, row[:5])}
    for entry in entries:
        number = unused.get((entry.name, entry.icon, entry.color))
        if number is not None and entry.uuid not in here:
            del unused[entry.name, entry.icon, entry.color]
            _set_uuid(transaction, number, entry.uuid)


def _is_unused(transaction: Transaction, row: tuple[int, str, str, str, int]) -> bool:
    """Whether an identity is as it was created, without contents, and no program has a grant for it."""
    if transaction.identities.get(row[0]) != row:
        return False
    read = read_identity(transaction, row[0])
    if read is None or any((read.settings, read.cookies, read.site_data, read.tabs, read.rules, read.pages)):
        return False
    store = cookie_store_id_of(row[0])
    return not any(store in grant.identities for grant in find_grants(transaction))


def _set_uuid(transaction: Transaction, number: int, uuid: str) -> None:
    row = transaction.identities.get(number)
    assert row is not None  # noqa: S101 - read above
    position = transaction.identities.position(number)
    transaction.identities.delete(number)
    transaction.identities.restore(number, uuid, *row[1:], position=position)
