"""The row of the table `profile`: the id of the profile, and the value by which its key is recognized."""

from __future__ import annotations

import uuid

from hatbox.errors import WrongKey
from hatbox.store.encryption import Cipher
from hatbox.store.keys import KEY_FILE_VARIABLE, KEY_VARIABLE, Key
from hatbox.store.tables.rows import Rows, Value

__all__ = ["cipher_of", "new_profile_row", "profile_row_with_key"]

_SETTINGS = f"{KEY_VARIABLE} or {KEY_FILE_VARIABLE}"


def new_profile_row(key: Key | None = None) -> tuple[Value, ...]:
    """The row of a new profile, which is encrypted if a key is given."""
    return profile_row_with_key(str(uuid.uuid4()), key)


def profile_row_with_key(profile_id: str, key: Key | None) -> tuple[Value, ...]:
    """The row of the profile with this id and key; without a key, of one that is not encrypted."""
    return profile_id, None if key is None else Cipher(key, profile_id).key_check(), 1


def cipher_of(rows: Rows, key: Key | None, label: str) -> Cipher | None:
    """The cipher of a profile; None if it is not encrypted. `rows` are those of the table profile.

    Raises WrongKey, also for a key of a profile that is not encrypted: otherwise whoever can write to the database
    could have all new values written without encryption.
    """
    row = rows.get(1)
    if row is None:
        raise rows.damage("the row of the table profile is missing")
    profile_id, key_check, _ = row
    if key_check is None:
        if key is None:
            return None
        raise WrongKey(
            label,
            f"it is not encrypted, but a key is set ({_SETTINGS})",
            "Nothing was changed. Encrypt it with: hatbox profile encrypt. Or unset the key.",
        )
    if key is None:
        raise WrongKey(
            label,
            "it is encrypted, and no key is set",
            f"Nothing was changed. Set {KEY_VARIABLE} to its key, or {KEY_FILE_VARIABLE} to the path of a key file.",
        )
    cipher = Cipher(key, profile_id)
    if not cipher.accepts(key_check):
        raise WrongKey(
            label,
            "it is encrypted with another key",
            f"Nothing was changed. Set {KEY_VARIABLE} or {KEY_FILE_VARIABLE} to the key of this profile.",
        )
    return cipher
