"""The screen of tabs, and the tabs of one identity, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from hatbox.engines.background import background_engine
from hatbox.engines.chromium.focus import FocusTracker
from hatbox.engines.chromium.live_page import LivePage
from hatbox.identities import changes
from tests.cli import engines
from tests.site import Site
from tests.ui.identities_page import IdentitiesPage
from tests.ui.keyboard_walk import press_until
from tests.ui.manager import Manager
from tests.waiting import until

WORK, BANKING = "firefox-container-2", "firefox-container-3"


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

    # With the keyboard: move a tab to an identity that is found by its name.
    await profile.store.write(_create_many)
    await press_until(page, "Tab", "Move “mail.example/inbox”")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("searchbox", name="Find an identity")).to_be_focused()
    await page.keyboard.press("Enter")  # picks nothing: nothing was typed
    await page.keyboard.type("perso")
    await expect(page.locator(".picker .picks button")).to_have_text(["Personal"])
    await page.keyboard.press("Enter")
    await expect(page.locator(".tab-groups .group h2")).to_have_text(["Personal", "Banking"])
    await expect(page.locator(".toast")).to_contain_text("reopened in Personal, with the cookies of Personal.")
    await page.keyboard.press("Control+z")
    await expect(page.locator(".tab-groups .group h2")).to_have_text(["Work", "Banking"])

    # Another screen closes what was open above this one.
    await page.get_by_role("button", name="Move").first.focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".picker")).to_be_visible()
    await page.evaluate("location.hash = '#/sites'")
    await expect(page.locator(".picker")).to_have_count(0)
    await page.evaluate("location.hash = '#/tabs'")

    await profile.identities.hide(WORK)
    await expect(page.locator(".tab-groups .row.is-off .tag")).to_have_text("Hidden")


def _create_many(transaction: Any) -> None:
    for number in range(12):  # more than a list without a search shows
        changes.create(transaction, f"Account {number}", "red", "tree")


async def test_an_engine_is_started_and_stopped_and_a_failed_start_stands_in_its_row(
    manager_page: Page, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = manager_page
    await page.evaluate("location.hash = '#/tabs'")
    row = page.get_by_role("region", name="Engines").locator(".row", has_text="HTTP engine")
    with monkeypatch.context() as patched:
        patched.setattr(background_engine.BackgroundEngine, "_command", lambda _: ["/bin/false"])
        await row.get_by_role("button", name="Start HTTP engine").click()
        await expect(row.get_by_role("alert")).to_contain_text("exited")
    try:
        await row.get_by_role("button", name="Start HTTP engine").focus()
        await page.keyboard.press("Enter")
        await expect(row).to_contain_text("running on this machine")
        await expect(page.locator(".toast")).to_contain_text("HTTP engine started.")
        await row.get_by_role("button", name="Stop HTTP engine").click()
        await expect(page.locator(".toast")).to_contain_text("HTTP engine stopped. Its tabs stay in the profile.")
        await expect(row).to_contain_text("not running")
    finally:
        engines.end(tmp_path / "profile.db")


async def test_tabs_come_to_the_front_and_windows_open_in_a_running_chromium(
    manager: Manager, manager_page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, profile = manager_page, manager.profile
    fronts: list[int] = []
    activate = FocusTracker.activate

    async def recorded(self: FocusTracker, tab_id: int, shown: LivePage | None) -> None:
        fronts.append(tab_id)
        await activate(self, tab_id, shown)

    monkeypatch.setattr(FocusTracker, "activate", recorded)
    with Site() as site:
        tabs = [await profile.tabs.open(WORK, site.url(f"/page/{number}")) for number in (1, 2)]
        async with profile.chromium(headless=True, browser=manager.chromium) as runner:
            for tab in tabs:
                await runner.wait_until_loaded(tab.id)
            await page.evaluate("location.hash = '#/tabs'")
            rows = [page.locator(f'[data-tab="{tab.id}"]') for tab in tabs]
            await expect(page.get_by_role("region", name="Engines")).to_contain_text("2 tabs in 1 identity")
            await expect(rows[1]).to_contain_text("Active now")
            await rows[0].hover()
            await rows[0].get_by_role("button", name="Bring “Page 1” to the front").click()
            await expect(page.locator(".toast")).to_contain_text("“Page 1” is in front.")
            await expect(rows[0]).to_contain_text("Active now")
            await until(lambda: fronts[-1:] == [tabs[0].id])
            await page.set_viewport_size({"width": 360, "height": 740})
            await rows[1].get_by_role("button", name="Actions for “Page 2”").click()
            await page.get_by_role("menuitem", name="Bring to front").click()
            await expect(page.locator(".toast")).to_contain_text("“Page 2” is in front.")
            await until(lambda: fronts[-1:] == [tabs[1].id])

            # A window: with the key, from the menu, and from the head of an identity.
            await page.set_viewport_size({"width": 1440, "height": 900})
            await page.evaluate("location.hash = '#/identities'")
            cards = IdentitiesPage(page)
            await cards.focus("Banking")
            await page.keyboard.press("o")
            await cards.wait_for_toast("A window is open as Banking.")
            await cards.choose("Shopping", "Open window")
            await cards.wait_for_toast("A window is open as Shopping.")
            await page.evaluate("location.hash = '#/identity/firefox-container-1/tabs'")
            await page.get_by_role("button", name="Open window").click()
            await cards.wait_for_toast("A window is open as Personal.")
            opened = (await profile.tabs.query())[2:]
            assert [tab.cookie_store_id[-1] for tab in opened] == ["3", "4", "1"]
            await until(lambda: {tab.id for tab in opened} <= runner.engine.tabs)
            await until(lambda: fronts[-1:] == [opened[-1].id])


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
    await page.evaluate(f"location.hash = '#/identity/{WORK}/tabs'")
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
