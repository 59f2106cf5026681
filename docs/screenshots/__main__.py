"""Takes the screenshots of the manager page with a sample profile and an installed Chromium.

python -m docs.screenshots            those of the README and the documentation, into docs/images
python -m docs.screenshots --all DIR  every screen at 360 and 1440 pixels, light and dark, to look at
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from playwright.async_api import Browser, Page, async_playwright

import hatbox
from docs.screenshots.sample_profile import fill
from hatbox.engines.chromium.launch import find_browser
from hatbox.ui.server import ManagerServer

_IMAGES: Final = Path(__file__).parents[1] / "images"
_HEIGHTS: Final = {360: 740, 1440: 900}
_WORK: Final = "firefox-container-7"
_BANKING: Final = "firefox-container-8"
_LUMEN: Final = "firefox-container-10"


class _Shot(NamedTuple):
    name: str
    route: str
    width: int
    theme: str


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
        async with hatbox.open(Path(temporary) / "profile.db") as profile, async_playwright() as playwright:
            await fill(profile)
            browser = await playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
            async with ManagerServer(profile) as server:
                for shot in shots:
                    await _shoot(browser, server, shot, folder / f"{shot.name}.png")
            await browser.close()


async def _shoot(browser: Browser, server: ManagerServer, shot: _Shot, path: Path) -> None:
    context = await browser.new_context(
        viewport={"width": shot.width, "height": _HEIGHTS[shot.width]},
        color_scheme="dark" if shot.theme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = await context.new_page()
    await page.goto(server.create_link())
    await page.wait_for_url(f"{server.url}*")
    await _show(page, shot.route)
    await page.screenshot(path=path)
    await context.close()


async def _show(page: Page, route: str) -> None:
    """Open a screen, and wait until it has drawn its data."""
    await page.evaluate("route => { location.hash = route; }", route)
    await page.wait_for_selector("main h1")
    await page.wait_for_selector("main [aria-busy=true]", state="detached")
    await page.wait_for_timeout(700)  # the last frame of what is drawn after the data


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="DIR", help="every screen, into this folder")
    chosen = parser.parse_args()
    shots, folder = (_every_shot(), chosen.all) if chosen.all else (_DOCUMENTED, _IMAGES)
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(_take(shots, folder))


if __name__ == "__main__":
    _main()
