"""The trash of a profile, for Python: lists, restores and deletes removed identities."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec

from hatbox.identities import trash_rows
from hatbox.identity.ids import cookie_store_id_of
from hatbox.identity.model import ContextualIdentity
from hatbox.store.base import Store, Transaction, TrashRow
from hatbox.store.profile_settings import read_profile_settings

__all__ = ["RemovedIdentity", "RemovedLike", "Trash"]

_DAY: Final = 86_400
_MAX_AT_ONCE: Final = 100  # identities that one transaction restores: all their records are in memory


class RemovedIdentity(msgspec.Struct, frozen=True, rename="camel"):
    """An identity in the trash."""

    name: str
    icon: str
    color: str
    cookie_store_id: str
    uuid: str
    removed_at: float
    """In seconds since 1970."""
    expires_at: float
    """When it is deleted for ever, in seconds since 1970."""
    cookies: int
    tabs: int
    size: int
    """In bytes."""


RemovedLike: TypeAlias = str | RemovedIdentity
"""An identity in the trash as argument: its name, its cookieStoreId or the object."""


class Trash:
    """The identities that were removed, until they expire. Calls start at once."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self) -> asyncio.Future[builtins.list[RemovedIdentity]]:
        """All removed identities, the last removed first."""

        def removed(transaction: Transaction) -> builtins.list[RemovedIdentity]:
            lifetime = read_profile_settings(transaction).trash_days * _DAY
            return [_removed(row, lifetime) for row in reversed(transaction.trash.find())]

        return self._store.read(removed)

    async def find(self, identities: RemovedLike | Sequence[RemovedLike]) -> builtins.list[RemovedIdentity]:
        """These removed identities, each once. Raises NotInTrash, or AmbiguousIdentity for a name that several have."""
        given = _given(identities)

        def removed(transaction: Transaction) -> builtins.list[RemovedIdentity]:
            lifetime = read_profile_settings(transaction).trash_days * _DAY
            return [_removed(row, lifetime) for row in trash_rows.find_in_trash(transaction, given)]

        return await self._store.read(removed)

    async def restore(self, identities: RemovedLike | Sequence[RemovedLike]) -> builtins.list[ContextualIdentity]:
        """Restore removed identities with their ids, places, settings, cookies, tabs and site data.

        A name that several have raises AmbiguousIdentity, an unknown one NotInTrash. An identity that exists again, for
        example from a backup, raises IdentityExists. Then none is restored. Up to 100 are restored in one transaction.
        """
        found = await self._find(identities)
        parts = [found[start : start + _MAX_AT_ONCE] for start in range(0, len(found), _MAX_AT_ONCE)]
        restored: builtins.list[ContextualIdentity] = []
        for done in await asyncio.gather(*(self._restore(part) for part in parts)):
            restored += done
        return restored

    async def remove(self, identities: RemovedLike | Sequence[RemovedLike]) -> builtins.list[RemovedIdentity]:
        """Delete these identities from the trash for ever. Raises as restore()."""
        found = await self._find(identities)
        return await self._delete(found)

    async def empty(self) -> builtins.list[RemovedIdentity]:
        """Delete all identities from the trash for ever."""
        return await self._delete(None)

    def _restore(self, rows: Sequence[TrashRow]) -> asyncio.Future[builtins.list[ContextualIdentity]]:
        return self._store.write(lambda transaction: trash_rows.restore(transaction, rows))

    def _delete(self, rows: Sequence[TrashRow] | None) -> asyncio.Future[builtins.list[RemovedIdentity]]:
        def delete(transaction: Transaction) -> builtins.list[RemovedIdentity]:
            lifetime = read_profile_settings(transaction).trash_days * _DAY
            return [_removed(row, lifetime) for row in trash_rows.delete_from_trash(transaction, rows)]

        return self._store.write(delete)

    async def _find(self, identities: RemovedLike | Sequence[RemovedLike]) -> builtins.list[TrashRow]:
        given = _given(identities)
        return await self._store.read(lambda transaction: trash_rows.find_in_trash(transaction, given))


def _given(identities: RemovedLike | Sequence[RemovedLike]) -> list[str]:
    """Names and cookieStoreIds."""
    several = [identities] if isinstance(identities, (str, RemovedIdentity)) else list(identities)
    for each in several:
        if not isinstance(each, (str, RemovedIdentity)):
            raise TypeError(f"identity must be a name, a cookieStoreId or a RemovedIdentity, not {each!r}")
    return [each if isinstance(each, str) else each.cookie_store_id for each in several]


def _removed(row: TrashRow, lifetime: float) -> RemovedIdentity:
    return RemovedIdentity(
        name=row.name,
        icon=row.icon,
        color=row.color,
        cookie_store_id=cookie_store_id_of(row.id),
        uuid=row.uuid,
        removed_at=row.removed,
        expires_at=row.removed + lifetime,
        cookies=row.cookies,
        tabs=row.tabs,
        size=row.size,
    )
