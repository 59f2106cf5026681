"""Follows the change log: what other processes have committed, once each and in order."""

from __future__ import annotations

import itertools
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
    """The position of this process in the change log. Without subscribers it has none. For one thread."""

    def __init__(self, label: str, log: LogCipher) -> None:
        self._label = label
        self.is_following = False
        """Whether there are subscribers."""
        self._position: _Position | None = None  # None if it follows, but could not reach the server yet
        self._log = log

    @property
    def sequence(self) -> int | None:
        """The number of the last row that subscribers have received; None if it is not known."""
        return None if self._position is None else self._position.sequence

    def start(self, connection: PostgresConnection) -> int:
        """Follow from the next commit on. Returns the number of the last one."""
        self.is_following, self._position = True, None  # also if this fails: `read` starts it then
        head, last = connection.run([SELECT_HEAD, _LAST_CHANGE])
        sequence = sequence_of(head_in(self._label, head))
        self._position = _Position(*last[0]) if last else _Position(sequence, None)
        return self._position.sequence

    def forget(self) -> None:
        """The caller of `start` did not get its result in time: `read` starts again, with a resync."""
        self._position = None

    def stop(self) -> None:
        """Follow no more."""
        self.is_following = False
        self._position = None

    def read(self, connection: PostgresConnection, before: bytes | None = None) -> tuple[Head, ExternalChanges]:
        """The counters, and what other processes have committed since the last row.

        `before` is the token of a commit of this process: that one and later ones are read later.
        """
        if not self.is_following:
            return head_in(self._label, connection.run([SELECT_HEAD])[0]), []
        if self._position is None:
            return self._resync(connection)
        head_rows, rows = connection.run([SELECT_HEAD, select_changes(self._position.sequence)])
        head = head_in(self._label, head_rows)
        if self._went_back(head, rows):
            return self._resync(connection)
        if before is not None:
            rows = list(itertools.takewhile(lambda row: row[1] != before, rows))
        return head, self._take(rows)

    def _resync(self, connection: PostgresConnection) -> tuple[Head, ExternalChanges]:
        """Follow from the next commit on. Subscribers have to reload: what they missed is not known."""
        head = head_in(self._label, connection.run([SELECT_HEAD])[0])
        return head, [(self.start(connection), [ChangeRecord(RESYNC, b"", None)])]

    def committed(self, sequence: int, token: bytes, rows: Result) -> ExternalChanges:
        """Advance to a commit of this process. Returns what others have committed before it, from the log's `rows`."""
        if self._position is None:
            return []
        changes = self._take(rows)
        if self._position.sequence < sequence - 1:  # some were pruned before they were read
            changes = [(sequence - 1, [ChangeRecord(RESYNC, b"", None)])]
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
        changes = decoded_changes(new, self._log)
        if new:
            self._position = _Position(new[-1][0], new[-1][1])
        return changes
