"""Encryption of single values with XAES-256-GCM: AES-256-GCM with a random nonce of 192 bits. Knows no table.

XAES-256-GCM (https://c2sp.org/XAES-256-GCM) derives an AES-256-GCM key from the first half of the nonce, and uses the
second half as the nonce of AES-GCM. See docs/decisions.md for the reason.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from hatbox.errors import MissingExtra
from hatbox.store.keys import Key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["MARKER", "OVERHEAD", "Cipher", "InvalidCiphertext"]

MARKER: Final = b"\xc1\x01"
"""The first bytes of an encrypted value. 0xC1 occurs in neither UTF-8 nor MessagePack; then the version."""
_HALF: Final = 12  # bytes of the nonce
_TAG: Final = 16
OVERHEAD: Final = len(MARKER) + 2 * _HALF + _TAG
"""How many bytes an encrypted value is longer than the value."""

_VALUES_PER_SUBKEY: Final = 2**20  # their random halves collide with a probability of 2**-57
_CACHED_SUBKEYS: Final = 256
_CHECKED: Final = b"hatbox"
_CHECK_DATA: Final = b"key check"


class InvalidCiphertext(Exception):
    """The value was not encrypted with this key and this associated data."""


class Cipher:
    """Encrypts and decrypts the values of one profile. Can be used by several threads."""

    def __init__(self, key: Key, profile_id: str) -> None:
        """`profile_id` is the uuid of the profile: a value of another profile with the same key is not accepted."""
        try:
            from cryptography.exceptions import InvalidTag
            from cryptography.hazmat.primitives.hashes import SHA256
            from cryptography.hazmat.primitives.kdf.hkdf import HKDF
        except ImportError:
            raise MissingExtra("encryption", "cryptography") from None
        info = b"hatbox profile values\0" + profile_id.encode()
        profile_key = HKDF(SHA256(), length=32, salt=None, info=info).derive(key.secret)
        self._invalid_tag = InvalidTag
        self._subkey = lru_cache(_CACHED_SUBKEYS)(_Subkeys(profile_key).derive)
        self._prefix = os.urandom(_HALF)
        self._encrypted = 0

    def encrypt(self, value: bytes, associated_data: bytes) -> bytes:
        """Encrypt a value. It can be decrypted only with the same associated data."""
        # Values share a subkey, because deriving one takes longer than to encrypt a cookie.
        self._encrypted += 1
        if self._encrypted % _VALUES_PER_SUBKEY == 0:
            self._prefix = os.urandom(_HALF)
        prefix, nonce = self._prefix, os.urandom(_HALF)
        return MARKER + prefix + nonce + self._subkey(prefix).encrypt(nonce, value, associated_data)

    def decrypt(self, stored: object, associated_data: bytes) -> bytes:
        """The value. Raises InvalidCiphertext."""
        start = len(MARKER)
        if not isinstance(stored, bytes) or len(stored) < OVERHEAD or stored[:start] != MARKER:
            raise InvalidCiphertext
        prefix, nonce = stored[start : start + _HALF], stored[start + _HALF : start + 2 * _HALF]
        try:
            return self._subkey(prefix).decrypt(nonce, stored[start + 2 * _HALF :], associated_data)
        except self._invalid_tag:
            raise InvalidCiphertext from None

    def key_check(self) -> bytes:
        """A value by which the key of a profile is recognized."""
        return self.encrypt(_CHECKED, _CHECK_DATA)

    def accepts(self, key_check: object) -> bool:
        """Whether this key has encrypted `key_check`."""
        try:
            return self.decrypt(key_check, _CHECK_DATA) == _CHECKED
        except InvalidCiphertext:
            return False

    def __repr__(self) -> str:
        return "<Cipher>"


class _Subkeys:
    """Derives subkeys: CMAC in counter mode (NIST SP 800-108r1), whose two messages have one block each."""

    def __init__(self, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher as BlockCipher
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.ciphers.algorithms import AES256
        from cryptography.hazmat.primitives.ciphers.modes import ECB

        self._aes = BlockCipher(AES256(key), ECB())  # noqa: S305 - single blocks, inside CMAC
        self._aesgcm = AESGCM
        whole = int.from_bytes(self._blocks(bytes(16)), "big")
        self._mask = (whole << 1) % 2**128 ^ (0x87 if whole >> 127 else 0)

    def derive(self, prefix: bytes) -> AESGCM:
        """The AES-256-GCM key for nonces that start with these bytes."""
        messages = (int.from_bytes(bytes((0, counter)) + b"X\0" + prefix, "big") for counter in (1, 2))
        blocks = b"".join((message ^ self._mask).to_bytes(16, "big") for message in messages)
        return self._aesgcm(self._blocks(blocks))

    def _blocks(self, data: bytes) -> bytes:
        encryptor = self._aes.encryptor()  # a new one each time: it must not be shared between threads
        return encryptor.update(data) + encryptor.finalize()
