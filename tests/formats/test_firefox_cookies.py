from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
from collections import Counter
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given

from hatbox.cookies import Cookie, Partition, SameSite
from hatbox.errors import ImportExportError, InvalidInputFile
from hatbox.formats import database_copy
from hatbox.formats.base import Tally
from hatbox.formats.firefox_cookies import ATTRIBUTES, create_database, insert_cookies, read_cookies
from tests.formats.firefox_files import COLUMNS, CREATED, LATER, insert, make_database
from tests.formats.strategies import NOW, holdings_cookies, timeless


def read(path: Path) -> dict[int, list[Cookie]]:
    return dict(read_cookies(path, Counter()))


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cookies.sqlite"
    path.write_bytes(b"my diary" * 100)
    with pytest.raises(InvalidInputFile, match=r"cookies\.sqlite: cannot read the database"):
        read(path)
    assert path.read_bytes() == b"my diary" * 100


@pytest.mark.parametrize("kept", [1, 100, 4096, 5000])
def test_a_database_that_was_cut_off_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "cookies.sqlite"
    connection = make_database(path)
    for number in range(200):
        insert(connection, name=f"n{number}", value="v" * 100)
    connection.close()
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InvalidInputFile):
        read(path)


@pytest.mark.parametrize("schema", [0, 6, 18])
def test_an_unknown_schema_is_refused(tmp_path: Path, schema: int) -> None:
    connection = make_database(tmp_path / "cookies.sqlite")
    connection.execute(f"PRAGMA user_version = {schema}")
    connection.close()
    with pytest.raises(InvalidInputFile, match=f"schema {schema}"):
        read(tmp_path / "cookies.sqlite")


def test_a_table_without_what_we_need_is_refused(tmp_path: Path) -> None:
    connection = make_database(tmp_path / "cookies.sqlite")
    connection.execute("ALTER TABLE moz_cookies DROP COLUMN expiry")
    connection.close()
    with pytest.raises(InvalidInputFile, match="without expiry"):
        read(tmp_path / "cookies.sqlite")


@pytest.mark.parametrize("schema", COLUMNS)
def test_every_schema_is_read_with_its_unit_of_time(tmp_path: Path, schema: int) -> None:
    connection = make_database(tmp_path / "cookies.sqlite", schema)
    insert(connection, host=".site.example", originAttributes="^userContextId=2", isHttpOnly=1)
    connection.close()
    (cookie,) = read(tmp_path / "cookies.sqlite")[2]
    assert (cookie.domain, cookie.host_only, cookie.http_only, cookie.secure) == ("site.example", False, True, True)
    assert cookie.expires == LATER
    assert (cookie.created, cookie.sequence, cookie.last_access) == (CREATED / 1e6, CREATED, CREATED / 1e6 + 5)


@pytest.mark.parametrize(
    ("schema", "columns", "expected"),
    [
        (8, {}, SameSite.UNSPECIFIED),
        (9, {"sameSite": None}, SameSite.UNSPECIFIED),
        (9, {"sameSite": 2}, SameSite.STRICT),
        (10, {"sameSite": 1, "rawSameSite": 0}, SameSite.UNSPECIFIED),
        (12, {"sameSite": 1, "rawSameSite": 1}, SameSite.LAX),
        (14, {"sameSite": 0, "rawSameSite": 0}, SameSite.NONE),
        (14, {"sameSite": 0, "rawSameSite": 0, "isSecure": 0}, SameSite.UNSPECIFIED),
        (17, {"sameSite": 256}, SameSite.UNSPECIFIED),
        (17, {"sameSite": 1}, SameSite.LAX),
        (17, {"sameSite": 0}, SameSite.NONE),
        (17, {"sameSite": 99}, SameSite.UNSPECIFIED),
    ],
)
def test_same_site_is_what_the_columns_of_the_time_say(
    tmp_path: Path, schema: int, columns: dict[str, int | None], expected: SameSite
) -> None:
    connection = make_database(tmp_path / "cookies.sqlite", schema)
    insert(connection, **columns)
    connection.close()
    (cookie,) = read(tmp_path / "cookies.sqlite")[0]
    assert cookie.same_site is expected


