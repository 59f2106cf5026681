"""Backup and restore of profiles, on both stores and across them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

import hatbox
from hatbox import Profile, RestoreReport
from hatbox.archive.archive_file import opened_archive
from hatbox.errors import (
    AmbiguousIdentity,
    ArchiveDamaged,
    ArchiveError,
    ArchiveTooNew,
    IdentityNotFound,
    NotInArchive,
    ProfileError,
    WrongPassphrase,
)
from hatbox.extensions.package_repository import url_secret
from hatbox.history.visits import add_visit
from hatbox.identities import changes
from hatbox.store.base import Transaction
from hatbox.tabs.script_tabs import add_script_tab
from tests.archive.contents import cookie, fill_identity, fill_profile, rows_of
from tests.postgres import address_of, shared_cluster

T = TypeVar("T")


def with_profile(address: str, work: Callable[[Profile], Awaitable[T]], **options: Any) -> T:
    async def main() -> T:
        async with hatbox.open(address, **options) as profile:
            return await work(profile)

    return asyncio.run(main())


def use_all(transaction: Transaction) -> None:
    """Change the identities of a new profile: those of a backup are not taken for them."""
    for number in range(1, 5):
        transaction.identities.update(number, icon="pet")


def write(address: str, work: Callable[[Transaction], T]) -> T:
    return with_profile(address, lambda profile: profile.store.write(work))


def backup(address: str, path: Path, *names: str, **options: Any) -> hatbox.BackupReport:
    return with_profile(address, lambda profile: profile.backup(path, list(names) or None, **options))


def restore(address: str, path: Path, *names: str, **options: Any) -> RestoreReport:
    return with_profile(address, lambda profile: profile.restore(path, list(names) or None, **options))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.server)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of another profile that does not exist."""
    if request.param == "postgres":
        return shared_cluster().new_address()
    return address_of(tmp_path / "target.db")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup.hatbox"


def test_a_backup_that_is_restored_elsewhere_is_equal_in_every_table(address: str, target: str, file: Path) -> None:
    write(address, fill_profile)
    before = rows_of(address)
    report = backup(address, file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir() if path.suffix == ".new"] == []
    assert report.rows == {name: len(rows) for name, rows in before.items()}
    assert report.size == file.stat().st_size
    assert rows_of(address) == before
    done = restore(target, file)
    assert done.filled
    assert rows_of(target) == before
    again = restore(target, file)
    assert (again.filled, again.changed) == (False, False)
    assert rows_of(target) == before


def without_counters(rows: dict[str, list[tuple[Any, ...]]]) -> dict[str, Any]:
    """The rows without counters, and without what new ids of tabs and windows change."""
    kept = {name: rows[name] for name in ("identities", "settings", "cookies", "site_data", "packages", "cookie_time")}
    tabs = [(row[3], *row[4:9], row[9], row[10], row[22]) for row in rows["tabs"]]
    values = [(row[0], row[1], row[2], row[3].partition(":")[0]) for row in rows["extension_data"]]
    return {
        **{name: sorted(each) for name, each in kept.items()},
        "identities": [row[:5] + row[6:] for row in sorted(rows["identities"], key=lambda row: (row[5], row[0]))],
        "rules": sorted(rule for _, rule in rows["rules"]),
        "tabs": sorted((store, url, title, pinned, hidden) for store, url, _, title, _, _, pinned, hidden, _ in tabs),
        "pages": sorted(page for _, page in rows["tab_pages"]),
        "extension data": sorted(values),
    }


def destroy(transaction: Transaction) -> None:
    """Remove all identities for ever, and everything else that a user can remove."""
    for row in transaction.identities.find():
        changes.remove(transaction, f"firefox-container-{row[0]}")
    for number, _ in transaction.rules.find():
        transaction.rules.delete(number)
    fill_identity(transaction, 0, "z")
    transaction.cookies.clear(0)
    transaction.extensions.clear("one@example")
    transaction.packages.delete("0" * 64)
    transaction.settings.clear(0)


