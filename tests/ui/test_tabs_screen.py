"""The screen of tabs, and the tabs of one identity, in a real browser."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from hatbox.engines.background import background_engine
from tests.ui.manager import Manager

WORK, BANKING = "firefox-container-2", "firefox-container-3"

_MOUNT = """async (id) => {
  const {mount} = await import("./identity_tabs/tabs.js");
  const root = document.querySelector("main .screen");
  root.replaceChildren(Object.assign(document.createElement("div"), {className: "scroll"}));
  mount(root.firstChild, id);
}"""


async def test_tabs_are_live_by_identity_and_closing_and_moving_can_be_undone(
    manager: Manager, manager_page: Page
) -> None:
    page, profile = manager_page, manager.profile
    hostile = "https://site.example/<img src=x onerror=alert(1)>"
    first = await profile.tabs.open(WORK, "https://mail.example/inbox")
    await page.evaluate("location.hash = '#/tabs'")
    row = page.locator(f'[data-tab="{first.id}"]')
    await expect(row).to_contain_text("mail.example/inbox")
    await profile.tabs.open(BANKING, hostile)
    await expect(page.locator(".tab-groups .group h2")).to_have_text(["Work", "Banking"])
    await expect(page.get_by_role("region", name="Engines")).to_contain_text("Chromium not running")
    assert await page.locator("main img").count() == 0

    await row.hover()
    await row.get_by_role("button", name="Close").click()
    await expect(row).to_have_count(0)
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".tab-groups .group h2")).to_have_text(["Work", "Banking"])

    (tab,) = await profile.tabs.query(WORK)
    row = page.locator(f'[data-tab="{tab.id}"]')
    await row.hover()
    await row.get_by_role("button", name="Move").click()
    await page.locator(".picker").get_by_role("button", name="Personal").click()
    await expect(page.locator(".tab-groups .group h2")).to_have_text(["Personal", "Banking"])
    await expect(page.locator(".toast")).to_contain_text("reopened in Personal, with the cookies of Personal.")
    await page.keyboard.press("Control+z")
    await expect(page.locator(".tab-groups .group h2")).to_have_text(["Work", "Banking"])

    await profile.identities.hide(WORK)
    await expect(page.locator(".tab-groups .row.is-off .tag")).to_have_text("Hidden")


async def test_thousands_of_tabs_are_a_few_rows_in_the_document(manager: Manager, manager_page: Page) -> None:
    await manager.profile.store.write(
        lambda each: [each.tabs.insert(1, number, 2, url=f"https://site.example/{number}") for number in range(3000)]
    )
    page = manager_page
    await page.evaluate("location.hash = '#/tabs'")
    await expect(page.locator("h1 + .sub")).to_have_text("3,000 tabs in 1 identity")
    assert await page.locator(".tab-groups > *").count() < 100
    await page.get_by_label("Find a tab").fill("example/2999")
    await expect(page.locator(".tab-groups .row")).to_have_count(1)


async def test_an_address_says_where_it_opens_and_errors_stand_beside_the_field(
    manager: Manager, manager_page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, profile = manager_page, manager.profile
    await profile.rules.add("bank.example", BANKING)
    await page.evaluate(_MOUNT, WORK)
    field = page.get_by_label("Open an address as Work")
    await field.fill("two words")
    await field.press("Enter")
    wrong = "This is not an address: two words. Try forge.example or https://forge.example/"
    await expect(page.get_by_role("alert")).to_have_text(wrong)
    await expect(field).to_be_focused()
    await field.fill("bank.example/accounts")
    await expect(page.locator(".verdict strong")).to_have_text("Opens in Banking instead")

    # The engine cannot start: the error stands beside the field, which has its text again.
    monkeypatch.setattr(background_engine.BackgroundEngine, "_command", lambda _: ["/bin/false"])
    await field.press("Enter")
    await expect(page.get_by_role("alert")).to_contain_text("exited")
    await expect(field).to_have_value("bank.example/accounts")
    assert await profile.tabs.query() == []

    async with profile.http_engine():
        await field.press("Enter")
        await expect(page.locator(".toast")).to_contain_text("Opened bank.example as Banking.")
        assert [tab.cookie_store_id for tab in await profile.tabs.query()] == [BANKING]
