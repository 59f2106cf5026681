"""Transaction on one SQLite connection."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from functools import partial

from hatbox.store.base import Processes
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.tables.change_log import SqlChangeLog
from hatbox.store.tables.counters import Counters
from hatbox.store.tables.schema import CHANGES, HEAD
from hatbox.store.tables.transaction import SqlTables

__all__ = ["SqliteTransaction"]


class SqliteTransaction(SqlTables):
    """All tables on one connection. The caller begins and ends the transaction."""

    def __init__(
        self, connection: sqlite3.Connection, processes: Processes, clock: Callable[[], float] = time.time
    ) -> None:
        rows = partial(SqliteRows, connection)
        self.counters = Counters(rows(HEAD))
        self.changes = SqlChangeLog(rows(CHANGES), self.counters, clock)
        super().__init__(rows, self.counters, processes, clock)