def test_rows_that_are_only_in_the_journal_are_read_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "cookies.sqlite"
    with contextlib.closing(make_database(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        insert(connection)
        connection.execute("BEGIN EXCLUSIVE")  # as Firefox keeps it
        before = {file.name: hashlib.sha256(file.read_bytes()).digest() for file in tmp_path.iterdir()}
        assert b"site.example" not in path.read_bytes()
        assert [each.pair for each in read(path)[0]] == ["sid=abc"]
        assert {file.name: hashlib.sha256(file.read_bytes()).digest() for file in tmp_path.iterdir()} == before


def test_a_database_that_changes_while_it_is_copied_is_copied_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cookies.sqlite"
    connection = make_database(path)
    copied: list[BinaryIO] = []

    def disturbed(source: BinaryIO, target: BinaryIO) -> None:
        shutil.copyfileobj(source, target)
        copied.append(source)
        if len(copied) == 1:  # a checkpoint and a new row, between database and journal
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            insert(connection)

    monkeypatch.setattr(database_copy, "copyfileobj", disturbed)
    monkeypatch.setattr(database_copy, "_PAUSE_SECONDS", 0)
    assert len(read(path)[0]) == 1
    assert len(copied) == 2
    connection.close()


def test_a_database_that_never_rests_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cookies.sqlite"
    make_database(path).close()
    states = iter(range(1000))
    monkeypatch.setattr(database_copy, "_state", lambda _: next(states))
    monkeypatch.setattr(database_copy, "_PAUSE_SECONDS", 0)
    with pytest.raises(ImportExportError, match="changed during every copy"):
        read(path)


def test_containers_and_partitions_are_kept_apart_and_the_rest_is_counted(tmp_path: Path) -> None:
    connection = make_database(tmp_path / "cookies.sqlite")
    insert(connection, value="default")
    insert(connection, value="six", originAttributes="^userContextId=6")
    insert(connection, value="part", originAttributes="^userContextId=6&partitionKey=%28https%2Ctop.example%29")
    insert(connection, value="private", originAttributes="^privateBrowsingId=1")
    insert(connection, value="isolated", originAttributes="^firstPartyDomain=top.example")
    connection.close()
    skipped: Tally = Counter()
    found = read_cookies(tmp_path / "cookies.sqlite", skipped)
    assert {number: [each.value for each in cookies] for number, cookies in found.items()} == {
        0: ["default"],
        6: ["six", "part"],
    }
    assert found[6][1].partition == Partition("https://top.example", True)
    assert skipped == {ATTRIBUTES: 2}


PARTITIONS = [
    ("site.example", "%28https%2Ctop.example%29", Partition("https://top.example", True)),
    ("site.example", "%28https%2Csite.example%29", Partition("https://site.example")),
    (".a.site.example", "%28https%2Csite.example%29", Partition("https://site.example")),
    ("site.example", "%28https%2Csite.example%2Cf%29", Partition("https://site.example", True)),
    ("127.0.0.1", "%28http%2C127.0.0.1%2C8080%29", Partition("http://127.0.0.1:8080")),
]


@pytest.mark.parametrize(("host", "key", "partition"), PARTITIONS)
def test_a_partition_is_spelled_as_the_engine_does_here_and_as_firefox_does_there(
    tmp_path: Path, host: str, key: str, partition: Partition
) -> None:
    connection = make_database(tmp_path / "cookies.sqlite")
    insert(connection, host=host, originAttributes=f"^userContextId=6&partitionKey={key}")
    connection.close()
    (cookie,) = read(tmp_path / "cookies.sqlite")[6]
    assert cookie.partition == partition
    create_database(tmp_path / "written.sqlite")
    with contextlib.closing(sqlite3.connect(tmp_path / "written.sqlite")) as connection, connection:
        insert_cookies(connection, 6, [cookie])
        (written,) = connection.execute("SELECT host, originAttributes FROM moz_cookies").fetchall()
    assert written == (host, f"^userContextId=6&partitionKey={key}")


def test_bytes_that_are_not_utf8_come_through(tmp_path: Path) -> None:
    connection = make_database(tmp_path / "cookies.sqlite")
    insert(connection)
    connection.execute("UPDATE moz_cookies SET value = CAST(x'ff00fe' AS TEXT)")
    connection.close()
    assert read(tmp_path / "cookies.sqlite")[0][0].value == "\xff\x00\xfe"


def test_values_of_the_wrong_kind_are_read_as_what_they_can_be(tmp_path: Path) -> None:
    connection = make_database(tmp_path / "cookies.sqlite")
    insert(connection, value=b"\xff", path=None, creationTime="then", lastAccessed=None, sameSite="odd")
    connection.close()
    (cookie,) = read(tmp_path / "cookies.sqlite")[0]
    assert (cookie.value, cookie.path, cookie.created, cookie.same_site) == ("\xff", "/", 0, SameSite.UNSPECIFIED)


@pytest.mark.slow
@given(holdings_cookies())
@timeless
def test_what_is_written_comes_back_but_for_session_cookies(
    tmp_path_factory: pytest.TempPathFactory, cookies: list[Cookie]
) -> None:
    path = tmp_path_factory.mktemp("firefox") / "cookies.sqlite"
    create_database(path)
    lasting = [cookie for cookie in cookies if cookie.expires is not None]
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        assert insert_cookies(connection, 7, lasting) == len(lasting)
    for cookie in lasting:
        cookie.last_access = max(cookie.last_access, cookie.created)
    assert read(path).get(7, []) == lasting


def test_a_time_beyond_all_columns_is_written_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "cookies.sqlite"
    create_database(path)
    assert path.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        insert_cookies(connection, 0, [Cookie(name="a", value="b", domain="site.example", expires=1e300)])
    assert (read(path)[0][0].expires or 0) > NOW
