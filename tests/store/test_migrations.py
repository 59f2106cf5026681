"""Profiles of every earlier version, and what this version makes of them (store/sqlite/migrations.py)."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hatbox
from hatbox.store.sqlite import files, migrations
from hatbox.store.sqlite.migrations import LATEST, migrate, version_of
from tests.store.in_loop import in_loop

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
    return connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").fetchall()


def test_a_profile_of_every_version_is_kept_for_these_tests() -> None:
    assert list(range(1, LATEST + 1)) == VERSIONS, "run python -m tests.store.profiles.make for the latest one"


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
        assert version_of(connection) == LATEST
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


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
            assert msgspec.to_builtins({"windows": await profile.tabs.windows(), "tabs": tabs}) == kept
            pages = await profile.tabs.read(lambda each: [each.tabs.page(row.id) for row in each.tabs.find()])
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
            await profile.identities.update(identity, color="mauve")
        await profile.identities.hide(identity)
        await profile.identities.move(identity, 0)
    async with hatbox.open(path) as profile:
        first = (await profile.identities.query())[0]
        assert (first.name, first.color, first.icon, first.hidden) == ("renamed", "red", "top-hat", True)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_step_that_was_released_is_still_the_same(version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript((PROFILES / f"v{version}.sql").read_text("utf-8"))
        released = schema(connection)
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        monkeypatch.setattr(migrations, "_MIGRATIONS", migrations._MIGRATIONS[:version])
        migrate(connection)
        assert version_of(connection) == version
        assert schema(connection) == released


def test_a_migration_that_fails_leaves_the_profile_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "profile.db"
    files.open_profile(path).close()
    before = path.read_bytes()
    steps = (*migrations._MIGRATIONS, ("CREATE TABLE later (x)", "INSERT INTO no_such_table VALUES (1)"))
    monkeypatch.setattr(migrations, "_MIGRATIONS", steps)
    monkeypatch.setattr(files, "LATEST", len(steps))
    with pytest.raises(hatbox.ProfileError, match=r"profile\.db"):
        files.open_profile(path)
    assert path.read_bytes() == before
    monkeypatch.undo()
    files.open_profile(path).close()


def test_two_processes_that_migrate_at_once_take_each_step_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one has looked at the version before this one has changed it."""
    path = tmp_path / "profile.db"
    files.open_profile(path).close()
    steps = (*migrations._MIGRATIONS, ("CREATE TABLE later (x)",))
    monkeypatch.setattr(migrations, "_MIGRATIONS", steps)
    monkeypatch.setattr(files, "LATEST", len(steps))
    look = files.refuse_newer

    def look_and_be_overtaken(path: Path, connection: sqlite3.Connection) -> int:
        seen = look(path, connection)
        monkeypatch.setattr(files, "refuse_newer", look)
        files.open_profile(path).close()
        return seen

    monkeypatch.setattr(files, "refuse_newer", look_and_be_overtaken)
    with contextlib.closing(files.open_profile(path)) as connection:
        assert version_of(connection) == len(steps)
