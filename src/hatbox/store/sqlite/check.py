"""Checks a profile for damage, and that all of it can be read. Never changes it.

SQLite's own check compares b-trees, indexes and free pages, and so finds rows that are lost. The checksums find values
that have changed. A profile that other programs have open can be checked too, except for its write-ahead log.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hatbox.errors import DecryptionError, ProfileCorrupt, ProfileError
from hatbox.store.check_results import Problem, Report
from hatbox.store.keys import Key, configured_key
from hatbox.store.sqlite import failures
from hatbox.store.sqlite.failures import in_use, to_opening_error
from hatbox.store.sqlite.header import inspect, require_file, wal_size
from hatbox.store.sqlite.lock import LockBusy, ProfileLock
from hatbox.store.sqlite.migrations import has_tables_of
from hatbox.store.sqlite.profile_file import check_schema_version, real_path, wait_until_named
from hatbox.store.sqlite.rows import SqliteRows, checksum_of
from hatbox.store.sqlite.schema import FORMAT, STATEMENTS
from hatbox.store.sqlite.side_files import check_before_open
from hatbox.store.sqlite.wal import damage_in
from hatbox.store.tables.schema import HEAD, PROFILE, TABLES, Table
from hatbox.store.tables.tab_order import RANGE

if TYPE_CHECKING:
    from hatbox.store.tables.row_cipher import RowCipher

__all__ = ["Examination", "alone_with", "check", "connect_to_read"]

_MAX_PROBLEMS: Final = 100
_BATCH: Final = 200  # rows that are read in one transaction: a longer one would prevent the WAL from being truncated
_DAMAGE: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def check(path: Path) -> Report:
    """Check the profile at `path`. Raises ProfileError if the file is not a profile, or cannot be read."""
    path = real_path(path)
    try:
        with alone_with(path) as alone:
            return _check(path, alone=alone)
    except (OSError, sqlite3.Error) as error:
        raise to_opening_error(path, error) from error


@contextlib.contextmanager
def alone_with(path: Path) -> Iterator[bool]:
    """Lock an existing profile; yields whether the lock is exclusive, so that no program has the profile open."""
    if not os.path.lexists(path):
        raise ProfileError(path, "it does not exist", "Name the file of a profile with --profile.")
    require_file(path)
    check_before_open(path)
    try:
        lock = ProfileLock(path, failures.BUSY_SECONDS)
    except LockBusy as error:
        raise in_use(path, "it is being checked or upgraded") from error
    except OSError:  # a read-only folder without a lock file: other programs cannot be detected
        yield False
        return
    try:
        yield lock.exclusive
    finally:
        lock.release()


def connect_to_read(path: Path, *, alone: bool) -> sqlite3.Connection:
    """A connection that changes no file. Text that is not UTF-8 is no error: its row has a wrong checksum."""
    mode = "ro&immutable=1" if alone and not wal_size(path) else "ro"
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=failures.BUSY_SECONDS,
        check_same_thread=False,  # another thread may interrupt it
    )
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    return connection


def _check(path: Path, *, alone: bool) -> Report:
    problems: list[Problem] = []
    locked = alone
    if locked:
        try:
            alone = not wait_until_named(path, inspect(path)).in_use
        except ProfileCorrupt as error:
            problems.append(Problem("header", error.problem))
    if locked and (damage := damage_in(path)):
        note = "The tables were not checked: what they have depends on the write-ahead log."
        return Report(str(path), FORMAT, {}, (*problems, Problem("write-ahead log", f"it {damage}")), (note,))
    notes = () if locked else ("The write-ahead log was not checked: another program has the profile open.",)
    index = path.with_name(f"{path.name}-shm")
    had_index = index.exists()
    try:
        with contextlib.closing(connect_to_read(path, alone=alone)) as connection:
            if not alone:  # else `inspect` has read the header
                connection.execute("PRAGMA schema_version").fetchone()
            examination = Examination(path, connection, key=configured_key())
            examination.run()
    finally:
        if alone and not had_index:
            index.unlink(missing_ok=True)
    problems += examination.problems
    return Report(str(path), examination.format, examination.rows, tuple(problems), (*notes, *examination.notes))


class Examination:
    """Examines all tables through a connection. `between` is called between batches, and may raise to stop."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        between: Callable[[], None] = lambda: None,
        key: Key | None = None,
    ) -> None:
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.rows: dict[str, int] = {}
        self.format = 0
        self._path = path
        self._connection = connection
        self._between = between
        self._key = key
        self._ciphers: dict[str, RowCipher] = {}
        self._unlisted = 0

    def run(self, *, structure: bool = True) -> None:
        """Find all problems. Raises errors that are no damage: an interrupted statement, an unreadable disk.

        Problems have to be found twice: SQLite reports a page that the disk did not let it read as damage.
        """
        self._run(structure=structure)
        if first := self.problems:
            self.problems, self.notes, self.rows, self._unlisted = [], [], {}, 0
            self._run(structure=structure)
            self.problems = [each for each in self.problems if each in first]
            if self.problems != first:
                self.notes.append("Some problems were not found again. Check the disk: it may have failed to read.")

    def _run(self, *, structure: bool) -> None:
        with self._damage_in("database"):
            self.format = check_schema_version(self._path, self._connection)
            if structure:
                self._examine_structure()
        with self._damage_in("schema"):
            if not self._has_expected_schema():
                self._found("schema", "the tables and indexes are not those of a profile")
                return
        if 0 < self.format < FORMAT:
            self.notes.append(f"Rows have no checksums in format {self.format}. They get them when it is next opened.")
        if self.format == FORMAT:
            self._read_key_check()
            for table in TABLES:
                with self._damage_in(f"table {table.name}"):
                    self._examine_rows(table)
            with self._damage_in("table head"):
                self._examine_counters()
            with self._damage_in("table tab_counts"):
                self._examine_tab_counts()
        if self._unlisted:
            self.notes.append(f"{self._unlisted} more problems are not listed.")

    def _read_key_check(self) -> None:
        from hatbox.store.tables.undecryptable import row_ciphers

        try:
            self._ciphers, problem = row_ciphers(SqliteRows(self._connection, PROFILE), self._key, str(self._path))
        except (sqlite3.DatabaseError, UnicodeError) as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in _DAMAGE:
                raise
            return  # reported with the rows of this table
        if problem:
            self.notes.append(f"Encrypted values were checked for damage, but not decrypted: {problem}.")

    @contextlib.contextmanager
    def _damage_in(self, place: str) -> Iterator[None]:
        self._between()
        try:
            yield
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF not in _DAMAGE:
                raise
            self._found(place, f"SQLite cannot read it ({error})")
        except UnicodeDecodeError:  # of SQLite's own message, which quotes what it found
            self._found(place, "SQLite cannot read it")

    def _found(self, place: str, problem: str) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(Problem(place, problem))
        else:
            self._unlisted += 1

    def _examine_structure(self) -> None:
        self._connection.execute("PRAGMA cell_size_check = ON")
        for (line,) in self._connection.execute(f"PRAGMA integrity_check({_MAX_PROBLEMS})"):
            for problem in str(line).splitlines():
                if problem != "ok" and not problem.startswith("***"):
                    self._found("database", problem)

    def _has_expected_schema(self) -> bool:
        if self.format != FORMAT:
            return has_tables_of(self._connection, self.format)
        with contextlib.closing(sqlite3.connect(":memory:")) as model:
            for table in TABLES:
                for statement in STATEMENTS[table.name]:
                    model.execute(statement)
            return _schema_of(model) == _schema_of(self._connection)

    def _examine_rows(self, table: Table) -> None:
        self.rows[table.name] = 0
        for key, row in self._rows_of(table):
            try:
                is_right = checksum_of(table, row[:-1]) == row[-1]
            except (TypeError, UnicodeEncodeError):  # text that is not UTF-8
                is_right = False
            if not is_right:
                self._found(f"table {table.name}", f"the row {_shown(key)} has a wrong checksum")
            elif not self._can_decrypt(table, row[:-1]):
                self._found(
                    f"table {table.name}", f"the row {_shown(key)} was changed or moved: it cannot be decrypted"
                )
            else:
                self.rows[table.name] += 1

    def _can_decrypt(self, table: Table, row: tuple[Any, ...]) -> bool:
        """Whether a row can be decrypted; True if the profile is not encrypted, or its key is not known."""
        if table.name not in self._ciphers:
            return True
        try:
            self._ciphers[table.name].decrypted(row)
        except DecryptionError:
            return False
        return True

    def _rows_of(self, table: Table) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """The key, the values and the checksum of each row, read in batches in the order of the b-tree."""
        order = _primary_key(self._connection, table)
        columns = ", ".join(f'"{column}"' for column in (*order, *table.columns, "checksum"))
        keys = ", ".join(f'"{column}"' for column in order)
        select = f"SELECT {columns} FROM {table.name}"
        after = f" WHERE ({keys}) > ({', '.join('?' * len(order))})"
        last: tuple[Any, ...] = ()
        while True:
            found = self._connection.execute(f"{select}{after if last else ''} ORDER BY {keys} LIMIT {_BATCH}", last)
            count = 0
            for row in found:
                count += 1
                key = row[: len(order)]
                yield key, row[len(order) :]
            if count < _BATCH:
                return
            if not _is_after(key, last):
                self._found(f"table {table.name}", "its rows are not in order")
                return
            last = key
            self._between()

    def _examine_counters(self) -> None:
        # One statement, so that all tables are read as of one commit.
        counted = [table for table in TABLES if table.name in HEAD.columns and len(table.key) == 1]
        highest = [f"(SELECT max({table.key[0]}) FROM {table.name})" for table in counted]
        columns = ", ".join(["id", *(table.name for table in counted), *highest])
        heads = self._connection.execute(f"SELECT {columns} FROM head LIMIT 2").fetchall()
        if len(heads) != 1 or heads[0][0] != 1:
            self._found("table head", "it must have one row, with the id 1")
            return
        numbers, found = heads[0][1 : len(counted) + 1], heads[0][len(counted) + 1 :]
        for table, number, used in zip(counted, numbers, found, strict=True):
            if used is not None and used > number:
                problem = f"the last number of {table.name} is {number}, but a row has {used}"
                self._found("table head", problem)

    def _examine_tab_counts(self) -> None:
        # One statement, so that both tables are read as of one commit.
        counted = "SELECT window, block, tabs, pinned, 1 FROM tab_counts"
        query = f"{counted} UNION ALL SELECT window, position, 1, pinned, 0 FROM tabs"
        found: dict[bool, Counter[tuple[Any, ...]]] = {True: Counter(), False: Counter()}
        for window, place, tabs, pinned, is_count in self._connection.execute(query):
            key = (window, place if is_count else place // RANGE)
            found[bool(is_count)].update({(*key, "tabs"): tabs, (*key, "pinned"): pinned})
        if found[True] != found[False]:
            self._found("table tab_counts", "the numbers of tabs are not those of the table tabs")


def _schema_of(connection: sqlite3.Connection) -> Counter[tuple[Any, ...]]:
    # Not sqlite_sequence, which a file that was upgraded from format 4 or earlier still has: SQLite never drops it.
    query = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name <> 'sqlite_sequence'"
    return Counter(connection.execute(query))


def _primary_key(connection: sqlite3.Connection, table: Table) -> tuple[str, ...]:
    """The columns along which the b-tree of a table is ordered."""
    if "WITHOUT ROWID" not in STATEMENTS[table.name][0]:
        return ("rowid",)
    info = connection.execute(f"PRAGMA table_info({table.name})").fetchall()
    return tuple(name for _, name, *_, part in sorted(info, key=lambda column: int(column[5])) if part)


def _is_after(key: tuple[Any, ...], last: tuple[Any, ...]) -> bool:
    """Whether the keys are in order. In a damaged b-tree with a cycle they are not."""
    try:
        return key > last
    except TypeError:
        return False


def _shown(key: tuple[Any, ...]) -> str:
    return " ".join(str(part).encode("utf-8", "backslashreplace").decode() for part in key if part != "")
