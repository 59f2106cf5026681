"""Opens a copy of another program's SQLite database, also while that program runs.

The original is never opened by SQLite, so no lock of the other program is touched. The copy includes the journal: the
newest rows are in a write-ahead log, and a rollback journal undoes a commit that is in progress.
"""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfileobj
from typing import Final

from hatbox.errors import ImportExportError, InvalidInputFile
from hatbox.formats.input_files import MAX_INPUT_BYTES, open_regular

__all__ = ["columns_of", "copied_database"]

_JOURNALS: Final = ("-wal", "-journal")
_TRIES: Final = 40
_PAUSE_SECONDS: Final = 0.05
_MAX_VALUE_BYTES: Final = 2**20


@contextlib.contextmanager
def copied_database(path: Path, program: str) -> Iterator[sqlite3.Connection]:
    """A connection to a copy, whose text is one character per byte. Raises InvalidInputFile, ImportExportError."""
    with tempfile.TemporaryDirectory(prefix="hatbox-") as folder:
        copied = _copied_when_still(path, Path(folder), program)
        with contextlib.closing(sqlite3.connect(copied)) as connection:
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


def _copied_when_still(path: Path, folder: Path, program: str) -> Path:
    """A consistent copy of database and journals: none changed while they were copied."""
    files = [path, *(path.with_name(path.name + end) for end in _JOURNALS)]
    copied = folder / "copy"
    try:
        for _ in range(_TRIES):
            before = list(map(_state, files))
            for source, end in zip(files, ("", *_JOURNALS), strict=True):
                _copy(source, folder / f"copy{end}", required=not end)
            if list(map(_state, files)) == before:
                return copied
            time.sleep(_PAUSE_SECONDS)
    except OSError as error:
        raise InvalidInputFile(str(path), f"cannot be read: {error.strerror}") from error
    raise ImportExportError(f"{path}: changed during every copy. Try again when {program} is less busy.")


def _copy(source: Path, target: Path, *, required: bool) -> None:
    target.unlink(missing_ok=True)
    try:
        file = open_regular(source)
    except FileNotFoundError:
        if required:
            raise
        return
    with file, target.open("wb") as copy:
        if source.stat().st_size > MAX_INPUT_BYTES:
            raise InvalidInputFile(str(source), f"larger than {MAX_INPUT_BYTES // 2**20} MB")
        copyfileobj(file, copy)


def _state(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino
