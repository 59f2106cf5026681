"""Every screen follows the changes of another program, and two pages show the same."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page, expect

from tests.extensions.made import make
from tests.ui.manager import Manager, open_page
from tests.ui.screens import show
from tests.ui.second_program import second_program
from tests.ui.served_process import profile_argument

WORK = "firefox-container-2"


async def test_every_screen_shows_changes_of_another_program_and_of_another_page(
    manager: Manager, manager_page: Page, tmp_path: Path
) -> None:
    page, profile = manager_page, manager.profile
    address = profile_argument(tmp_path / "profile.db")
    store = await profile.cookie_store("Work")
    async with open_page(manager) as second, second_program(address) as other:

        async def both(screen: str) -> None:
            await show(page, screen)
            await show(second, screen)

        async def shown(selector: str, text: str) -> None:
            for each in (page, second):
                await expect(each.locator(selector)).to_contain_text([text])

        await both("sites")
        await expect(page.get_by_role("heading", name="Signed in nowhere")).to_be_visible()
        await other.run(
            'await (await profile.cookie_store("Work")).receive(["sid=1; HttpOnly"], "https://far.example/")'
        )
        await shown(".siterow .chip", "Work")
        await both(f"identity/{WORK}/cookies")
        await shown(".site .disclosure", "far.example")
        await other.run('await (await profile.cookie_store("Work")).clear()')
        for each in (page, second):
            await expect(each.get_by_role("heading", name="Signed in nowhere")).to_be_visible()
        assert not await store.cookies()

        await both("tabs")
        await other.run('await profile.tabs.open("Banking", "https://far.example/inbox")')
        await shown(".tab-groups .row", "far.example/inbox")
        await page.locator(".tab-groups .row").hover()
        await page.get_by_role("button", name="Close “").click()
        await expect(second.get_by_role("heading", name="No tabs open")).to_be_visible()
        await page.get_by_role("button", name="Undo").click()
        await shown(".tab-groups .row", "far.example/inbox")

        await both("rules")
        await other.run('await profile.rules.add("far.example", "Work")')
        await shown(".rule-rows .rule", "far.example")
        await second.get_by_role("button", name="Remove the rule far.example").click()
        await expect(page.get_by_role("heading", name="No rules")).to_be_visible()

        await both("extensions")
        await other.run(f"await profile.extensions.install({str(make(tmp_path))!r})")
        await shown(".ext h2", "made")

        await both(f"identity/{WORK}/settings")
        await other.run('await profile.identities.set_settings("Work", user_agent="Far/1")')
        for each in (page, second):
            await expect(each.get_by_label("User agent")).to_have_value("Far/1")
        await second.get_by_label("Locale").fill("fr")
        await second.get_by_role("button", name="Save settings").click()
        await expect(page.get_by_label("Locale")).to_have_value("fr")
        await expect(page.get_by_role("tab", name="Settings")).to_have_text("Settings2")

        await both("trash")
        await other.run('await profile.identities.remove("Shopping")')
        await shown(".trash-rows .row", "Shopping")
        await page.get_by_role("button", name="Restore Shopping").click()
        await expect(second.get_by_text("What you remove comes here first.")).to_be_visible()
