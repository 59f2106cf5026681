"""Opens a copy of another program's SQLite database, also while that program runs.

The original is never opened by SQLite, so no lock of the other program is touched. The copy includes the journal: the
newest rows are in a write-ahead log, and a rollback journal undoes a commit that is in progress. It has logins, so its
file has no name, and SQLite would find no journal beside it: the journal is applied to it here.
"""

from __future__ import annotations

import contextlib
import sqlite3
import struct
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfileobj
from typing import IO, BinaryIO, Final

from hatbox.errors import ImportExportError, InvalidInputFile
from hatbox.formats.input_files import MAX_INPUT_BYTES, open_regular
from hatbox.store.sqlite.unnamed_database import unnamed_database
from hatbox.store.sqlite.wal import commits_in

__all__ = ["columns_of", "copied_database"]

_TRIES: Final = 40
_PAUSE_SECONDS: Final = 0.05
_MAX_VALUE_BYTES: Final = 2**20
_MODES: Final = 18  # the offset of the file format versions in the header: 2 needs a write-ahead log
_JOURNAL: Final = struct.Struct(">8sIIIII")  # magic, records, nonce, pages of the database, size of a sector, of a page
_JOURNAL_MAGIC: Final = bytes.fromhex("d9d505f920a163d7")
_NUMBER: Final = struct.Struct(">I")
_UNKNOWN: Final = 2**32 - 1


@contextlib.contextmanager
def copied_database(path: Path, program: str) -> Iterator[sqlite3.Connection]:
    """A connection to a copy, whose text is one character per byte. Raises InvalidInputFile, ImportExportError."""
    with unnamed_database(Path(tempfile.gettempdir())) as (connection, copy):
        _copy_when_still(path, copy, program)
        connection.text_factory = lambda octets: octets.decode("latin-1")
        connection.row_factory = sqlite3.Row
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            yield connection
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a message may quote damaged text
            raise InvalidInputFile(str(path), f"cannot read the database ({error})") from error


def columns_of(connection: sqlite3.Connection, table: str, path: Path) -> set[str]:
    """The columns of a table. Raises InvalidInputFile if it is not a plain table, or if the database is damaged."""
    kinds = connection.execute("SELECT type, sql FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    if any(kind["type"] != "table" or not str(kind["sql"]).upper().startswith("CREATE TABLE") for kind in kinds):
        raise InvalidInputFile(str(path), f"{table} is not a table")  # a view could run without end
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise InvalidInputFile(str(path), f"the database is damaged ({verdict.splitlines()[0]})")
    return {row["name"] for row in connection.execute(f"PRAGMA table_info({table})")}


def _copy_when_still(path: Path, copy: IO[bytes], program: str) -> None:
    """Copy database and journals consistently: none changed meanwhile."""
    wal, journal = (path.with_name(path.name + end) for end in ("-wal", "-journal"))
    try:
        for _ in range(_TRIES):
            before = [_state(file) for file in (path, wal, journal)]
            copy.seek(0)
            copy.truncate()
            with _opened(path) as source:
                copyfileobj(source, copy)
            if copy.tell():  # else SQLite ignores the journals too
                _roll_back(journal, copy)
                _apply_log(wal, copy)
            copy.flush()
            if [_state(file) for file in (path, wal, journal)] == before:
                return
            time.sleep(_PAUSE_SECONDS)
    except OSError as error:
        raise InvalidInputFile(str(path), f"cannot be read: {error.strerror}") from error
    raise ImportExportError(f"{path}: changed during every copy. Try again when {program} is less busy.")


def _opened(path: Path) -> BinaryIO:
    file = open_regular(path)
    if path.stat().st_size > MAX_INPUT_BYTES:
        file.close()
        raise _too_large(path)
    return file


def _roll_back(journal: Path, copy: IO[bytes]) -> None:
    """Undo a commit that is in progress, as SQLite does when it finds the journal: up to the first invalid record."""
    with contextlib.suppress(FileNotFoundError), _opened(journal) as file:
        end = journal.stat().st_size
        sector, page_size, pages = 0, 0, 0
        while len(header := file.read(_JOURNAL.size)) == _JOURNAL.size:
            magic, records, nonce, *sizes = _JOURNAL.unpack(header)
            if magic != _JOURNAL_MAGIC:
                return
            if not sector:
                pages, sector, page_size = sizes
                if not _are_sizes(sector, page_size):
                    return
                _resize(copy, pages, page_size, journal)
            file.seek(sector - _JOURNAL.size, 1)
            for _ in range((end - sector) // (page_size + 8) if records == _UNKNOWN else records):
                record = file.read(page_size + 8)
                page = int.from_bytes(record[:4], "big")
                if len(record) < page_size + 8 or not page or _journal_checksum(record, nonce) != record[-4:]:
                    return
                if page <= pages:
                    copy.seek((page - 1) * page_size)
                    copy.write(record[4:-4])
            file.seek(-file.tell() % sector, 1)


def _are_sizes(sector: int, page_size: int) -> bool:
    return sector in (2**n for n in range(5, 17)) and page_size in (2**n for n in range(9, 17))


def _journal_checksum(record: bytes, nonce: int) -> bytes:
    return _NUMBER.pack((nonce + sum(record[4:-4][-200:0:-200])) & 0xFFFFFFFF)


def _apply_log(wal: Path, copy: IO[bytes]) -> None:
    with contextlib.suppress(FileNotFoundError), _opened(wal) as file:
        if commits := commits_in(file):
            _resize(copy, commits.size, commits.page_size, wal)
            for page, offset in commits.pages.items():
                if page <= commits.size:
                    file.seek(offset)
                    copy.seek((page - 1) * commits.page_size)
                    copy.write(file.read(commits.page_size))
    copy.seek(_MODES)
    if copy.read(2) == b"\2\2":
        copy.seek(_MODES)
        copy.write(b"\1\1")


def _resize(copy: IO[bytes], pages: int, page_size: int, journal: Path) -> None:
    if pages * page_size > MAX_INPUT_BYTES:
        raise _too_large(journal)
    copy.truncate(pages * page_size)


def _too_large(path: Path) -> InvalidInputFile:
    return InvalidInputFile(str(path), f"larger than {MAX_INPUT_BYTES // 2**20} MB")


def _state(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino
