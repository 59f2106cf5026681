from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given

from hatbox.cookies import Cookie
from hatbox.errors import FirefoxProfileLocked, ImportExportError, InvalidInputFile
from hatbox.formats import Bundle, BundleEntry, IdentityAttributes, firefox_profile
from hatbox.formats.base import Tally
from hatbox.formats.containers_json import HIDDEN
from hatbox.formats.firefox_cookies import insert_cookies
from hatbox.formats.firefox_profile import SESSION, UNLISTED, read_folder, write_folder
from tests.formats.firefox_files import insert, make_database
from tests.formats.strategies import bundles, timeless
from tests.formats.test_containers_json import OWN, PERSONAL, STORAGE, THUMBNAIL, file

WORK = IdentityAttributes("Work", "briefcase", "orange")
MINE = IdentityAttributes("Söckchen", "gift", "cyan")


def cookie(value: str, **more: object) -> Cookie:
    return Cookie(name="sid", value=value, domain="site.example", **{"expires": 4e9, "created": 1e9, **more})  # type: ignore[arg-type]


def values(folder: Path) -> dict[str, list[str]]:
    return {
        holding.label.name if holding.label else "": [each.value for each in holding.cookies]
        for holding in read_folder(folder).entries
    }


# ------------------------------------------------------------------------------------------------------- reading


def test_a_folder_that_is_no_profile_is_named(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InvalidInputFile, match="not a Firefox profile"):
            read_folder(folder)


def test_a_broken_half_breaks_the_whole(tmp_path: Path) -> None:
    make_database(tmp_path / "cookies.sqlite").close()
    (tmp_path / "containers.json").write_bytes(file(PERSONAL)[:-5])
    with pytest.raises(InvalidInputFile, match=r"containers\.json, line 1: .*truncated"):
        read_folder(tmp_path)


def test_each_container_has_its_own_cookies_and_unlisted_ones_are_counted(tmp_path: Path) -> None:
    (tmp_path / "containers.json").write_bytes(file(PERSONAL, THUMBNAIL, STORAGE, OWN))
    connection = make_database(tmp_path / "cookies.sqlite")
    for number in (0, 1, 5, 6, 99):
        insert(connection, value=f"v{number}", originAttributes=f"^userContextId={number}" if number else "")
    connection.close()
    bundle = read_folder(tmp_path)
    assert values(tmp_path) == {"": ["v0"], "Personal": ["v1"], "Söckchen": ["v6"]}
    assert bundle.skipped == {UNLISTED: 2}
    assert bundle.dropped == {SESSION: 0}


def test_a_profile_that_never_had_containers_has_cookies_of_none(tmp_path: Path) -> None:
    connection = make_database(tmp_path / "cookies.sqlite")
    insert(connection)
    connection.close()
    assert values(tmp_path) == {"": ["abc"]}


# ------------------------------------------------------------------------------------------------------- writing


def test_a_profile_that_firefox_has_open_is_not_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "containers.json").write_bytes(file(PERSONAL))

    @contextlib.contextmanager
    def running(folder: Path):  # type: ignore[no-untyped-def]
        raise FirefoxProfileLocked(folder)
        yield

    monkeypatch.setattr(firefox_profile, "locked", running)
    with pytest.raises(FirefoxProfileLocked):
        write_folder(Bundle([BundleEntry(MINE, [cookie("mine")])]), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["containers.json"]
    assert (tmp_path / "containers.json").read_bytes() == file(PERSONAL)


def test_a_folder_of_something_else_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("dear")
    with pytest.raises(ImportExportError, match="neither empty nor a Firefox profile"):
        write_folder(Bundle([]), tmp_path)
    with pytest.raises(ImportExportError, match="not a folder"):
        write_folder(Bundle([]), tmp_path / "diary.txt")
    assert [each.name for each in tmp_path.iterdir()] == ["diary.txt"]


def test_a_database_of_another_schema_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "containers.json").write_bytes(file(PERSONAL))
    make_database(tmp_path / "cookies.sqlite", 16).close()
    with pytest.raises(ImportExportError, match="schema 16, not 17"):
        write_folder(Bundle([BundleEntry(MINE, [cookie("mine")])]), tmp_path)
    assert (tmp_path / "containers.json").read_bytes() == file(PERSONAL)


def test_a_list_of_an_older_firefox_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "containers.json").write_bytes(file(PERSONAL, version=5))
    with pytest.raises(ImportExportError, match=r"containers\.json: it has an older version"):
        write_folder(Bundle([BundleEntry(MINE, [cookie("mine")])]), tmp_path)
    assert (tmp_path / "containers.json").read_bytes() == file(PERSONAL, version=5)