def test_everything_comes_back_into_the_destroyed_profile(address: str, file: Path) -> None:
    write(address, fill_profile)
    before = rows_of(address)
    backup(address, file)
    write(address, destroy)
    done = restore(address, file)
    assert not done.filled
    assert [each.has_new_id for each in done.identities] == [False] * 4
    after = rows_of(address)
    assert without_counters(after) == without_counters(before)
    assert [row[0] for row in after["rules"]] == [row[0] for row in before["rules"]]
    assert all(new >= old for new, old in zip(after["head"][0], before["head"][0], strict=True))
    again = restore(address, file)
    assert not again.changed
    assert rows_of(address) == after


def test_restoring_one_identity_changes_no_row_of_others(address: str, file: Path) -> None:
    write(address, fill_profile)
    backup(address, file)

    def change(transaction: Transaction) -> None:
        for number in (0, 1, 2):
            fill_identity(transaction, number, "z")
        changes.update(transaction, "firefox-container-2", name="Renamed")

    write(address, change)
    before = rows_of(address)
    done = restore(address, file, "Work")
    assert [(each.name, each.changed) for each in done.identities] == [("Work", True)]
    after = rows_of(address)
    for table, column in (("cookies", 13), ("site_data", 2), ("settings", 0), ("identities", 0)):
        assert [row for row in after[table] if row[column] != 2] == [row for row in before[table] if row[column] != 2]
    for table in ("rules", "packages", "cookie_time", "trash", "windows"):
        assert after[table] == before[table]
    others = {row[0] for row in before["tabs"] if row[3] != 2}
    assert [row[1:5] for row in after["tabs"] if row[0] in others] == [
        row[1:5] for row in before["tabs"] if row[0] in others
    ]
    assert [row for row in after["tab_pages"] if row[0] in others] == [
        row for row in before["tab_pages"] if row[0] in others
    ]


def test_a_dry_run_says_what_would_change_and_changes_nothing(address: str, target: str, file: Path) -> None:
    write(address, fill_profile)
    backup(address, file)
    write(address, lambda each: changes.remove(each, "firefox-container-2"))
    before = rows_of(address)
    dry = restore(address, file, dry_run=True)
    assert dry.dry_run
    assert rows_of(address) == before
    done = restore(address, file)
    dry.dry_run = False
    assert done == dry
    assert next(each for each in done.identities if each.name == "Work").created
    write(target, lambda _: None)
    before = rows_of(target)
    assert restore(target, file, dry_run=True).filled
    assert rows_of(target) == before


def test_some_identities_are_backed_up_with_their_places_and_restored_into_another_profile(
    address: str, target: str, file: Path
) -> None:
    write(address, fill_profile)
    report = backup(address, file, "Work", "firefox-container-4")
    assert (report.is_whole, report.rows["identities"], report.rows["head"], report.rows["packages"]) == (
        False,
        2,
        0,
        0,
    )
    with opened_archive(file) as archive:
        rows = [row for _, batch in archive.rows().batches() for row in batch]
    assert not [row for row in rows if "value 1" in row]
    write(target, use_all)
    write(target, lambda each: each.identities.insert("Mine", "pet", "red"))
    done = restore(target, file)
    assert not done.filled
    assert [(each.name, each.cookie_store_id) for each in done.identities] == [
        ("Shopping (2)", "firefox-container-7"),
        ("Work (2)", "firefox-container-8"),
    ]
    names = write(target, lambda each: [row[1] for row in each.identities.find()])
    assert names == ["Shopping (2)", "Personal", "Work (2)", "Work", "Banking", "Shopping", "Mine"]
    before = rows_of(target)
    assert not restore(target, file).changed
    assert rows_of(target) == before


def test_a_recoloured_identity_is_never_doubled(address: str, file: Path) -> None:
    write(address, fill_profile)
    backup(address, file)
    write(address, lambda each: changes.update(each, "firefox-container-2", color="red", name="Other"))
    restore(address, file)
    names = write(address, lambda each: [row[1:4] for row in each.identities.find()])
    assert names.count(("Work", "briefcase", "orange")) == 1
    assert len(names) == 4


