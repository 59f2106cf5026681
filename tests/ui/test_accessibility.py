"""axe-core finds no violation on any screen, menu, dialog and message of the page, in light and dark."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any, Literal

from playwright.async_api import Page

from docs.screenshots.sample_profile import fill, start_extension
from tests.extensions.runtime.lab import needs_deno
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
# In the other theme only colors differ, and only these rules read colors.
COLOR_RULES = ["color-contrast", "link-in-text-block"]

Step = Callable[[Page], Awaitable[object]]


async def open_cookies(page: Page) -> None:
    """The table of a site, with one value shown."""
    await show(page, f"identity/{WORK}/cookies")
    await page.locator("main [aria-expanded=false]").first.click()
    await page.get_by_role("button", name="Show the value of session").first.click()
    await page.locator("main [aria-pressed=true]").first.wait_for()


async def try_address(page: Page) -> None:
    """The verdict of the tester."""
    await show(page, "rules")
    await page.get_by_role("textbox", name="Where does this address open?").fill("https://forge.example/lumen/site")
    await page.get_by_text("Opens in Lumen Studio").wait_for()


async def open_extension(page: Page) -> None:
    """A running extension with its permissions, its console and a badge."""
    await show(page, "extensions")
    card = page.get_by_role("region", name="Container switcher")
    await card.get_by_text("Permissions:").click()
    await card.get_by_text("Log", exact=True).click()
    await card.get_by_text("ready, 9 containers").wait_for()


async def press_on_card(page: Page, key: str, result: str) -> None:
    """Press a key on the first card, and wait for what it opens."""
    await show(page, "identities")
    await page.locator("main [data-part=link]").first.focus()
    await page.keyboard.press(key)
    await page.locator(result).first.wait_for()


async def open_menu(page: Page) -> None:
    """The menu of a card."""
    await show(page, "identities")
    await page.locator("main [role=listitem] [data-part=menu]").first.click()
    await page.get_by_role("menu").wait_for()


async def show_problem(page: Page) -> None:
    """An error beside its cause."""
    await show(page, "tabs")
    await page.evaluate(
        """async () => {
          const {problem} = await import("./layers.js");
          problem(document.querySelector("main button"), "The tab is gone.");
        }"""
    )
    await page.get_by_text("The tab is gone.").wait_for()


STATES: dict[str, Step] = {
    "open cookies": open_cookies,
    "verdict": try_address,
    "running extension": open_extension,
    "new identity": lambda page: press_on_card(page, "n", "dialog[open]"),
    "shortcuts": lambda page: press_on_card(page, "?", "dialog[open]"),
    "editor": lambda page: press_on_card(page, "e", ".editor"),
    "menu": open_menu,
    "problem": show_problem,
    "toast": lambda page: press_on_card(page, "h", ".toast"),
}


async def violations(page: Page, *, only: list[str] | None = None) -> list[str]:
    """What axe-core finds on the page as it is now."""
    options = {"resultTypes": ["violations"], **({"runOnly": only} if only else {})}
    found: list[dict[str, Any]] = await page.evaluate(
        "options => axe.run(document, options).then(({violations}) => violations)", options
    )
    return [f"{each['id']}: {node['html'][:200]} {node['failureSummary']}" for each in found for node in each["nodes"]]


async def use_theme(page: Page, theme: Literal["light", "dark"]) -> None:
    """Change the theme of the system, and wait until all colors have changed."""
    await page.emulate_media(color_scheme=theme)
    await page.evaluate(
        """async () => {
          const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
          do await drawn();
          while (document.getAnimations().some(({playState}) => playState === "running"));
          await drawn();
        }"""
    )


async def show(page: Page, screen: str) -> None:
    """Open a screen, and wait until it has its data."""
    await page.evaluate("route => { location.hash = `#/${route}`; }", screen)
    await page.locator("main h1").wait_for()
    await page.locator("main [aria-busy=true]").first.wait_for(state="detached")


@needs_deno
async def test_every_screen_is_accessible_in_light_and_dark(manager: Manager, manager_page: Page) -> None:
    page = manager_page
    await fill(manager.profile)
    await start_extension(manager.profile)
    await page.locator("main [role=listitem]").first.wait_for()
    await page.evaluate(AXE)
    found: dict[str, list[str]] = {}

    async def check(state: str) -> None:
        found[f"{state}, light"] = await violations(page)
        await use_theme(page, "dark")
        found[f"{state}, dark"] = await violations(page, only=COLOR_RULES)
        await use_theme(page, "light")

    await page.set_viewport_size({"width": 1440, "height": 800})
    for screen in SCREENS:
        await show(page, screen)
        await check(screen)
    for state, reach in STATES.items():
        await reach(page)
        await check(state)
        await page.keyboard.press("Escape")
    await page.set_viewport_size({"width": 360, "height": 740})
    for screen in SCREENS:
        await show(page, screen)
        found[f"{screen}, 360"] = await violations(page)
    await manager.server.stop()
    await page.get_by_text("Reconnecting to Hatbox").first.wait_for()
    found["reconnecting, 360"] = await violations(page)
    await manager.server.start()
    assert {state: each for state, each in found.items() if each} == {}
