"""The contents of an archive: a manifest, then the rows of one table after the other. Knows no store.

Rows are MessagePack arrays, in the order of the table's key. The manifest has the names of their columns. Every value
is checked before it reaches a profile, because checksums do not protect from an archive that another program has made.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from hatbox.archive.archived_columns import read_columns
from hatbox.archive.block_file import ARCHIVE_VERSION, BlockReader, BlockWriter, ByteSink, ByteSource
from hatbox.cookies.cookie import SameSite
from hatbox.errors import ArchiveDamaged, ArchiveTooNew
from hatbox.identity.ids import MAX_USER_CONTEXT_ID
from hatbox.javascript.text import is_blank
from hatbox.store.profile_copy import COPIED_TABLES, Table, copied_table

__all__ = ["ArchiveManifest", "ArchiveRows", "ArchiveWriter", "Batch"]

Batch: TypeAlias = tuple[Table, list[tuple[Any, ...]]]
"""Rows of one table."""

_MANIFEST: Final = 1
_ROWS: Final = 2
_ORDER: Final = tuple(table.name for table in COPIED_TABLES)
_COUNTERS: Final = ("identities", "windows", "tabs", "rules", "extension_data")
"""The tables whose keys are numbers from a counter of the same name."""
_HEAD: Final = "head"
_MAX_ROWS: Final = 1000  # of a block
_MAX_COUNTER: Final = 2**62
_SAME_SITE: Final = frozenset(each.value for each in SameSite)

_encode = msgspec.msgpack.Encoder().encode
_encode_manifest = msgspec.json.Encoder().encode


class ArchiveManifest(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What an archive contains."""

    created: float
    """When it was made, in seconds since 1970."""
    profile: str
    """The UUID of the profile: its ids belong to the same identities as those of this archive."""
    label: str
    """The name of the profile; contains no password."""
    is_encrypted: bool
    """Whether the profile is encrypted, whose values are plain text in the archive."""
    is_whole: bool
    """Whether it contains a whole profile, and not only some identities."""
    tables: dict[str, list[str]]
    """The columns of each table, in the order of the values in its rows."""
    places: dict[int, int] = {}
    """The places of these identities in the user's order, if it is not whole."""


