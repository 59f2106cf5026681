"""The rows of an archive, table by table and identity by identity, in the order of the file. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from hatbox.archive.archive_rows import Batch
from hatbox.store.profile_copy import COPIED_TABLES, selected

__all__ = ["Row", "TableStream", "by_identity"]

Row = tuple[Any, ...]

_NAMES: Final = [table.name for table in COPIED_TABLES]


class TableStream:
    """Gives the rows of one table after the other. Tables must be requested in the order of the file."""

    def __init__(self, batches: Iterable[Batch], on_rows: Callable[[int], None] = lambda _: None) -> None:
        """`on_rows` is called with the number of rows in each batch, after they were used."""
        self._groups = groupby(batches, key=lambda batch: batch[0].name)
        self._on_rows = on_rows
        self._next = next(self._groups, None)

    def rows(self, name: str, *columns: str) -> Iterator[Row]:
        """These columns of the rows of a table; none if the archive has none. Tables before it are skipped."""
        while self._next is not None and self._next[0] != name:
            if name not in self._remaining(self._next[0]):
                return
            self._skip()
        if self._next is not None:
            for table, batch in self._next[1]:
                yield from selected(table, batch, *columns)
                self._on_rows(len(batch))
            self._next = next(self._groups, None)

    def finish(self) -> None:
        """Read to the end, where the checksum of the whole is compared."""
        while self._next is not None:
            self._skip()

    def _skip(self) -> None:
        if self._next is not None:
            for _, batch in self._next[1]:
                self._on_rows(len(batch))
            self._next = next(self._groups, None)

    @staticmethod
    def _remaining(name: str) -> Sequence[str]:
        """The tables after this one."""
        return _NAMES[_NAMES.index(name) + 1 :]


def by_identity(rows: Iterator[Row], wanted: Sequence[int]) -> Iterator[tuple[int, Iterator[Row]]]:
    """The rows of each wanted identity, in ascending order, also of those without rows.

    The first value of a row is its identity. Rows are sorted by it.
    """
    waiting = deque(sorted(wanted))
    for number, group in groupby(rows, key=lambda row: row[0]):
        while waiting and waiting[0] < number:
            yield waiting.popleft(), iter(())
        if waiting and waiting[0] == number:
            yield waiting.popleft(), group
    while waiting:
        yield waiting.popleft(), iter(())
