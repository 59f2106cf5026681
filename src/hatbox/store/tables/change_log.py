"""The change log: one row per commit with all its changes, for subscribers in other processes and for the activity.

It is bounded in time and in bytes. A subscriber that falls behind further receives RESYNC. The last handle that closes
a profile empties the log, so that it contains no value of a deleted row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

import msgspec

from hatbox.store.base import ChangeRecord, CommitRecord
from hatbox.store.processes import current_process, program_name
from hatbox.store.tables.counters import Counters
from hatbox.store.tables.log_entries import LogEntries, decode_entries, encode_entries
from hatbox.store.tables.rows import Rows

__all__ = ["RETENTION_SECONDS", "SqlChangeLog"]

RETENTION_SECONDS: Final = 600
_MAX_BYTES: Final = 8 * 2**20
_PRUNE_EVERY: Final = 256  # commits
_PRUNE_BYTES: Final = 2**20
_PRUNE_ROWS: Final = 1000


class SqlChangeLog:
    """ChangeLog in SQL."""

    def __init__(self, rows: Rows, counters: Counters, clock: Callable[[], float]) -> None:
        self._rows = rows
        self._clock = clock
        self._counters = counters
        process = current_process()
        self._author = (program_name(), process.pid, process.machine)
        self._pruned = 0  # the total bytes ever logged, at the last pruning
        self.appended: list[tuple[str, msgspec.Raw]] = []
        """The changes of the current call; when the row is written, those of the transaction."""
        self.earlier: list[tuple[str, msgspec.Raw]] = []
        """The changes of earlier calls in the same transaction."""

    def append(self, topic: str, payload: bytes) -> None:
        self.appended.append((topic, msgspec.Raw(payload)))

    def latest_commits(self, limit: int, before: int | None = None) -> list[CommitRecord]:
        return LogEntries(self._rows).latest_commits(limit, before)

    def scrub(self, choose: Callable[[Sequence[tuple[str, bytes]]], Collection[int]]) -> None:
        LogEntries(self._rows).scrub(choose, self.earlier)

    def write(self) -> int:
        """Write the row of the current transaction; returns its number."""
        changes = encode_entries(self.appended)
        sequence = self._counters.increment("changes")
        logged = self._counters.increment("logged", len(changes))
        self.insert(sequence, logged, changes)
        if sequence % _PRUNE_EVERY == 0 or logged - self._pruned > _PRUNE_BYTES:
            self.prune()
        return sequence

    def insert(self, sequence: int, logged: int, changes: bytes) -> None:
        """Insert a row. Does not change the counters."""
        self._rows.insert((sequence, self._now(), logged, changes, *self._author))

    def after(self, sequence: int) -> list[tuple[int, list[ChangeRecord]]]:
        """The rows after the one with this number."""
        try:
            return [
                (number, [ChangeRecord(topic, bytes(raw), None) for topic, raw in decode_entries(changes)])
                for number, _, _, changes, *_ in self._rows.find("WHERE sequence > ? ORDER BY sequence", (sequence,))
            ]
        except msgspec.DecodeError as error:
            raise self._rows.damage("the change log cannot be decoded") from error

    def latest(self) -> int:
        """The number of the newest row; 0 before the first one."""
        self._counters.reset()
        return self._counters.get("changes")

    def prune(self) -> bool:
        """Delete rows beyond the limits of age and size, but not the newest. Returns whether rows remain."""
        self._pruned = self._counters.get("logged")
        newest, oldest_byte = self._counters.get("changes"), self._pruned - _MAX_BYTES
        earliest = self._now() - RETENTION_SECONDS * 1000
        while rows := self._rows.select("sequence, at, logged", "ORDER BY sequence LIMIT ?", (_PRUNE_ROWS,)):
            expired = 0
            for sequence, at, logged in rows:
                if at >= earliest and (logged > oldest_byte or sequence == newest):
                    break
                expired = sequence
            if not expired:
                return True
            self._rows.delete("sequence <= ?", (expired,))
        return False

    def _now(self) -> int:
        """Milliseconds since 1970."""
        return int(self._clock() * 1000)
