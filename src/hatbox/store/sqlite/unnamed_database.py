"""Temporary databases. They have secrets, so their files have no name: a process that is killed leaves an empty folder.

SQLite finds journals by name, so such a database has none on disk. The name is in a folder of this user alone, which
stays until the end: in a folder that others can write, they could put a journal there, also after it was removed.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from hatbox.new_files import draft_path, remove_old_drafts

__all__ = ["unnamed_database"]


@contextlib.contextmanager
def unnamed_database(folder: Path) -> Iterator[tuple[sqlite3.Connection, IO[bytes]]]:
    """A connection to a new database on the disk of this folder, and its file, which can be filled before SQLite reads.

    On Windows the file has a name until the end: an open file cannot be deleted there.
    """
    remove_old_drafts(folder)
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
    draft = draft_path(folder)
    with tempfile.TemporaryDirectory(draft.suffix, f"{draft.stem}-", folder, ignore_cleanup_errors=True) as private:
        path = Path(private, "database")
        with (
            os.fdopen(os.open(path, flags, 0o600), "r+b") as file,
            contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection,
        ):
            with contextlib.suppress(PermissionError):
                path.unlink()
            yield connection, file
