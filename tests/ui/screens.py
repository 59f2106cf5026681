"""All screens of the page, for a profile that docs/screenshots/sample_profile.py has filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.async_api import Page

__all__ = ["SCREENS", "WORK", "overflows", "show"]

WORK: Final = "firefox-container-7"
SCREENS: Final = [
    "identities",
    "sites",
    "tabs",
    "rules",
    "extensions",
    "trash",
    "activity",
    *(f"identity/{WORK}/{tab}" for tab in ("tabs", "cookies", "rules", "settings")),
]


async def show(page: Page, screen: str) -> None:
    """Open a screen, and wait until it has its data."""
    await page.evaluate("route => { location.hash = `#/${route}`; }", screen)
    await page.locator("main h1").wait_for()
    await page.locator("main [aria-busy=true]").first.wait_for(state="detached")


async def overflows(page: Page) -> list[str]:
    """The elements that scroll sideways."""
    found: list[str] = await page.evaluate(
        """() => [document.documentElement, ...document.querySelectorAll("main, main *")]
          .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
          .filter((each) => each === document.documentElement || /auto|scroll/.test(getComputedStyle(each).overflowX))
          .map((each) => `${each.className} is ${each.scrollWidth} wide in ${each.clientWidth}`)"""
    )
    return found
