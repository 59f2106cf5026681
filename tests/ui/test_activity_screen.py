"""The screen of the activity in Chromium: live, filtered, and without what was deleted for ever."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.store.other_process import OtherProcess
from tests.ui.manager import Manager

if TYPE_CHECKING:
    from playwright.async_api import Page


async def test_changes_of_any_program_appear_and_vanish_with_their_identity(
    manager: Manager, manager_page: Page
) -> None:
    from playwright.async_api import expect

    page, profile = manager_page, manager.profile
    await page.goto(f"{manager.url}#/activity")
    await expect(page.get_by_role("heading", name="Nothing here yet")).to_be_visible()
    rows = page.locator(".act")
    lair = await profile.identities.create("<img onerror=alert(1)>")
    await expect(rows.first).to_contain_text("<img onerror=alert(1)> Created")
    with OtherProcess(Path(profile.address)) as other:
        other.identities("create", "From afar")
    await expect(rows.first).to_contain_text("From afar Created")
    await expect(page.get_by_role("heading", name="Today")).to_be_visible()
    assert await rows.count() == 2

    await page.keyboard.press("/")
    await page.keyboard.type("afar")
    await expect(rows).to_have_count(1)
    await page.keyboard.press("Escape")
    await expect(rows).to_have_count(2)

    await profile.identities.remove(lair.cookie_store_id)
    await expect(rows.first).to_contain_text("Moved to the trash")
    await profile.trash.remove(lair.cookie_store_id)
    await expect(rows.first).to_contain_text("An identity was deleted forever")
    await expect(page.locator("main")).not_to_contain_text("onerror")
