"""Replaces the encryption of all rows: plain to encrypted, from one key to another, or encrypted to plain.

Runs inside a transaction of the caller, who has the profile alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hatbox.errors import ProfileError, WrongKey
from hatbox.store.encryption import Cipher
from hatbox.store.keys import Key
from hatbox.store.tables.encrypted_rows import rows_with_cipher
from hatbox.store.tables.profile_row import cipher_of, profile_row_with_key
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import CHANGES, PROFILE, TABLES, Table

__all__ = ["has_key", "old_values_remain", "reencrypt"]

_REWRITTEN: Final = tuple(table for table in TABLES if table.secret and table is not CHANGES)


def has_key(rows: Callable[[Table], Rows], key: Key | None) -> bool:
    """Whether the profile is encrypted with this key, or not encrypted if it is None."""
    row = rows(PROFILE).get(1)
    if row is None or key is None or row[1] is None:
        return row is not None and key is row[1]
    return Cipher(key, row[0]).accepts(row[1])


def old_values_remain(label: str, reason: str) -> ProfileError:
    """The error if the encryption was changed, but old values could not be removed from the files."""
    problem = f"its encryption was changed, but old values remain in its files ({reason})"
    return ProfileError(label, problem, "From now on only the new key is valid. Run the same command again later.")


def reencrypt(rows: Callable[[Table], Rows], old: Key | None, new: Key | None, label: str) -> int:
    """Rewrite all secret values, and empty the change log. `rows` are the rows as stored. Returns their number.

    Raises WrongKey if `old` is not the key of the profile, and DecryptionError for a value that cannot be decrypted.
    """
    profile_id, key_check, _ = rows(PROFILE).get(1) or ("", None, 1)
    if old is None and key_check is not None:
        remedy = "Nothing was changed. To change its key, use: hatbox profile rekey"
        raise WrongKey(label, "it is encrypted with another key", remedy)
    before = cipher_of(rows(PROFILE), old, label)
    after = None if new is None else Cipher(new, profile_id)
    count = 0
    for table in _REWRITTEN:
        source = rows_with_cipher(rows, before, label)(table)
        target = rows_with_cipher(rows, after, label)(table)
        for key in source.select(", ".join(table.key)):  # one row at a time: a value can have megabytes
            row = source.get(*key)
            if row is not None:
                target.put([row])
                count += 1
    rows(CHANGES).delete("sequence > ?", (-1,))
    rows(PROFILE).put([profile_row_with_key(profile_id, new)])
    return count
