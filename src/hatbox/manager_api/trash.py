"""The namespace hatbox.trash: removed identities."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import NotInTrash
from hatbox.identities import trash_rows
from hatbox.identity import model
from hatbox.identity.ids import container_user_context_id, cookie_store_id_of
from hatbox.manager_api.coalesced_changes import ChangedIds, StoreEvent
from hatbox.manager_api.identity_summaries import IdentitySummary, summary_of
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.manager_api.trash_contents import RemovedContents, TrashContents
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Store, Transaction, TrashRow
from hatbox.store.profile_settings import PROFILE_SETTINGS_CHANGED, read_profile_settings

__all__ = ["implement"]

_DAY: Final = 86_400
_ALL: Final = ChangedIds(all=True)


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:  # noqa: ARG001
    """Implement the namespace."""
    return _Trash(schema, services)


class _Removed(NamedTuple):
    trash_id: str
    name: str
    color: str
    icon: str
    removed_at: float
    expires_at: float
    days_left: int
    cookies: int
    tabs: int
    size: int
    sites: int | None
    removed_by: str | None


class _Listed(NamedTuple):
    rows: Sequence[TrashRow]
    lifetime: float
    now: float


class _Trash(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        changed = EventBinding(_trash_event(services.store), lambda _, payload: (payload,))
        super().__init__(schema, services.store, {"onChanged": changed})
        self._contents = TrashContents(services.store)

    def list(self, ids: Sequence[str] | None) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._list(ids))

    async def _list(self, ids: Sequence[str] | None) -> Any:
        rows, lifetime, now = await self._store.read(lambda each: _list(each, ids))
        contents = await self._contents.of(rows)
        return self._result_converters["list"](
            [_shown(row, lifetime, now, contents.get(row.id, RemovedContents())) for row in rows]
        )

    def restore(self, trash_id: str) -> asyncio.Future[Any]:
        return self._write("restore", _restore, trash_id, self._store.time())

    def remove(self, trash_id: str) -> asyncio.Future[Any]:
        return self._write("remove", _remove, trash_id)

    def empty(self, trash_ids: Sequence[str] | None) -> asyncio.Future[Any]:
        return self._write("empty", _empty, trash_ids)


def _trash_event(store: Store) -> StoreEvent[ChangedIds]:
    def changed(payload: bytes) -> ChangedIds:
        return ChangedIds((msgspec.json.decode(payload, type=str),))

    def removed(payload: bytes) -> ChangedIds:
        return ChangedIds((model.decode_change(payload).cookie_store_id,))

    decoders = {
        trash_rows.TRASH_CHANGED: changed,
        model.REMOVED: removed,
        PROFILE_SETTINGS_CHANGED: lambda _: _ALL,  # the days that identities stay
    }
    return StoreEvent(store, "hatbox.trash.onChanged", decoders, ChangedIds.merged, _ALL)


def _list(transaction: Transaction, ids: Sequence[str] | None) -> _Listed:
    lifetime = read_profile_settings(transaction).trash_days * _DAY
    return _Listed(transaction.trash.find(_numbers(ids))[::-1], lifetime, transaction.time())


def _numbers(ids: Sequence[str] | None) -> list[int] | None:
    return None if ids is None else [number for each in ids if (number := container_user_context_id(each))]


def _shown(row: TrashRow, lifetime: float, now: float, contents: RemovedContents) -> _Removed:
    expires = row.removed + lifetime
    return _Removed(
        trash_id=cookie_store_id_of(row.id),
        name=row.name,
        color=row.color,
        icon=row.icon,
        removed_at=row.removed * 1000,
        expires_at=expires * 1000,
        days_left=max(0, math.ceil((expires - now) / _DAY)),
        cookies=row.cookies,
        tabs=row.tabs,
        size=row.size,
        sites=contents.sites,
        removed_by=contents.removed_by,
    )


def _rows(transaction: Transaction, trash_id: str) -> list[TrashRow]:
    """The row of a removed identity, which is given by its id and never by its name. Raises NotInTrash."""
    user_context_id = container_user_context_id(trash_id)
    rows = [] if user_context_id is None else transaction.trash.find([user_context_id])
    if not rows:
        raise NotInTrash(trash_id)
    return rows


def _restore(transaction: Transaction, trash_id: str, now: float) -> IdentitySummary:
    [restored] = trash_rows.restore(transaction, _rows(transaction, trash_id))
    return summary_of(transaction, restored.cookie_store_id, now)


def _remove(transaction: Transaction, trash_id: str) -> None:
    trash_rows.delete_from_trash(transaction, _rows(transaction, trash_id))


def _empty(transaction: Transaction, trash_ids: Sequence[str] | None) -> int:
    rows = None if trash_ids is None else transaction.trash.find(_numbers(trash_ids))
    return len(trash_rows.delete_from_trash(transaction, rows))
