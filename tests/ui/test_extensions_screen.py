"""The screen of extensions in Chromium: install a file, grant, see the console, remove."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hatbox.errors import EngineError
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.manager_api.test_managed_extensions import BACKGROUND, FILES, MANIFEST, packed
from tests.ui.manager import Manager
from tests.waiting import until_awaited

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_deno

_TIMEOUT = 45_000  # milliseconds: a busy machine takes its time


async def test_an_extension_is_installed_from_a_file_granted_and_removed(
    manager: Manager, manager_page: Page, tmp_path: Path
) -> None:
    from playwright.async_api import expect

    expect.set_options(timeout=_TIMEOUT)
    page = manager_page
    await page.goto(f"{manager.url}#/extensions")
    await expect(page.get_by_role("heading", name="No extensions")).to_be_visible()
    (tmp_path / "notes.txt").write_text("no extension")
    (tmp_path / "made.xpi").write_bytes(packed(make(tmp_path, BACKGROUND, files=FILES, **MANIFEST)))

    async def choose(name: str) -> None:
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Install").click()
        await (await chooser.value).set_files(tmp_path / name)

    await choose("notes.txt")
    await expect(page.get_by_role("alert")).to_contain_text("notes.txt is not an extension")
    await choose("made.xpi")
    dialog = page.get_by_role("dialog", name="Install made 1?")
    await expect(dialog.get_by_role("listitem")).to_have_text(
        ["Add items to menus", "Access your data for *.site.example"]
    )
    assert not await manager.profile.extensions.installed()
    await dialog.get_by_role("button", name="Install").click()
    card = page.get_by_role("region", name="made")
    await expect(card).to_contain_text("Stopped, version 1")
    for name in ("Switch", "Options of made", "Menu of made"):
        await expect(card.get_by_role("button", name=name)).to_be_disabled()

    await card.get_by_text("Permissions: 2 of 4 granted").click()
    await expect(card.get_by_role("switch", name="Add items to menus")).to_be_disabled()
    await card.get_by_role("switch", name="Read and change cookies").click()
    await expect(card).to_contain_text("Permissions: 3 of 4 granted")
    await page.keyboard.press("Control+z")
    await expect(card).to_contain_text("Permissions: 2 of 4 granted")

    await card.get_by_role("button", name="More about made").click()
    await page.get_by_role("menuitem", name="Delete forever").click()
    removal = page.get_by_role("dialog", name="Delete made forever?")
    await expect(removal).to_contain_text("This cannot be undone.")
    await removal.get_by_role("button", name="Delete forever").click()
    await expect(card).to_have_count(0)
    assert not await manager.profile.extensions.installed()


async def test_a_running_extension_is_used_from_its_card_and_its_lines_are_text(
    manager: Manager, manager_page: Page, tmp_path: Path
) -> None:
    from playwright.async_api import expect

    expect.set_options(timeout=_TIMEOUT)
    page, profile = manager_page, manager.profile
    await page.goto(f"{manager.url}#/extensions")
    await profile.tabs.open("Work", "https://site.example/")
    extension = await profile.extensions.start(make(tmp_path, BACKGROUND, files=FILES, **MANIFEST))
    card = page.get_by_role("region", name="made")
    await expect(card).to_contain_text("Running from a folder, version 1")
    await card.get_by_text("Log", exact=True).click()
    log = card.get_by_role("log")
    await expect(log).to_contain_text("ready (background.js:8:9)")
    await card.get_by_role("button", name="Switch").click()
    await expect(log).to_contain_text("clicked <b>")
    assert await log.locator("b", has_text="clicked").count() == 0
    await card.get_by_role("button", name="Menu of made").click()
    await expect(page.get_by_role("menuitem")).to_have_text(["GoCtrl+Shift+Y", "\u2003Work"])
    await page.keyboard.press("End")
    await page.keyboard.press("Enter")
    await expect(log).to_contain_text("menu work")
    await extension.evaluate('browser.browserAction.setBadgeText({text: "42"})')
    await expect(card.get_by_label("Badge: 42")).to_be_visible()
    await expect(card.get_by_role("button", name="Options of made")).to_be_disabled()
    await expect(card).to_contain_text("Run it with: hatbox run --engine chromium")

    async def start_browser() -> None:
        raise EngineError("no display found. Run in a desktop session, or use --headless.")

    await profile.extensions.stop(extension)
    profile.extensions.page_tabs.start_on_request(start_browser)
    await profile.extensions.start(tmp_path / "made")
    options = card.get_by_role("button", name="Options of made")
    await expect(options).to_be_enabled()
    await options.click()
    await expect(card.get_by_role("alert")).to_have_text(
        "The page is not open: no display found. Run in a desktop session."
    )
    profile.extensions.page_tabs.stop_requests()
    await card.get_by_role("switch", name="Run made").click()
    await expect(card).to_have_count(0)

    async def has_stopped() -> bool:
        return not profile.extensions.running

    await until_awaited(has_stopped)