@pytest.mark.parametrize("exists", [True, False])
def test_a_failure_in_the_middle_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    folder = tmp_path / "profile"
    if exists:
        write_folder(Bundle([BundleEntry(MINE, [cookie("mine")])]), folder)
    before = values(folder) if exists else None
    calls: list[int] = []

    def failing(connection: sqlite3.Connection, number: int, cookies: list[Cookie]) -> int:
        calls.append(number)
        if len(calls) == 2:
            raise sqlite3.OperationalError("disk I/O error")
        return insert_cookies(connection, number, cookies)

    monkeypatch.setattr(firefox_profile, "insert_cookies", failing)
    with pytest.raises(ImportExportError, match="disk I/O error"):
        write_folder(Bundle([BundleEntry(None, [cookie("new")]), BundleEntry(WORK, [cookie("new")])]), folder)
    assert (values(folder) if exists else None) == before
    assert [each.name for each in tmp_path.iterdir()] == (["profile"] if exists else [])


@pytest.mark.parametrize("step", ["locked", "create_database", "connected", "insert_cookies", "replace_file"])
def test_an_export_that_is_killed_leaves_nothing_but_the_folder_and_the_next_one_completes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    folder, left = tmp_path / "profile", tmp_path / "left"
    bundle = Bundle([BundleEntry(None, [cookie("mine")]), BundleEntry(MINE, [cookie("mine")], 9)])
    connect = sqlite3.connect

    def killed(*_: object) -> None:
        if step == "connected":  # the mode is written, the tables are not
            with contextlib.closing(connect(folder / "cookies.sqlite")) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
        assert [each.name for each in tmp_path.iterdir()] == ["profile"]
        shutil.copytree(folder, left)
        raise KeyboardInterrupt

    monkeypatch.setattr(
        firefox_profile, {"locked": "_write_into", "connected": "create_database"}.get(step, step), killed
    )
    with pytest.raises(KeyboardInterrupt):
        write_folder(bundle, folder)
    monkeypatch.undo()
    write_folder(bundle, left)
    assert values(left) == {"": ["mine"], "Söckchen": ["mine"]}


def test_a_new_profile_has_the_ids_of_hatbox_and_is_its_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    holdings = [
        BundleEntry(None, [cookie("none")]),
        BundleEntry(MINE, [cookie("mine"), cookie("s", path="/x", expires=None)], 9),
    ]
    count, lost = write_folder(
        Bundle([*holdings, BundleEntry(IdentityAttributes("Work", "pet", "red", True), [], 2)]), folder
    )
    assert count == 2
    assert lost == {SESSION: 1, HIDDEN: 1}
    assert values(folder) == {"": ["none"], "Söckchen": ["mine"], "Work": []}
    assert [each.number for each in read_folder(folder).entries] == [0, 9, 2]
    if os.name == "posix":
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {each.stat().st_mode & 0o777 for each in folder.iterdir()} == {0o600}


def test_what_is_in_a_profile_stays_and_containers_that_look_the_same_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "containers.json").write_bytes(file(PERSONAL, THUMBNAIL, OWN, last=9))
    connection = make_database(tmp_path / "cookies.sqlite")
    insert(connection, name="old", originAttributes="^userContextId=6")
    insert(connection, originAttributes="^userContextId=6")
    insert(connection, originAttributes="^userContextId=5")
    connection.close()
    bundle = Bundle([BundleEntry(MINE, [cookie("new")], 2), BundleEntry(MINE, [cookie("twin")], 3)])
    for _ in range(2):
        write_folder(bundle, tmp_path)
        found = read_folder(tmp_path)
        assert [(each.number, [cookie.pair for cookie in each.cookies]) for each in found.entries] == [
            (0, []),
            (1, []),
            (6, ["sid=new", "old=abc"]),
            (10, ["sid=twin"]),
        ]
    entries = json.loads((tmp_path / "containers.json").read_bytes())["identities"]
    assert entries[:3] == [PERSONAL, THUMBNAIL, OWN]


@pytest.mark.slow
@given(bundles())
@timeless
def test_a_bundle_comes_back_but_for_what_is_said_to_be_lost(
    tmp_path_factory: pytest.TempPathFactory, bundle: Bundle
) -> None:
    folder = tmp_path_factory.mktemp("firefox") / "profile"
    lost: Tally
    count, lost = write_folder(bundle, folder)
    session = [each for holding in bundle.entries for each in holding.cookies if each.expires is None]
    assert count == bundle.count - len(session)
    assert lost[SESSION] == len(session)
    expected = [
        (
            holding.label and IdentityAttributes(holding.label.name, holding.label.icon, holding.label.color),
            [(each.key, each.value, each.same_site, each.sequence) for each in holding.cookies if each.expires],
        )
        for holding in bundle.entries
    ]
    back = [
        (holding.label, [(each.key, each.value, each.same_site, each.sequence) for each in holding.cookies])
        for holding in read_folder(folder).entries
    ]
    assert back == (expected if expected and expected[0][0] is None else [(None, []), *expected])
