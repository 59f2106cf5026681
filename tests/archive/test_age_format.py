from __future__ import annotations

import io
import random
from typing import IO

import pytest

from hatbox.archive import age_format
from hatbox.archive.age_format import DecryptingReader, EncryptingWriter, read_key
from hatbox.errors import ArchiveDamaged, ArchiveError, WrongPassphrase

CHUNK = 65536
SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 5]


def encrypted(data: bytes, passphrase: str = "päss", work_factor: int = 4) -> bytes:
    file = io.BytesIO()
    writer = EncryptingWriter(file, passphrase, work_factor)
    for start in range(0, len(data), 10_007):
        writer.write(data[start : start + 10_007])
    writer.close()
    return file.getvalue()


def decrypted(data: bytes, passphrase: str = "päss") -> bytes:
    file: IO[bytes] = io.BytesIO(data)
    reader = DecryptingReader(file, read_key(file, passphrase, "file"), "file")
    parts = []
    while part := reader.read(4_001):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("size", SIZES)
def test_what_is_encrypted_is_decrypted(size: int) -> None:
    data = random.Random(size).randbytes(size)
    assert decrypted(encrypted(data)) == data


@pytest.mark.parametrize("size", SIZES)
def test_the_files_are_those_of_age(size: int) -> None:
    pyrage = pytest.importorskip("pyrage")
    data = random.Random(size).randbytes(size)
    assert pyrage.passphrase.decrypt(encrypted(data), "päss") == data


@pytest.mark.slow
def test_a_file_of_another_age_program_is_read() -> None:
    pyrage = pytest.importorskip("pyrage")
    data = random.Random(7).randbytes(CHUNK + 9)
    assert decrypted(pyrage.passphrase.encrypt(data, "other"), "other") == data


def test_every_changed_byte_is_refused() -> None:
    data = encrypted(b"some secret")
    for place in range(len(data)):
        with pytest.raises(ArchiveError):
            decrypted(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


def test_a_truncated_or_extended_file_is_refused() -> None:
    data = encrypted(bytes(2 * CHUNK + 5))
    header = len(encrypted(b"")) - 16
    for end in (header, header + CHUNK + 16, header + 2 * (CHUNK + 16), len(data) - 1, header - 1):
        with pytest.raises(ArchiveDamaged):
            decrypted(data[:end])
    with pytest.raises(ArchiveDamaged):
        decrypted(data + b"\0")


def test_a_wrong_passphrase_is_named() -> None:
    with pytest.raises(WrongPassphrase, match="the passphrase is wrong"):
        decrypted(encrypted(b"secret"), "pass")


def test_a_file_cannot_make_a_reader_use_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encrypted(b"secret").replace(b" 4\n", b" 22\n", 1)
    monkeypatch.delattr(age_format, "_scrypt")
    with pytest.raises(ArchiveDamaged, match="work factor 22"):
        decrypted(data)


def test_a_passphrase_of_the_environment_may_have_any_bytes() -> None:
    passphrase = b"p\xe4ss".decode(errors="surrogateescape")
    assert decrypted(encrypted(b"secret", passphrase), passphrase) == b"secret"
