"""Finds the undamaged rows of a damaged profile: every row with a valid checksum, in any page.

Reads bytes, without SQLite: a damaged b-tree, index or header hides no row. The checksum shows whether a row is valid
and to which table it belongs. Changes nothing.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from hatbox.store.sqlite.earlier_formats import EARLIER_ROWS
from hatbox.store.sqlite.records import Record, Value, has_records, listed_records, records_anywhere
from hatbox.store.sqlite.rows import checksum_of
from hatbox.store.sqlite.schema import STATEMENTS
from hatbox.store.sqlite.wal import LoggedPage, committed_pages
from hatbox.store.tables.schema import TABLES, Table

__all__ = ["Salvage"]

_PAGE_SIZE: Final = 4096  # what SQLite gives a new file


class _Shape(NamedTuple):
    """How SQLite stores the rows of a table."""

    table: Table
    stored: tuple[str, ...]
    """The columns in the order in which a record has them."""
    rowid: str | None
    """The column that is the row id itself, and NULL in the record."""
    has_rowid: bool
    reals: frozenset[str]
    """Columns in which a record may have 2 for 2.0."""
    completed: Callable[[Sequence[Value]], tuple[Value, ...]] = tuple
    """Returns a row with the columns of the current format."""

    def fits(self, record: Record) -> bool:
        if len(record.values) != len(self.stored) or (record.rowid is not None) != self.has_rowid:
            return False
        return self.rowid is None or record.values[self.stored.index(self.rowid)] is None

    def row(self, record: Record) -> tuple[Value, ...] | None:
        """The values in the order of the table's columns; None if the checksum is not theirs."""
        found = dict(zip(self.stored, record.values, strict=True))
        if self.rowid is not None:
            found[self.rowid] = record.rowid
        for column in self.reals:
            value = found[column]
            found[column] = float(value) if isinstance(value, int) else value
        row = tuple(found[column] for column in self.table.columns)
        if checksum_of(self.table, row) != found["checksum"]:
            return None
        return self.completed(row)


class Salvage:
    """Reads all pages of a profile and of its write-ahead log. Only for a profile that no process has open."""

    def __init__(self, path: Path) -> None:
        self.damaged: Counter[str] = Counter()
        """The number of rows with a wrong checksum, by table."""
        self.unreadable = 0
        """The number of unreadable cells, whose table is unknown."""
        self._path = path
        self._wal = path.with_name(f"{path.name}-wal")
        self._shapes = list(_shapes())
        self._columns = {len(shape.stored) for shape in self._shapes}

    def rows(self) -> Iterator[tuple[Table, tuple[Value, ...]]]:
        """Every row with a valid checksum. If a key occurs twice, the later row is newer."""
        page_size, logged = committed_pages(self._wal)
        self._newest = {page.number: page for page in logged if page.valid}
        with self._path.open("rb") as self._file, (self._wal if logged else self._path).open("rb") as self._log:
            self._page_size = page_size or _page_size_of(self._file)
            self._count = self._file.seek(0, 2) // self._page_size
            yield from self._rows_of_all(logged)

    def _rows_of_all(self, logged: Sequence[LoggedPage]) -> Iterator[tuple[Table, tuple[Value, ...]]]:
        self._chained: set[int] = set()
        unknown: list[int] = []
        for number in range(1, self._count + 1):
            if number in self._newest:
                continue
            page = self._page(number)
            if page is None or not any(page):
                continue
            if has_records(page, number) is None:
                unknown.append(number)
            else:
                yield from self._rows_in(page, number)
        for place in logged:
            newest = self._newest.get(place.number)
            # A page that does not match its checksum may have most of its rows; a newer one has them all.
            if newest == place or (not place.valid and (newest is None or newest.offset < place.offset)):
                page = self._logged(place)
                if has_records(page, place.number) is not None or not place.valid:
                    yield from self._rows_in(page, place.number)
        for number in unknown:  # pages of long values are not, and these may have been pages with records
            page = self._page(number)
            if page is not None and number not in self._chained:
                yield from self._right(records_anywhere(page, number, self._columns, self._page))

    def _rows_in(self, page: bytes, number: int) -> Iterator[tuple[Table, tuple[Value, ...]]]:
        lists = has_records(page, number)
        if lists is False:
            return
        unreadable, names, is_sound = 0, set(), bool(lists)
        for record in listed_records(page, number, self._chain) if lists else ():
            if record is None:
                unreadable += 1
                continue
            fitting = [shape for shape in self._shapes if shape.fits(record)]
            rows = [(shape.table, row) for shape in fitting if (row := shape.row(record)) is not None]
            names |= {table.name for table, _ in rows}
            yield from rows
            if fitting and not rows:
                self.damaged[fitting[0].table.name] += 1
                is_sound = False
        if len(names) == 1:  # a page has rows of one table only
            self.damaged[names.pop()] += unreadable
        else:
            self.unreadable += unreadable
        if unreadable or not is_sound:
            yield from self._right(records_anywhere(page, number, self._columns, self._chain))

    def _right(self, records: Iterator[Record]) -> Iterator[tuple[Table, tuple[Value, ...]]]:
        for record in records:
            for shape in self._shapes:
                if shape.fits(record) and (row := shape.row(record)) is not None:
                    yield shape.table, row

    def _chain(self, number: int) -> bytes | None:
        self._chained.add(number)
        return self._page(number)

    def _page(self, number: int) -> bytes | None:
        """The newest version of a page."""
        if place := self._newest.get(number):
            return self._logged(place)
        if not 1 <= number <= self._count:
            return None
        self._file.seek((number - 1) * self._page_size)
        return self._file.read(self._page_size)

    def _logged(self, place: LoggedPage) -> bytes:
        self._log.seek(place.offset)
        return self._log.read(self._page_size)


def _page_size_of(file: BinaryIO) -> int:
    file.seek(16)
    size = int.from_bytes(file.read(2), "big")
    size = 65536 if size == 1 else size
    return size if size in {2**power for power in range(9, 17)} else _PAGE_SIZE


def _shapes() -> Iterator[_Shape]:
    connection = sqlite3.connect(":memory:")
    try:
        for table in TABLES:
            yield _shape_of(connection, table, STATEMENTS[table.name][0])
        for earlier in EARLIER_ROWS:
            connection.execute(f"DROP TABLE {earlier.table.name}")
            yield _shape_of(connection, earlier.table, earlier.statement)._replace(completed=earlier.completed)
    finally:
        connection.close()


def _shape_of(connection: sqlite3.Connection, table: Table, statement: str) -> _Shape:
    connection.execute(statement)
    info = connection.execute(f"PRAGMA table_info({table.name})").fetchall()
    kinds = {name: kind for _, name, kind, *_ in info}
    keys = [name for _, name, *_, part in sorted(info, key=lambda column: column[5]) if part]
    has_rowid = "WITHOUT ROWID" not in statement
    stored = tuple(kinds) if has_rowid else (*keys, *(name for name in kinds if name not in keys))
    rowid = keys[0] if has_rowid and len(keys) == 1 and kinds[keys[0]] == "INTEGER" else None
    reals = frozenset(name for name, kind in kinds.items() if kind == "REAL")
    return _Shape(table, stored, rowid, has_rowid, reals)
