"""Encrypted profiles: what is in their files, who can open them, and what happens to changed rows."""

# ruff: noqa: ASYNC240 - looking at files is what these tests do, and nothing else waits for their loop

from __future__ import annotations

import contextlib
import sqlite3
import sys
from pathlib import Path

import pytest

import hatbox
from hatbox.extension_data.storage.storage_areas import AREAS
from hatbox.extension_data.storage.storage_items import get, set_items
from hatbox.maintenance import copy_profile, create_profile, profile_info
from hatbox.store.keys import Key
from hatbox.store.sqlite import SqliteStore
from hatbox.store.sqlite.check import check
from hatbox.store.sqlite.repair import repair
from hatbox.testing import LoopbackSite
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess, Refused
from tests.store.sealing import edited
from tests.waiting import until

KEY = Key(bytes(range(32))).text
OTHER_KEY = Key(bytes(range(1, 33))).text
EXTENSION, LOCAL = "one@extension.example", AREAS["local"]
SECRETS = [b"cookie-value-secret", b"saved-page-secret", b"site-data-secret", b"storage-secret", b"log-secret"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("HATBOX_KEY_FILE", raising=False)
    monkeypatch.setenv("HATBOX_KEY", KEY)
    return KEY


def secrets_in(folder: Path) -> set[bytes]:
    return {secret for secret in SECRETS for file in folder.iterdir() if secret in file.read_bytes()}


async def fill(profile: hatbox.Profile) -> None:
    """Cookies, a page snapshot, site data, extension storage and a row in the log."""
    for name in ("Work", "Personal"):
        store = await profile.cookie_store(name)
        await store.receive(["session=cookie-value-secret; Secure; Max-Age=1000"], "https://site.example/")
    tab = await profile.tabs.open("Work", "https://site.example/page")
    await profile.tabs.write(lambda each: each.tabs.save_page_snapshot(tab.id, b"saved-page-secret"))
    await profile.tabs.write(lambda each: each.site_data.put(2, "https://site.example", b"site-data-secret"))
    await profile.tabs.write(lambda each: set_items(each, EXTENSION, LOCAL, {"key": "storage-secret"}))
    await profile.store.write(lambda each: each.changes.append("topic", b'"log-secret"'))


async def values(profile: hatbox.Profile, name: str) -> list[str]:
    return [cookie.value for cookie in await (await profile.cookie_store(name)).cookies()]


async def contents(profile: hatbox.Profile) -> list[object]:
    cookies = [value for name in ("Work", "Personal") for value in await values(profile, name)]
    [tab] = await profile.tabs.query()
    return [
        cookies,
        await profile.tabs.read(lambda each: each.tabs.page_snapshot(tab.id)),
        await profile.tabs.read(lambda each: each.site_data.load(2)),
        await profile.tabs.read(lambda each: get(each, EXTENSION, LOCAL, "key")),
    ]


FILLED: list[object] = [
    ["cookie-value-secret"] * 2,
    b"saved-page-secret",
    [("https://site.example", b"site-data-secret")],
    {"key": "storage-secret"},
]


@in_loop
async def test_no_value_is_in_any_file_while_the_profile_is_open_and_after_that(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
        assert profile.store.is_encrypted
        assert await contents(profile) == FILLED
        assert path.with_name("profile.db-wal").stat().st_size > 0
        assert secrets_in(path.parent) == set()
    assert secrets_in(path.parent) == set()
    assert b"site.example" in path.read_bytes(), "names stay readable"
    async with hatbox.open(path) as profile:
        assert await contents(profile) == FILLED


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (OTHER_KEY, r"profile\.db: it is encrypted with another key\. Nothing was changed\. Set HATBOX_KEY"),
        (None, r"profile\.db: it is encrypted, and no key is set\. Nothing was changed\. Set HATBOX_KEY"),
    ],
)
@in_loop
async def test_a_wrong_or_missing_key_is_a_clear_error_and_changes_nothing(
    path: Path, wrong: str | None, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
    before = path.read_bytes()
    if wrong is None:
        monkeypatch.delenv("HATBOX_KEY")
    else:
        monkeypatch.setenv("HATBOX_KEY", wrong)
    for _ in range(2):
        with pytest.raises(hatbox.WrongKey, match=problem) as refusal:
            async with hatbox.open(path):
                pass
        assert KEY not in str(refusal.value) and OTHER_KEY not in str(refusal.value)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    monkeypatch.setenv("HATBOX_KEY", KEY)
    async with hatbox.open(path) as profile:
        assert await contents(profile) == FILLED


@in_loop
async def test_a_wrong_key_leaves_the_log_of_a_killed_program_as_it_is(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    files = [killed / "profile.db", killed / "profile.db-wal"]
    async with hatbox.open(path) as profile:
        await fill(profile)
        for file in files:
            file.write_bytes(path.with_name(file.name).read_bytes())
    before = [file.read_bytes() for file in files]
    assert all(before)
    monkeypatch.setenv("HATBOX_KEY", OTHER_KEY)
    with pytest.raises(hatbox.WrongKey):
        async with hatbox.open(files[0]):
            pass
    assert [file.read_bytes() for file in files] == before
    monkeypatch.setenv("HATBOX_KEY", KEY)
    async with hatbox.open(files[0]) as profile:
        assert await contents(profile) == FILLED


@in_loop
async def test_a_profile_that_is_not_encrypted_does_not_open_while_a_key_is_set(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HATBOX_KEY")
    async with hatbox.open(path) as profile:
        assert not profile.store.is_encrypted
    before = path.read_bytes()
    monkeypatch.setenv("HATBOX_KEY", KEY)
    with pytest.raises(hatbox.WrongKey, match=r"not encrypted, but a key is set .* hatbox profile encrypt"):
        async with hatbox.open(path):
            pass
    assert path.read_bytes() == before


@in_loop
async def test_a_server_that_removes_the_key_check_gets_no_plain_values(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
    with edited(path) as connection:
        connection.execute("UPDATE profile SET key_check = NULL")
    with pytest.raises(hatbox.WrongKey, match="not encrypted"):
        async with hatbox.open(path):
            pass


@in_loop
async def test_the_trash_of_an_encrypted_profile_is_encrypted(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
        before = await contents(profile)
        await profile.identities.remove("Work")
        assert secrets_in(path.parent) == set()
    assert secrets_in(path.parent) == set()
    async with hatbox.open(path) as profile:
        await profile.trash.restore("Work")
        assert await contents(profile) == before


@pytest.mark.process
@in_loop
async def test_two_processes_share_an_encrypted_profile_and_its_changes(path: Path) -> None:
    created: list[str] = []
    async with hatbox.open(path) as profile:
        profile.identities.on_created.add_listener(lambda identity: created.append(identity.name))
        with OtherProcess(path) as other:
            other.identities("create", "from there", color="red", icon="pet")
            await until(lambda: created == ["from there"])
            await profile.identities.create("from here", color="red", icon="pet")
            assert [each["name"] for each in other.identities("query")][-2:] == ["from there", "from here"]
    assert created == ["from there", "from here"]


@pytest.mark.process
def test_a_process_with_another_key_is_refused_while_the_profile_is_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hatbox.open_sync(path):
        monkeypatch.setenv("HATBOX_KEY", OTHER_KEY)
        with OtherProcess() as other, pytest.raises(Refused, match=r"WrongKey: .* encrypted with another key"):
            other.call("open", str(path))


@in_loop
async def test_a_cookie_moved_to_another_identity_is_not_sent(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
    with edited(path) as connection:
        connection.execute("DELETE FROM cookies WHERE store = 1")
        connection.execute("UPDATE cookies SET store = 1")
    async with hatbox.open(path) as profile:
        for _ in range(2):
            with pytest.raises(hatbox.DecryptionError, match="table cookies cannot be decrypted"):
                await profile.cookie_store("Personal")
        created = await profile.identities.create("still works", color="red", icon="pet")
        assert created in await profile.identities.query()
        assert await values(profile, "Work") == []


@in_loop
async def test_site_data_pages_and_storage_that_were_moved_are_not_returned(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
    with edited(path) as connection:
        connection.execute("UPDATE site_data SET store = 1")
        connection.execute("UPDATE extension_data SET extension = 'another@extension.example'")
        connection.execute("UPDATE tab_pages SET tab = tab + 1")
        (page,) = connection.execute("SELECT page FROM tab_pages").fetchone()
        connection.execute("INSERT INTO tab_pages SELECT tab - 1, ?, 0 FROM tab_pages", (page,))
    async with hatbox.open(path) as profile:
        [tab] = await profile.tabs.query()
        with pytest.raises(hatbox.DecryptionError, match="table site_data"):
            await profile.tabs.read(lambda each: each.site_data.load(1))
        with pytest.raises(hatbox.DecryptionError, match="table extension_data"):
            await profile.tabs.read(lambda each: each.extensions.find(LOCAL.kind))
        assert await profile.tabs.read(lambda each: each.tabs.page_snapshot(tab.id)) == b"saved-page-secret"
        with pytest.raises(hatbox.DecryptionError, match="table tab_pages"):
            await profile.tabs.read(lambda each: each.tabs.page_snapshot(tab.id + 1))


@in_loop
async def test_a_row_of_another_profile_with_the_same_key_is_not_returned(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    for each in (path, other):
        async with hatbox.open(each) as profile:
            await fill(profile)
    with contextlib.closing(sqlite3.connect(other)) as connection:
        rows = connection.execute("SELECT value, checksum, name FROM cookies WHERE store = 2").fetchall()
    with edited(path) as connection:
        connection.executemany("UPDATE cookies SET value = ?, checksum = ? WHERE store = 2 AND name = ?", rows)
    async with hatbox.open(path) as profile:
        with pytest.raises(hatbox.DecryptionError):
            await profile.cookie_store("Work")
        assert await values(profile, "Personal") == ["cookie-value-secret"]


@in_loop
async def test_check_and_repair_need_no_key(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
    monkeypatch.delenv("HATBOX_KEY")
    monkeypatch.setitem(sys.modules, "cryptography", None)
    report = check(path)
    assert report.is_sound
    assert report.rows["cookies"] == 2
    repaired = tmp_path / "repaired.db"
    repair(path, repaired)
    assert secrets_in(tmp_path) == set()
    monkeypatch.undo()
    monkeypatch.setenv("HATBOX_KEY", KEY)
    async with hatbox.open(repaired) as profile:
        assert await contents(profile) == FILLED


@in_loop
async def test_without_the_package_the_message_says_how_to_install_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path):
        pass
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(hatbox.MissingExtra, match=r"cryptography is not installed.*hatbox\[encryption\]"):
        async with hatbox.open(path):
            pass


@in_loop
async def test_a_program_can_pass_the_key_itself(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HATBOX_KEY", OTHER_KEY)
    async with hatbox.open(path, key=KEY) as profile:
        await fill(profile)
    with pytest.raises(hatbox.WrongKey):
        async with hatbox.open(path):
            pass
    with pytest.raises(hatbox.InvalidKey, match="the key is not a key"):
        hatbox.open(path, key="swordfish")
    monkeypatch.delenv("HATBOX_KEY")
    async with hatbox.open(path, key=KEY) as profile:
        assert await contents(profile) == FILLED


@pytest.mark.process
def test_a_background_engine_gets_the_key_that_the_program_has_passed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HATBOX_KEY")
    monkeypatch.setenv("HATBOX_KEY_FILE", str(tmp_path / "missing"))
    with LoopbackSite() as site, hatbox.open_sync(path, key=KEY) as profile:
        opened = profile.open_tabs("Work", site.page("/page", title="opened"), engine="http")
        assert [tab.title for tab in opened.tabs] == ["opened"]
        profile.tabs.close([tab.id for tab in opened.tabs])


@in_loop
async def test_encrypted_values_count_with_their_own_size_for_quotas(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    try:
        await store.write(lambda each: each.extensions.put("e", "kind", "key", b"12345"))
        await store.write(lambda each: each.extensions.put("e", "kind", "other", b""))
        assert await store.read(lambda each: each.extensions.size("e", "kind")) == len("key" + "12345" + "other")
    finally:
        await store.close()


@in_loop
async def test_check_lists_rows_that_were_moved_and_repair_saves_the_others(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
    with edited(path) as connection:
        connection.execute("UPDATE cookies SET store = 3 WHERE store = 1")
    report = check(path)
    assert [(place, "cannot be decrypted" in problem) for place, problem in report.problems] == [
        ("table cookies", True)
    ]
    assert report.rows["cookies"] == 1
    for key, note in ((OTHER_KEY, "encrypted with another key"), (None, "no key is set")):
        monkeypatch.delenv("HATBOX_KEY", raising=False)
        if key:
            monkeypatch.setenv("HATBOX_KEY", key)
        report = check(path)
        assert report.is_sound
        assert any(note in each for each in report.notes)
    monkeypatch.setenv("HATBOX_KEY", KEY)
    repaired = repair(path, tmp_path / "repaired.db")
    assert repaired.undecryptable == {"cookies": 1}
    assert repaired.saved["cookies"] == 1
    async with hatbox.open(tmp_path / "repaired.db") as profile:
        assert await values(profile, "Work") == ["cookie-value-secret"]
        assert await values(profile, "Banking") == []


@pytest.mark.parametrize("has_key", [True, False])
@in_loop
async def test_an_identity_whose_encrypted_proxy_was_lost_sends_nothing_until_the_user_decides(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_key: bool
) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.set_settings("Work", proxy="http://127.0.0.1:9")
    if has_key:
        with edited(path) as connection:
            connection.execute("UPDATE settings SET identity = 3")
    else:
        monkeypatch.delenv("HATBOX_KEY")
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("UPDATE settings SET checksum = checksum + 1")
    assert repair(path, tmp_path / "repaired.db").without_settings == 4
    monkeypatch.setenv("HATBOX_KEY", KEY)
    if not has_key:
        async with hatbox.open(tmp_path / "repaired.db") as profile:
            with pytest.raises(hatbox.DecryptionError):
                await profile.identities.settings("Work")
        repair(tmp_path / "repaired.db", tmp_path / "with_key.db")  # as the error says
        (tmp_path / "with_key.db").rename(tmp_path / "repaired.db")
    async with hatbox.open(tmp_path / "repaired.db") as profile:
        with pytest.raises(hatbox.InvalidSetting, match="lost in a repair"):
            await profile.identities.settings("Work")
        await profile.identities.set_settings("Work", proxy=None)
        assert await profile.identities.settings("Work") == hatbox.IdentitySettings()


@in_loop
async def test_a_profile_that_has_lost_its_id_is_repaired_without_its_encrypted_values(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
        identities = await profile.identities.query()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE profile SET checksum = checksum + 1")
    with pytest.raises(hatbox.ProfileCorrupt, match="table profile has a wrong checksum"):
        async with hatbox.open(path):
            pass
    assert [place for place, _ in check(path).problems] == ["table profile"]
    repaired = repair(path, tmp_path / "repaired.db")
    assert repaired.lost["profile"] == 1
    assert repaired.undecryptable == {"cookies": 2, "tab_pages": 1, "site_data": 1, "extension_data": 1}
    monkeypatch.delenv("HATBOX_KEY")
    async with hatbox.open(tmp_path / "repaired.db") as profile:
        assert await profile.identities.query() == identities
        assert await values(profile, "Work") == []
        assert len(await profile.tabs.query()) == 1


# --------------------------------------------------------------------------------------------------------------- copies


@in_loop
async def test_a_copy_of_an_encrypted_profile_is_encrypted_and_has_everything(path: Path, tmp_path: Path) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
    target = tmp_path / "copy.db"
    copy_profile(path, target)
    existing = tmp_path / "existing.db"
    create_profile(existing)
    copy_profile(path, existing)
    assert secrets_in(tmp_path) == set()
    for each in (target, existing):
        async with hatbox.open(each) as profile:
            assert profile.store.is_encrypted
            assert await contents(profile) == FILLED


@in_loop
async def test_a_plain_copy_is_made_only_if_the_user_wants_it(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
    existing = tmp_path / "existing.db"
    monkeypatch.delenv("HATBOX_KEY")
    create_profile(existing)
    before = existing.read_bytes()
    monkeypatch.setenv("HATBOX_KEY", KEY)
    with pytest.raises(hatbox.ProfileError, match=r"not encrypted, but the source is .* pass --plain"):
        copy_profile(path, existing)
    assert existing.read_bytes() == before
    target = tmp_path / "copy.db"
    for each in (target, existing):
        copy_profile(path, each, plain=True)
    monkeypatch.delenv("HATBOX_KEY")
    for each in (target, existing):
        async with hatbox.open(each) as profile:
            assert await contents(profile) == FILLED
    with pytest.raises(hatbox.WrongKey, match="no key is set"):
        copy_profile(path, tmp_path / "third.db")
    assert not (tmp_path / "third.db").exists()


@in_loop
async def test_a_copy_of_a_plain_profile_is_encrypted_if_a_key_is_set(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HATBOX_KEY")
    async with hatbox.open(path) as profile:
        await fill(profile)
    monkeypatch.setenv("HATBOX_KEY", KEY)
    folder = tmp_path / "folder"
    copy_profile(path, folder / "copy.db")
    assert secrets_in(folder) == set()
    async with hatbox.open(folder / "copy.db") as profile:
        assert await contents(profile) == FILLED


@in_loop
async def test_an_encrypted_profile_is_described_without_its_key(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hatbox.open(path):
        pass
    monkeypatch.delenv("HATBOX_KEY")
    assert profile_info(path).is_encrypted
