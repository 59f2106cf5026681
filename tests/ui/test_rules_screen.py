"""The screen of rules in a real browser."""

from __future__ import annotations

from playwright.async_api import Page, expect

from tests.ui.manager import Manager

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

    pattern = page.get_by_label("Address pattern")
    await pattern.fill("forge.example/lumen/*")
    await page.get_by_role("button", name="Identity: Personal").click()
    await page.locator(".picker").get_by_role("button", name="Banking").click()
    await page.locator(".picker").get_by_role("button", name="Personal").click()
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Add rule").click()
    await expect(page.locator(".toast")).to_contain_text("forge.example/lumen/* now opens in Banking.")
    await expect(verdict).to_have_text("Opens in Banking")
    await expect(page.locator(".verdict .won .why")).to_have_text("decides: its host is exact")

    await pattern.fill("*.forge.example")
    await pattern.press("Enter")
    exists = "There is already a rule for *.forge.example: it opens in Work. Remove that one first."
    await expect(page.get_by_role("alert")).to_have_text(exists)
    await page.get_by_role("button", name="Remove the rule *.forge.example").click()
    await expect(page.locator(".rule-rows .rule")).to_have_count(1)
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".rule-rows .rule")).to_have_count(2)
    assert [rule.pattern for rule in await profile.rules.list()] == ["*.forge.example", "forge.example/lumen/*"]


async def test_a_pasted_file_is_imported_and_its_missing_identities_are_offered(
    manager: Manager, manager_page: Page
) -> None:
    page, profile = manager_page, manager.profile
    await page.evaluate("location.hash = '#/rules'")
    await page.get_by_role("button", name="Import").click()
    await page.get_by_role("menuitem", name="From a file of Containerise…").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Text to import").fill("nonsense")
    await dialog.get_by_role("button", name="Import").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("This is not a file of Containerise, line 1")
    await dialog.get_by_label("Text to import").fill("a.example , Work\nb.example , <b>Client</b>\n")
    await dialog.get_by_role("button", name="Import").click()
    await expect(dialog).to_contain_text("1 identity does not exist. Its rules were left out")
    await dialog.get_by_role("button", name="Create <b>Client</b>").click()
    await expect(page.locator(".rule-rows .chip")).to_have_text(["<b>Client</b>", "Work"])
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".rule-rows .chip")).to_have_text(["Work"])
    assert "<b>Client</b>" not in [each.name for each in await profile.identities.query()]
