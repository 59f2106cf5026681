from __future__ import annotations

import contextlib
import hashlib
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies import Cookie, Partition, SameSite
from hatbox.errors import InvalidInputFile
from hatbox.formats import chromium_encryption
from hatbox.formats.base import Tally
from hatbox.formats.chromium_cookies import OPAQUE, read_cookies
from hatbox.formats.chromium_encryption import KEYRING, MACHINE, MISSING_EXTRA
from tests.formats.chromium_files import EPOCH, SCHEMAS, encrypted, insert, make_database
from tests.formats.strategies import timeless


def read(path: Path) -> tuple[list[Cookie], Tally]:
    skipped: Tally = Counter()
    return read_cookies(path, skipped), skipped


def one(path: Path, version: int = 24, **more: Any) -> Cookie:
    with contextlib.closing(make_database(path, version)) as connection:
        insert(connection, **more)
    (cookie,), skipped = read(path)
    assert not skipped
    return cookie


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "Cookies"


# ------------------------------------------------------------------------------------------------ what goes wrong


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database" * 100)


def truncated(path: Path) -> None:
    with contextlib.closing(make_database(path)) as connection:
        for number in range(2000):
            insert(connection, name=f"n{number}", value="v" * 100)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwritten(path: Path) -> None:
    with contextlib.closing(make_database(path)) as connection:
        for number in range(2000):
            insert(connection, name=f"n{number}", value="v" * 100)
    data = bytearray(path.read_bytes())
    data[8192:16384] = b"\xff" * 8192
    path.write_bytes(data)


def endless_view(path: Path) -> None:
    with contextlib.closing(make_database(path)) as connection:
        connection.execute("DROP TABLE cookies")
        texts, times = ["host_key", "name", "value", "path"], ["creation_utc", "expires_utc", "last_access_utc"]
        flags = ["is_secure", "is_httponly", "has_expires", "is_persistent"]
        columns = ", ".join(f"n AS {each}" for each in [*texts, *times, *flags])
        numbers = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"
        connection.execute(f"CREATE VIEW cookies AS {numbers} SELECT {columns} FROM c")


def huge_value(path: Path) -> None:
    with contextlib.closing(make_database(path)) as connection:
        insert(connection, value="v" * (2**20 + 1))


def too_new(path: Path) -> None:
    make_database(path, 25).close()


def too_old(path: Path) -> None:
    make_database(path, 4).close()


def no_version(path: Path) -> None:
    with contextlib.closing(make_database(path)) as connection:
        connection.execute("UPDATE meta SET value = 'x'")


def no_table(path: Path) -> None:
    with contextlib.closing(make_database(path)) as connection:
        connection.execute("DROP TABLE cookies")


def empty(path: Path) -> None:
    path.touch()


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path)


def folder(path: Path) -> None:
    path.mkdir()


def endless_journal(path: Path) -> None:
    make_database(path).close()
    path.with_name("Cookies-wal").symlink_to("/dev/zero")


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (garbage, "cannot read the database"),
        (truncated, "damaged|malformed"),
        (overwritten, "damaged|malformed"),
        (endless_view, "cookies is not a table"),
        (huge_value, "too big"),
        (too_new, "unsupported version 25"),
        (too_old, "unsupported version 4 .*supported: 5 to 24"),
        (no_version, "unsupported version 0"),
        (no_table, "no column host_key"),
        (empty, "cannot read the database|unsupported version 0"),
        (fifo, "a named pipe, not a file"),
        (device, "a device or socket, not a file"),
        (loop, "cannot be read"),
        (folder, "a folder, not a file"),
        (endless_journal, "a device or socket, not a file"),
        (sparse, "larger than 1024 MB"),
    ],
)
def test_what_is_no_cookie_database_is_refused_at_once(path: Path, make: Any, problem: str) -> None:
    make(path)
    with pytest.raises(InvalidInputFile, match=problem) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert str(caught.value).endswith("Nothing was imported.")


