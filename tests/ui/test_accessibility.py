"""axe-core finds no violation on any screen, menu and dialog of the page, in light and dark."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from playwright.async_api import Page

from docs.screenshots.sample_profile import fill
from tests.ui.manager import Manager, open_page

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


async def test_every_screen_is_accessible_in_light_and_dark(manager: Manager, manager_page: Page) -> None:
    await fill(manager.profile)
    found: dict[str, list[str]] = {}
    for theme, width in (("light", 1440), ("dark", 1440), ("light", 360), ("dark", 360)):
        async with open_page(manager, color_scheme=theme, viewport={"width": width, "height": 800}) as page:
            await page.locator("main [role=listitem]").first.wait_for()
            await page.evaluate(AXE)
            for screen in SCREENS:
                await show(page, screen)
                found[f"{screen}, {width}, {theme}"] = await violations(page)
            await show(page, "identities")
            await page.keyboard.press("n")
            await page.locator("dialog[open]").wait_for()
            found[f"dialog, {width}, {theme}"] = await violations(page)
            await page.keyboard.press("Escape")
            await page.locator("main [role=listitem] [data-part=menu]").first.click()
            await page.get_by_role("menu").wait_for()
            found[f"menu, {width}, {theme}"] = await violations(page)
    assert {state: each for state, each in found.items() if each} == {}
