"""Reads all rows of a profile for a copy, in batches. The caller's transaction makes them those of one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from hatbox.store.profile_copy import COPIED_TABLES, ProfileDump
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import PROFILE, Table

__all__ = ["dump"]

_MAX_ROWS: Final = 1000  # of a batch
_MAX_BYTES: Final = 2**20  # of a batch with more than one row


def dump(label: str, rows: Callable[[Table], Rows]) -> ProfileDump:
    """The rows of a profile. `rows` gives access to the rows of a table."""
    profile = rows(PROFILE).get(1)
    if profile is None:
        raise rows(PROFILE).damage("the row of the table profile is missing")
    uuid, key_check, _ = profile
    counts = {table.name: int(rows(table).select("count(*)")[0][0]) for table in COPIED_TABLES}
    batches = ((table, batch) for table in COPIED_TABLES for batch in _batches(table, rows, counts[table.name]))
    return ProfileDump(label, uuid, key_check is not None, counts, batches)


def _batches(table: Table, rows: Callable[[Table], Rows], count: int) -> Iterator[list[tuple[Any, ...]]]:
    keys = ", ".join(table.key)
    after = f"WHERE ({keys}) > ({', '.join('?' * len(table.key))})"
    order = f"ORDER BY {keys} LIMIT ?"
    key_columns = [table.columns.index(column) for column in table.key]
    where, last = "", ()
    read = 0
    while read < count:
        access = rows(table)  # for each batch: it may cache what was read
        sizes = access.select(_size_of_row(table), f"{where} {order}", (*last, _MAX_ROWS))
        batch = access.find(f"{where} {order}", (*last, _number_that_fits(sizes)))
        if not batch:
            break
        read += len(batch)
        yield batch
        where, last = after, tuple(batch[-1][column] for column in key_columns)
    if read != count:  # an index and its table differ
        raise rows(table).damage(f"the table {table.name} has {count} rows, but {read} were read")


def _size_of_row(table: Table) -> str:
    """An expression for about the size of a row. Databases know it without reading a long value."""
    long = [name for name, kind in zip(table.columns, table.types, strict=True) if kind in ("text", "blob")]
    return " + ".join(["0", *(f'coalesce(length("{name}"), 0)' for name in long)])


def _number_that_fits(sizes: list[tuple[Any, ...]]) -> int:
    number, total = 0, 0
    for (size,) in sizes:
        total += size
        if number and total > _MAX_BYTES:
            break
        number += 1
    return number
