"""The namespace hatbox.archives: backups in a folder, with names, progress, previews and errors in words."""

from __future__ import annotations

import asyncio
import errno
import os
import re
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox.archive import age_format
from hatbox.archive.block_file import ARCHIVE_MAGIC
from hatbox.errors import ArchiveError
from hatbox.manager_api.archives.backup_folder import BackupFolder
from hatbox.profile import Profile
from hatbox.store.keys import Key
from hatbox.store.sqlite import SqliteStore
from tests.manager_api.page_errors import refused
from tests.store.in_loop import in_loop
from tests.waiting import until

WORK = "firefox-container-2"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of backups in both kinds of store, and passphrases that are quick to check."""
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path))
    monkeypatch.setattr(age_format, "_WORK_FACTOR", 4)
    monkeypatch.setattr(age_format.EncryptingWriter.__init__, "__defaults__", (4,))
    return tmp_path / "backups"


def api(profile: Profile) -> Any:
    return profile.browser(["hatbox"]).hatbox.archives


def names_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir()) if folder.exists() else []


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@asynccontextmanager
async def opened(address: str) -> AsyncIterator[tuple[Profile, Any]]:
    async with hatbox.open(address) as profile:
        await (await profile.cookie_store("Work")).receive(["sid=1; HttpOnly"], "https://forge.example/")
        yield profile, api(profile)


@in_loop
async def test_a_backup_is_written_listed_and_restored(address: str, folder: Path) -> None:
    async with opened(address) as (profile, archives):
        assert await archives.list() == {"folder": str(folder), "backups": []}
        made = await archives.backup({"name": "monday"})
        assert (made["name"], made["isEncrypted"], made["isWhole"], made["problem"]) == (
            "monday.hatbox",
            False,
            True,
            None,
        )
        assert made["size"] == (folder / "monday.hatbox").stat().st_size
        assert made["profile"] == profile.label
        assert abs(made["created"] - profile.store.time() * 1000) < 300_000
        assert (await archives.list())["backups"] == [made]
        assert [mode(folder), mode(folder / "monday.hatbox")] == [0o700, 0o600]
        assert not (await archives.preview("monday.hatbox"))["hasChanges"]

        await profile.identities.remove("Work")
        await profile.identities.update("Personal", name="Private")
        plan = await archives.preview("monday.hatbox")
        changes = {each["name"]: each["changes"] for each in plan["identities"] if each["changes"]}
        assert changes == {"Personal": ["name, icon, color or visibility"], "Work": ["created", "1 cookie added"]}
        assert plan["hasChanges"]
        assert [each.name for each in await profile.identities.query()] == ["Private", "Banking", "Shopping"]
        await archives.restore("monday.hatbox")
        names = [each.name for each in await profile.identities.query()]
        assert names == ["Personal", "Work", "Banking", "Shopping"]


@in_loop
async def test_some_identities_are_backed_up_and_restored(address: str) -> None:
    async with opened(address) as (profile, archives):
        made = await archives.backup({"identities": [WORK, "firefox-container-1"]})
        assert made["isWhole"] is False
        for name in ("Work", "Personal", "Banking"):
            await profile.identities.remove(name, forever=True)
        done = await archives.restore(made["name"], {"identities": [WORK]})
        assert [each["name"] for each in done["identities"]] == ["Work"]
        assert [each.name for each in await profile.identities.query()] == ["Shopping", "Work"]


@in_loop
async def test_progress_is_reported_up_to_the_end(address: str) -> None:
    async with opened(address) as (_, archives):
        received: list[dict[str, Any]] = []
        archives.onProgress.addListener(received.append)
        made = await archives.backup({"id": "mine"})
        await until(lambda: received and received[-1]["done"] == received[-1]["total"])
        assert {(each["id"], each["kind"]) for each in received} == {("mine", "backup")}
        received.clear()
        await archives.restore(made["name"])
        await until(lambda: received)
        assert {(each["id"], each["kind"]) for each in received} == {(made["name"], "restore")}
        await until(lambda: received[-1]["state"] == "finished")
        assert [each["state"] for each in received].count("finished") == 1


@in_loop
async def test_the_end_of_a_backup_that_fails_is_reported_with_its_reason(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[Any] = []

    async def full(*_: object, progress: Any, **__: object) -> None:
        reports.append(progress)
        progress(25, 100)
        raise ArchiveError("x.hatbox", "it cannot be written (no space left)", "Free some space.")

    async def endless(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    async with opened(address) as (profile, archives):
        received: list[dict[str, Any]] = []
        archives.onProgress.addListener(received.append)
        monkeypatch.setattr(profile, "backup", full)
        with refused("it cannot be written"):
            await archives.backup({"id": "mine"})
        reports[0](50, 100)  # by a thread that is not stopped yet
        await until(lambda: received and received[-1]["state"] == "failed")
        error = "x.hatbox: it cannot be written (no space left). Free some space."
        ended = {"id": "mine", "kind": "backup", "done": 25, "total": 100, "state": "failed", "error": error}
        assert received[-1] == ended
        monkeypatch.setattr(profile, "backup", endless)
        stopped = archives.backup({"id": "stopped"})
        await asyncio.sleep(0)
        stopped.cancel()
        await until(lambda: received[-1]["id"] == "stopped")
        assert received[-1]["error"] == "It was stopped before its end."


@in_loop
async def test_new_and_deleted_backups_are_reported_also_those_of_other_programs(address: str, folder: Path) -> None:
    async with opened(address) as (_, archives):
        received: list[str] = []
        archives.onChanged.addListener(lambda: received.append("changed"))
        made = await archives.backup({})
        await until(lambda: received)
        received.clear()
        await archives.remove(made["name"])
        assert not (folder / made["name"]).exists()
        await until(lambda: received)
        received.clear()
        (folder / "copied.hatbox").write_bytes(b"x")
        await until(lambda: received)
        await archives.list()
        received.clear()
        (folder / "copied.hatbox").write_bytes(b"yy")  # in place
        await until(lambda: received)


# --------------------------------------------------------------------------------------------------------- passphrases


@in_loop
async def test_a_wrong_passphrase_is_named_and_nothing_changes(address: str) -> None:
    async with opened(address) as (profile, archives):
        made = await archives.backup({"name": "secret", "passphrase": "right"})
        assert (made["isEncrypted"], made["isWhole"]) == (True, None)
        await profile.identities.remove("Work", forever=True)
        for options in ({}, {"passphrase": ""}, {"passphrase": "wrong"}):
            for call in (archives.preview, archives.restore):
                with refused(r"^secret\.hatbox: .*passphrase"):
                    await call("secret.hatbox", options)
        assert len(await profile.identities.query()) == 3
        await archives.restore("secret.hatbox", {"passphrase": "right"})
        assert len(await profile.identities.query()) == 4


@in_loop
async def test_the_backup_of_an_encrypted_profile_needs_a_passphrase(
    address: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HATBOX_KEY", Key(bytes(range(32))).text)
    async with opened(address) as (_, archives):
        for options in ({}, {"passphrase": ""}):
            with refused("Write a passphrase"):
                await archives.backup(options)
        assert names_in(folder) == []
        assert (await archives.backup({"passphrase": "p"}))["isEncrypted"]


@in_loop
async def test_a_backup_of_an_encrypted_profile_says_that_it_is_stored_as_plain_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("HATBOX_KEY", Key(bytes(range(32))).text)
        async with opened(str(tmp_path / "encrypted.db")) as (_, archives):
            await archives.backup({"name": "b", "passphrase": "p"})
    async with opened(str(tmp_path / "plain.db")) as (profile, archives):
        assert (await archives.preview("b.hatbox", {"passphrase": "p"}))["storesPlain"]
        with pytest.raises(hatbox.errors.ProfileError, match="not encrypted"):
            await archives.restore("b.hatbox", {"passphrase": "p"})
        await archives.restore("b.hatbox", {"passphrase": "p", "plain": True})
        names = [each.name for each in await profile.identities.query()]
        assert sorted(names) == ["Banking", "Personal", "Shopping", "Work", "Work (2)"]  # only Work was used


# ------------------------------------------------------------------------------------------------- names and bad files


@in_loop
async def test_no_name_leads_out_of_the_folder_and_nothing_is_replaced(address: str, folder: Path) -> None:
    outside = folder.parent / "outside.hatbox"
    async with opened(address) as (_, archives):
        await archives.backup({"name": "mine"})
        before = (folder / "mine.hatbox").read_bytes()
        outside.write_bytes(before)
        (folder / "link.hatbox").symlink_to(outside)
        bad = ["../outside.hatbox", "..", ".", ".hidden", "/etc/passwd", "a/b", "a\\b", "nul", "x\0y", "a" * 190, "x. "]
        for name in bad:
            for call in (archives.preview, archives.restore, archives.remove):
                with pytest.raises(ArchiveError):
                    await call(name)
        for name in ("../outside", "..", "/tmp/x", "a/b", "a\\b", "nul", "x\0y", "a" * 190, "\ud800"):
            with refused("not a name for a backup"):
                await archives.backup({"name": name})
        for call in (archives.preview, archives.remove):
            with refused("not in the folder"):
                await call("link.hatbox")
        for name in ("mine", "mine.hatbox", " mine ", "link"):
            with refused("exists already"):
                await archives.backup({"name": name})
        assert (folder / "mine.hatbox").read_bytes() == before == outside.read_bytes()
        assert [each["name"] for each in (await archives.list())["backups"]] == ["mine.hatbox"]


@in_loop
async def test_a_damaged_or_foreign_file_is_named_and_nothing_changes(address: str, folder: Path) -> None:
    async with opened(address) as (profile, archives):
        await archives.backup({"name": "whole"})
        whole = (folder / "whole.hatbox").read_bytes()
        (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff" + os.urandom(5000))
        (folder / "empty.hatbox").write_bytes(b"")
        (folder / "cut.hatbox").write_bytes(whole[:-20])
        await profile.identities.remove("Work", forever=True)
        listed = {each["name"]: each["problem"] for each in (await archives.list())["backups"]}
        assert listed.keys() == {"whole.hatbox", "photo.jpg", "empty.hatbox", "cut.hatbox"}
        assert listed["whole.hatbox"] is None
        assert listed["photo.jpg"]
        assert listed["empty.hatbox"]
        for name in ("photo.jpg", "empty.hatbox", "cut.hatbox"):
            for call in (archives.preview, archives.restore):
                with refused(f"^{name}: .*Nothing was changed"):
                    await call(name)
        with refused("not in the folder"):
            await archives.restore("gone.hatbox")
        assert len(await profile.identities.query()) == 3


@in_loop
async def test_a_folder_that_cannot_be_used_is_named_with_a_remedy_and_reported_when_it_can(
    address: str, folder: Path
) -> None:
    async with opened(address) as (_, archives):
        received: list[str] = []
        archives.onChanged.addListener(lambda: received.append("changed"))
        await archives.list()
        await asyncio.to_thread(folder.write_bytes, b"a file in its place")
        await until(lambda: received)
        remedy = r" \(.+\)\. Move the file away that is in its place, then try again\."
        with refused(f"^Backups cannot be read from {re.escape(str(folder))}{remedy}$"):
            await archives.list()
        with refused(f"^Backups cannot be written to {re.escape(str(folder))}{remedy} Nothing was written\\.$"):
            await archives.backup({})
        received.clear()
        await asyncio.to_thread(folder.unlink)
        await until(lambda: received)  # the page reads the list again
        assert (await archives.list())["backups"] == []


@in_loop
async def test_a_full_disk_is_named_with_the_folder_and_nothing_is_left(
    address: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with opened(address) as (_, archives):
        with monkeypatch.context() as patch:
            patch.setattr("hatbox.archive.archive_file.os.fsync", fail)
            with refused(
                r"/backups \(No space left on device\)\. Free space on its disk, then try again\. Nothing was"
            ):
                await archives.backup({})
        assert names_in(folder) == []
        await archives.backup({})


@in_loop
async def test_one_backup_runs_at_a_time(address: str, folder: Path) -> None:
    async with opened(address) as (_, archives):
        first = archives.backup({"name": "first"})
        await asyncio.sleep(0)
        with refused("a backup is running"):
            await archives.backup({"name": "second"})
        await first
        await archives.backup({"name": "second"})
        assert names_in(folder) == ["first.hatbox", "second.hatbox"]


@given(st.text(max_size=300))
def test_every_accepted_name_is_a_file_directly_in_the_folder(name: str) -> None:
    folder = BackupFolder(SqliteStore(Path("/nowhere/profile.db")))
    try:
        path = folder.new_file(name)
    except ArchiveError:
        return
    assert path.parent == folder.path
    assert Path(os.path.normpath(path)) == path
    assert len(os.fsencode(path.name)) <= 255


# ── A backup from elsewhere ──


async def uploaded(archives: Any, data: bytes, name: str, size: int | None = None, part: int = 3 * 2**16) -> Any:
    token = await archives.beginUpload(name, len(data) if size is None else size)
    for start in range(0, len(data), part):
        await archives.addUploadPart(token, b64encode(data[start : start + part]).decode())
    return await archives.endUpload(token)


@in_loop
async def test_one_identity_is_shared_with_another_profile_as_an_encrypted_file(
    address: str, folder: Path, tmp_path: Path
) -> None:
    async with opened(address) as (profile, archives):
        await profile.change_identity_settings("Work", proxy="http://me:secret@proxy.example:3128")
        made = await archives.backup({"name": "Work", "identities": [WORK], "passphrase": "four words"})
        data = (folder / made["name"]).read_bytes()
    async with hatbox.open(tmp_path / "other" / "profile.db", create=True) as other:
        archives = api(other)
        await other.identities.create("Mine")
        for _ in range(2):
            found = await uploaded(archives, data, "Work.hatbox")
        assert (found["name"], found["isEncrypted"], found["problem"]) == ("Work 2.hatbox", True, None)
        with refused("passphrase is wrong"):
            await archives.preview(found["name"], {"passphrase": "three"})
        plan = await archives.preview(found["name"], {"passphrase": "four words"})
        assert plan["brought"] == ["Work sends its requests through the proxy http://proxy.example:3128."]
        await archives.restore(found["name"], {"passphrase": "four words"})
        assert [each.host for each in await other.sites("Work")] == ["forge.example"]


@pytest.mark.parametrize(
    ("name", "data", "size", "message"),
    [
        ("photo.jpg", b"\xff\xd8\xff" * 1000, None, "photo.jpg is not a backup of Hatbox. Nothing was changed."),
        ("cut.hatbox", ARCHIVE_MAGIC + b"2\n", None, "cut.hatbox"),
        ("short.hatbox", ARCHIVE_MAGIC, 10_000, "of 10,000 bytes of short.hatbox arrived"),
        ("long.hatbox", ARCHIVE_MAGIC * 3, 4, "more bytes than announced"),
        ("../profile.db", ARCHIVE_MAGIC, None, "this is not a name for a backup"),
        ("huge.hatbox", ARCHIVE_MAGIC, 2**52, "are free on the disk"),
    ],
)
@in_loop
async def test_a_file_that_is_no_backup_leaves_nothing_behind(
    name: str, data: bytes, size: int | None, message: str, address: str, folder: Path
) -> None:
    async with opened(address) as (_, archives):
        with refused(message):
            await uploaded(archives, data, name, size)
        assert (await archives.list())["backups"] == []
        assert names_in(folder) == []
        token = await archives.beginUpload("later.hatbox", 100)
        await archives.addUploadPart(token, b64encode(ARCHIVE_MAGIC).decode())
        await archives.cancelUpload(token)
        with refused("Choose it again"):
            await archives.endUpload(token)
        assert names_in(folder) == []
