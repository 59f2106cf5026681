"""Encryption with a passphrase in the age format (https://c2sp.org/age), as streams. Knows no archive.

The `age` program decrypts such a file, too. Chunks of 64 KiB are encrypted and authenticated one by one, in constant
memory; see docs/decisions.md for the reason why this is not pyrage.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import re
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from hatbox.errors import ArchiveDamaged, MissingExtra, WrongPassphrase

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

__all__ = ["AGE_MAGIC", "AgeKey", "DecryptingReader", "EncryptingWriter", "read_key"]

AGE_MAGIC: Final = b"age-encryption.org/v1\n"
"""The first line of an age file."""

_CHUNK: Final = 64 * 1024
_TAG: Final = 16
_FILE_KEY: Final = 16
_SALT: Final = 16
_NONCE: Final = 16
_WORK_FACTOR: Final = 18  # scrypt takes a second and 256 MB; the default of age
_MAX_WORK_FACTOR: Final = 20  # 1 GB: a file must not make a reader use more
_SCRYPT_LABEL: Final = b"age-encryption.org/v1/scrypt"
_MAX_HEADER: Final = 4096
_DECRYPT: Final = "Decrypt it with the age program first."
_HEADER: Final = re.compile(
    rb"age-encryption\.org/v1\n-> scrypt ([A-Za-z0-9+/]{22}) ([1-9][0-9]?)\n([A-Za-z0-9+/]{43})\n---"
    rb" ([A-Za-z0-9+/]{43})\n"
)


class AgeKey(NamedTuple):
    """The decrypted key of a file, and the place of the payload."""

    file_key: bytes
    payload: int


class EncryptingWriter:
    """Writes encrypted bytes to a file. `close` writes the end, without which the file is refused."""

    def __init__(self, file: IO[bytes], passphrase: str, work_factor: int = _WORK_FACTOR) -> None:
        self._file = file
        file_key, salt, nonce = os.urandom(_FILE_KEY), os.urandom(_SALT), os.urandom(_NONCE)
        wrapped = _cipher(_scrypt(passphrase, salt, work_factor)).encrypt(bytes(12), file_key, None)
        header = AGE_MAGIC + b"-> scrypt %s %d\n%s\n---" % (_base64(salt), work_factor, _base64(wrapped))
        file.write(header + b" " + _base64(_header_mac(file_key, header)) + b"\n" + nonce)
        self._chunks = _Chunks(file_key, nonce)
        self._buffer = bytearray()

    def write(self, data: bytes) -> int:
        """Encrypt and write bytes."""
        self._buffer += data
        while len(self._buffer) > _CHUNK:  # the last chunk, which may be full, is written by close()
            self._file.write(self._chunks.encrypt(bytes(self._buffer[:_CHUNK]), is_last=False))
            del self._buffer[:_CHUNK]
        return len(data)

    def close(self) -> None:
        """Write the last chunk. Does not close the file."""
        self._file.write(self._chunks.encrypt(bytes(self._buffer), is_last=True))
        self._buffer.clear()


class DecryptingReader:
    """Reads the decrypted bytes of a file. Raises ArchiveDamaged for changed bytes."""

    def __init__(self, file: IO[bytes], key: AgeKey, source: str) -> None:
        """`key` is what `read_key` returns for the file."""
        self._file = file
        self._source = source
        self._buffer = bytearray()
        file.seek(key.payload)
        nonce = file.read(_NONCE)
        if len(nonce) < _NONCE:
            raise ArchiveDamaged(source, "it is truncated")
        self._chunks = _Chunks(key.file_key, nonce)
        self._ahead = file.read(_CHUNK + _TAG)
        self._is_done = False

    def read(self, size: int) -> bytes:
        """The next bytes: fewer than `size` only at the end."""
        while len(self._buffer) < size and not self._is_done:
            self._read_chunk()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _read_chunk(self) -> None:
        chunk, self._ahead = self._ahead, self._file.read(_CHUNK + _TAG)
        self._is_done = not self._ahead
        data = self._chunks.decrypt(chunk, is_last=self._is_done)
        if data is None or (not data and self._chunks.count > 1):
            raise ArchiveDamaged(self._source, "it is damaged or truncated")
        self._buffer += data


def read_key(file: IO[bytes], passphrase: str, source: str) -> AgeKey:
    """Decrypt the key of a file, which takes a second. Raises WrongPassphrase."""
    file.seek(0)
    found = _HEADER.match(file.read(_MAX_HEADER))
    if found is None:
        problem = "it is encrypted in another way than with a passphrase"
        raise ArchiveDamaged(source, problem, f"Nothing was changed. {_DECRYPT}")
    try:
        salt, wrapped, mac = (_from_base64(found[number]) for number in (1, 3, 4))
    except binascii.Error as error:
        raise ArchiveDamaged(source, "the header of the encryption is damaged") from error
    if (work_factor := int(found[2])) > _MAX_WORK_FACTOR:
        problem = f"its passphrase needs too much memory to check (work factor {work_factor})"
        raise ArchiveDamaged(source, problem, f"Nothing was changed. {_DECRYPT}")
    file_key = _decrypted(_scrypt(passphrase, salt, work_factor), bytes(12), wrapped)
    if file_key is None or len(file_key) != _FILE_KEY:
        raise WrongPassphrase(source, "the passphrase is wrong", "Nothing was changed.")
    if not hmac.compare_digest(mac, _header_mac(file_key, found[0].rpartition(b" ")[0])):
        raise ArchiveDamaged(source, "the header of the encryption is damaged")
    return AgeKey(file_key, found.end())


class _Chunks:
    """Encrypts and decrypts the chunks of a payload, in order. `count` is the number of chunks so far."""

    def __init__(self, file_key: bytes, nonce: bytes) -> None:
        self._key = _hkdf(file_key, nonce, b"payload")
        self._cipher = _cipher(self._key)
        self.count = 0

    def encrypt(self, data: bytes, *, is_last: bool) -> bytes:
        return self._cipher.encrypt(self._next_nonce(is_last=is_last), data, None)

    def decrypt(self, data: bytes, *, is_last: bool) -> bytes | None:
        """The chunk; None if it was changed, moved, or is not the last one."""
        return _decrypted(self._key, self._next_nonce(is_last=is_last), data)

    def _next_nonce(self, *, is_last: bool) -> bytes:
        nonce = self.count.to_bytes(11, "big") + bytes([is_last])
        self.count += 1
        return nonce


def _decrypted(key: bytes, nonce: bytes, data: bytes) -> bytes | None:
    cipher = _cipher(key)
    from cryptography.exceptions import InvalidTag

    try:
        return cipher.decrypt(nonce, data, None)
    except InvalidTag:
        return None


def _cipher(key: bytes) -> ChaCha20Poly1305:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    except ImportError:
        raise MissingExtra("encryption", "cryptography") from None
    return ChaCha20Poly1305(key)


def _scrypt(passphrase: str, salt: bytes, work_factor: int) -> bytes:
    n = 1 << work_factor
    memory = 128 * 8 * n + 2**20
    secret = passphrase.encode(errors="surrogateescape")  # an environment variable may have any bytes
    return hashlib.scrypt(secret, salt=_SCRYPT_LABEL + salt, n=n, r=8, p=1, maxmem=memory, dklen=32)


def _hkdf(key: bytes, salt: bytes, info: bytes) -> bytes:
    """HKDF with SHA-256 (RFC 5869), for one block."""
    extracted = hmac.digest(salt or bytes(32), key, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")


def _header_mac(file_key: bytes, header: bytes) -> bytes:
    return hmac.digest(_hkdf(file_key, b"", b"header"), header, "sha256")


def _base64(data: bytes) -> bytes:
    return base64.b64encode(data).rstrip(b"=")


def _from_base64(text: bytes) -> bytes:
    """Strict: one text for each value, so that no changed header is accepted."""
    data = binascii.a2b_base64(text + b"=" * (-len(text) % 4), strict_mode=True)
    if _base64(data) != text:
        raise binascii.Error("not canonical")
    return data