def test_identities_that_are_not_in_the_backup_stay(address: str, file: Path) -> None:
    write(address, fill_profile)
    backup(address, file)
    new = write(address, lambda each: changes.create(each, "New", "red", "pet"))
    write(address, lambda each: each.cookies.put(7, [cookie("stays")]))
    restore(address, file)
    assert new.cookie_store_id == "firefox-container-7"
    names = write(address, lambda each: [row[1] for row in each.identities.find()])
    assert "New" in names
    assert len(write(address, lambda each: each.cookies.load(7))) == 1


@pytest.mark.slow
def test_an_encrypted_backup_needs_its_passphrase(address: str, file: Path) -> None:
    target = address_of(file.with_name("target.db"))
    write(address, fill_profile)
    assert backup(address, file, passphrase="correct horse").is_encrypted
    assert b"site.example" not in file.read_bytes()
    with pytest.raises(WrongPassphrase, match="no passphrase was given"):
        restore(target, file)
    with pytest.raises(WrongPassphrase, match="the passphrase is wrong"):
        restore(target, file, passphrase="correct horse ")
    assert restore(target, file, passphrase=lambda: "correct horse").filled
    assert rows_of(target) == rows_of(address)


def test_the_backup_of_an_encrypted_profile_is_plain_only_if_that_is_said(
    address: str, target: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    from hatbox.maintenance import Key

    key = Key.generate().text
    with_profile(address, lambda profile: profile.store.write(fill_profile), key=key)
    with pytest.raises(ProfileError, match="this profile is encrypted, and the backup would not be"):
        with_profile(address, lambda profile: profile.backup(file), key=key)
    assert not file.exists()
    with_profile(address, lambda profile: profile.backup(file, plain=True), key=key)
    assert b"hatbox archive" in file.read_bytes()[:20]
    with pytest.raises(ProfileError, match="pass --plain"):
        restore(target, file)
    sealed = address_of(file.with_name("sealed.db"))
    assert with_profile(sealed, lambda profile: profile.restore(file), key=Key.generate().text).filled
    monkeypatch.setenv("HATBOX_KEY", key)
    before = rows_of(address)
    with_profile(address, lambda profile: profile.store.write(destroy))
    restore(address, file)
    assert without_counters(rows_of(address)) == without_counters(before)


def test_a_file_that_exists_is_replaced_only_if_that_is_said(address: str, file: Path) -> None:
    write(address, fill_profile)
    file.write_text("a letter")
    with pytest.raises(ArchiveError, match="this file exists already"):
        backup(address, file)
    assert file.read_text() == "a letter"
    backup(address, file, overwrite=True)
    assert restore(address, file, dry_run=True).identities


def test_the_profile_itself_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    write(str(path), fill_profile)
    with pytest.raises(ArchiveError, match="part of the profile"):
        backup(str(path), path, overwrite=True)
    assert len(rows_of(str(path))["identities"]) == 4


def test_a_folder_that_does_not_exist_is_named(address: str, tmp_path: Path) -> None:
    write(address, fill_profile)
    with pytest.raises(ArchiveError, match="cannot be written"):
        backup(address, tmp_path / "missing" / "file")
    with pytest.raises(ArchiveError, match="cannot be read"):
        restore(address, tmp_path / "missing")
    with pytest.raises(ArchiveDamaged, match="it is a folder"):
        restore(address, tmp_path)


def test_names_that_are_not_there_are_refused_with_the_nearest(address: str, file: Path) -> None:
    write(address, fill_profile)
    with pytest.raises(IdentityNotFound, match='Did you mean "Work"'):
        backup(address, file, "Wrok")
    assert not file.exists()
    backup(address, file)
    before = rows_of(address)
    with pytest.raises(NotInArchive, match='Did you mean "Personal"'):
        restore(address, file, "Work", "personl")
    write(address, lambda each: changes.update(each, "firefox-container-1", name="Work"))
    backup(address, file, overwrite=True)
    with pytest.raises(AmbiguousIdentity):
        restore(address, file, "Work")
    with pytest.raises(AmbiguousIdentity):
        backup(address, file.with_name("other"), "Work")
    with pytest.raises(TypeError):
        with_profile(address, lambda profile: profile.restore(file, "Work"))
    assert rows_of(address)["cookies"] == before["cookies"]


def test_a_visit_that_is_not_counted_is_equal_after_a_restore(address: str, file: Path) -> None:
    write(address, lambda each: add_visit(each, 2, "https://site.example/", transition="reload"))
    before = rows_of(address)
    backup(address, file)
    assert not any(each.history_changed for each in restore(address, file).identities)
    assert rows_of(address) == before


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"", ArchiveDamaged, "not a Hatbox archive"),
        (b"Dear reader", ArchiveDamaged, "not a Hatbox archive"),
        (b"hatbox archive 3\n" + bytes(99), ArchiveTooNew, "version 3"),
        (b"hatbox archive 2\n" + bytes(99), ArchiveDamaged, "damaged"),
        (b"age-encryption.org/v1\n-> X25519 abc\n", ArchiveDamaged, "another way"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, data: bytes, error: type[Exception], message: str) -> None:
    address, file = str(tmp_path / "profile.db"), tmp_path / "file"
    write(address, fill_profile)
    before = rows_of(address)
    file.write_bytes(data)
    with pytest.raises(error, match=message):
        restore(address, file, passphrase="any")
    assert rows_of(address) == before


