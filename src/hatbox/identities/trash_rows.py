"""The trash: removed identities, each as one archive. Transaction functions; `trash` is the service.

Scripts see an identity in the trash as removed. Its id is not given out again, so it comes back with the same id.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

import msgspec

from hatbox.activity_log.activity_rows import clear_activity
from hatbox.archive.identity_archive import as_other_identity, decode_identity, encode_identity, read_identity
from hatbox.archive.identity_restore import restore_identity
from hatbox.errors import AmbiguousIdentity, ArchiveError, IdentityExists, NotInTrash, TooLargeForTrash
from hatbox.identities import changes
from hatbox.identities.log_scrubs import note_deletion
from hatbox.identities.trash_state import (
    TRASH_EXPIRY,
    TrashState,
    deletion_limit,
    expiry_limit,
    load_state,
    put_state,
)
from hatbox.identity.ids import cookie_store_id_of
from hatbox.identity.model import ContextualIdentity, get, nearest_names, row_of
from hatbox.store.base import CookieRow, IdentityRow, Transaction, TrashRow
from hatbox.store.processes import program_name
from hatbox.store.profile_settings import PROFILE, ProfileSettings, load_profile_settings
from hatbox.tabs.identity_removal import places_of_temporary, temporary_key
from hatbox.tabs.log_scrubbing import scrub_identities
from hatbox.tabs.program_records import get_record

__all__ = [
    "TRASH_CHANGED",
    "delete_from_trash",
    "expire",
    "find_in_trash",
    "remove",
    "restore",
]

logger = logging.getLogger("hatbox.identities")

TRASH_CHANGED: Final = "trash.changed"
"""The topic of a change of the trash, with the cookieStoreId. An identity that is removed has its own topic."""

_EVICTION_SHARE: Final = 0.05  # of the limit: freed at once, because finding the oldest reads all rows


# ------------------------------------------------------------------------------------------------------------ removing


def remove(
    transaction: Transaction,
    cookie_store_id: str,
    *,
    forever: bool = False,
    extension: str | None = None,
    require_trash: bool = True,
) -> ContextualIdentity:
    """Remove an identity: to the trash, or for ever. Returns its last state.

    One that is removed for ever stays in the change log until LogScrubs deletes it there. `extension` is the extension
    that removes it. Raises TooLargeForTrash; without `require_trash`, an identity that
    is too large is removed for ever.
    """
    row = row_of(transaction, cookie_store_id)
    transaction.load(stores=[row[0]], values=places_of_temporary([row[0]]), last_focused=True)
    cookies = None
    is_temporary = get_record(transaction, temporary_key(row[0])) is not None
    if not forever and not is_temporary:
        stored = dict(transaction.settings.load(PROFILE))
        settings = load_profile_settings(stored)
        own = (
            settings.trash_skips_extensions
            and extension is not None
            and extension == changes.read_maker(transaction, row[0])
        )
        if settings.has_trash and not own:
            cookies = _add(transaction, row, settings, require_trash=require_trash)
    if cookies is None:
        _delete_earlier(transaction, row[0])
        if not is_temporary:
            note_deletion(transaction, row[0])
    return changes.remove(transaction, cookie_store_id, cookies, to_trash=cookies is not None)


def _delete_earlier(transaction: Transaction, user_context_id: int) -> None:
    """Delete what an earlier removal has put into the trash: the identity was then restored from a backup."""
    size = transaction.trash.size(user_context_id)
    if size is not None:
        transaction.trash.delete(user_context_id)
        state = load_state(dict(transaction.settings.load(PROFILE)))
        put_state(transaction, TrashState(max(0, state.bytes - size), state.oldest))
        transaction.changes.append(TRASH_CHANGED, msgspec.json.encode(cookie_store_id_of(user_context_id)))


def _add(
    transaction: Transaction, row: IdentityRow, settings: ProfileSettings, *, require_trash: bool
) -> Sequence[CookieRow] | None:
    """Put an identity into the trash. Returns its cookies, which need not be read again; None if it is too large."""
    size = transaction.site_data.total_bytes(row[0])  # it may not fit into the memory
    archived = read_identity(transaction, row[0], for_trash=True) if size <= settings.trash_bytes else None
    data = b"" if archived is None else encode_identity(msgspec.structs.replace(archived, removed_by=_program()))
    size = max(size, len(data))
    if archived is None or size > settings.trash_bytes:
        if require_trash:
            raise TooLargeForTrash(row[1], cookie_store_id_of(row[0]), size, settings.trash_bytes)
        return None
    if transaction.trash.size(row[0]) is not None:
        _set_aside(transaction, row[0])
    state = load_state(dict(transaction.settings.load(PROFILE)))
    if state.bytes + size > settings.trash_bytes:
        state = _evict(transaction, settings.trash_bytes - size)
    user_context_id, name, icon, color, _ = row
    now = transaction.time()
    counts = len(archived.cookies), len(archived.tabs)
    removed = TrashRow(user_context_id, archived.uuid, name, icon, color, now, *counts, size)
    transaction.trash.put(removed, data)
    oldest = now if state.oldest is None else min(now, state.oldest)
    put_state(transaction, TrashState(state.bytes + size, oldest))
    return archived.cookies


def _program() -> str:
    return program_name().encode("utf-8", "replace").decode()


def _set_aside(transaction: Transaction, user_context_id: int) -> None:
    """Give an earlier entry of the same identity a new id and UUID, because what it has may be newer.

    The identity was restored from a backup, and is removed again. The entry becomes an identity of its own.
    """
    found = transaction.trash.get(user_context_id)
    if found is None:
        return
    row, data = found
    new_id = transaction.identities.insert(row.name, row.icon, row.color)
    uuid = transaction.identities.uuid(new_id) or ""
    transaction.identities.delete(new_id)
    try:
        data = encode_identity(as_other_identity(decode_identity(data, f"{row.name} in the trash"), new_id, uuid))
    except ArchiveError as error:
        logger.warning("%s in the trash stays as it is: %s", row.name, error.problem)
    _delete_earlier(transaction, user_context_id)
    transaction.trash.put(row._replace(id=new_id, uuid=uuid, size=len(data)), data)
    state = load_state(dict(transaction.settings.load(PROFILE)))
    put_state(transaction, TrashState(state.bytes + len(data), state.oldest))
    transaction.changes.append(TRASH_CHANGED, msgspec.json.encode(cookie_store_id_of(new_id)))


def _evict(transaction: Transaction, limit: int) -> TrashState:
    """Delete the identities that were removed first, until the rest has less than `limit` bytes."""
    rows = transaction.trash.find()
    size = sum(row.size for row in rows)
    if size > limit:
        limit -= min(limit, int(size * _EVICTION_SHARE))
    going = 0
    while size > limit:
        size -= rows[going].size
        transaction.trash.delete(rows[going].id)
        transaction.changes.append(TRASH_CHANGED, msgspec.json.encode(cookie_store_id_of(rows[going].id)))
        going += 1
    clear_activity(transaction, [row.id for row in rows[:going]])
    scrub_identities(transaction, [row.id for row in rows[:going]])
    return _state_of(rows[going:])


# ----------------------------------------------------------------------------------------------------------- restoring


def find_in_trash(transaction: Transaction, names_or_ids: Sequence[str]) -> list[TrashRow]:
    """The removed identities with these names or cookieStoreIds, each once. Raises NotInTrash or AmbiguousIdentity."""
    rows = transaction.trash.find()
    by_key: dict[str, list[TrashRow]] = {}
    for row in rows:
        for key in {row.name, cookie_store_id_of(row.id)}:
            by_key.setdefault(key, []).append(row)
    found: dict[int, TrashRow] = {}
    for name_or_id in names_or_ids:
        matching = by_key.get(name_or_id, [])
        if not matching:
            raise NotInTrash(name_or_id, nearest_names(name_or_id, [row.name for row in rows]))
        if len(matching) > 1:
            raise AmbiguousIdentity(name_or_id, [cookie_store_id_of(row.id) for row in matching])
        found[matching[0].id] = matching[0]
    return list(found.values())


def restore(transaction: Transaction, rows: Sequence[TrashRow]) -> list[ContextualIdentity]:
    """Restore removed identities. Raises NotInTrash or IdentityExists, and restores none.

    One that another program has restored meanwhile is returned as it is.
    """
    restored: list[ContextualIdentity] = []
    present = transaction.identities.find_uuids([row.uuid for row in rows])
    state = load_state(dict(transaction.settings.load(PROFILE)))
    for row in rows:
        cookie_store_id = cookie_store_id_of(row.id)
        here = present.get(row.uuid)
        entry = transaction.trash.get(row.id)
        if here is None and entry is None:
            raise NotInTrash(cookie_store_id, [])
        if here is not None and (entry is not None or here != row.id):
            raise IdentityExists(row.name, cookie_store_id_of(here))
        if entry is not None:
            archived = decode_identity(entry[1], f"{row.name} in the trash")
            cookie_store_id = restore_identity(transaction, archived, is_new=True).cookie_store_id
            transaction.trash.delete(row.id)
            state = TrashState(max(0, state.bytes - entry[0].size), state.oldest)
            transaction.changes.append(TRASH_CHANGED, msgspec.json.encode(cookie_store_id_of(row.id)))
        restored.append(get(transaction, cookie_store_id))
    put_state(transaction, state)
    return restored


# ------------------------------------------------------------------------------------------------------------ deleting


def delete_from_trash(transaction: Transaction, rows: Sequence[TrashRow] | None = None) -> list[TrashRow]:
    """Delete these identities, or all, from the trash for ever. Returns those that were there."""
    present = {row.id: row for row in transaction.trash.find()}
    wanted = present.values() if rows is None else [present[row.id] for row in rows if row.id in present]
    return _delete(transaction, list(present.values()), list(wanted))


def expire(transaction: Transaction, *, at_once: bool = False) -> list[TrashRow]:
    """Delete for ever what was removed too long ago, or has no room since the limit was lowered.

    Unless `at_once`, what was removed too long ago stays until the clock is trusted: see hatbox.identities.expiry.
    """
    settings = load_profile_settings(dict(transaction.settings.load(PROFILE)))
    rows = transaction.trash.find()
    now = transaction.time()
    limit = deletion_limit(transaction, now, settings, at_once=at_once)
    expired = [row for row in rows if limit is not None and row.removed < limit]
    is_waiting = any(row.removed < expiry_limit(now, settings) for row in rows[len(expired) :])
    TRASH_EXPIRY.note(transaction, now, is_waiting=is_waiting)
    staying = rows[len(expired) :]
    size = sum(row.size for row in staying)
    while staying and size > settings.trash_bytes:
        expired.append(staying.pop(0))
        size -= expired[-1].size
    return _delete(transaction, rows, expired)


def _delete(transaction: Transaction, rows: Sequence[TrashRow], going: Sequence[TrashRow]) -> list[TrashRow]:
    ids = {row.id for row in going}
    scrub_identities(transaction, ids)
    clear_activity(transaction, ids)
    for row in going:
        transaction.trash.delete(row.id)
        transaction.changes.append(TRASH_CHANGED, msgspec.json.encode(cookie_store_id_of(row.id)))
    put_state(transaction, _state_of([row for row in rows if row.id not in ids]))
    return list(going)


def _state_of(rows: Sequence[TrashRow]) -> TrashState:
    return TrashState(sum(row.size for row in rows), min((row.removed for row in rows), default=None))
