"""The files of an extension, in a folder, an `.xpi` or a `.zip`. Does not parse them.

A name is a case-sensitive path from the root of the extension, with slashes: `js/background.js`. No name leads out of
a package. Archives are not unpacked: a file is read on demand, up to `MAX_FILE_BYTES`.
"""

from __future__ import annotations

import io
import itertools
import os
import stat
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hatbox.errors import PackageError

if TYPE_CHECKING:  # a slow import that folders do not need
    import zipfile

__all__ = ["MANIFEST", "MAX_ARCHIVE_BYTES", "MAX_FILES", "MAX_FILE_BYTES", "Package", "open_package"]

MANIFEST: Final = "manifest.json"
MAX_ARCHIVE_BYTES: Final = 256 * 2**20
MAX_FILE_BYTES: Final = 64 * 2**20
MAX_FILES: Final = 50_000

_ENCRYPTED: Final = 0x1
_READABLE: Final = frozenset({0, 8})  # stored, and deflated
_MAC_LITTER: Final = "__MACOSX"


def open_package(path: str | os.PathLike[str]) -> Package:
    """Open the package in a folder or file. Raises PackageError if it is not a package with a manifest.json."""
    place = Path(path)
    if place.is_dir():
        package: Package = _Folder(place)
    elif place.is_file():
        package = _Archive(place)
    elif place.exists():
        raise PackageError(place, "it is neither a folder nor a file", "Name a folder, an .xpi or a .zip.")
    else:
        raise PackageError(place, "no such folder or file", "Check the name.")
    if not package.exists(MANIFEST):
        remedy = f"Name the folder or the archive that contains {MANIFEST}."
        raise PackageError(place, f"it is not an extension: it has no {MANIFEST}", remedy)
    return package


