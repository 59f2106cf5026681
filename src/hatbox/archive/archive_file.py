"""Archives as files: complete under their name when they are written, and read as often as needed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

from hatbox.archive.age_format import AGE_MAGIC, AgeKey, DecryptingReader, EncryptingWriter, read_key
from hatbox.archive.archive_rows import ArchiveRows
from hatbox.archive.block_file import ByteSink
from hatbox.errors import ArchiveDamaged, ArchiveError, WrongPassphrase
from hatbox.new_files import new_file

__all__ = ["ArchiveFile", "PassphraseSource", "new_archive_file", "opened_archive"]

PassphraseSource = str | Callable[[], str] | None
"""The passphrase of an encrypted archive, or a function that asks for it."""

_NO_FILE: Final = "Nothing was written. Choose another path."


@contextlib.contextmanager
def new_archive_file(path: Path, passphrase: str | None, *, overwrite: bool) -> Iterator[ByteSink]:
    """A new file, only for its owner. It gets its name when the body ends, and does not exist if that fails."""
    if passphrase == "":
        raise ArchiveError(path, "the passphrase is empty", "Nothing was written.")
    if not overwrite and os.path.lexists(path):
        raise _exists(path)
    try:
        with new_file(path, overwrite=overwrite) as file:
            yield from _filled(file, passphrase)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        if error.filename is None and error.strerror is None:
            raise
        raise ArchiveError(path, f"it cannot be written ({error.strerror or error})", _NO_FILE) from error


def _filled(file: IO[bytes], passphrase: str | None) -> Iterator[ByteSink]:
    if passphrase is None:
        yield file
        return
    encrypting = EncryptingWriter(file, passphrase)
    yield encrypting
    encrypting.close()


def _exists(path: Path) -> ArchiveError:
    return ArchiveError(path, "this file exists already", "Nothing was written. Choose another path, or pass --force.")


class ArchiveFile:
    """An open archive. The same file is read each time, also if another one gets its name meanwhile."""

    def __init__(self, file: IO[bytes], source: str, key: AgeKey | None) -> None:
        self._file = file
        self._key = key
        self.source = source
        """The name in messages."""
        self.size = os.fstat(file.fileno()).st_size

    @property
    def is_encrypted(self) -> bool:
        """Whether it is encrypted with a passphrase."""
        return self._key is not None

    def rows(self) -> ArchiveRows:
        """Read it from the start."""
        self._file.seek(0)
        if self._key is None:
            return ArchiveRows(self._file, self.source)
        return ArchiveRows(DecryptingReader(self._file, self._key, self.source), self.source)

    @property
    def position(self) -> int:
        """The number of bytes that were read since the start."""
        return self._file.tell()


@contextlib.contextmanager
def opened_archive(path: Path, passphrase: PassphraseSource = None) -> Iterator[ArchiveFile]:
    """Open an archive. `passphrase` is used if it is encrypted. Raises ArchiveError; changes nothing."""
    source = str(path)
    try:
        if path.exists() and not path.is_file():  # opening a pipe would wait for its other end
            problem = "it is a folder, not an archive" if path.is_dir() else "it is not a file"
            raise ArchiveDamaged(source, problem, "Nothing was changed. Name a file of: hatbox backup")
        with path.open("rb") as file:
            yield ArchiveFile(file, source, _key(file, passphrase, source))
    except OSError as error:
        if error.filename is None and error.strerror is None:
            raise
        problem = f"it cannot be read ({error.strerror or error})"
        raise ArchiveError(source, problem, "Nothing was changed. Check the path.") from error


def _key(file: IO[bytes], passphrase: PassphraseSource, source: str) -> AgeKey | None:
    if file.read(len(AGE_MAGIC)) != AGE_MAGIC:
        return None
    given = passphrase() if callable(passphrase) else passphrase
    if given is None:
        raise WrongPassphrase(source, "it is encrypted, and no passphrase was given", "Nothing was changed.")
    return read_key(file, given, source)
