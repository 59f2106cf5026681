"""Marks the settings of identities that a repair may have lost: a request must not go out as if none had been set.

The mark is a value that readers of settings refuse (hatbox.identity.settings), until the user sets or unsets it.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

from hatbox.store.encryption import Cipher
from hatbox.store.sqlite.check import connect_to_read
from hatbox.store.sqlite.rows import SqliteRows
from hatbox.store.sqlite.wal import damage_in
from hatbox.store.tables.row_cipher import RowCipher
from hatbox.store.tables.schema import SETTINGS

__all__ = ["mark_lost_settings", "may_have_lost_settings"]

_NAME: Final = "settings"
_MARK: Final = b'{"proxy":"lost in a repair"}'


def may_have_lost_settings(path: Path, repaired: sqlite3.Connection) -> bool:
    """Whether the damaged profile had settings that the new one does not have, or whether this is unknown."""
    if damage_in(path):
        return True
    try:
        with contextlib.closing(connect_to_read(path, alone=True)) as damaged:
            if not damaged.execute("SELECT 1 FROM sqlite_schema WHERE name = 'settings'").fetchone():
                return bool(damaged.execute("SELECT 1 FROM sqlite_schema WHERE name = 'trash'").fetchone())
            # All columns, so that SQLite reads the table itself, not an index of it.
            rows = {row[:2] for row in damaged.execute("SELECT identity, name, value, checksum FROM settings")}
    except (sqlite3.Error, UnicodeError):
        return True
    return bool(rows - set(repaired.execute("SELECT identity, name FROM settings")))


def mark_lost_settings(repaired: sqlite3.Connection, cipher: Cipher | None, label: str) -> int:
    """Mark all identities without settings. Returns their number.

    Without the key of an encrypted profile, the mark is a value that cannot be decrypted, which is refused as well.
    """
    identities = repaired.execute(
        "SELECT id FROM identities WHERE id NOT IN (SELECT identity FROM settings WHERE name = ?)", (_NAME,)
    ).fetchall()
    row_cipher = None if cipher is None else RowCipher(SETTINGS, cipher, label)
    for (identity,) in identities:
        row = (identity, _NAME, _MARK)
        SqliteRows(repaired, SETTINGS).insert(row if row_cipher is None else row_cipher.encrypted(row))
    return len(identities)