class Package(ABC):
    """The files of one extension."""

    area: str | None = None
    """The data area of the extension; None if it depends on the path."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place = path.resolve()
        """The path with links resolved. Files are read from it, even if a link changes later."""

    @abstractmethod
    def read(self, name: str) -> bytes | None:
        """The contents of a file; None if it does not exist."""

    def read_limited(self, name: str, max_bytes: int) -> bytes | None:
        """The contents of a file. Raises PackageError if it is larger, if possible before it is read."""
        contents = self.read(name)
        if contents is not None and len(contents) > max_bytes:
            raise _too_large(self.path, name, max_bytes)
        return contents

    @abstractmethod
    def exists(self, name: str) -> bool:
        """Whether a file exists."""

    @abstractmethod
    def names(self, folder: str = "") -> tuple[str, ...]:
        """The sorted names of all files, or of those in a folder."""


class _Folder(Package):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._root = self.place

    def read(self, name: str) -> bytes | None:
        found = self._find(name)
        if found is None:
            return None
        try:
            # O_NONBLOCK, because the file may have been replaced by a pipe.
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            with os.fdopen(os.open(found, flags), "rb") as file:
                return self._contents(name, file)
        except FileNotFoundError:
            return None
        except OSError as error:
            problem = f'"{name}" cannot be read: {error.strerror}'
            raise PackageError(self.path, problem, "Check the permissions of the file.") from error

    def _contents(self, name: str, file: io.BufferedReader) -> bytes | None:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        contents = file.read(MAX_FILE_BYTES + 1)
        if len(contents) > MAX_FILE_BYTES:
            raise _too_large(self.path, name)
        return contents

    def exists(self, name: str) -> bool:
        return self._find(name) is not None

    def names(self, folder: str = "") -> tuple[str, ...]:
        if folder and not _is_safe(folder):
            return ()
        files = tuple(itertools.islice(self._walk(self._root / folder, frozenset()), MAX_FILES + 1))
        if len(files) > MAX_FILES:
            raise PackageError(self.path, f"it has more than {MAX_FILES} files", "Remove files that are not needed.")
        return tuple(sorted(file.relative_to(self._root).as_posix() for file in files))

    def _walk(self, folder: Path, parents: frozenset[Path]) -> Iterator[Path]:
        """The files in a folder. Links are followed if they stay inside and do not lead to a parent folder."""
        real = folder.resolve()
        if real in parents or not real.is_relative_to(self._root) or not folder.is_dir():
            return
        with os.scandir(folder) as entries:
            for entry in entries:
                path = folder / entry.name
                # DirEntry is faster, but fails for broken links.
                kind = path if entry.is_symlink() else entry
                if kind.is_dir():
                    yield from self._walk(path, parents | {real})
                elif kind.is_file() and (kind is entry or path.resolve().is_relative_to(self._root)):
                    yield path

    def _find(self, name: str) -> Path | None:
        """The regular file of this name. Case-sensitive on every file system."""
        if not _is_safe(name):
            return None
        found = self._inside(self._root / name)
        return found if found is not None and self._has_exact_case(name) else None

    def _inside(self, path: Path) -> Path | None:
        """The resolved path of a regular file. Symbolic links must stay inside."""
        try:
            real = path.resolve(strict=True)
            if not stat.S_ISREG(real.stat().st_mode):
                return None
        except (OSError, RuntimeError, ValueError):  # missing, a loop of links, or an invalid name
            return None
        if not real.is_relative_to(self._root):
            problem = f'"{path.relative_to(self._root).as_posix()}" is a link that leads out of the extension'
            raise PackageError(self.path, problem, "Replace the link with the file.")
        return real

    def _has_exact_case(self, name: str) -> bool:
        folder = self._root
        for part in name.split("/"):
            try:
                if part not in os.listdir(folder):  # noqa: PTH208 - faster than creating a Path for each file
                    return False
            except OSError:
                return False
            folder /= part
        return True


class _Archive(Package):
    """An archive in memory, so that the file may be replaced or deleted while the extension runs."""

    def __init__(self, path: Path) -> None:
        import zipfile

        super().__init__(path)
        try:
            with self.place.open("rb") as file:
                contents = file.read(MAX_ARCHIVE_BYTES + 1)
        except OSError as error:
            raise PackageError(path, f"it cannot be read: {error.strerror}", "Check its permissions.") from error
        if len(contents) > MAX_ARCHIVE_BYTES:
            raise PackageError(
                path, f"it is larger than {MAX_ARCHIVE_BYTES >> 20} MiB", "Remove files that are not needed."
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(contents))
            entries = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OverflowError) as error:
            raise PackageError(
                path, "it is not a zip archive, or it is damaged", "Download or pack it again."
            ) from error
        self._entries = self._without_top_folder(self._checked(entries))

    def read(self, name: str) -> bytes | None:
        entry = self._entries.get(name)
        if entry is None:
            return None
        if entry.file_size > MAX_FILE_BYTES:
            raise _too_large(self.path, name)
        import zipfile

        try:
            with self._zip.open(entry) as file:
                # read() without a size would inflate more than the size in the header.
                contents = file.read(entry.file_size + 1)
                file.read(1)  # verifies the checksum at the end
                return contents
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
            raise PackageError(self.path, f'"{name}" in it is damaged', "Download or pack it again.") from error

    def read_limited(self, name: str, max_bytes: int) -> bytes | None:
        entry = self._entries.get(name)
        if entry is not None and entry.file_size > max_bytes:
            raise _too_large(self.path, name, max_bytes)
        return self.read(name)

    def exists(self, name: str) -> bool:
        return name in self._entries

    def names(self, folder: str = "") -> tuple[str, ...]:
        prefix = f"{folder}/" if folder else ""
        return tuple(sorted(name for name in self._entries if name.startswith(prefix)))

    def _checked(self, entries: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        """The files by name. Raises PackageError for the first problem."""
        if len(entries) > MAX_FILES:
            raise PackageError(self.path, f"it has more than {MAX_FILES} files", "Remove files that are not needed.")
        if not all(entry.filename for entry in entries):  # an empty name also makes zipfile's is_dir() fail
            raise PackageError(self.path, "it has a file without a name", "Pack it again.")
        files = [entry for entry in entries if not entry.is_dir()]
        for entry in files:
            if problem := _problem_of(entry):
                raise PackageError(self.path, f'"{entry.orig_filename}" in it {problem}', "Pack it again.")
        for name, times in Counter(entry.filename for entry in files).items():
            if times > 1:
                raise PackageError(self.path, f'it has "{name}" {times} times', "Pack it again.")
        return {entry.filename: entry for entry in files}

    def _without_top_folder(self, entries: dict[str, zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        """The files relative to the only top-level folder, if it contains the manifest."""
        tops = {name.partition("/")[0] for name in entries} - {_MAC_LITTER}
        if MANIFEST in entries or len(tops) != 1 or f"{(top := tops.pop())}/{MANIFEST}" not in entries:
            return entries
        prefix = f"{top}/"
        return {name.removeprefix(prefix): entry for name, entry in entries.items() if name.startswith(prefix)}


def _problem_of(entry: zipfile.ZipInfo) -> str | None:
    if "\\" in entry.orig_filename or "\0" in entry.orig_filename or not _is_safe(entry.filename):
        return "is not a valid file name"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "is a symbolic link"
    if entry.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if entry.compress_type not in _READABLE:
        return "has an unsupported compression method"
    return None


def _is_safe(name: str) -> bool:
    """Whether a name cannot lead out of the package."""
    parts = name.split("/")
    forbidden = "\\" in name or "\0" in name or (os.name == "nt" and ":" in name)
    return not forbidden and all(part not in ("", ".", "..") for part in parts)


def _too_large(path: Path, name: str, max_bytes: int = MAX_FILE_BYTES) -> PackageError:
    return PackageError(path, f'"{name}" is larger than {max_bytes >> 20} MiB', "Make it smaller, or remove it.")
