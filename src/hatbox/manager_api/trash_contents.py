"""Facts of the archives of removed identities: the number of sites, and the program that has removed them.

Only the last removed identities are read, up to a size, and each once.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from hatbox.archive.identity_archive import summarize
from hatbox.cookies.cookie_sites import host_of
from hatbox.errors import ArchiveError
from hatbox.manager_api.partial_reads import read_parts
from hatbox.manager_api.program_labels import program_label
from hatbox.store.base import Store, Transaction, TrashRow

__all__ = ["RemovedContents", "TrashContents"]

_MAX_ROWS: Final = 200
_MAX_BYTES: Final = 8 * 2**20
_CACHED: Final = 1_000

_Key: TypeAlias = tuple[str, float]


class RemovedContents(NamedTuple):
    """What an archive says. None: it was not read, or does not say it."""

    sites: int | None = None
    removed_by: str | None = None


class TrashContents:
    """The contents of removed identities. Has the last ones in memory: an archive in the trash never changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[_Key, RemovedContents] = OrderedDict()

    async def of(self, rows: Sequence[TrashRow]) -> dict[int, RemovedContents]:
        """The contents of these rows by id, the last removed first. Those that are not read are left out."""
        unknown = [row for row in _bounded(rows) if _key(row) not in self._known]
        archives = [each for part in await read_parts(self._store, unknown, _read) for each in part]
        for row, data in archives:
            self._known[_key(row)] = await asyncio.to_thread(_contents, data)
        found = {row.id: self._known[_key(row)] for row in rows if _key(row) in self._known}
        while len(self._known) > _CACHED:
            self._known.popitem(last=False)
        return found


def _key(row: TrashRow) -> _Key:
    return row.uuid, row.removed


def _bounded(rows: Sequence[TrashRow]) -> Iterator[TrashRow]:
    left = _MAX_BYTES
    for row in rows[:_MAX_ROWS]:
        if row.size <= left:
            left -= row.size
            yield row


def _read(transaction: Transaction, rows: Sequence[TrashRow]) -> list[tuple[TrashRow, bytes]]:
    found = ((row, transaction.trash.get(row.id)) for row in rows)
    return [(row, entry[1]) for row, entry in found if entry is not None and _key(entry[0]) == _key(row)]


def _contents(data: bytes) -> RemovedContents:
    try:
        summary = summarize(data)
    except ArchiveError:
        return RemovedContents()
    sites = {host_of(domain) for domain in summary.domains}
    return RemovedContents(len(sites), program_label(summary.removed_by) or None)
