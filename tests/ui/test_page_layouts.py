"""Every screen fits into windows of any width. Motion and colors follow the settings of the system."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from playwright.async_api import Page

from docs.screenshots.sample_profile import fill
from tests.ui.identities_page import IdentitiesPage
from tests.ui.manager import Manager
from tests.ui.screens import SCREENS, overflows, show

T = TypeVar("T")

# The frame at a width: whether the bar at the bottom is shown, how wide the sidebar is, and the size of the font.
FRAME = """() => {
  const side = document.querySelector(".side");
  const label = side.querySelector(".nav a > span");
  return {
    sidebar: side.checkVisibility() ? Math.round(side.getBoundingClientRect().width) : 0,
    hasLabels: label.getBoundingClientRect().width > 20,
    hasBottomBar: document.querySelector(".bottom").checkVisibility(),
    font: getComputedStyle(document.documentElement).fontSize,
  };
}"""
RAIL = {"sidebar": 56, "hasLabels": False, "hasBottomBar": False, "font": "16px"}
FRAMES: dict[int, dict[str, Any]] = {
    640: {"sidebar": 0, "hasLabels": False, "hasBottomBar": True, "font": "16px"},
    641: RAIL,
    820: RAIL,
    1000: RAIL,
    1001: {"sidebar": 216, "hasLabels": True, "hasBottomBar": False, "font": "16px"},
    2200: {"sidebar": 243, "hasLabels": True, "hasBottomBar": False, "font": "18px"},
    3840: {"sidebar": 243, "hasLabels": True, "hasBottomBar": False, "font": "18px"},
}

# Until the page is drawn: styles and lists follow the window only then.
DRAWN = "() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))"

# Texts that are cut off. Those of this profile are short.
CUT = """() => [...document.querySelectorAll("main .ellipsis")]
  .filter((each) => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
  .map((each) => `cut off: ${each.textContent}`)"""

# The longest transition of a card from now on, in milliseconds.
WATCH_MOTION = """() => {
  globalThis.longest = 0;
  document.addEventListener("transitionrun", ({target, propertyName}) => {
    if (!target.matches(".card") || propertyName !== "transform") return;
    for (const each of target.getAnimations()) longest = Math.max(longest, each.effect.getTiming().duration);
  });
}"""

# Tiles that have lost their color.
BLANK_TILES = """() => [...document.querySelectorAll(".tile")]
  .filter((each) => getComputedStyle(each).backgroundColor === getComputedStyle(document.body).backgroundColor)
  .map((each) => `no color: ${each.parentElement.textContent}`)"""

# The colors of a switch that is on and of one that is off: of the track, and of the thumb on it.
SWITCHES = """() => [":checked", ":not(:checked)"].map((state) => {
  const each = document.querySelector(`.switch${state}`);
  return [null, "::after"].map((part) => getComputedStyle(each, part).backgroundColor);
})"""


# The outline of the selected tab, and whether the line below it has the color of what is selected.
SELECTED_TAB = """() => {
  const tab = document.querySelector(".tabbar [aria-selected=true]");
  const probe = document.createElement("i");
  probe.style.backgroundColor = "Highlight";
  document.body.append(probe);
  const highlight = getComputedStyle(probe).backgroundColor;
  probe.remove();
  return [getComputedStyle(tab).outlineStyle, getComputedStyle(tab, "::after").backgroundColor === highlight];
}"""


async def test_every_screen_fits_and_follows_the_motion_and_colors_of_the_system(
    manager: Manager, manager_page: Page
) -> None:
    page = manager_page
    await fill(manager.profile)
    found: dict[str, list[str]] = {}
    await emulate(page, "(forced-colors: active)", forced_colors="active")  # which changes no layout
    for screen in SCREENS:
        await show(page, screen)
        if screen.endswith("cookies"):
            await page.locator(".site .disclosure").first.click()
            await page.locator("main tbody tr").first.wait_for()
        for width in (641, 1001, 2200):  # the narrowest of each layout
            await resize(page, width)
            found[f"{screen}, {width}"] = await unfit(page)
        found[f"{screen}, forced colors"] = await page.evaluate(BLANK_TILES)
    assert {state: each for state, each in found.items() if each} == {}
    frames = {}
    for width in FRAMES:
        await resize(page, width)
        frames[width] = await settled(page, lambda: page.evaluate(FRAME), FRAMES[width])
    assert frames == FRAMES
    await resize(page, 820)
    await page.get_by_role("link", name="Tabs").click()  # without a label it has its name
    await page.get_by_role("heading", name="Tabs", level=1).wait_for()

    # With forced colors, a line is below the selected tab; the outline of other selected things would be cut off.
    await show(page, SCREENS[-1])
    assert await page.evaluate(SELECTED_TAB) == ["none", True]

    # With forced colors, a user sees which switch is on, which icon is chosen and which item of a menu has the focus.
    await show(page, "extensions")
    for state in (":checked", ":not(:checked)"):
        await page.locator(f".switch{state}").first.wait_for(state="attached")
    (on, thumb_on), (off, thumb_off) = await page.evaluate(SWITCHES)
    assert thumb_on != on != off != thumb_off
    cards = IdentitiesPage(page)
    await show(page, "identities")
    await cards.card("Work").locator("[data-part=menu]").click()
    assert await page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    await page.get_by_role("menuitem", name="Edit name, color, icon").click()
    color, icon = page.locator(".editor input:checked + .sw"), page.locator(".editor input:checked + .ic")
    background = "each => getComputedStyle(each).backgroundColor"
    assert await icon.evaluate(background) == await color.evaluate(background)
    await page.keyboard.press("Escape")
    await emulate(page, "(forced-colors: none)", forced_colors="none")

    await page.evaluate(WATCH_MOTION)
    await cards.focus("Work")
    await page.keyboard.press("Alt+Home")
    await cards.wait_for_announcement("Work, place 1 of 9")
    await page.evaluate(DRAWN)
    assert await page.evaluate("longest") < 1
    await emulate(page, "(prefers-reduced-motion: no-preference)", reduced_motion="no-preference")
    await page.keyboard.press("Alt+End")
    await page.wait_for_function("() => longest >= 100")


async def resize(page: Page, width: int) -> None:
    """Change the width of the window, and wait until the page is drawn in it."""
    await page.set_viewport_size({"width": width, "height": 480})
    await page.wait_for_function("width => innerWidth === width", arg=width)
    await page.evaluate(DRAWN)


async def emulate(page: Page, query: str, **setting: Any) -> None:
    """Change a setting of the system, and wait until the page is drawn with it. `query` is then true."""
    await page.emulate_media(**setting)
    await page.wait_for_function("query => matchMedia(query).matches", arg=query)
    await page.evaluate(DRAWN)


async def unfit(page: Page) -> list[str]:
    """What scrolls sideways or is cut off when lists have drawn their rows anew for another width."""

    async def find() -> list[str]:
        return [*await overflows(page), *await page.evaluate(CUT)]

    return await settled(page, find, [])


async def settled(page: Page, read: Callable[[], Awaitable[T]], expected: T) -> T:
    """What `read` returns when it is as expected, or else after a hundred frames."""
    for _ in range(100):
        if (found := await read()) == expected:
            break
        await page.evaluate(DRAWN)
    return found


# Where the visible part of the list ends, where the bar below it starts, and how high the page is in how high a window.
LOW = """() => {
  const {bottom, height} = document.querySelector(".main").getBoundingClientRect();
  const bar = document.querySelector("nav.bottom").getBoundingClientRect();
  const list = document.querySelector("main .scroll").clientHeight;
  return [bottom <= bar.top, list >= height, document.scrollingElement.scrollHeight];
}"""
# The distance of each button that removes a rule from the right edge of its row.
RULE_BUTTONS = """() => [...document.querySelectorAll("main .rule")].map((rule) =>
  Math.round(rule.getBoundingClientRect().right - rule.querySelector(".quick").getBoundingClientRect().right))"""
# The chips of the rules that are wider than their content.
WIDE_CHIPS = """() => [...document.querySelectorAll("main .rule .chip")].filter((chip) => {
  const {paddingRight, borderRightWidth} = getComputedStyle(chip);
  const air = chip.getBoundingClientRect().right - chip.lastElementChild.getBoundingClientRect().right;
  return air > parseFloat(paddingRight) + parseFloat(borderRightWidth) + 1;
}).map((chip) => chip.textContent)"""


async def test_a_zoom_of_400_percent_shows_lists_above_the_bar_and_rules_are_aligned(
    manager: Manager, manager_page: Page
) -> None:
    page = manager_page
    await fill(manager.profile)
    await page.set_viewport_size({"width": 320, "height": 200})
    for screen in SCREENS:
        await show(page, screen)
        assert await page.evaluate(LOW) == [True, True, 200], screen
        assert await overflows(page) == []
    await page.get_by_role("link", name="Identities", exact=True).click()
    await page.locator(".card a").last.focus()
    await page.locator(".card").last.scroll_into_view_if_needed()
    assert await page.locator(".main").evaluate("each => each.scrollTop > 0")  # the head makes room

    for width in (360, 820, 1440):
        await resize(page, width)
        for screen in ("rules", "identity/firefox-container-10/rules"):
            await show(page, screen)
            await page.locator("main .rule").first.wait_for()
            assert len({*await page.evaluate(RULE_BUTTONS), 9}) == 1, (width, screen)
            assert await page.evaluate(WIDE_CHIPS) == []
