"""Follows the change log: what other processes have committed, once each and in order."""

from __future__ import annotations

from typing import Final, NamedTuple

from hatbox.store.base import RESYNC, ChangeRecord
from hatbox.store.postgres.connection import PostgresConnection, Result, Statement
from hatbox.store.postgres.transaction import (
    SELECT_HEAD,
    ExternalChanges,
    Head,
    decoded_changes,
    head_in,
    select_changes,
    sequence_of,
)
from hatbox.store.tables.row_cipher import LogCipher

__all__ = ["LogFollower"]

_LAST_CHANGE: Final = Statement("SELECT sequence, token FROM changes ORDER BY sequence DESC LIMIT 1")


class _Position(NamedTuple):
    """The last row that subscribers have received."""

    sequence: int
    token: bytes | None
    """None if it is not known: the log was empty, or the row was deleted."""


class LogFollower:
    """The position of this process in the change log. Without subscribers it has none."""

    def __init__(self, label: str, log: LogCipher) -> None:
        self._label = label
        self._log = log
        self._position: _Position | None = None

    @property
    def sequence(self) -> int | None:
        """The number of the last row that subscribers have received; None without subscribers."""
        return None if self._position is None else self._position.sequence

    def start(self, connection: PostgresConnection) -> int:
        """Follow from the next commit on. Returns the number of the last one."""
        head, last = connection.run([SELECT_HEAD, _LAST_CHANGE])
        sequence = sequence_of(head_in(self._label, head))
        self._position = _Position(*last[0]) if last else _Position(sequence, None)
        return self._position.sequence

    def stop(self) -> None:
        """Follow no more."""
        self._position = None

    def read(self, connection: PostgresConnection) -> tuple[Head, ExternalChanges]:
        """The counters, and what other processes have committed since the last row."""
        first = 0 if self._position is None else self._position.sequence
        head_rows, rows = connection.run([SELECT_HEAD, select_changes(first)])
        head = head_in(self._label, head_rows)
        if self._position is None:
            return head, []
        if self._went_back(head, rows):
            last = rows[-1] if rows else (sequence_of(head), None, b"")
            self._position = _Position(last[0], last[1])
            return head, [(self._position.sequence, [ChangeRecord(RESYNC, b"", None)])]
        return head, self._take(rows)

    def committed(self, sequence: int, token: bytes, rows: Result) -> ExternalChanges:
        """Advance to a commit of this process. Returns what others have committed before it, from the log's `rows`."""
        if self._position is None:
            return []
        changes = self._take(rows)
        self._position = _Position(sequence, token)
        return changes

    def _went_back(self, head: Head, rows: Result) -> bool:
        """Whether commits that subscribers have received are gone, as after a failover to a standby that was behind."""
        position = self._position or _Position(0, None)
        if sequence_of(head) < position.sequence:
            return True
        has_row = bool(rows) and rows[0][0] == position.sequence and position.token is not None
        return has_row and rows[0][1] != position.token

    def _take(self, rows: Result) -> ExternalChanges:
        """The changes of the rows after the position, which advances to the last one."""
        new = [row for row in rows if row[0] > (self.sequence or 0)]
        if new:
            self._position = _Position(new[-1][0], new[-1][1])
        return decoded_changes(new, self._log)
