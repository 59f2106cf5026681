"""Profiles of every earlier version, and what this version makes of them (store/sqlite/migrations.py)."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hatbox
from hatbox.store.sqlite import profile_file as files
from hatbox.store.sqlite.migrations import create_tables, has_tables_of, migrate, version_of
from hatbox.store.sqlite.repair import repair
from hatbox.store.sqlite.schema import FORMAT
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess

PROFILES = Path(__file__).parent / "profiles"
VERSIONS = sorted(int(file.stem[1:]) for file in PROFILES.glob("v*.sql"))
WITH_TABS = [version for version in VERSIONS if version >= 3]


def restore(version: int, path: Path) -> list[dict[str, Any]]:
    """Make a profile of an earlier version; returns the identities in it."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript((PROFILES / f"v{version}.sql").read_text("utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")
    identities: list[dict[str, Any]] = json.loads((PROFILES / f"v{version}.json").read_text("utf-8"))
    return identities


def schema(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    query = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name != 'sqlite_sequence' ORDER BY name"
    return connection.execute(query).fetchall()


def test_a_profile_of_every_version_is_kept_for_these_tests() -> None:
    assert list(range(1, FORMAT + 1)) == VERSIONS, "run python -m tests.store.profiles.make for the latest one"


@pytest.mark.parametrize("version", VERSIONS)
@in_loop
async def test_a_profile_of_an_earlier_version_opens_with_all_that_is_in_it(version: int, tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    identities = restore(version, path)
    assert len(identities) > 4
    for _ in range(2):  # the second time it is a profile of this version
        async with hatbox.open(path) as profile:
            assert msgspec.to_builtins(await profile.identities.query()) == identities
            for identity in identities:
                found = await profile.identities.query(identity["name"])
                assert identity["cookieStoreId"] in [one.cookie_store_id for one in found]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert version_of(connection) == FORMAT
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


_NEW_TAB_FIELDS = {"discarded": False, "group_id": -1}
"""What tabs of earlier versions do not have."""


@pytest.mark.parametrize("version", WITH_TABS)
@in_loop
async def test_a_profile_of_an_earlier_version_opens_with_all_its_tabs(version: int, tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    restore(version, path)
    kept = json.loads((PROFILES / f"v{version}.tabs.json").read_text("utf-8"))
    assert {"pinned", "hidden", "muted", "active", "loading"} <= {
        name for tab in kept["tabs"] for name, value in tab.items() if value is True
    }
    for _ in range(2):
        async with hatbox.open(path) as profile:
            tabs = await profile.tabs.query()
            assert msgspec.to_builtins({"windows": await profile.tabs.windows(), "tabs": tabs}) == {
                "windows": kept["windows"],
                "tabs": [_NEW_TAB_FIELDS | {"highlighted": tab["active"]} | tab for tab in kept["tabs"]],
            }
            pages = await profile.tabs.read(lambda each: [each.tabs.page_snapshot(row.id) for row in each.tabs.find()])
            assert [page for page in pages if page is not None] == [b"where it was"]
            assert await profile.tabs.read(lambda each: each.site_data.load(6)) == [
                ("https://site.example", b"what it keeps")
            ]
            assert len(await profile.tabs.read(lambda each: each.cookies.load(6))) == 1


@pytest.mark.parametrize("version", VERSIONS)
@in_loop
async def test_a_profile_of_an_earlier_version_goes_on_where_it_was(version: int, tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    identities = restore(version, path)
    heard: list[hatbox.ContextualIdentity] = []
    async with hatbox.open(path) as profile:
        profile.identities.on_created.add_listener(heard.append)
        new = await profile.identities.create("new", color="red", icon="pet")
        assert heard == [new]
        listed = [identity.cookie_store_id for identity in await profile.identities.query()]
        assert listed == [*(identity["cookieStoreId"] for identity in identities), new.cookie_store_id]
        numbers = [int(id_.rpartition("-")[2]) for id_ in listed]
        assert numbers[-1] == max(numbers[:-1]) + 2  # the newest had been removed, and its number is not used again
        await profile.identities.move(new, 1)
        assert (await profile.identities.query())[1] == new


@pytest.mark.parametrize("version", VERSIONS)
@in_loop
async def test_colors_and_icons_of_the_future_are_kept_and_drawn_as_neutral_ones(version: int, tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    restore(version, path)
    async with hatbox.open(path) as profile:
        [identity] = await profile.identities.query("of the future")
        assert (identity.color, identity.icon) == ("mauve", "top-hat")
        assert (identity.color_code, identity.icon_url) == ("#7c7c7d", "resource://usercontext-content/circle.svg")

        script = profile.browser(["contextualIdentities"]).contextualIdentities
        assert await script.get(identity.cookie_store_id) == {
            "name": "of the future",
            "icon": "top-hat",
            "iconUrl": "resource://usercontext-content/circle.svg",
            "color": "mauve",
            "colorCode": "#7c7c7d",
            "cookieStoreId": identity.cookie_store_id,
        }
        assert len(await script.query({})) == len(await profile.identities.query())

        renamed = await profile.identities.update(identity, name="renamed")
        assert (renamed.name, renamed.color, renamed.icon) == ("renamed", "mauve", "top-hat")
        recolored = await profile.identities.update(identity, color="red")
        assert (recolored.name, recolored.color, recolored.icon) == ("renamed", "red", "top-hat")
        with pytest.raises(hatbox.InvalidColor):  # kept, but not accepted anew
            await profile.identities.update(identity, color="mauve")  # type: ignore[arg-type]
        await profile.identities.hide(identity)
        await profile.identities.move(identity, 0)
    async with hatbox.open(path) as profile:
        first = (await profile.identities.query())[0]
        assert (first.name, first.color, first.icon, first.hidden) == ("renamed", "red", "top-hat", True)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_tables_of_a_format_that_was_released_are_still_the_same(version: int) -> None:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript((PROFILES / f"v{version}.sql").read_text("utf-8"))
        assert has_tables_of(connection, version)
        assert not has_tables_of(connection, version % FORMAT + 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_profile_that_was_upgraded_has_the_tables_of_a_new_one(version: int) -> None:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript((PROFILES / f"v{version}.sql").read_text("utf-8"))
        migrate(connection)
        upgraded = schema(connection)
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create_tables(connection)
        assert upgraded == schema(connection)


def test_an_upgrade_that_fails_leaves_the_profile_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "profile.db"
    identities = restore(4, path)

    def fail(connection: sqlite3.Connection) -> None:
        migrate(connection)
        connection.execute("INSERT INTO no_such_table VALUES (1)")

    monkeypatch.setattr(files, "migrate", fail)
    with pytest.raises(hatbox.ProfileError, match=r"profile\.db"):
        files.open_profile(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert version_of(connection) == 4
        assert has_tables_of(connection, 4)
    monkeypatch.undo()
    with hatbox.open_sync(path) as profile:
        assert msgspec.to_builtins(profile.identities.query()) == identities


@pytest.mark.process
def test_processes_that_upgrade_a_profile_at_once_all_get_it(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    identities = restore(4, path)
    with contextlib.ExitStack() as stack:
        others = [stack.enter_context(OtherProcess()) for _ in range(4)]
        for other in others:
            other.begin("open", str(path))
        for other in others:
            other.finish()
            assert other.identities("query") == identities


@pytest.mark.process
def test_a_profile_that_an_earlier_version_has_open_is_not_upgraded_and_the_program_is_named(tmp_path: Path) -> None:
    """An earlier version does not know of the lock beside the profile; SQLite's own locks show that it runs."""
    path = tmp_path / "profile.db"
    restore(4, path)
    program = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM identities').fetchall(); "
    )
    command = [sys.executable, "-c", f"{program}print(flush=True); sys.stdin.read()", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as earlier:
        assert earlier.stdout
        earlier.stdout.readline()
        with pytest.raises(hatbox.ProfileLocked, match=r"upgraded from format 4 to") as refusal:
            files.open_profile(path)
        if Path("/proc/locks").exists():
            assert f"(pid {earlier.pid})" in str(refusal.value)
        earlier.communicate()
    files.open_profile(path).close()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_profile_is_not_upgraded_where_the_disk_has_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "profile.db"
    restore(4, path)
    before = path.read_bytes()
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100_000))
    with pytest.raises(hatbox.DiskFull, match=r"MB are needed"):
        files.open_profile(path)
    assert path.read_bytes() == before


@in_loop
async def test_what_earlier_versions_had_left_in_free_pages_is_gone_after_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    restore(4, path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE scratch (x)")
        connection.execute("INSERT INTO scratch VALUES (?)", ("a secret of old " * 1000,))
        connection.execute("DROP TABLE scratch")
    assert b"a secret of old" in path.read_bytes()
    async with hatbox.open(path):
        pass
    assert b"a secret of old" not in path.read_bytes()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def test_a_damaged_profile_of_an_earlier_format_is_not_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    restore(4, path)
    content = bytearray(path.read_bytes())
    content[4096 : 2 * 4096] = bytes(4096)
    path.write_bytes(content)
    with pytest.raises(hatbox.ProfileCorrupt):
        files.open_profile(path)
    assert path.read_bytes() == content


@in_loop
async def test_identities_of_earlier_versions_get_uuids_of_their_own(tmp_path: Path) -> None:
    for version in VERSIONS:
        path = tmp_path / f"{version}.db"
        identities = restore(version, path)
        async with hatbox.open(path) as profile:
            uuids = await profile.store.read(lambda transaction: transaction.identities.uuids())
        assert len(uuids) == len(identities)
        async with hatbox.open(path) as profile:
            assert await profile.store.read(lambda transaction: transaction.identities.uuids()) == uuids


@pytest.mark.parametrize(
    ("version", "statement"),
    [
        (5, "UPDATE identities SET name = 'x' WHERE id = 1"),
        (6, "UPDATE identities SET name = 'x' WHERE id = 1"),
        (5, "UPDATE head SET windows = 99"),
        (6, "UPDATE head SET windows = 99"),
        (5, "UPDATE tabs SET title = 'x' WHERE id = 1"),
        (7, "UPDATE tabs SET title = 'x' WHERE id = 1"),
    ],
)
@in_loop
async def test_damage_is_reported_by_the_upgrade_and_not_given_a_new_checksum(
    version: int, statement: str, tmp_path: Path
) -> None:
    path = tmp_path / "profile.db"
    restore(version, path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
    for _ in range(2):
        with pytest.raises(hatbox.ProfileCorrupt, match="wrong checksum"):
            async with hatbox.open(path):
                pass
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert version_of(connection) == version


@pytest.mark.parametrize("version", [5, 6, 7])
def test_a_repair_saves_the_identities_and_tabs_of_a_profile_that_was_not_upgraded(
    version: int, tmp_path: Path
) -> None:
    path, new = tmp_path / "profile.db", tmp_path / "repaired.db"
    identities = restore(version, path)
    done = repair(path, new)
    assert done.saved["identities"] == len(identities)
    with contextlib.closing(sqlite3.connect(new)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM identities")}
        assert names == {identity["name"] for identity in identities}
        tabs = json.loads((PROFILES / f"v{version}.tabs.json").read_text("utf-8"))["tabs"]
        saved = connection.execute("SELECT id, url, discarded, highlighted, tab_group FROM tabs ORDER BY id")
        assert saved.fetchall() == [
            (tab["id"], tab["url"], 0, 0, -1) for tab in sorted(tabs, key=lambda tab: tab["id"])
        ]
