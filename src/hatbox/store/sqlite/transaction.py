"""Transaction on one SQLite connection."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from functools import partial

from hatbox.store.base import Processes
from hatbox.store.encryption import Cipher
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.tables.change_log import SqlChangeLog
from hatbox.store.tables.counters import Counters
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import CHANGES, HEAD, Table
from hatbox.store.tables.transaction import SqlTables

__all__ = ["SqliteTransaction"]


class SqliteTransaction(SqlTables):
    """All tables on one connection. The caller begins and ends the transaction. `label` names the profile in errors."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        processes: Processes,
        clock: Callable[[], float] = time.time,
        cipher: Cipher | None = None,
        label: str = "",
    ) -> None:
        rows: Callable[[Table], Rows] = partial(SqliteRows, connection)
        if cipher is not None:
            from hatbox.store.tables.encrypted_rows import rows_with_cipher  # for encrypted profiles only

            rows = rows_with_cipher(rows, cipher, label)
        self._head = rows(HEAD)
        self.counters = Counters(self._read_head)
        self.changes = SqlChangeLog(rows(CHANGES), self.counters, clock)
        super().__init__(rows, self.counters, processes, clock)

    def flush_counters(self) -> None:
        """Write the counters, if one was incremented."""
        if self.counters.changed:
            self._head.put([self.counters.row()])
            self.counters.changed = False

    def _read_head(self) -> tuple[int, ...]:
        row = self._head.get(1)
        if row is None:
            raise self._head.damage("the row of the table head is missing")
        return row
