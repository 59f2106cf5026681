"""What is not damaged is saved into a new profile (store/sqlite/repair.py, salvage.py, records.py)."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.errors import NotAProfile, ProfileCorrupt, ProfileError, ProfileLocked
from hatbox.store.base import Transaction
from hatbox.store.record_tables import BookmarkRow, PageRow, VisitRow
from hatbox.store.sqlite.check import check
from hatbox.store.sqlite.repair import repair
from hatbox.store.tables.bookmark_tree import root_rows
from tests.marks import starts
from tests.store.fuzz import make, read
from tests.store.in_loop import in_loop
from tests.store.test_check import change, copied, files

PAGE = 4096


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("repair") / "closed", "database")


@pytest.fixture(scope="module")
@starts("process")
def unclean_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("repair") / "unclean", "log")


@pytest.fixture
def path(source: Path, tmp_path: Path) -> Path:
    return copied(source, tmp_path)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "new.db"


def everything(path: Path) -> dict[str, Any]:
    return asyncio.run(read(path))


def test_a_file_beside_which_no_lock_can_be_made_is_not_said_to_be_open(
    path: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("hatbox.store.sqlite.check.ProfileLock", refuse)
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("hatbox.store.sqlite.check.require_file", lambda _: None)
    with pytest.raises(ProfileError, match=r"cannot be written to.*repair the copy"):
        repair(path, new)
    path.write_text("root:x:0:0:root:/root:/bin/bash")
    with pytest.raises(NotAProfile, match="is not a Hatbox profile"):
        repair(path, new)


def root_of(path: Path, name: str) -> int:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
    return int(root)


def overwrite(path: Path, offset: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


def test_everything_of_a_sound_profile_is_saved(path: Path, new: Path, tmp_path: Path) -> None:
    before = files(path)
    done = repair(path, new)
    assert not any(done.lost.values())
    assert done.saved["cookies"] == 178
    assert check(new).is_sound
    assert files(path) == before
    assert everything(new) == everything(copied(path, make_folder(tmp_path / "copy")))


def make_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_a_changed_row_is_the_only_one_that_is_lost(path: Path, new: Path) -> None:
    change(path, "UPDATE tabs SET title = 'other' WHERE id = 1")
    done = repair(path, new)
    assert done.lost == {**dict.fromkeys(done.saved, 0), "tabs": 1}
    assert done.saved["tabs"] == 42
    assert check(new).is_sound


@pytest.mark.parametrize("table", ["identities", "tabs", "cookies", "extension_data", "site_data"])
def test_rows_are_saved_although_the_b_tree_leads_nowhere(path: Path, new: Path, table: str) -> None:
    whole = repair(path, new.with_name("whole.db")).saved
    overwrite(path, (root_of(path, table) - 1) * PAGE, b"\xee")  # what kind of page it is
    done = repair(path, new)
    assert done.saved == whole
    assert check(new).is_sound


@pytest.mark.parametrize("size", [16, 100, 1000])
def test_rows_are_saved_although_the_file_does_not_look_like_a_profile(path: Path, new: Path, size: int) -> None:
    whole = repair(path, new.with_name("whole.db")).saved
    overwrite(path, 0, bytes(size))
    assert repair(path, new).saved == whole
    assert check(new).is_sound


def test_a_lost_page_loses_its_rows_and_no_others(path: Path, new: Path) -> None:
    overwrite(path, (root_of(path, "windows") - 1) * PAGE, bytes(PAGE))
    done = repair(path, new)
    assert done.saved["windows"] == 0
    assert done.saved["tabs"] == 43
    assert done.replaced["windows"] == 12  # for the tabs that are left
    assert check(new).is_sound
    assert len(everything(new)["windows"]) == 12


def test_rows_that_only_indexes_know_of_are_counted_as_lost(path: Path, new: Path) -> None:
    overwrite(path, (root_of(path, "identities") - 1) * PAGE + 8, bytes(PAGE - 8))
    done = repair(path, new)
    assert done.saved["identities"] == 0
    assert done.lost["identities"] == 16


def test_an_identity_that_was_lost_is_replaced_where_it_has_cookies(path: Path, new: Path) -> None:
    change(path, "UPDATE identities SET name = 'damaged' WHERE id = 6")
    assert repair(path, new).replaced["identities"] == 1
    names = {number: name for number, name, *_ in everything(new)["identities"]}
    assert names[6] == "Recovered 6"


def _damaged_row(path: Path) -> None:
    change(path, "UPDATE settings SET value = '{}'")


def _lost_page(path: Path) -> None:
    overwrite(path, (root_of(path, "settings") - 1) * PAGE, bytes(PAGE))


def _emptied_page(path: Path) -> None:
    overwrite(path, (root_of(path, "settings") - 1) * PAGE + 3, bytes(PAGE - 3))


@pytest.mark.parametrize("damage", [_damaged_row, _lost_page, _emptied_page])
def test_an_identity_whose_proxy_was_lost_sends_nothing_until_the_user_decides(
    path: Path, new: Path, damage: Callable[[Path], None]
) -> None:
    with hatbox.open_sync(path) as profile:
        profile.identities.set_settings("Work", proxy="http://127.0.0.1:9")
    damage(path)
    done = repair(path, new)
    assert done.without_settings == 16
    assert done.saved["settings"] == 0
    with hatbox.open_sync(new) as profile:
        with pytest.raises(hatbox.InvalidSetting, match=r"lost in a repair.*Set or unset it"):
            profile.identities.settings("Work")
        with profile.requests("Work") as session, pytest.raises(hatbox.InvalidSetting):
            session.get("http://127.0.0.1:9/")
        with pytest.raises(hatbox.InvalidSetting):
            profile.identities.set_settings("Work", locale="de-DE")
        profile.identities.set_settings("Work", proxy=None)
        assert profile.identities.settings("Work") == hatbox.IdentitySettings()
        profile.identities.set_settings("Personal", proxy="direct")
        assert profile.identities.settings("Personal").is_direct
    assert check(new).is_sound


def test_settings_are_saved_where_others_were_lost(path: Path, new: Path) -> None:
    with hatbox.open_sync(path) as profile:
        profile.identities.set_settings("Work", proxy="http://127.0.0.1:9")
        profile.identities.set_settings("Personal", proxy="http://127.0.0.1:9")
    change(path, "UPDATE settings SET identity = 4 WHERE identity = 1")
    done = repair(path, new)
    assert (done.saved["settings"], done.without_settings) == (1, 15)
    with hatbox.open_sync(new) as profile:
        assert profile.identities.settings("Work").proxy == "http://127.0.0.1:9"


def test_damage_of_other_tables_leaves_identities_without_settings_as_they_are(path: Path, new: Path) -> None:
    overwrite(path, (root_of(path, "windows") - 1) * PAGE, bytes(PAGE))
    assert repair(path, new).without_settings == 0
    with hatbox.open_sync(new) as profile:
        assert profile.identities.settings("Work") == hatbox.IdentitySettings()


def test_no_number_is_given_twice_although_the_counters_are_lost(path: Path, new: Path) -> None:
    change(path, "DELETE FROM head")
    repair(path, new)
    assert check(new).is_sound
    with hatbox.open_sync(new) as profile:
        created = profile.identities.create("new", color="red", icon="pet")
    assert int(created.cookie_store_id.rpartition("-")[2]) > 1000


def test_what_a_damaged_log_has_is_saved(unclean_source: Path, tmp_path: Path, new: Path) -> None:
    path = copied(unclean_source, make_folder(tmp_path / "unclean"))
    log = path.with_name(f"{path.name}-wal")
    overwrite(log, log.stat().st_size // 2, b"damage")
    before = files(path)
    done = repair(path, new)
    assert done.saved["identities"] == 16
    assert sum(done.saved.values()) >= 340
    assert files(path) == before
    assert check(new).is_sound


@pytest.mark.slow
def test_a_profile_with_damage_of_any_size_is_repaired(path: Path, new: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    choose = random.Random(3)
    for turn in range(6):
        target = make_folder(tmp_path / f"{turn}") / "profile.db"
        damaged = bytearray(content)
        for _ in range(choose.choice([1, 5, 40])):
            start = choose.randrange(len(damaged))
            length = choose.choice([1, 8, 512, 5000])
            damaged[start : start + length] = choose.randbytes(min(length, len(damaged) - start))
        target.write_bytes(damaged[: choose.choice([None, -3000, 70_000])])
        repair(target, target.with_name("new.db"))
        assert check(target.with_name("new.db")).is_sound


def test_an_existing_file_is_never_overwritten(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(other)
    for into in (other, path, link):
        with pytest.raises(ProfileError, match="it exists"):
            repair(path, into)
    assert other.read_text() == "mine"


@pytest.mark.slow
def test_where_nothing_can_be_saved_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "garbage"
    path.write_bytes(random.Random(1).randbytes(50_000))
    with pytest.raises(ProfileCorrupt, match="nothing in it can be saved"):
        repair(path, tmp_path / "new.db")
    assert [file.name for file in tmp_path.iterdir()] == ["garbage"]


@in_loop
async def test_a_profile_that_is_open_is_not_repaired(path: Path, new: Path) -> None:
    async with hatbox.open(path):
        with pytest.raises(ProfileLocked, match="only while no program has it open"):
            await asyncio.to_thread(repair, path, new)
    assert not new.exists()  # noqa: ASYNC240 - nothing else waits for this loop


def test_history_and_bookmarks_are_consistent_although_rows_of_them_are_lost(tmp_path: Path, new: Path) -> None:
    def fill(transaction: Transaction) -> None:
        transaction.bookmarks.put(root_rows(1.0))
        places = {"inner": "lost", "lost": "unfiled_____", "first": "second", "second": "first", "good": "menu________"}
        for place, (name, parent) in enumerate(places.items()):
            transaction.bookmarks.put([BookmarkRow(name, parent, place, "folder", "", name, 1.0, 1.0)])
        transaction.history.put(PageRow(1, 2, "https://one.example/", "One", 9, 9, 9.0))
        transaction.history.put(PageRow(2, 2, "https://two.example/", "Two", 1, 0, 4.0))
        visits = [
            VisitRow(3, 2, 1, 3.0, "typed", 0),
            VisitRow(4, 2, 2, 4.0, "link", 3),
            VisitRow(5, 2, 7, 5.0, "link", 0),
            VisitRow(6, 2, 2, 6.0, "reload", 0),  # not counted
        ]
        transaction.history.put_visits(visits)

    async def main(path: Path, work: Callable[[Transaction], Any]) -> Any:
        async with hatbox.open(path) as profile:
            return await profile.store.write(work)

    path = tmp_path / "damaged.db"
    asyncio.run(main(path, fill))
    asyncio.run(main(path, lambda transaction: transaction.bookmarks.delete(["lost"])))
    repair(path, new)

    def read_records(transaction: Transaction) -> Any:
        return transaction.bookmarks.find(), transaction.history.load(2), transaction.history.load_visits(2)

    bookmarks, pages, visits = asyncio.run(main(new, read_records))
    parents = {row.id: row.parent for row in bookmarks if row.id in ("inner", "first", "second", "good")}
    assert parents["inner"] == "unfiled_____"
    assert parents["good"] == "menu________"
    assert sorted([parents["first"], parents["second"]]) in (["first", "unfiled_____"], ["second", "unfiled_____"])
    assert [(row.visits, row.typed, row.last_visit) for row in pages] == [(1, 1, 3.0), (1, 0, 6.0)]
    assert [visit.id for visit in visits] == [3, 4, 6]
