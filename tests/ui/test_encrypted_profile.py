"""The page of an encrypted profile: nothing leaves it as plain text by accident."""

from __future__ import annotations

import asyncio
from pathlib import Path

import platformdirs
import pytest
from playwright.async_api import Page, expect

from hatbox.archive import age_format
from hatbox.store.keys import Key
from tests.ui.manager import Manager


@pytest.fixture
def encrypted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New profiles are encrypted. Their backups are in the folder of the test, and quick to encrypt."""
    monkeypatch.setenv("HATBOX_KEY", Key(bytes(range(32))).text)
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_, **__: str(tmp_path))
    monkeypatch.setattr(age_format.EncryptingWriter.__init__, "__defaults__", (4,))


@pytest.mark.usefixtures("encrypted")
async def test_an_encrypted_profile_asks_before_plain_text_and_for_a_passphrase(
    manager: Manager, manager_page: Page
) -> None:
    page, dialog = manager_page, manager_page.get_by_role("dialog")
    store = await manager.profile.cookie_store("Work")
    await store.receive(["sid=secret; HttpOnly"], "https://forge.example/")
    await page.goto(f"{manager.url}#/identity/{store.cookie_store_id}/cookies")
    downloads: list[object] = []
    page.on("download", lambda each: downloads.append(each))

    async def export() -> None:
        await page.get_by_role("button", name="Export").click()
        await page.get_by_role("menuitem", name="JSON lines").click()
        await expect(dialog).to_contain_text(
            "Export plain text?This profile is encrypted. The file is plain text: with it, anyone is signed in as Work."
        )

    await export()
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(dialog).to_have_count(0)
    assert downloads == []
    await export()
    async with page.expect_download() as started:
        await dialog.get_by_role("button", name="Export plain text").click()
    saved = await (await started.value).path()
    assert "secret" in await asyncio.to_thread(saved.read_text)
    assert len(downloads) == 1

    await page.goto(f"{manager.url}#/trash")
    await page.get_by_role("button", name="Back up now").click()
    await expect(dialog).to_contain_text("This profile is encrypted, so its backup needs a passphrase.")
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_role("alert")).to_have_text("Write a passphrase, for example four words.")
    for label in ("Passphrase", "The same passphrase again"):
        await dialog.get_by_label(label, exact=True).fill("four words of mine")
    await page.keyboard.press("Enter")
    await expect(page.locator(".toast")).to_contain_text("Backup written: ")
    await expect(page.get_by_role("list", name="Backups")).to_contain_text("encrypted")
