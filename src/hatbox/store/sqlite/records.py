"""Records in the raw pages of a SQLite file, read without its b-trees, indexes or header. Knows no table.

Every byte may be damaged: bytes that do not have the form of a record are skipped, without an error.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

__all__ = ["Record", "Value", "has_records", "listed_records", "records_anywhere"]

Value: TypeAlias = str | bytes | int | float | None
PageOf: TypeAlias = Callable[[int], bytes | None]
"""The page with this number; None if the file has none."""

_TABLE_LEAF: Final = 13
_TABLE_INTERIOR: Final = 5
_INDEX_LEAF: Final = 10
_INDEX_INTERIOR: Final = 2
_FILE_HEADER: Final = 100
_INTEGER_SIZES: Final = (0, 1, 2, 3, 4, 6, 8)


class Record(NamedTuple):
    """A record, and the row id of its cell: None in an index and in a table WITHOUT ROWID."""

    rowid: int | None
    values: tuple[Value, ...]


def has_records(page: bytes, number: int) -> bool | None:
    """Whether a page lists records; None if it is not a page of a b-tree."""
    kind = page[_start_of(number)]
    if kind in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR):
        return True
    return False if kind == _TABLE_INTERIOR else None


def listed_records(page: bytes, number: int, page_of: PageOf) -> Iterator[Record | None]:
    """The records that a page lists; None for each that cannot be read."""
    start = _start_of(number)
    kind = page[start]
    (count,) = struct.unpack_from(">H", page, start + 3)
    first = start + (12 if kind == _INDEX_INTERIOR else 8)
    for place in range(first, min(first + 2 * count, len(page) - 1), 2):
        (offset,) = struct.unpack_from(">H", page, place)
        yield _record(page, offset, kind, None, page_of)


def records_anywhere(page: bytes, number: int, columns: Container[int], page_of: PageOf) -> Iterator[Record]:
    """All bytes of a page that have the form of a record with one of these numbers of columns."""
    start = _start_of(number)
    kinds = (page[start],) if has_records(page, number) else (_TABLE_LEAF, _INDEX_LEAF)
    for kind in kinds:
        for offset in range(start + 8, len(page)):
            record = _record(page, offset, kind, columns, page_of)
            if record is not None:
                yield record


def _start_of(number: int) -> int:
    return _FILE_HEADER if number == 1 else 0


def _record(page: bytes, offset: int, kind: int, columns: Container[int] | None, page_of: PageOf) -> Record | None:
    try:
        at = offset + 4 if kind == _INDEX_INTERIOR else offset
        size, at = _varint(page, at)
        rowid = None
        if kind == _TABLE_LEAF:
            rowid, at = _varint(page, at)
            rowid -= (rowid >> 63) << 64
        header, types = _types(page, at, size)
        if columns is not None and len(types) not in columns:
            return None
        payload = _payload(page, at, size, kind, page_of)
        return None if payload is None else Record(rowid, _values(types, payload, header))
    except (IndexError, struct.error, UnicodeDecodeError):
        return None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(at, at + 8):
        byte = data[index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, index + 1
    return value << 8 | data[at + 8], at + 9


def _types(page: bytes, start: int, size: int) -> tuple[int, list[int]]:
    """The size of the header of a record of this size, and its serial types. A header never overflows here.

    Ends as soon as they cannot be those of such a record: most bytes of a page are not where a record starts.
    """
    header, at = _varint(page, start)
    end, left = start + header, size - header
    types: list[int] = []
    while at < end and left >= 0:
        serial = page[at]
        if serial < 0x80:
            at += 1
        else:
            serial, at = _varint(page, at)
        left -= _size(serial)
        types.append(serial)
    if at != end or left != 0 or not types:
        raise IndexError
    return header, types


def _size(serial: int) -> int:
    if serial >= 12:
        return (serial - 12) // 2
    if serial <= 6:
        return _INTEGER_SIZES[serial]
    return 8 if serial == 7 else 0


def _payload(page: bytes, start: int, size: int, kind: int, page_of: PageOf) -> bytes | None:
    usable = len(page)
    most = usable - 35 if kind == _TABLE_LEAF else (usable - 12) * 64 // 255 - 23
    if size <= most:
        return page[start : start + size]
    least = (usable - 12) * 32 // 255 - 23
    local = least + (size - least) % (usable - 4)
    local = local if local <= most else least
    parts, missing = [page[start : start + local]], size - local
    (following,) = struct.unpack_from(">I", page, start + local)
    seen: set[int] = set()
    while missing > 0:
        more = page_of(following) if following not in seen else None
        if more is None:
            return None
        seen.add(following)
        parts.append(more[4 : 4 + missing])
        missing -= usable - 4
        (following,) = struct.unpack_from(">I", more)
    return b"".join(parts)


def _values(types: Sequence[int], payload: bytes, at: int) -> tuple[Value, ...]:
    values: list[Value] = []
    for serial in types:
        end = at + _size(serial)
        if end > len(payload):
            raise IndexError
        values.append(_value(serial, payload[at:end]))
        at = end
    return tuple(values)


def _value(serial: int, content: bytes) -> Value:
    if serial == 0:
        return None
    if serial <= 6:
        return int.from_bytes(content, "big", signed=True)
    if serial == 7:
        number: float = struct.unpack(">d", content)[0]
        return number
    if serial in (8, 9):
        return serial - 8
    if serial < 12:
        raise IndexError  # reserved
    return content.decode() if serial % 2 else content
