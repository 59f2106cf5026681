"""The file of an archive: a line with the version, then blocks. Each has a checksum, which covers all blocks before it.

So the checksum of the last block covers the whole file, and blocks cannot be removed, repeated or moved. Blocks are
compressed, but only those up to 32 MiB, and none expands to more than 100 times its size: a small file cannot fill the
memory. Knows no table.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Iterator
from typing import Final, Protocol

from hatbox.errors import ArchiveDamaged, ArchiveTooNew

__all__ = ["ARCHIVE_MAGIC", "ARCHIVE_VERSION", "BlockReader", "BlockWriter", "ByteSink", "ByteSource"]

ARCHIVE_MAGIC: Final = b"hatbox archive "
"""The start of the first line of an archive."""
ARCHIVE_VERSION: Final = 2
"""Version 2 has more tables: history and bookmarks. A new column of a copied table is a new version."""

_FIRST_LINE: Final = re.compile(rb"hatbox archive ([1-9][0-9]{0,8})\n")
_LINE_BYTES: Final = 25  # of the longest first line
_HEADER: Final = struct.Struct(">BBII")  # kind, whether it is compressed, its size in the file, its size
_DIGEST_BYTES: Final = 16
_MAX_RATIO: Final = 100
_MAX_BLOCK: Final = 2**30  # bytes. SQLite has no longer values
_MAX_COMPRESSED: Final = 2**25  # bytes of a block that may be compressed. Larger ones have their size in the file
_READ_BYTES: Final = 2**20
_END: Final = 0


class ByteSink(Protocol):
    """What an archive is written to."""

    def write(self, data: bytes, /) -> object:
        """Write bytes."""


class ByteSource(Protocol):
    """What an archive is read from."""

    def read(self, size: int, /) -> bytes:
        """The next bytes: fewer than `size` only at the end."""


class BlockWriter:
    """Writes blocks. `finish` writes the last one."""

    def __init__(self, file: ByteSink) -> None:
        self._file = file
        self._digest = b""
        self._write(ARCHIVE_MAGIC + b"%d\n" % ARCHIVE_VERSION)

    def write(self, kind: int, data: bytes) -> None:
        """Write a block of a kind from 1 to 255."""
        stored = zlib.compress(data, 1) if len(data) <= _MAX_COMPRESSED else data
        is_compressed = len(stored) < len(data) <= _MAX_RATIO * len(stored)
        if not is_compressed:
            stored = data
        header = _HEADER.pack(kind, is_compressed, len(stored), len(data))
        self._write(header, stored)

    def finish(self) -> None:
        """Write the last block. A file without it is refused."""
        self.write(_END, b"")

    def _write(self, *parts: bytes) -> None:
        self._digest = _next_digest(self._digest, *parts)
        for part in (*parts, self._digest):
            self._file.write(part)


class BlockReader:
    """Reads blocks. Raises ArchiveDamaged or ArchiveTooNew; `source` names the archive in messages."""

    def __init__(self, file: ByteSource, source: str) -> None:
        self._file = file
        self._source = source
        self._digest = b""
        self.version = self._read_first_line()
        """The version of the archive."""

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """All blocks, each with its kind. Complete only if the iterator ends without an error."""
        while True:
            header = self._read(_HEADER.size)
            kind, is_compressed, stored_size, size = _HEADER.unpack(header)
            if is_compressed > 1 or size > _MAX_BLOCK or stored_size > size or size > _MAX_RATIO * stored_size:
                raise self._damaged("a block has an invalid size")
            if is_compressed and size > _MAX_COMPRESSED:
                raise self._damaged(f"a compressed block has more than {_MAX_COMPRESSED} bytes")
            stored = self._read(stored_size)
            self._check(header, stored)
            data = self._expanded(stored, size) if is_compressed else stored
            if len(data) != size:
                raise self._damaged("a block has an invalid size")
            if kind == _END:
                break
            yield kind, data
        if self._file.read(1):
            raise self._damaged("it continues after its end")

    def _read_first_line(self) -> int:
        line = bytearray()
        while len(line) < _LINE_BYTES and not line.endswith(b"\n") and (byte := self._file.read(1)):
            line += byte
        found = _FIRST_LINE.fullmatch(line)
        if found is None:
            raise ArchiveDamaged(
                self._source, "it is not a Hatbox archive", "Nothing was changed. Name a file of: hatbox backup"
            )
        version = int(found[1])
        if version > ARCHIVE_VERSION:
            raise ArchiveTooNew(self._source, version, ARCHIVE_VERSION)
        self._check(bytes(line))
        return version

    def _check(self, *parts: bytes) -> None:
        self._digest = _next_digest(self._digest, *parts)
        if self._read(_DIGEST_BYTES) != self._digest:
            raise self._damaged("a checksum is wrong")

    def _read(self, size: int) -> bytes:
        """Exactly so many bytes. A damaged size must not allocate more than the file has."""
        data = self._file.read(size) if size <= _READ_BYTES else b"".join(self._parts(size))
        if len(data) < size:
            raise self._damaged("it is truncated")
        return data

    def _parts(self, size: int) -> Iterator[bytes]:
        while size and (part := self._file.read(min(size, _READ_BYTES))):
            size -= len(part)
            yield part

    def _expanded(self, stored: bytes, size: int) -> bytes:
        expander = zlib.decompressobj()
        try:
            data = expander.decompress(stored, size + 1)
        except zlib.error as error:
            raise self._damaged("a block cannot be decompressed") from error
        if not expander.eof or expander.unused_data:
            raise self._damaged("a block has an invalid size")
        return data

    def _damaged(self, problem: str) -> ArchiveDamaged:
        return ArchiveDamaged(self._source, f"it is damaged: {problem}")


def _next_digest(before: bytes, *parts: bytes) -> bytes:
    digest = hashlib.sha256(before)
    for part in parts:
        digest.update(part)
    return digest.digest()[:_DIGEST_BYTES]
