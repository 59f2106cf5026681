"""Profiles with a path similar to one where none exists."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from hatbox.errors import ProfileNotFound
from hatbox.store.nearest import nearest_names, profile_not_found
from hatbox.store.sqlite.schema import APPLICATION_ID

__all__ = ["is_profile", "not_found"]

_MAX_ENTRIES: Final = 1000  # of a folder; the message must not take long


def not_found(path: Path) -> ProfileNotFound:
    """The error for a path where no profile exists and none may be created. Names similar paths."""
    with contextlib.suppress(OSError):
        return profile_not_found(str(path), "no profile exists there", f"'{path}'", map(str, _nearest(path)))
    return profile_not_found(str(path), "no profile exists there", f"'{path}'", [])


def _nearest(path: Path) -> Iterator[Path]:
    folder = next(each for each in path.parents if each.is_dir())
    wanted, *rest = path.relative_to(folder).parts
    entries = [each.name for each in islice(folder.iterdir(), _MAX_ENTRIES)]
    for name in nearest_names(wanted, entries):
        candidate = folder.joinpath(name, *rest)
        if candidate.is_file() and is_profile(candidate):
            yield candidate


def is_profile(path: Path) -> bool:
    """Whether a file has the header of a profile. Also for a process that has it open."""
    # Opened by SQLite, not with open(): closing a descriptor of the file would drop the locks of this process.
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            found = connection.execute("PRAGMA application_id").fetchone()
    except sqlite3.Error:
        return False
    return bool(found == (APPLICATION_ID,))
