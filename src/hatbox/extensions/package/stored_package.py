"""The stored form of an installed extension: all files in one block of bytes, named by its hash.

The block is canonical: a folder and an archive with the same files give the same bytes. It is not compressed, so that
the hash does not depend on a compressor, and reading a file is a slice. Knows neither the profile nor the cache.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import msgspec

from hatbox.errors import PackageError
from hatbox.extensions.package.package_files import Package

__all__ = ["MAX_PACKAGE_BYTES", "StoredPackage", "digest_of", "pack"]

MAX_PACKAGE_BYTES: Final = 64 * 2**20
"""Maximum total size of the files of an installed extension."""

_MAGIC: Final = b"hatbox package 1\n"
_LENGTH: Final = 8  # bytes of the index's length
_VERSION_CONTROL: Final = frozenset({".git", ".hg", ".svn"})


def pack(package: Package) -> bytes:
    """All files of a package in one block, without the folders of version control."""
    contents: list[tuple[str, bytes]] = []
    total = 0
    for name in sorted(package.names()):
        if not _is_packed(name):
            continue
        found = package.read(name)
        if found is None:  # deleted meanwhile, or an unsupported name
            continue
        total += len(found)
        if total > MAX_PACKAGE_BYTES:
            raise _too_large(package.path)
        contents.append((name, found))
    index = msgspec.json.encode([[name, len(found)] for name, found in contents])
    if total + len(index) > MAX_PACKAGE_BYTES:
        raise _too_large(package.path)
    length = len(index).to_bytes(_LENGTH, "little")
    return b"".join([_MAGIC, length, index, *(found for _, found in contents)])


def digest_of(data: bytes) -> str:
    """The hash that names a block."""
    return hashlib.sha256(data).hexdigest()


class StoredPackage(Package):
    """An installed extension in memory. Changes of files on disk do not affect it.

    `path` is the path it was installed from. Files there are not read.
    """

    def __init__(self, path: Path, data: bytes, digest: str, area: str | None = None) -> None:
        super().__init__(path)
        self.place = path  # not resolved: a link may have replaced it
        self.digest = digest
        self.area = area
        self._data = memoryview(data)
        start = len(_MAGIC) + _LENGTH
        length = int.from_bytes(data[len(_MAGIC) : start], "little")
        position = start + length
        self._positions: dict[str, tuple[int, int]] = {}
        for name, size in msgspec.json.decode(self._data[start:position], type=list[tuple[str, int]]):
            self._positions[name] = (position, position + size)
            position += size

    def read(self, name: str) -> bytes | None:
        """The contents of a file; None if it does not exist."""
        position = self._positions.get(name)
        return None if position is None else bytes(self._data[slice(*position)])

    def exists(self, name: str) -> bool:
        """Whether a file exists."""
        return name in self._positions

    def names(self, folder: str = "") -> tuple[str, ...]:
        """The sorted names of all files, or of those in a folder."""
        prefix = f"{folder}/" if folder else ""
        return tuple(name for name in self._positions if name.startswith(prefix))


def _is_packed(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:  # no URL can spell it
        return False
    return _VERSION_CONTROL.isdisjoint(name.split("/"))


def _too_large(path: Path) -> PackageError:
    problem = f"its files are larger than {MAX_PACKAGE_BYTES >> 20} MiB together"
    return PackageError(path, problem, "Remove files that are not needed.")
