"""The screen of trash and backups in a real Chromium."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
import pytest
from playwright.async_api import expect

from hatbox.archive import age_format
from hatbox.errors import ArchiveError
from hatbox.profile import Profile
from tests.ui.identities_page import IdentitiesPage
from tests.ui.manager import Manager
from tests.waiting import until_awaited

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page


async def test_removed_identities_are_restored_and_deleted_forever(manager: Manager, manager_page: Page) -> None:
    profile, page = manager.profile, manager_page
    await (await profile.cookie_store("Work")).receive(["sid=1"], "https://forge.example/")
    for name in ("Work", "Banking", "Shopping"):
        await profile.identities.remove(name)
    await page.goto(f"{manager.url}#/trash")
    rows = page.locator(".trash-rows .row")
    await expect(rows).to_have_count(3)
    await expect(rows.nth(2)).to_contain_text("1 cookie on 1 site, no tabs")
    await expect(rows.nth(2)).to_contain_text("30 days left")

    await page.get_by_role("button", name="Restore Work").click()
    await expect(page.locator(".toast")).to_contain_text("Work is back, with its id, tabs and cookies.")
    await expect(rows).to_have_count(2)
    assert "Work" in [each.name for each in await profile.identities.query()]
    await page.get_by_role("button", name="Undo").click()
    await expect(rows).to_have_count(3)

    await page.get_by_role("button", name="Delete Banking forever").click()
    await page.get_by_role("button", name="Keep it").click()
    await expect(rows).to_have_count(3)
    await page.get_by_role("button", name="Delete Banking forever").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete forever").click()
    await expect(rows).to_have_count(2)

    await profile.trash.restore("Shopping")  # elsewhere
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Restore Work").click()
    await expect(page.get_by_text("What you remove comes here first.")).to_be_visible()
    await profile.set_settings(trash_days=0)
    await expect(page.get_by_text("are deleted at once: the trash is switched off.")).to_be_visible()
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("alert")).to_have_text(
        "This could not be undone. The trash of this profile is switched off. So Work stays."
    )
    await profile.set_settings(trash_days=30)
    await profile.identities.remove("Work")
    await page.get_by_role("button", name="Empty trash").click()
    await expect(page.get_by_role("dialog")).to_contain_text("1 identity with everything in them is deleted.")
    await profile.identities.remove("Personal")  # while the question is open: it is about another one
    await expect(rows).to_have_count(2)
    await page.get_by_role("dialog").get_by_role("button", name="Empty trash").click()
    await expect(rows).to_have_count(1)
    assert [each.name for each in await profile.trash.list()] == ["Personal"]


async def test_a_backup_shows_its_progress_and_is_restored_after_a_preview(
    manager: Manager, manager_page: Page, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    profile, page = manager.profile, manager_page
    monkeypatch.setattr(age_format.EncryptingWriter.__init__, "__defaults__", (4,))
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path))  # for profiles without a folder
    paused = _PausedBackup(Profile.backup)
    monkeypatch.setattr(Profile, "backup", paused.method())
    await page.goto(f"{manager.url}#/trash")
    await page.get_by_role("button", name="Back up now").click()
    meter = page.get_by_role("progressbar", name="Backup")
    await expect(meter).to_have_attribute("aria-valuenow", "25")

    await page.reload()  # the backup goes on, and the page shows its end
    start = page.get_by_role("button", name="Back up now")
    await expect(start).to_be_visible()
    await _until_shown(paused, meter)
    paused.end(ArchiveError("x.hatbox", "it cannot be written (no space left)", "Free some space."))
    message = "No backup was written. x.hatbox: it cannot be written (no space left). Free some space."
    await expect(page.get_by_role("alert")).to_have_text(message)
    await expect(meter).to_be_hidden()
    elsewhere = manager.browser.hatbox.archives.backup({"name": "elsewhere"})
    await _until_shown(paused, meter)
    paused.end()
    await expect(page.locator(".toast")).to_have_text("Backup written.")
    await expect(meter).to_be_hidden()
    await manager.browser.hatbox.archives.remove((await elsewhere)["name"])
    await expect(page.get_by_text("No backups yet")).to_be_visible()

    await start.click()
    await expect(meter).to_have_attribute("aria-valuenow", "25")
    await page.get_by_role("link", name="Tabs").click()
    await page.get_by_role("link", name="Trash, backups").click()
    await _until_shown(paused, meter)
    await page.reload()
    await start.click()
    await expect(page.get_by_role("alert")).to_contain_text("a backup is running")
    await _until_shown(paused, meter)
    paused.end()
    await expect(meter).to_be_hidden()
    await page.get_by_role("button", name=re.compile("^Actions for ")).click()
    await page.get_by_role("menuitem", name="Delete forever").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete forever").click()
    await expect(page.get_by_text("No backups yet")).to_be_visible()

    await start.click()
    await expect(meter).to_have_attribute("aria-valuenow", "25")
    paused.end()
    paused.is_on = False
    await expect(page.locator(".toast")).to_contain_text("Backup written: ")
    await expect(meter).to_be_hidden()
    await expect(page.get_by_role("button", name="Back up now")).to_be_focused()  # the keyboard continues there
    restore = page.get_by_role("button", name=re.compile("^Restore from "))
    await expect(restore).to_have_count(1)

    await profile.identities.remove("Work", forever=True)
    await restore.click()
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("3 identities are the same, 1 comes back.")
    assert len(await profile.identities.query()) == 3
    may_end = asyncio.Event()
    monkeypatch.setattr(Profile, "restore", _delayed(Profile.restore, may_end))
    await dialog.get_by_role("button", name="Restore 1 identity").click()
    await expect(dialog.get_by_role("status")).to_be_focused()
    for _ in range(2):  # a restore cannot be stopped, and its error must have a place
        await page.keyboard.press("Escape")
    await expect(dialog).to_contain_text("Restoring. All of it happens in one step, or nothing.")
    may_end.set()
    await expect(page.locator(".toast")).to_contain_text("1 identity restored.")
    assert len(await profile.identities.query()) == 4

    # Encrypted: passphrases that differ, a wrong one and the right one.
    await page.get_by_label("Other ways to back up").click()
    await page.get_by_role("menuitem", name="Back up with a passphrase").click()
    await dialog.get_by_label("Passphrase", exact=True).fill("right")
    await dialog.get_by_role("button", name="Back up now").click()
    await expect(dialog.get_by_role("alert")).to_have_text("The two passphrases differ. Write the same one twice.")
    await dialog.get_by_label("The same passphrase again").fill("right")
    await dialog.get_by_role("button", name="Back up now").click()
    await expect(restore).to_have_count(2)
    await restore.first.click()
    await dialog.get_by_label("Passphrase of this backup").fill("wrong")
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_role("alert")).to_have_text("The passphrase is wrong. Nothing was changed.")
    await dialog.get_by_label("Passphrase of this backup").fill("right")
    await page.keyboard.press("Enter")
    await expect(dialog).to_contain_text("Nothing would change: everything is as in the backup.")
    await dialog.get_by_role("button", name="Close").click()

    # A foreign file that another program puts there.
    (tmp_path / "backups" / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    await expect(page.locator(".row", has_text="photo.jpg")).to_contain_text("It is not a Hatbox archive")


async def test_an_identity_is_shared_as_a_file_and_taken_over_from_it(
    manager: Manager, manager_page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(age_format, "_WORK_FACTOR", 4)
    monkeypatch.setattr(age_format.EncryptingWriter.__init__, "__defaults__", (4,))
    page, profile, dialog = manager_page, manager.profile, manager_page.locator("dialog")
    await profile.change_identity_settings("Work", proxy="http://me:secret@proxy.example:3128")
    await IdentitiesPage(page).choose("Work", "Share as a file")
    await dialog.get_by_label("Passphrase", exact=True).fill("four words")
    await dialog.get_by_label("The same passphrase again").fill("four words")
    await page.keyboard.press("Enter")
    await expect(dialog).to_contain_text("Work is in this file")
    (file,) = (tmp_path / "backups").iterdir()
    await expect(dialog.locator(".path")).to_have_text(str(file))
    await dialog.get_by_role("button", name="Close").click()
    elsewhere = file.rename(tmp_path / "Work from Ada.hatbox")
    await profile.identities.remove((await profile.identities.find("Work")).cookie_store_id)

    await page.goto(f"{manager.url}#/trash")
    picker = page.get_by_label("File of a backup")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff" * 100)
    await picker.set_input_files(tmp_path / "photo.jpg")
    await expect(page.get_by_role("alert")).to_have_text("photo.jpg is not a backup of Hatbox. Nothing was changed.")
    await picker.set_input_files(elsewhere)
    await dialog.get_by_label("Passphrase of this backup").fill("wrong")
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_role("alert")).to_have_text("The passphrase is wrong. Nothing was changed.")
    await dialog.get_by_label("Passphrase of this backup").fill("four words")
    await page.keyboard.press("Enter")
    await expect(dialog).to_contain_text("Work sends its requests through the proxy http://proxy.example:3128.")
    await expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    await dialog.get_by_role("button", name="Restore 1 identity").click()
    await expect(page.locator(".toast")).to_contain_text("1 identity restored.")
    work = await manager.browser.hatbox.identities.details((await profile.identities.find("Work")).cookie_store_id)
    assert work["settings"]["proxy"] == "http://me:***@proxy.example:3128"


class _PausedBackup:
    """Backups that report a quarter, and go on or fail when the test says so."""

    def __init__(self, write: Callable[..., Any]) -> None:
        self.is_on = True
        self.report: Callable[[int, int], None] | None = None
        self._write = write
        self._end: asyncio.Future[None]

    def method(self) -> Callable[..., Any]:
        async def backup(profile: Profile, *arguments: Any, progress: Callable[[int, int], None], **named: Any) -> Any:
            if self.is_on:
                self._end = asyncio.get_running_loop().create_future()
                self.report = progress
                progress(25, 100)
                await self._end
            return await self._write(profile, *arguments, progress=progress, **named)

        return backup

    def end(self, error: Exception | None = None) -> None:
        self.report = None
        if error is None:
            self._end.set_result(None)
        else:
            self._end.set_exception(error)


async def _until_shown(paused: _PausedBackup, meter: Locator) -> None:
    """Report progress until the page, which may not listen yet, shows it."""

    async def is_shown() -> bool:
        if paused.report is not None:
            paused.report(50, 100)
        return await meter.is_visible()

    await until_awaited(is_shown)


def _delayed(restore: Callable[..., Any], may_end: asyncio.Event) -> Callable[..., Any]:
    async def delayed(self: Profile, *arguments: Any, **named: Any) -> Any:
        await may_end.wait()
        return await restore(self, *arguments, **named)

    return delayed