def test_open_programs_see_a_restore_into_a_new_profile(address: str, target: str, file: Path) -> None:
    write(address, fill_profile)
    backup(address, file)

    async def main() -> None:
        async with hatbox.open(target) as watching, hatbox.open(target) as restoring:
            jar = await watching.cookie_store("firefox-default")
            assert await jar.cookies() == []
            await restoring.restore(file)
            await watching.store.deliver_pending_changes()
            assert len(await jar.cookies()) == 3
            names = [each.name for each in await watching.identities.query()]
            assert not [name for name in names if name.endswith("(2)")], names

    asyncio.run(main())


def test_a_cancelled_backup_leaves_no_file_and_a_cancelled_restore_changes_nothing(address: str, file: Path) -> None:
    write(address, fill_profile)

    async def cancel(start: Callable[[Profile, Callable[[int, int], None]], Awaitable[Any]], most: int) -> None:
        loop, waiting = asyncio.get_running_loop(), threading.Event()
        async with hatbox.open(address) as profile:

            def progress(_done: int, total: int) -> None:
                if total < most and not waiting.is_set():
                    loop.call_soon_threadsafe(task.cancel)
                    loop.call_soon_threadsafe(loop.call_soon, waiting.set)
                    waiting.wait(30)

            task = asyncio.ensure_future(start(profile, progress))
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await profile.identities.query() is not None  # it still works

    asyncio.run(cancel(lambda profile, progress: profile.backup(file, progress=progress), 10**9))
    assert [path for path in file.parent.iterdir() if "backup" in path.name] == []
    backup(address, file)
    write(address, destroy)
    before = rows_of(address)
    for most in (10**9, 1000):  # while bytes are verified, and while rows are restored
        asyncio.run(cancel(lambda profile, progress: profile.restore(file, progress=progress), most))
        assert rows_of(address) == before


def test_progress_is_reported(address: str, file: Path) -> None:
    write(address, fill_profile)
    seen: list[tuple[int, int]] = []
    backup(address, file, progress=lambda *each: seen.append(each))
    assert seen[-1][0] == seen[-1][1] > 0
    seen.clear()
    restore(address, file, progress=lambda *each: seen.append(each))
    assert seen[-1][0] == seen[-1][1] > 0


def test_the_same_with_a_synchronous_profile(tmp_path: Path, file: Path) -> None:
    with hatbox.open_sync(tmp_path / "profile.db") as profile:
        profile.cookie_store("Work").set("https://site.example/", name="a", value="b")
        profile.backup(file, ["Work"])
        profile.cookie_store("Work").clear()
        report = profile.restore(file)
        assert report.identities[0].cookies_added == 1
        clone = profile.identities.clone("Work", "Work 2")
        assert [cookie.name for cookie in profile.cookie_store(clone).cookies()] == ["a"]


