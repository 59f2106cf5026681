"""axe-core finds no violation on any screen, menu and dialog of the page, in light and dark."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.async_api import Page

from docs.screenshots.sample_profile import fill
from tests.ui.manager import Manager

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
WORK = "firefox-container-7"
SCREENS = [
    "identities",
    "sites",
    "tabs",
    "rules",
    "extensions",
    "trash",
    "activity",
    *(f"identity/{WORK}/{tab}" for tab in ("tabs", "cookies", "rules", "settings")),
]


async def violations(page: Page) -> list[str]:
    """What axe-core finds on the page as it is now."""
    found: list[dict[str, Any]] = await page.evaluate("axe.run().then(({violations}) => violations)")
    return [f"{each['id']}: {node['html'][:200]} {node['failureSummary']}" for each in found for node in each["nodes"]]


async def show(page: Page, screen: str) -> None:
    """Open a screen, and wait until it has its data."""
    await page.evaluate("route => { location.hash = `#/${route}`; }", screen)
    await page.locator("main h1").wait_for()
    await page.locator("main [aria-busy=true]").first.wait_for(state="detached")


async def test_every_screen_is_accessible(manager: Manager, manager_page: Page) -> None:
    await fill(manager.profile)
    page = manager_page
    await page.locator("main [role=listitem]").first.wait_for()
    await page.evaluate(AXE)
    found: dict[str, list[str]] = {}

    async def check(state: str) -> None:
        for width in (1440, 360):
            await page.set_viewport_size({"width": width, "height": 800})
            await page.emulate_media(color_scheme="light")
            found[f"{state}, {width}, light"] = await violations(page)
            await page.emulate_media(color_scheme="dark")
            found[f"{state}, {width}, dark"] = await violations(page)

    for screen in SCREENS:
        await show(page, screen)
        await check(screen)
    await show(page, "identities")
    await page.keyboard.press("n")
    await page.locator("dialog[open]").wait_for()
    await check("dialog of a new identity")
    await page.keyboard.press("Escape")
    await page.locator("main [role=listitem] [data-part=menu]").first.click()
    await page.get_by_role("menu").wait_for()
    await check("menu of an identity")
    assert {state: each for state, each in found.items() if each} == {}
