"""Temporary identities: removed for ever with their last tab, or with the program that created them. No trash."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from hatbox.errors import ProfileError
from hatbox.identities import changes
from hatbox.identity.ids import container_user_context_id, cookie_store_id_of
from hatbox.identity.model import ContextualIdentity
from hatbox.store.base import Store, Transaction, TransactionFunction
from hatbox.tabs.identity_removal import delete_unused_identities, identities_until_last_tab, temporary_key
from hatbox.tabs.program_records import ProgramRecord, delete_record, get_record, put_record

__all__ = ["TemporaryIdentities", "create_temporary", "is_unused", "remove_temporary"]

logger = logging.getLogger("hatbox.identities")


class TemporaryIdentities:
    """The temporary identities of this program, in one profile."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open: set[int] = set()
        self._until_last_tab: set[int] = set()

    @contextlib.asynccontextmanager
    async def open(self, name: str | None, color: str, icon: str) -> AsyncIterator[ContextualIdentity]:
        """An identity that is removed at the end of the body, or by another program if this one is killed."""
        identity = await self._create(name, color, icon, until_last_tab=False)
        user_context_id = container_user_context_id(identity.cookie_store_id) or 0
        self._open.add(user_context_id)
        try:
            yield identity
        finally:
            await asyncio.shield(self._remove(user_context_id))

    async def create(self, name: str | None, color: str, icon: str) -> ContextualIdentity:
        """Create an identity that is removed with its last tab. Without tabs, it is removed by `close`."""
        identity = await self._create(name, color, icon, until_last_tab=True)
        self._until_last_tab.add(container_user_context_id(identity.cookie_store_id) or 0)
        return identity

    async def close(self) -> None:
        """Remove the identities without tabs, and those whose bodies have not ended: the profile is being closed."""
        for user_context_id in list(self._open):
            await self._remove(user_context_id)
        stores, self._until_last_tab = self._until_last_tab, set()
        if stores:
            await self._write(lambda each: delete_unused_identities(each, identities_until_last_tab(each, stores)))

    async def _create(self, name: str | None, color: str, icon: str, *, until_last_tab: bool) -> ContextualIdentity:
        await self._store.register_process()  # before it exists: programs on other machines must not remove it
        return await self._store.write(
            lambda each: create_temporary(each, name, color, icon, until_last_tab=until_last_tab)
        )

    async def _remove(self, user_context_id: int) -> None:
        if user_context_id in self._open:
            self._open.discard(user_context_id)
            await self._write(lambda each: remove_temporary(each, temporary_key(user_context_id)))

    async def _write(self, work: TransactionFunction[None]) -> None:
        try:
            await self._store.write(work)
        except ProfileError as error:  # removed when this program has ended
            logger.warning("removing a temporary identity failed: %s", error)


def create_temporary(
    transaction: Transaction, name: str | None, color: str, icon: str, *, until_last_tab: bool
) -> ContextualIdentity:
    """Create a temporary identity that belongs to this process. Its default name contains its number."""
    shown = f"Temporary {transaction.identities.last_id() + 1}" if name is None else name
    identity = changes.create(transaction, shown, color, icon)
    user_context_id = container_user_context_id(identity.cookie_store_id) or 0
    record = ProgramRecord(
        transaction.processes.current,
        identity=transaction.identities.uuid(user_context_id) or "",
        until_last_tab=until_last_tab,
    )
    put_record(transaction, temporary_key(user_context_id), record)
    return identity


def remove_temporary(transaction: Transaction, key: str) -> None:
    """Remove the identity of a record, unless it was removed already, and the record. `key` is that of the record."""
    record = get_record(transaction, key)
    if record is None:
        return
    delete_record(transaction, key)
    user_context_id = int(key.rpartition(":")[2])
    if transaction.identities.uuid(user_context_id) == record.identity:
        changes.remove(transaction, cookie_store_id_of(user_context_id))


def is_unused(transaction: Transaction, key: str, record: ProgramRecord) -> bool:
    """Whether the identity of an ended process is to be removed: it has no tabs, or does not wait for the last one."""
    return not (record.until_last_tab and transaction.tabs.find(store=int(key.rpartition(":")[2])))