def test_a_copy_and_a_backup_are_read_by_the_same_code() -> None:
    from hatbox.store.profile_copy import COPIED_TABLES
    from hatbox.store.tables.schema import ACTIVITY, CHANGES, GRANTS, PROFILE, TABLES

    assert {*COPIED_TABLES} == {*TABLES} - {PROFILE, CHANGES, GRANTS, ACTIVITY}
    assert len(COPIED_TABLES) == len(TABLES) - 4


def test_temporary_identities_of_a_backup_are_not_restored(address: str, target: str, file: Path) -> None:
    async def back_up(profile: Profile) -> None:
        async with profile.temporary("Visitor"):
            await profile.backup(file)

    with_profile(address, back_up)
    write(target, lambda transaction: changes.create(transaction, "Own", "red", "pet"))
    restore(target, file)
    found = with_profile(target, lambda profile: profile.identities.query())
    assert "Visitor" not in [identity.name for identity in found]


def test_a_restored_name_that_another_identity_has_gets_a_number(address: str, target: str, file: Path) -> None:
    backup(address, file)
    write(target, use_all)
    write(target, lambda transaction: changes.create(transaction, "Work (2)", "red", "pet"))
    report = restore(target, file)
    restored = [identity.name for identity in report.identities]
    assert restored == ["Personal (2)", "Work (3)", "Banking (2)", "Shopping (2)"]
    assert not restore(target, file).changed
    names = [each.name for each in with_profile(target, lambda profile: profile.identities.query())]
    assert len(set(names)) == len(names) == 9


async def set_cookie(profile: Profile) -> None:
    await (await profile.cookie_store("Work")).set("https://site.example/", name="sid", value="1")


USES: dict[str, Callable[[Profile], Awaitable[object]]] = {
    "cookie": set_cookie,
    "setting": lambda profile: profile.identities.set_settings("Work", locale="de-DE"),
    "tab": lambda profile: profile.tabs.open("Work", "https://site.example/"),
    "rule": lambda profile: profile.rules.add("site.example", "Work"),
    "icon": lambda profile: profile.identities.update("Work", icon="pet"),
    "hidden": lambda profile: profile.identities.hide("Work"),
    "grant": lambda profile: profile.grants.create("nightly report", identities="Work"),
}


@pytest.mark.parametrize("use", ["nothing", *USES])
def test_an_identity_that_nobody_has_used_is_taken_for_that_of_the_backup(
    address: str, target: str, file: Path, use: str
) -> None:
    with_profile(address, set_cookie)
    backup(address, file)
    write(target, lambda transaction: changes.create(transaction, "Own", "red", "pet"))
    if use != "nothing":
        with_profile(target, USES[use])
    done = {each.archived_id: each for each in restore(target, file).identities}
    names = ["Personal", "Work" if use == "nothing" else "Work (2)", "Banking", "Shopping"]
    assert [each.name for each in done.values()] == names
    work = done["firefox-container-2"]
    assert (work.cookie_store_id == "firefox-container-2") is (use == "nothing")
    assert work.cookies_added == 1
    assert not restore(target, file).changed


def test_equal_names_of_one_backup_stay_as_they_are(address: str, file: Path) -> None:
    write(address, lambda transaction: changes.create(transaction, "Work", "red", "pet"))
    backup(address, file)
    assert not restore(address, file).changed
    write(address, lambda transaction: changes.update(transaction, "firefox-container-2", name="Job"))
    assert [each.name for each in restore(address, file).identities].count("Work") == 2


def test_an_id_far_above_all_others_leaves_ids_for_new_identities(address: str, target: str, file: Path) -> None:
    write(address, lambda transaction: transaction.identities.restore(2**32 - 2, "uuid", "Far", "pet", "red", 0))
    backup(address, file, "Far")
    report = restore(target, file)
    assert report.identities[0].has_new_id
    assert write(target, lambda transaction: changes.create(transaction, "Next", "red", "pet")).name == "Next"


