"""The screen of extensions in Chromium: install a file, grant, see the console, remove."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hatbox.errors import EngineError
from hatbox.extension_data.run_problems import RunProblem, store_problem
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.manager_api.test_managed_extensions import BACKGROUND, FILES, MANIFEST, packed
from tests.ui.dropped_files import drop_file
from tests.ui.keyboard_walk import press_until
from tests.ui.manager import Manager
from tests.waiting import until_awaited

if TYPE_CHECKING:
    from playwright.async_api import Page

    from hatbox.extensions.extension import Extension

pytestmark = needs_deno


async def test_an_extension_is_installed_from_a_file_granted_and_removed(
    manager: Manager, manager_page: Page, tmp_path: Path
) -> None:
    from playwright.async_api import expect

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
    await drop_file(page, ".main-in", "made.xpi", (tmp_path / "made.xpi").read_bytes())
    dialog = page.get_by_role("dialog", name="Install made 1?")
    await expect(dialog.get_by_role("listitem")).to_have_text(
        ["Add items to menus", "Access your data for *.site.example"]
    )
    assert not await manager.profile.extensions.installed()
    await press_until(page, "Tab", "Install")
    await page.keyboard.press("Enter")
    card = page.get_by_role("region", name="made")
    await expect(card).to_contain_text("Stopped, version 1")
    for name in ("Switch", "Options of made", "Menu of made"):
        await expect(card.get_by_role("button", name=name)).to_be_disabled()

    # With the keyboard: grant a permission, undo it, delete the extension.
    await press_until(page, "Tab", "Permissions: 2 required, 0 of 2 optional")
    await page.keyboard.press("Enter")
    await expect(card.get_by_role("switch", name="Add items to menus")).to_be_disabled()
    await press_until(page, "Tab", "Read and change cookies")
    await page.keyboard.press("Space")
    await expect(card).to_contain_text("Permissions: 2 required, 1 of 2 optional")
    await page.keyboard.press("Control+z")
    await expect(card).to_contain_text("Permissions: 2 required, 0 of 2 optional")

    await press_until(page, "Shift+Tab", "More about made")
    await page.keyboard.press("Enter")
    await page.keyboard.press("End")
    await page.keyboard.press("Enter")
    removal = page.get_by_role("dialog", name="Delete made forever?")
    await expect(removal).to_contain_text("This cannot be undone.")
    await press_until(page, "Tab", "Delete forever")
    await page.keyboard.press("Enter")
    await expect(card).to_have_count(0)
    assert not await manager.profile.extensions.installed()


class _ShownPage:
    """An open page, without the Chromium that would show it."""

    def __init__(self) -> None:
        self.in_front = asyncio.Event()
        self._closed = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    async def bring_to_front(self) -> None:
        self.in_front.set()

    async def close(self) -> None:
        self._closed.set()

    async def wait_until_closed(self) -> None:
        await self._closed.wait()


def _started(manager: Manager) -> Extension:
    (extension,) = manager.profile.extensions.running
    return extension


async def _start_nothing() -> None:
    pass


async def test_a_running_extension_is_used_from_its_card_and_its_lines_are_text(
    manager: Manager, manager_page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playwright.async_api import expect

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
    await expect(card).to_contain_text("Run it with: “hatbox --profile")

    failed = RunProblem("failed", "SyntaxError: Unexpected <b>token</b> (background.js:1:5)")
    await profile.store.write(lambda transaction: store_problem(transaction, extension.area, failed))
    await expect(card.get_by_role("alert")).to_have_text(
        "Its background script failed: SyntaxError: Unexpected <b>token</b> (background.js:1:5). See its log."
    )

    async def start_browser() -> None:
        raise EngineError("no display found. Use --headless.", "no display found. Run Hatbox in a desktop session.")

    await profile.extensions.stop(extension)
    profile.extensions.page_tabs.start_on_request(start_browser)
    await profile.extensions.start(tmp_path / "made")
    options = card.get_by_role("button", name="Options of made")
    await expect(options).to_be_enabled()
    await options.click()
    await expect(card.get_by_role("alert")).to_have_text(
        "The page is not open: no display found. Run Hatbox in a desktop session."
    )
    shown = _ShownPage()

    async def show(*_: object, **__: object) -> _ShownPage:
        return shown

    monkeypatch.setattr(_started(manager).browser_pages, "show", show)
    profile.extensions.page_tabs.stop_requests()
    profile.extensions.page_tabs.start_on_request(_start_nothing)
    await options.click()
    open_page = page.get_by_role("dialog", name="Page of made")
    await expect(open_page).to_contain_text("Its options page is open in a window of Chromium.")
    await page.keyboard.press("Enter")  # the focus is on "Bring to front"
    await shown.in_front.wait()
    await open_page.get_by_role("button", name="Close options page").click()
    await expect(open_page).to_have_count(0)
    assert shown.is_closed
    await expect(options).to_be_focused()
    profile.extensions.page_tabs.stop_requests()
    await card.get_by_role("switch", name="Run made").click()
    await expect(card).to_have_count(0)

    async def has_stopped() -> bool:
        return not profile.extensions.running

    await until_awaited(has_stopped)


@pytest.fixture
def headless_chromium(browser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Extensions that are started from the page open their pages in a Chromium without windows."""
    headless = tmp_path / "chromium"
    headless.write_text(f'#!/bin/sh\nexec "{browser}" --headless "$@"\n')
    headless.chmod(0o755)
    monkeypatch.setenv("HATBOX_CHROMIUM", str(headless))
    monkeypatch.setenv("DISPLAY", ":unused")
    for name in ("STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))


@pytest.mark.usefixtures("headless_chromium")
async def test_the_popup_sidebar_menu_and_command_of_an_extension_are_used_from_its_card(
    manager: Manager, manager_page: Page, tmp_path: Path
) -> None:
    from playwright.async_api import expect

    page, profile = manager_page, manager.profile
    said = "<script src=said.js></script>"
    pages = {
        "browser_action": {"default_popup": "popup.html", "default_title": "Show"},
        "sidebar_action": {"default_panel": "sidebar.html"},
    }
    script = f"{BACKGROUND}browser.runtime.onMessage.addListener((path) => console.log('open', path));"
    files = {"said.js": "browser.runtime.sendMessage(location.pathname)", "popup.html": said, "sidebar.html": said}
    await profile.extensions.install(make(tmp_path, script, files=FILES | files, **(MANIFEST | pages)))
    await profile.tabs.open("Work", "https://site.example/")
    await page.goto(f"{manager.url}#/extensions")
    card = page.get_by_role("region", name="made")
    await card.get_by_role("switch", name="Run made").click()
    await expect(card).to_contain_text("Running, version 1")
    await card.get_by_text("Log", exact=True).click()
    log = card.get_by_role("log")
    await expect(log).to_contain_text("ready")
    try:
        action = card.get_by_role("button", name="Show")
        await expect(action).to_have_attribute("aria-haspopup", "dialog")
        await action.click()
        popup = page.get_by_role("dialog", name="Page of made")
        await expect(popup).to_contain_text("Its popup is open in a window of Chromium.")
        await expect(log).to_contain_text("open /popup.html")
        await page.keyboard.press("Enter")  # the focus is on "Bring to front"
        await popup.get_by_role("button", name="Close popup").click()
        await expect(popup).to_have_count(0)
        await expect(action).to_be_focused()

        async def choose(button: str, item: str) -> None:
            await card.get_by_role("button", name=button).click()
            await page.get_by_role("menuitem", name=item).click()

        await choose("Menu of made", "Go")
        await expect(page.locator(".toast")).to_contain_text("“Go” clicked.")
        await expect(log).to_contain_text("command go")
        await choose("Menu of made", "Work")
        await expect(log).to_contain_text("menu work")
        await choose("More about made", "Open sidebar")
        await expect(page.locator(".toast")).to_contain_text("The sidebar of made is open in Chromium.")
        await expect(log).to_contain_text("open /sidebar.html")
    finally:
        await card.get_by_role("switch", name="Run made").click()
        await expect(card).to_contain_text("Stopped, version 1")