@pytest.mark.slow
@given(st.integers(0, 40_000), st.binary(min_size=1, max_size=64))
@timeless
def test_damage_anywhere_is_refused_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, at: int, octets: bytes
) -> None:
    path = tmp_path_factory.mktemp("chromium") / "Cookies"
    with contextlib.closing(make_database(path)) as connection:
        for number in range(100):
            insert(connection, name=f"n{number}", value="v" * 100)
    data = bytearray(path.read_bytes())
    at %= len(data)
    data[at : at + len(octets)] = octets
    path.write_bytes(data)
    with contextlib.suppress(InvalidInputFile):
        found, _ = read(path)
        assert len(found) <= 100


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"v11" + b"x" * 32, KEYRING),
        (b"v12" + b"x" * 32, KEYRING),
        (b"v20" + b"x" * 32, MACHINE),
        (b"\x01\x00\x00\x00\xd0\x8c\x9d\xdf", MACHINE),
        (b"v10" + b"x" * 31, MACHINE),
        (b"v10", MACHINE),
        (encrypted(b"abc", password=b"of the keychain"), MACHINE),
        (encrypted(b"abc", ".other.example"), MACHINE),
        (encrypted(b"abc", digest=False), MACHINE),
    ],
)
def test_values_that_only_the_browser_can_decrypt_are_counted_by_who_can(path: Path, value: bytes, reason: str) -> None:
    with contextlib.closing(make_database(path)) as connection:
        insert(connection, name="secret", value="", encrypted_value=value)
        insert(connection, name="open")
    found, skipped = read(path)
    assert ([each.name for each in found], skipped) == (["open"], {reason: 1})


def test_without_the_extra_encrypted_values_are_counted_with_the_command_that_helps(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium_encryption, "find_spec", lambda _: None)
    with contextlib.closing(make_database(path)) as connection:
        insert(connection, value="", encrypted_value=encrypted(b"abc"))
    assert read(path) == ([], {MISSING_EXTRA: 1})


def test_a_partition_of_a_page_without_an_address_is_counted(path: Path) -> None:
    with contextlib.closing(make_database(path)) as connection:
        insert(connection, top_frame_site_key="opaque")
    assert read(path) == ([], {OPAQUE: 1})


# ------------------------------------------------------------------------------------------------------ what works


@pytest.mark.parametrize("version", SCHEMAS)
def test_cookies_of_all_versions_are_read(path: Path, version: int) -> None:
    same_site = {"samesite": 2} if version >= 11 else {"firstpartyonly": 2} if version >= 8 else {}
    assert one(path, version, **same_site) == Cookie(
        name="sid",
        value="abc",
        domain="site.example",
        host_only=False,
        secure=True,
        http_only=True,
        same_site=SameSite.STRICT if same_site else SameSite.UNSPECIFIED,
        expires=4e9,
        sequence=1_700_000_000_000_001,
        created=1_700_000_000.000001,
        last_access=1_700_000_001.5,
    )


@pytest.mark.parametrize(
    ("version", "more", "expected"),
    [
        (24, {}, SameSite.UNSPECIFIED),
        (24, {"samesite": -1}, SameSite.UNSPECIFIED),
        (24, {"samesite": 0}, SameSite.NONE),
        (24, {"samesite": 0, "is_secure": 0}, SameSite.UNSPECIFIED),
        (24, {"samesite": 1}, SameSite.LAX),
        (24, {"samesite": 7}, SameSite.UNSPECIFIED),
        (10, {"firstpartyonly": 0}, SameSite.UNSPECIFIED),
        (10, {"firstpartyonly": 1}, SameSite.LAX),
    ],
)
def test_same_site_is_read_as_chromium_means_it(
    path: Path, version: int, more: dict[str, Any], expected: SameSite
) -> None:
    assert one(path, version, **more).same_site is expected


