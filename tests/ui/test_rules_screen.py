"""The screen of rules in a real browser."""

from __future__ import annotations

import json

from playwright.async_api import FilePayload, Page, expect

from hatbox.extension_data.storage.storage_areas import AREAS
from hatbox.extension_data.storage.storage_items import set_items
from hatbox.formats.mac_assignments import MAC_EXTENSION
from tests.ui.dropped_files import drop_file
from tests.ui.keyboard_walk import press_until
from tests.ui.manager import Manager
from tests.waiting import until_awaited

WORK, BANKING = "firefox-container-2", "firefox-container-3"


async def test_rules_are_tested_added_and_removed_with_undo(manager: Manager, manager_page: Page) -> None:
    page, profile = manager_page, manager.profile
    await page.evaluate("location.hash = '#/rules'")
    await expect(page.get_by_role("heading", name="No rules")).to_be_visible()
    await page.get_by_label("Where does this address open?").fill("forge.example/lumen/x")
    verdict = page.locator(".verdict strong")
    await expect(verdict).to_have_text("No rule for this address")
    await profile.rules.add("*.forge.example", WORK)  # by another program
    await expect(verdict).to_have_text("Opens in Work")

    # With the keyboard: from the tester to the pattern, the identities and the button.
    pattern = page.get_by_label("Address pattern")
    await press_until(page, "Tab", "Address pattern")
    await page.keyboard.type("forge.example/lumen/*")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="Identity: Personal")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Space")  # not Personal
    await press_until(page, "ArrowDown", "Banking")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Identity: Banking")).to_be_focused()
    await press_until(page, "Tab", "Add rule")
    await page.keyboard.press("Enter")
    await expect(page.locator(".toast")).to_contain_text("forge.example/lumen/* now opens in Banking.")
    await expect(verdict).to_have_text("Opens in Banking")
    await expect(page.locator(".verdict .won .why")).to_have_text("decides: its host is exact")

    await pattern.fill("*.forge.example")
    await pattern.press("Enter")
    exists = "There is already a rule for *.forge.example: it opens in Work. Remove that one first."
    await expect(page.get_by_role("alert")).to_have_text(exists)
    await press_until(page, "Tab", "Remove the rule *.forge.example")
    await page.keyboard.press("Enter")
    await expect(page.locator(".rule-rows .rule")).to_have_count(1)
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".rule-rows .rule")).to_have_count(2)
    assert [rule.pattern for rule in await profile.rules.list()] == ["*.forge.example", "forge.example/lumen/*"]


async def test_a_dropped_file_is_imported_and_its_missing_identities_are_offered(
    manager: Manager, manager_page: Page
) -> None:
    page, profile = manager_page, manager.profile
    await profile.set_settings(trash_days=0)  # what Undo removes is deleted, if nothing was added to it
    await page.evaluate("location.hash = '#/rules'")
    await page.get_by_role("button", name="Import").click()
    await page.get_by_role("menuitem", name="From a file of Containerise…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Text to import").fill("nonsense")
    await dialog.get_by_role("button", name="Import").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("This is not a file of Containerise, line 1")
    await drop_file(page, "dialog", "rules.csv", b"a.example , Work\nb.example , <b>Client</b>\n")
    await expect(dialog).to_contain_text("1 identity does not exist. Its rules were left out")
    create = dialog.get_by_role("button", name="Create <b>Client</b>")
    await create.evaluate("each => { each.click(); each.click(); }")  # imports once
    await expect(page.locator(".rule-rows .chip")).to_have_text(["<b>Client</b>", "Work"])
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".rule-rows .chip")).to_have_text(["Work"])

    async def is_gone() -> bool:
        return "<b>Client</b>" not in [each.name for each in await profile.identities.query()]

    await until_awaited(is_gone)
    await page.keyboard.press("Control+z")  # the first import
    await expect(page.locator(".rule-rows .chip")).to_be_hidden()
    assert await profile.rules.list() == []


async def test_rules_of_multi_account_containers_come_from_two_files_or_an_extension(
    manager: Manager, manager_page: Page
) -> None:
    page, profile = manager_page, manager.profile
    key = "siteContainerMap@@_mail.example"
    storage = json.dumps({key: {"userContextId": "7", "neverAsk": True}}).encode()
    container = {"userContextId": 7, "public": True, "icon": "cart", "color": "pink", "name": "Shopping"}
    containers = json.dumps({"version": 5, "lastUserContextId": 7, "identities": [container]}).encode()
    rows, dialog = page.locator(".rule-rows .rule"), page.get_by_role("dialog")
    await page.evaluate("location.hash = '#/rules'")

    async def choose(item: str) -> None:
        await page.get_by_role("button", name="Import").click()
        await page.get_by_role("menuitem", name=item).click()

    async def undo() -> None:
        await expect(dialog).to_have_count(0)
        await expect(rows).to_have_text(["mail.exampleShopping"])
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_role("heading", name="No rules")).to_be_visible()

    # The names first, or last, or both files at once.
    await choose("From a file of Multi-Account Containers…")
    await drop_file(page, "dialog", "containers.json", containers)
    await expect(dialog.get_by_role("alert")).to_have_text("This file has the names. Drop the file with the rules too.")
    await drop_file(page, "dialog", "storage.json", storage)
    await undo()
    await choose("From a file of Multi-Account Containers…")
    await drop_file(page, "dialog", "storage.json", storage)
    await expect(dialog.get_by_role("alert")).to_contain_text("Add the file containers.json")
    await drop_file(page, "dialog", "containers.json", containers)
    await undo()
    await choose("From a file of Multi-Account Containers…")
    both = (("storage.json", storage), ("containers.json", containers))
    payloads = [FilePayload(name=name, mimeType="application/json", buffer=data) for name, data in both]
    await dialog.locator("input[type=file]").set_input_files(payloads)
    await undo()

    items = {key: {"userContextId": "4", "neverAsk": True}}
    await profile.store.write(lambda each: set_items(each, MAC_EXTENSION, AREAS["local"], items))
    await choose("From Multi-Account Containers in this profile")
    await undo()
    assert await profile.rules.list() == []
