"""What the tables of a profile contain, as numbers. Reads no value that may be encrypted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from hatbox.store.profile_info import LastChange
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import CHANGES, EXTENSION_DATA, PROFILE, TABLES, Table

__all__ = ["Summary", "summarize"]

_INSTALLED: Final = "installed"  # the kind of the rows that hatbox.extension_data.installed_extensions writes


class Summary(NamedTuple):
    """The fields of ProfileInfo that are read from the tables."""

    uuid: str
    is_encrypted: bool
    rows: dict[str, int]
    extensions: int
    last_change: LastChange | None


def summarize(rows: Callable[[Table], Rows]) -> Summary:
    """Count the rows of all tables, inside a transaction. `rows` gives access to the rows of a table."""
    profile = rows(PROFILE).get(1)
    if profile is None:
        raise rows(PROFILE).damage("the row of the table profile is missing")
    uuid, key_check, _ = profile
    latest = rows(CHANGES).select("at, program, process, machine", "ORDER BY sequence DESC LIMIT 1")
    return Summary(
        uuid,
        key_check is not None,
        {table.name: _count(rows(table)) for table in TABLES},
        _count(rows(EXTENSION_DATA), "WHERE kind = ?", _INSTALLED),
        next((LastChange(at / 1000, *author) for at, *author in latest), None),
    )


def _count(rows: Rows, rest: str = "", *values: str) -> int:
    ((count,),) = rows.select("count(*)", rest, values)
    return int(count)