def test_a_newer_version_is_read_if_it_says_that_it_can_be(path: Path) -> None:
    with contextlib.closing(make_database(path, 26, compatible=24)) as connection:
        insert(connection)
    assert len(read(path)[0]) == 1


@pytest.mark.parametrize("more", [{"has_expires": 0}, {"is_persistent": 0}, {"expires_utc": 0}])
def test_session_cookies_are_read(path: Path, more: dict[str, int]) -> None:
    assert one(path, **more).expires is None


def test_hosts_and_partitions(path: Path) -> None:
    with contextlib.closing(make_database(path)) as connection:
        insert(connection, name="host", host_key="site.example")
        insert(connection, name="address", host_key="127.0.0.1", creation_utc=EPOCH + 2)
        insert(connection, name="part", top_frame_site_key="https://top.example", creation_utc=EPOCH + 3)
        own = {"top_frame_site_key": "https://site.example", "has_cross_site_ancestor": 0}
        insert(connection, name="own", creation_utc=EPOCH + 4, **own)
        insert(connection, name="old", creation_utc=0, last_access_utc=0)
    found = {each.name: each for each in read(path)[0]}
    assert list(found) == ["old", "address", "part", "own", "host"], "the oldest first"
    assert (found["host"].host_only, found["address"].host_only, found["part"].host_only) == (True, True, False)
    assert found["part"].partition == Partition("https://top.example", True)
    assert found["own"].partition == Partition("https://site.example", False)
    assert found["host"].partition is None
    assert (found["old"].created, found["old"].sequence, found["old"].last_access) == (0, 0, 0)


@pytest.mark.parametrize(
    ("version", "value"),
    [
        (24, encrypted("ü".encode())),
        (24, encrypted("ü".encode(), password=b"")),
        (23, encrypted("ü".encode(), digest=False)),
        (7, encrypted("ü".encode(), digest=False)),
    ],
)
def test_values_of_the_basic_store_are_decrypted(path: Path, version: int, value: bytes) -> None:
    assert one(path, version, value="", encrypted_value=value).value == "ü".encode().decode("latin-1")


@given(st.binary(max_size=80))
@timeless
def test_every_value_is_decrypted_as_it_was(tmp_path_factory: pytest.TempPathFactory, value: bytes) -> None:
    path = tmp_path_factory.mktemp("chromium") / "Cookies"
    assert one(path, value="", encrypted_value=encrypted(value)).value.encode("latin-1") == value


def test_a_commit_that_is_in_progress_is_undone_in_the_copy_and_nothing_is_written(tmp_path: Path, path: Path) -> None:
    connection = make_database(path)
    connection.execute("BEGIN")
    for number in range(500):
        insert(connection, name=f"n{number}", value="old" + "v" * 200)
    connection.execute("COMMIT")
    connection.execute("PRAGMA cache_size = 1")  # so that it spills into the file before the commit
    connection.execute("BEGIN EXCLUSIVE")
    connection.execute("UPDATE cookies SET value = 'new' || value")
    assert path.with_name("Cookies-journal").stat().st_size > 0
    assert b"newold" in path.read_bytes()
    before = {file.name: hashlib.sha256(file.read_bytes()).digest() for file in tmp_path.iterdir()}
    found, _ = read(path)
    assert {each.value for each in found} == {"old" + "v" * 200}
    assert len(found) == 500
    assert {file.name: hashlib.sha256(file.read_bytes()).digest() for file in tmp_path.iterdir()} == before
    connection.execute("COMMIT")
    connection.close()


def test_rows_of_other_types_are_read_as_text_and_numbers(path: Path) -> None:
    with contextlib.closing(make_database(path)) as connection:
        insert(connection, name=5, value=b"\xff", expires_utc="soon", is_secure="yes", path="")
    (found,), _ = read(path)
    assert (found.name, found.value, found.expires, found.secure, found.path) == ("5", "\xff", None, False, "/")
