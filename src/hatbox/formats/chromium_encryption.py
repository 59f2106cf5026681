"""Encrypted cookie values of Chromium: who can decrypt them, and those of Linux's basic store decrypted.

Without a keyring, Chromium on Linux encrypts with a key that is in its source code, the same for everybody (`v10`).
Everywhere else the key is with the operating system, and only the browser of this user can decrypt.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from typing import Final

__all__ = ["KEYRING", "MACHINE", "MISSING_EXTRA", "ValueCipher"]

KEYRING: Final = "cookies encrypted with the system's keyring, which only the browser itself can decrypt"
MACHINE: Final = "cookies encrypted by macOS or Windows, which only the browser itself can decrypt"
MISSING_EXTRA: Final = "cookies encrypted with Chromium's fixed key. To import them: pip install 'hatbox[encryption]'"

_FIXED: Final = b"v10"
_KEYRINGS: Final = (b"v11", b"v12")  # Secret Service or KWallet; the portal of sandboxed applications
_PASSWORDS: Final = (b"peanuts", b"")  # the empty one is of releases whose keyring had failed
_SALT: Final = b"saltysalt"
_VECTOR: Final = b" " * 16
_DIGEST_SINCE: Final = 24  # since then, the SHA-256 of the host precedes the value


class ValueCipher:
    """Decrypts the values of one database. `version` is that of its schema."""

    def __init__(self, version: int) -> None:
        self._has_digest = version >= _DIGEST_SINCE
        self._keys = [hashlib.pbkdf2_hmac("sha1", each, _SALT, 1, 16) for each in _PASSWORDS]

    def decrypt(self, encrypted: bytes, host_key: str) -> tuple[bytes, str]:
        """The value, or the reason why it cannot be decrypted."""
        if encrypted.startswith(_KEYRINGS):
            return b"", KEYRING
        if not encrypted.startswith(_FIXED):
            return b"", MACHINE
        if find_spec("cryptography") is None:
            return b"", MISSING_EXTRA
        body = encrypted[len(_FIXED) :]
        if not body or len(body) % 16:
            return b"", MACHINE  # Windows has the same prefix, and another cipher
        for key in self._keys:
            value = self._checked(_unpadded(_aes_cbc(key, body)), host_key)
            if value is not None:
                return value, ""
        return b"", MACHINE  # macOS has the same prefix, and a key in the keychain

    def _checked(self, plain: bytes | None, host_key: str) -> bytes | None:
        if plain is None:
            return None
        if self._has_digest:
            digest = hashlib.sha256(host_key.encode("latin-1")).digest()
            return plain.removeprefix(digest) if plain.startswith(digest) else None
        # Nothing authenticates older values. A wrong key gives random bytes, which are not text.
        try:
            text = plain.decode()
        except UnicodeDecodeError:
            return None
        return plain if all(each >= " " or each == "\t" for each in text) else None


def _aes_cbc(key: bytes, body: bytes) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    decryptor = Cipher(algorithms.AES(key), modes.CBC(_VECTOR)).decryptor()
    return decryptor.update(body) + decryptor.finalize()


def _unpadded(plain: bytes) -> bytes | None:
    count = plain[-1]
    return plain[:-count] if 1 <= count <= 16 and plain.endswith(bytes([count]) * count) else None
