"""The activity of a profile, read from the commits in its change log in parts: the log has up to 8 MiB."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from itertools import groupby
from typing import Final

import msgspec

from hatbox.engines.running_engines import find_records
from hatbox.extension_data import installed_extensions as installed
from hatbox.identity.ids import container_user_context_id, cookie_store_id_of
from hatbox.manager_api.activity.activity_entries import (
    ActivityEntry,
    ActivityNames,
    ObservedCommit,
    ShownIdentity,
    entries_of,
    observed,
    stores_in,
)
from hatbox.manager_api.partial_reads import read_parts
from hatbox.store.base import CommitRecord, Store, Transaction

__all__ = ["NewEntries", "entries_after", "last_sequence", "latest_entries", "shown_identities"]

_BATCH: Final = 200  # commits that are read at a time
_NEW_BATCH: Final = 20
_MAX_NEW: Final = 400  # commits that are read for one event
_MAX_COMMITS: Final = 20_000


class NewEntries(msgspec.Struct, frozen=True):
    """The entries with commits after a number."""

    last: int
    """The number of the last commit."""
    entries: list[ActivityEntry]
    """The newest first. Those that grew are complete."""
    is_complete: bool = True
    """Whether these are all."""


async def latest_entries(
    store: Store, limit: int, before: int | None = None, cookie_store_id: str | None = None
) -> list[ActivityEntry]:
    """At least `limit` entries, if the log has so many, the newest first. Seconds are not divided.

    `before` is the `first_sequence` of an entry: only earlier commits are read.
    """
    entries: list[ActivityEntry] = []
    rest: list[ObservedCommit] = []  # the commits of the last second, which may have more in the next batch
    async for commits in _batches(store, before, _BATCH, _MAX_COMMITS):
        seconds = _by_second(rest + await asyncio.to_thread(observed, commits))
        rest = seconds.pop()
        for second in seconds:
            entries += await _entries(store, second, cookie_store_id)
            if len(entries) >= limit:
                return entries
    return entries + await _entries(store, rest, cookie_store_id)


async def entries_after(store: Store, sequence: int) -> NewEntries:
    """The entries with commits after a number."""
    found: list[CommitRecord] = []
    second: int | None = None  # of the first new commit: its entries are complete with earlier ones of that second
    async for commits in _batches(store, None, _NEW_BATCH, _MAX_NEW):
        for commit in commits:
            if commit.sequence > sequence:
                second = int(commit.time)
            elif second is None or int(commit.time) < second:
                return await _new_entries(store, sequence, found)
            found.append(commit)
    is_complete = len(found) < _MAX_NEW or found[-1].sequence <= sequence
    return await _new_entries(store, sequence, found, is_complete=is_complete)


def last_sequence(transaction: Transaction) -> int:
    """The number of the last commit in the log; 0 if it is empty."""
    return next((each.sequence for each in transaction.changes.latest_commits(1)), 0)


async def _new_entries(
    store: Store, sequence: int, found: Sequence[CommitRecord], *, is_complete: bool = True
) -> NewEntries:
    entries = await _entries(store, await asyncio.to_thread(observed, found), None)
    last = max([sequence, *(each.sequence for each in found[:1])])
    return NewEntries(last, [each for each in entries if each.sequence > sequence], is_complete)


async def _batches(store: Store, before: int | None, size: int, limit: int) -> AsyncIterator[list[CommitRecord]]:
    while limit > 0 and (found := await _commits(store, before, size)):
        yield found
        before = found[-1].sequence
        limit -= len(found)


async def _commits(store: Store, before: int | None, size: int) -> list[CommitRecord]:
    await asyncio.sleep(0)
    return await store.read(lambda transaction: transaction.changes.latest_commits(size, before))


def _by_second(commits: Sequence[ObservedCommit]) -> list[list[ObservedCommit]]:
    return [list(each) for _, each in groupby(commits, key=lambda each: int(each[0].time))]


async def _entries(store: Store, commits: Sequence[ObservedCommit], cookie_store_id: str | None) -> list[ActivityEntry]:
    if not any(found for _, found in commits):
        return []
    names = await _names(store, stores_in(commits))
    return await asyncio.to_thread(entries_of, commits, names, cookie_store_id)


async def _names(store: Store, cookie_store_ids: Sequence[str]) -> ActivityNames:
    """The names as they are now."""
    identities = await shown_identities(store, cookie_store_ids)
    return msgspec.structs.replace(await store.read(_other_names), identities=identities)


async def shown_identities(store: Store, cookie_store_ids: Collection[str]) -> dict[str, ShownIdentity]:
    """Identities as they are now, those in the trash too."""
    parts = await read_parts(store, [*cookie_store_ids], _identities)
    identities = {cookie_store_id: shown for part in parts for cookie_store_id, shown in part.items()}
    if any(each not in identities for each in cookie_store_ids):
        identities = {**await store.read(_trash), **identities}
    return identities


def _identities(transaction: Transaction, cookie_store_ids: Sequence[str]) -> dict[str, ShownIdentity]:
    numbers = [container_user_context_id(each) or 0 for each in cookie_store_ids]
    rows = transaction.identities.get_many(numbers)
    return {cookie_store_id_of(row[0]): ShownIdentity(row[1], row[3], row[2]) for row in rows}


def _trash(transaction: Transaction) -> dict[str, ShownIdentity]:
    return {
        cookie_store_id_of(row.id): ShownIdentity(row.name, row.color, row.icon) for row in transaction.trash.find()
    }


def _other_names(transaction: Transaction) -> ActivityNames:
    extensions = {each.area: each.name for each in installed.get_all(transaction)}
    running = [each for each in find_records(transaction) if each.process is not None]
    return ActivityNames({}, extensions, {(each.machine, each.pid or 0): each.engine for each in running})