class ArchiveWriter:
    """Writes an archive. `finish` completes it."""

    def __init__(self, file: ByteSink, manifest: ArchiveManifest) -> None:
        self._blocks = BlockWriter(file)
        self._blocks.write(_MANIFEST, _encode_manifest(manifest))
        self.rows: dict[str, int] = dict.fromkeys(_ORDER, 0)
        """The number of rows that were written, by table."""

    def write(self, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
        """Write rows of a table. Tables in the order of a dump, and rows in the order of the key."""
        for start in range(0, len(rows), _MAX_ROWS):
            self._blocks.write(_ROWS, _encode((table.name, rows[start : start + _MAX_ROWS])))
        self.rows[table.name] += len(rows)

    def finish(self) -> None:
        """Write the end."""
        self._blocks.finish()


class ArchiveRows:
    """Reads an archive once, from its start to its end. Rows have the columns of the current format.

    Raises ArchiveDamaged and ArchiveTooNew.
    """

    def __init__(self, file: ByteSource, source: str) -> None:
        self._source = source
        reader = BlockReader(file, source)
        self._blocks = reader.blocks()
        self.manifest = self._read_manifest()
        self._columns = read_columns(
            {name: copied_table(name) for name in _ORDER},
            self.manifest.tables,
            lambda unknown: ArchiveTooNew(source, reader.version, ARCHIVE_VERSION, unknown),
            source,
        )
        self.rows: dict[str, int] = dict.fromkeys(_ORDER, 0)
        """The number of rows that were read, by table."""
        self._last: dict[str, tuple[Any, ...]] = {}  # the key of the last row, by table
        self._head: dict[str, int] = {}
        self._uuids: set[str] = set()
        self._windows: set[int] = set()

    def batches(self) -> Iterator[Batch]:
        """The rows of all tables. Complete only if the iterator ends without an error."""
        place = 0
        for kind, data in self._blocks:
            if kind != _ROWS:
                raise self._damaged(f"an unknown kind of block: {kind}")
            table, rows = self._decoded(data)
            if (found := _ORDER.index(table.name)) < place:
                raise self._damaged(f"the table {table.name} is in the wrong place")
            place = found
            self._check_order(table, rows)
            self.rows[table.name] += len(rows)
            yield table, rows
        self._check_counters()

    def _read_manifest(self) -> ArchiveManifest:
        kind, data = next(self._blocks, (0, b""))
        if kind != _MANIFEST:
            raise self._damaged("it has no manifest")
        try:
            return msgspec.json.decode(data, type=ArchiveManifest)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._damaged(f"the manifest is invalid: {error}") from error

    def _decoded(self, data: bytes) -> Batch:
        try:
            name, raw = _decode_block(data)
            if name not in self._columns:
                raise self._damaged(f"an unknown table: {name}")
            if _number_of_rows(raw) > _MAX_ROWS:
                raise self._damaged(f"a block has more than {_MAX_ROWS} rows")
            rows = self._columns[name].rows(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise self._damaged(f"invalid rows: {error}") from error
        table = self._columns[name].table
        places = [place for place, kind in enumerate(table.types) if kind == "real"]
        if places and not all(row[place] is None or math.isfinite(row[place]) for row in rows for place in places):
            raise self._damaged(f"a number in the table {name} is not finite")
        self._check_values(table, rows)
        return table, rows

    def _check_values(self, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
        name = table.name
        if name == "cookies" and not _SAME_SITE.issuperset(_values(table, "same_site", rows)):
            raise self._damaged("a cookie has an unknown SameSite value")
        if name == _HEAD:
            in_range = all(0 <= counter <= _MAX_COUNTER for row in rows for counter in row)
            if not in_range or any(number != 1 for number in _values(table, "id", rows)):
                raise self._damaged("the counters are invalid")
        elif name == "identities":
            uuids = _values(table, "uuid", rows)
            ids_are_valid = all(0 < number <= MAX_USER_CONTEXT_ID for number in _values(table, "id", rows))
            if not ids_are_valid or any(map(is_blank, _values(table, "name", rows))) or not all(uuids):
                raise self._damaged("an identity has no valid id, name or UUID")
            before = len(self._uuids)
            self._uuids.update(uuids)
            if len(self._uuids) != before + len(rows):
                raise self._damaged("two identities have the same UUID")
        elif name == "windows":
            self._windows.update(_values(table, "id", rows))
        elif name == "tabs" and not self._windows.issuperset(_values(table, "window", rows)):
            raise self._damaged("a tab is in a window that does not exist")

    def _check_order(self, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
        """Rows are sorted by their key, so no key occurs twice, and the rows of an identity are together."""
        places = [table.place(column) for column in table.key]
        last = self._last.get(table.name)
        for row in rows:
            key = tuple([row[place] for place in places])
            if last is not None and key <= last:
                raise self._damaged(f"the rows of the table {table.name} are in the wrong order")
            last = key
        if last is not None:
            self._last[table.name] = last
        if table.name == _HEAD and rows:
            self._head = dict(zip(table.columns, rows[-1], strict=True))

    def _check_counters(self) -> None:
        """Ids are never given out twice: a counter is not below the highest id."""
        if not self.manifest.is_whole:
            return
        if self.rows[_HEAD] != 1:
            raise self._damaged("the counters are missing")
        if self._head["identities"] > MAX_USER_CONTEXT_ID:
            raise self._damaged("the counters are invalid")
        for name in _COUNTERS:
            if name in self._last and self._last[name][-1] > self._head[name]:
                raise self._damaged(f"the counter of the table {name} is too low")

    def _damaged(self, problem: str) -> ArchiveDamaged:
        return ArchiveDamaged(self._source, f"it is damaged: {problem}")


def _number_of_rows(raw: msgspec.Raw) -> int:
    """The number of rows, from the start of a MessagePack array: rows need much more memory once they are decoded."""
    start = bytes(memoryview(raw)[:3])
    if start[0] >> 4 == 9:
        return start[0] & 15
    return int.from_bytes(start[1:], "big") if start[0] == 0xDC else sys.maxsize


def _values(table: Table, column: str, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The values of a column."""
    place = table.place(column)
    return [row[place] for row in rows]


_decode_block = msgspec.msgpack.Decoder(tuple[str, msgspec.Raw]).decode
