"""Encryption keys of profiles: parsed, generated, and read from the environment or a file. Encrypts nothing.

A key is never a command-line argument, which other users can list, and never part of a message.
"""

from __future__ import annotations

import base64
import binascii
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from hatbox.errors import InvalidKey

__all__ = ["KEY_FILE_VARIABLE", "KEY_VARIABLE", "Key", "configured_key", "read_key_file"]

KEY_VARIABLE: Final = "HATBOX_KEY"
KEY_FILE_VARIABLE: Final = "HATBOX_KEY_FILE"
_BYTES: Final = 32
_MAX_FILE_BYTES: Final = 4096
_GENERATE: Final = "Generate one with: hatbox profile generate-key"


class Key:
    """A key of 256 bits. `repr()` and error messages do not contain it."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if len(secret) != _BYTES:
            raise InvalidKey(f"a key has {_BYTES} bytes, not {len(secret)}. {_GENERATE}")
        self._secret = secret

    @classmethod
    def generate(cls) -> Key:
        """A new random key."""
        return cls(secrets.token_bytes(_BYTES))

    @classmethod
    def parse(cls, text: str, source: str = "the key") -> Key:
        """A key from base64, with or without padding, in either alphabet. Surrounding whitespace is ignored.

        Raises InvalidKey, which names `source`. A passphrase is refused: it could be guessed.
        """
        found = text.strip()
        if not found:
            raise InvalidKey(f"{source} is empty. Set a key, or remove the setting. {_GENERATE}")
        try:
            # The padding is completed, so that a key without it is valid.
            standard = found.translate(_STANDARD_ALPHABET).rstrip("=").encode("ascii")
            secret = binascii.a2b_base64(standard + b"=" * (-len(standard) % 4), strict_mode=True)
        except (binascii.Error, UnicodeEncodeError):
            secret = b""
        if len(secret) != _BYTES:
            problem = f"{source} is not a key: a key is {_BYTES} random bytes in base64 (44 characters), no passphrase"
            raise InvalidKey(f"{problem}. {_GENERATE}") from None
        return cls(secret)

    @property
    def secret(self) -> bytes:
        """The bytes of the key."""
        return self._secret

    @property
    def text(self) -> str:
        """The key in base64, as `parse` reads it."""
        return base64.b64encode(self._secret).decode("ascii")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and secrets.compare_digest(self._secret, other._secret)

    def __hash__(self) -> int:
        return hash(self._secret)

    def __repr__(self) -> str:
        return "<Key>"


_STANDARD_ALPHABET: Final = str.maketrans("-_", "+/")


def configured_key(variable: str = KEY_VARIABLE, file_variable: str = KEY_FILE_VARIABLE) -> Key | None:
    """The key in $HATBOX_KEY, or in the file that $HATBOX_KEY_FILE names; None if neither is set.

    An empty variable is an error: a script that failed to read its key must not continue without encryption.
    """
    text, file = os.environ.get(variable), os.environ.get(file_variable)
    if text is not None and file is not None:
        raise InvalidKey(f"${variable} and ${file_variable} are both set. Unset one of them.")
    if text is not None:
        return Key.parse(text, f"${variable}")
    if file == "":
        raise InvalidKey(f"${file_variable} is empty. Set it to the path of a key file, or unset it.")
    return None if file is None else read_key_file(Path(file))


def read_key_file(path: Path) -> Key:
    """The key in a file that only its owner can read. Raises InvalidKey."""
    try:
        with path.expanduser().open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
                raise InvalidKey(
                    f"{path}: other users may access this key file (mode {stat.S_IMODE(mode):04o}). "
                    f"Restrict it with: chmod 600 '{path}'"
                )
            content = file.read(_MAX_FILE_BYTES)
    except (OSError, RuntimeError) as error:  # RuntimeError: ~ of an unknown user
        raise InvalidKey(f"{path}: the key file cannot be read ({getattr(error, 'strerror', None) or error})") from None
    return Key.parse(content.decode("ascii", "replace"), f"the content of {path}")
