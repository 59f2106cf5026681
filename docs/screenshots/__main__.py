"""Takes the screenshots of the manager page with a sample profile and an installed Chromium.

python -m docs.screenshots            those of the README and the documentation, into docs/images
python -m docs.screenshots --all DIR  every screen at 360 and 1440 pixels, light and dark, to look at
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from playwright.async_api import Browser, Page, async_playwright

import hatbox
from docs.screenshots.sample_profile import fill, show_as_loaded, start_extension
from hatbox.engines.chromium.launch import find_browser
from hatbox.ui.server import ManagerServer

_IMAGES: Final = Path(__file__).parents[1] / "images"
_HEIGHTS: Final = {360: 740, 1440: 900}
_PHONE: Final = 641  # pixels; below this width, the page is that of a phone
_DRAWN: Final = 700  # milliseconds until the last frame after the data
_REFRESHED: Final = 3_000  # milliseconds until the start page has read its data again
_WORK: Final = "firefox-container-7"
_BANKING: Final = "firefox-container-8"
_LUMEN: Final = "firefox-container-10"


class _Shot(NamedTuple):
    name: str
    route: str
    width: int
    theme: str
    start: str = ""
    """The identity whose start page is shown instead of a route."""


_ROUTES: Final = {
    "identities": "#/identities",
    "identity-tabs": f"#/identity/{_WORK}/tabs",
    "identity-cookies": f"#/identity/{_BANKING}/cookies",
    "identity-rules": f"#/identity/{_LUMEN}/rules",
    "identity-settings": f"#/identity/{_LUMEN}/settings",
    "sites": "#/sites",
    "tabs": "#/tabs",
    "rules": "#/rules",
    "extensions": "#/extensions",
    "trash": "#/trash",
    "activity": "#/activity",
}
_DOCUMENTED: Final = [
    _Shot("manager-identities", _ROUTES["identities"], 1440, "light"),
    _Shot("manager-identities-dark", _ROUTES["identities"], 1440, "dark"),
    _Shot("manager-phone", _ROUTES["identities"], 360, "light"),
    _Shot("manager-sites", _ROUTES["sites"], 1440, "light"),
    _Shot("manager-cookies", _ROUTES["identity-cookies"], 1440, "light"),
    _Shot("manager-rules", _ROUTES["rules"], 1440, "light"),
    _Shot("manager-extensions", _ROUTES["extensions"], 1440, "light"),
    _Shot("start-page", "", 1440, "light", start="Work"),
]


def _every_shot() -> list[_Shot]:
    return [
        _Shot(f"{name}-{width}-{theme}", route, width, theme)
        for name, route in _ROUTES.items()
        for width in _HEIGHTS
        for theme in ("light", "dark")
    ]


async def _take(shots: Sequence[_Shot], folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "profile.db"
        with _called("import"):
            async with hatbox.open(path) as profile:
                await fill(profile)
        with _called("ui"):
            async with hatbox.open(path) as profile, async_playwright() as playwright:
                await start_extension(profile)
                browser = await playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
                async with ManagerServer(profile) as server:
                    for shot in shots:
                        if not shot.start:
                            await _shoot(browser, server, shot, folder / f"{shot.name}.png")
                await browser.close()
                for shot in shots:
                    if shot.start:
                        await _shoot_start_page(profile, shot, folder / f"{shot.name}.png")


@contextmanager
def _called(command: str) -> Iterator[None]:
    """Have the activity of the profile name a command of Hatbox, and not this program."""
    before, sys.argv = sys.argv, ["bin/hatbox", command]
    try:
        yield
    finally:
        sys.argv = before


async def _shoot(browser: Browser, server: ManagerServer, shot: _Shot, path: Path) -> None:
    is_phone = shot.width < _PHONE
    context = await browser.new_context(
        viewport={"width": shot.width, "height": _HEIGHTS[shot.width]},
        color_scheme="dark" if shot.theme == "dark" else "light",
        reduced_motion="reduce",
        has_touch=is_phone,
        is_mobile=is_phone,
        device_scale_factor=2 if is_phone else 1,
    )
    page = await context.new_page()
    await page.goto(server.create_link())
    await page.wait_for_url(f"{server.url}*")
    await show(page, shot.route)
    await page.screenshot(path=path)
    await context.close()


async def _shoot_start_page(profile: hatbox.Profile, shot: _Shot, path: Path) -> None:
    """The start page of a window."""
    tab = await profile.tabs.open(shot.start)
    async with profile.chromium(headless=True, indicator=True, identities=[shot.start]) as engine:
        page = await engine.page(tab.id)
        for other in await profile.tabs.query(shot.start):
            await engine.wait_until_loaded(other.id)
        await show_as_loaded(profile, shot.start)
        await page.set_viewport_size({"width": shot.width, "height": _HEIGHTS[shot.width]})
        await page.wait_for_timeout(_REFRESHED)
        await page.screenshot(path=path)


async def show(page: Page, route: str) -> None:
    """Open a screen, wait until it has drawn its data, and open what a picture of it should show."""
    await page.evaluate("route => { location.hash = route; }", route)
    await page.wait_for_selector("main h1")
    await page.wait_for_selector("main [aria-busy=true]", state="detached")
    if route.endswith("/cookies"):
        await page.locator("main [aria-expanded=false]").first.click()
        await page.get_by_role("button", name="Show the value of session").first.click()
    if route == _ROUTES["rules"]:
        field = page.get_by_role("textbox", name="Where does this address open?").first
        await field.fill("https://forge.example/lumen/site")
        await field.press("Enter")
    if route == _ROUTES["extensions"]:
        card = page.get_by_role("region", name="Container switcher")
        await card.get_by_text("Permissions:").click()
        await card.get_by_text("Log", exact=True).click()
    await page.evaluate("document.activeElement?.blur()")
    await page.wait_for_timeout(_DRAWN)


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="DIR", help="every screen, into this folder")
    chosen = parser.parse_args()
    shots, folder = (_every_shot(), chosen.all) if chosen.all else (_DOCUMENTED, _IMAGES)
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(_take(shots, folder))


if __name__ == "__main__":
    _main()