@pytest.mark.parametrize("rule", [b'{"pattern": 5, "identities": []}', b'{"pattern": "a", "identities": 7}', b"{}"])
def test_a_rule_that_no_version_writes_is_refused(address: str, target: str, file: Path, rule: bytes) -> None:
    write(address, lambda transaction: transaction.rules.insert(rule))
    backup(address, file)
    write(target, lambda transaction: changes.create(transaction, "Own", "red", "pet"))
    with pytest.raises(ArchiveDamaged, match="a site rule is invalid"):
        restore(target, file)


def test_a_restore_never_lowers_the_limits_of_the_trash(address: str, file: Path) -> None:
    async def lose(profile: Profile) -> None:
        await profile.set_settings(trash_days=0, trash_skips_extensions=False)
        await profile.backup(file)
        await profile.set_settings(trash_days=30, trash_skips_extensions=True)
        await profile.identities.remove("Work")
        await profile.restore(file)

    with_profile(address, lose)
    removed = with_profile(address, lambda profile: profile.trash.list())
    assert [each.name for each in removed] == ["Work"]
    settings = with_profile(address, lambda profile: profile.settings())
    assert (settings.trash_days, settings.trash_skips_extensions) == (30, True)


@pytest.mark.parametrize("rule", [b'{"match": "a.example"}', b"garbage", b'{"pattern": 5, "identities": []}'])
def test_a_rule_of_a_later_version_stays_and_prevents_no_restore(address: str, file: Path, rule: bytes) -> None:
    write(address, fill_profile)
    backup(address, file, "Work")
    number = write(address, lambda transaction: transaction.rules.insert(rule))
    with_profile(address, lambda profile: profile.identities.remove("Work"))
    assert [each.name for each in with_profile(address, lambda profile: profile.trash.restore("Work"))] == ["Work"]
    restore(address, file)
    assert (number, rule) in write(address, lambda transaction: transaction.rules.find())


@pytest.mark.parametrize("names", [(), ("Work",)])
def test_tabs_of_scripts_in_a_backup_are_not_restored(
    address: str, target: str, file: Path, names: tuple[str, ...]
) -> None:
    async def back_up(profile: Profile) -> None:
        await profile.tabs.open("Work", "https://user.example/")
        script = await profile.tabs.open("Work", "https://script.example/")
        await profile.store.write(lambda transaction: add_script_tab(transaction, "run", script.id))
        await profile.backup(file, list(names) or None)
        await profile.restore(file, list(names) or None)  # the script still runs: its tab stays
        assert script.id in [tab.id for tab in await profile.tabs.query("Work")]

    with_profile(address, back_up)
    write(target, lambda transaction: changes.create(transaction, "Own", "red", "pet"))
    restore(target, file)
    rows = write(target, lambda transaction: transaction.tabs.find())
    assert [row.target for row in rows if row.target] == ["https://user.example/"]


def test_the_default_store_of_a_profile_without_identities_is_backed_up(address: str, file: Path) -> None:
    async def back_up(profile: Profile) -> hatbox.BackupReport:
        for identity in await profile.identities.query():
            await profile.identities.remove(identity, forever=True)
        await (await profile.cookie_store("firefox-default")).receive(["a=b"], "https://site.example/")
        with pytest.raises(IdentityNotFound):
            await profile.backup(file, ["Work"])
        return await profile.backup(file, ["firefox-default"])

    report = with_profile(address, back_up)
    assert (report.rows["identities"], report.rows["cookies"]) == (0, 1)
    assert with_profile(address, lambda profile: profile.restore(file, ["firefox-default"])).default_store


def test_extensions_have_the_same_urls_after_a_restore(target: str, file: Path, tmp_path: Path) -> None:
    source = address_of(tmp_path / "source.db")
    secret = with_profile(source, lambda profile: url_secret(profile.store))
    backup(source, file)
    own = with_profile(target, lambda profile: url_secret(profile.store))
    restore(target, file)
    assert with_profile(target, lambda profile: url_secret(profile.store)) == own != secret
    new = address_of(tmp_path / "new.db")
    restore(new, file)
    assert with_profile(new, lambda profile: url_secret(profile.store)) == secret
