"""Rows of the change log, decoded: commits with their authors, and the deletion of changes from older commits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import msgspec

from hatbox.store.base import RESYNC, CommitRecord
from hatbox.store.calls import LoggedChange
from hatbox.store.tables.rows import Rows

__all__ = ["LogEntries", "decode_entries", "encode_entries"]

_RESYNC_ENTRY: Final[LoggedChange] = (RESYNC, msgspec.Raw(b"null"))

encode_entries = msgspec.json.Encoder().encode
decode_entries = msgspec.json.Decoder(list[LoggedChange]).decode


class LogEntries:
    """Reads and scrubs the rows of the change log."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def latest_commits(self, limit: int, before: int | None) -> list[CommitRecord]:
        """See ChangeLog.latest_commits."""
        if before is None:
            found = self._rows.find(f"ORDER BY sequence DESC LIMIT {limit:d}")
        else:
            found = self._rows.find(f"WHERE sequence < ? ORDER BY sequence DESC LIMIT {limit:d}", (before,))
        return [
            CommitRecord(sequence, at / 1000, program, process, machine, self._decoded(changes))
            for sequence, at, _, changes, program, process, machine in found
        ]

    def scrub(
        self, choose: Callable[[Sequence[tuple[str, bytes]]], Collection[int]], pending: list[LoggedChange]
    ) -> None:
        """See ChangeLog.scrub. `pending` are changes that the current commit will log."""
        found = self._rows.find("ORDER BY sequence")
        stored = [(row[0], self._entries(row[3])) for row in found]
        lists = [*(entries for _, entries in stored), pending]
        going = choose([(topic, bytes(raw)) for entries in lists for topic, raw in entries])
        if not going:
            return
        place, chosen = 0, frozenset(going)
        for number, entries in enumerate(lists):
            staying = [each for offset, each in enumerate(entries, place) if offset not in chosen]
            place += len(entries)
            if len(staying) == len(entries):
                continue
            # At the end: what stays is delivered first, and the reload then sees all of it.
            staying = [*(each for each in staying if each[0] != RESYNC), _RESYNC_ENTRY]
            if number < len(stored):
                self._rows.update((stored[number][0],), {"changes": encode_entries(staying)})
            else:
                entries[:] = staying

    def _decoded(self, changes: bytes) -> tuple[tuple[str, bytes], ...]:
        return tuple((topic, bytes(raw)) for topic, raw in self._entries(changes))

    def _entries(self, changes: Any) -> list[LoggedChange]:
        try:
            return decode_entries(changes)
        except msgspec.DecodeError as error:
            raise self._rows.damage("the change log cannot be decoded") from error
