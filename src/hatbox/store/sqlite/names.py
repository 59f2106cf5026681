"""Names in a profile for shell completion, read with the least imports. Never creates, changes or waits for a file."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

from hatbox.errors import ProfileError
from hatbox.store.sqlite.side_files import check_before_open

__all__ = ["read_names"]

_BUSY_SECONDS: Final = 0.2
_LIMIT: Final = 2000
_QUERIES: Final = {
    "identities": "SELECT name, 'firefox-container-' || id FROM identities ORDER BY position, id",
    "tabs": "SELECT CAST(id AS TEXT), title FROM tabs ORDER BY id",
    "extensions": "SELECT json_extract(CAST(value AS TEXT), '$.name'), json_extract(CAST(value AS TEXT), '$.id') "
    "FROM extension_data WHERE kind = 'installed' ORDER BY rowid",
    "rules": "SELECT CAST(id AS TEXT), json_extract(CAST(rule AS TEXT), '$.pattern') FROM rules ORDER BY id",
    "grants": "SELECT id, program FROM grants ORDER BY created DESC",
    "trash": "SELECT name, CAST(id AS TEXT) FROM trash ORDER BY rowid DESC",
}


def read_names(path: Path, kind: str) -> list[tuple[str, str]]:
    """The names of identities, tabs, extensions, rules, grants or trash, with a description. Empty if unreadable."""
    with contextlib.suppress(sqlite3.Error, OSError, ValueError, ProfileError):
        with contextlib.closing(_connect(path)) as connection:
            rows = connection.execute(f"{_QUERIES[kind]} LIMIT {_LIMIT}").fetchall()
        return [(name, about if isinstance(about, str) else "") for name, about in rows if isinstance(name, str)]
    return []


def _connect(path: Path) -> sqlite3.Connection:
    """A connection that creates no file: while no program has the profile open, SQLite needs neither WAL nor locks."""
    path = path.expanduser().resolve(strict=True)
    check_before_open(path)
    mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True, timeout=_BUSY_SECONDS)
