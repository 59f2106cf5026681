"""Overwrites the unallocated space of b-tree pages with zeros. Knows the file format of SQLite, and no table.

`secure_delete` overwrites a cell that is deleted. But when a page is split or merged, cells move to the page beside it,
and a copy stays in the unallocated space of the old page, between its cell pointer array and its cells: it is not
overwritten when the cell is deleted later. VACUUM would remove it too, and would write the whole file each time.

SQLite never reads that space, so a process that is killed meanwhile leaves a sound file.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hatbox.store.sqlite.header import is_locked, wal_size

__all__ = ["clear_unallocated_space"]

_MAX_BYTES: Final = 2**30  # where the page is that SQLite uses for locks; it shifts the pointer map
_FILE_HEADER: Final = 100
_PAGE_HEADERS: Final = {2: 12, 5: 12, 10: 8, 13: 8}  # the kinds of b-tree pages, and the sizes of their headers
_ENTRY: Final = 5  # bytes of the pointer map for each page: its kind, and its parent
_IN_B_TREES: Final = (1, 5)  # kinds in the pointer map: the root of a b-tree, another page of one


def clear_unallocated_space(path: Path) -> None:
    """Overwrite the unallocated space of a profile. Only for a caller that holds its lock exclusively. Raises OSError.

    Does nothing while a program has the database open that does not know the lock, or where a WAL exists.
    """
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        # Closing the descriptor releases the lock. Until then no SQLite connection can be opened.
        if is_locked(descriptor) or wal_size(path) or not _FILE_HEADER <= size < _MAX_BYTES:
            return
        with mmap.mmap(descriptor, size, access=mmap.ACCESS_READ) as data:
            for start, end in _unallocated_ranges(data):
                if data[start:end].strip(b"\0"):
                    os.pwrite(descriptor, bytes(end - start), start)
    finally:
        os.close(descriptor)


def _unallocated_ranges(data: mmap.mmap) -> Iterator[tuple[int, int]]:
    """The start and end of the unallocated space of each b-tree page. Pages with an invalid header are skipped."""
    page_size = _number(data, 16, 2)
    if page_size not in (4096, 8192, 16384, 32768) or data[20] or not _number(data, 52, 4):
        return  # an unusual size, reserved bytes, or no pointer map
    mapped = page_size // _ENTRY
    for index in range(len(data) // page_size):
        if index:
            place = (index - 1) % (mapped + 1)  # 0: a page of the pointer map
            entry = (index - place) * page_size + (place - 1) * _ENTRY
            if not place or data[entry] not in _IN_B_TREES:
                continue
        yield from _unallocated_in(data, index * page_size, page_size, _FILE_HEADER if not index else 0)


def _unallocated_in(data: mmap.mmap, page: int, page_size: int, offset: int) -> Iterator[tuple[int, int]]:
    header = page + offset
    size = _PAGE_HEADERS.get(data[header])
    if size is None:
        return
    count, content = _number(data, header + 3, 2), _number(data, header + 5, 2)
    start = offset + size + 2 * count
    if not start < content <= page_size:
        return
    pointers = data[header + size : page + start]
    lowest = min((_number(pointers, at, 2) for at in range(0, len(pointers), 2)), default=content)
    if lowest >= content:
        yield page + start, page + content


def _number(data: mmap.mmap | bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "big")
