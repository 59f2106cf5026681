"""The columns that an archive states for its rows. Those of an earlier version are completed. Knows no file.

A column that was added since has its default (see store/tables/schema.py), as after an upgrade of a profile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Final

import msgspec

from hatbox.archive.earlier_tabs import without_flags
from hatbox.errors import ArchiveDamaged, ArchiveError, ArchiveTooNew
from hatbox.store.profile_copy import Table

__all__ = ["ArchivedColumns", "read_columns"]

_Integer = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_TYPES: Final[dict[str, Any]] = {"integer": _Integer, "text": str, "real": float, "blob": bytes}
_CONVERSIONS: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {"tabs": without_flags}
"""What else a missing column changes, by table."""


class ArchivedColumns:
    """The columns of the rows that an archive has for a table."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        self.table = table
        self._columns = tuple(columns)

    @cached_property
    def _decode(self) -> Callable[[bytes | msgspec.Raw], list[tuple[Any, ...]]]:
        types = [self._type(column) for column in self._columns]
        decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(list[tuple[*types]])  # type: ignore[valid-type]
        return decoder.decode

    @property
    def is_current(self) -> bool:
        """Whether the rows have the columns of the table, in its order."""
        return self._columns == self.table.columns

    def rows(self, data: bytes | msgspec.Raw) -> list[tuple[Any, ...]]:
        """Decode rows. They have the columns of the table. Raises msgspec.MsgspecError."""
        rows = self._decode(data)
        return rows if self.is_current else [self._completed(row) for row in rows]

    def _type(self, column: str) -> Any:
        kind = _TYPES[self.table.types[self.table.place(column)]]
        return kind | None if column in self.table.nullable else kind

    def _completed(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        values = dict(zip(self._columns, row, strict=True))
        convert = _CONVERSIONS.get(self.table.name)
        return self.table.completed(values if convert is None else convert(values))


def read_columns(
    tables: Mapping[str, Table],
    stated: Mapping[str, Sequence[str]],
    too_new: Callable[[str], ArchiveTooNew],
    source: str,
) -> dict[str, ArchivedColumns]:
    """The columns that an archive states, by table. `too_new` makes the error for an unknown table or column."""
    for name, columns in stated.items():
        if name not in tables:
            raise too_new(f"the table {name}")
        table = tables[name]
        for column in columns:
            if column not in table.columns:
                raise too_new(f"the column {column} of the table {name}")
        if len(set(columns)) != len(columns):
            raise ArchiveDamaged(source, f"it is damaged: the table {name} has a column twice")
        for column in table.columns:
            if column not in columns and column not in dict(table.defaults):
                problem = f"its table {name} has no column {column}, which has no default"
                raise ArchiveError(source, problem, "Nothing was changed. Use another backup.")
    return {name: ArchivedColumns(tables[name], columns) for name, columns in stated.items()}
