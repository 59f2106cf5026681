"""A blank tab of the user shows the actions of the running extensions, and a click there is a click on the action."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from playwright.async_api import Page

import hatbox
from tests.engines.chromium.real import with_browser
from tests.extensions.made import make
from tests.waiting import until_awaited

BACKGROUND = """
globalThis.clicks = [];
browser.browserAction.onClicked.addListener(tab => clicks.push(tab.id));
browser.browserAction.setBadgeText({text: "7"});
"""
ICON = "<svg xmlns='http://www.w3.org/2000/svg' width='32' height='32'><rect width='32' height='32' fill='#00f'/></svg>"
ACTION: dict[str, Any] = {"browser_action": {"default_title": "Press me", "default_icon": "icon.svg"}}


async def blue_pixel(page: Page) -> tuple[float, float] | None:
    """The position of the icon on a screenshot; None while it is not drawn."""
    probe = """async data => {
      const image = await createImageBitmap(await (await fetch("data:image/png;base64," + data)).blob());
      const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
      canvas.drawImage(image, 0, 0);
      const {data: pixels, width} = canvas.getImageData(0, 0, image.width, image.height);
      for (let i = 0; i < pixels.length; i += 4)
        if (pixels[i] === 0 && pixels[i + 1] === 0 && pixels[i + 2] === 255)
          return [i / 4 % width + 5, Math.floor(i / 4 / width) + 5];
      return null;
    }"""

    shot = base64.b64encode(await page.screenshot()).decode("ascii")
    found = await page.evaluate(probe, shot)
    return tuple(found) if found else None


@with_browser
async def test_a_click_on_the_start_page_clicks_the_action(browser: str, path: Path, tmp_path: Path) -> None:
    made = make(tmp_path, BACKGROUND, name="shower", files={"icon.svg": ICON}, **ACTION)
    async with hatbox.open(path) as profile:
        extension = await profile.extensions.start(made)
        async with profile.chromium(headless=True, browser=browser, indicator=True) as runner:
            tab = await profile.tabs.open("Work")
            page = await runner.page(tab.id)
            await until_awaited(lambda: blue_pixel(page))
            assert (
                await page.evaluate("document.body.querySelectorAll('button').length") == 0
            )  # in a closed shadow root
            at = await blue_pixel(page)
            assert at is not None
            await page.mouse.click(*at)
            await until_awaited(lambda: extension.evaluate("clicks.length"))
            assert await extension.evaluate("clicks") == [tab.id]
            assert (await profile.tabs.get(tab.id)).url == "about:blank"


@with_browser
async def test_pages_of_scripts_stay_blank(browser: str, path: Path, tmp_path: Path) -> None:
    made = make(tmp_path, BACKGROUND, name="shower", files={"icon.svg": ICON}, **ACTION)
    async with hatbox.open(path) as profile:
        await profile.extensions.start(made)
        async with profile.chromium(headless=True, browser=browser, indicator=True) as runner:
            page = await runner.new_page("Work")
            mine = await profile.tabs.open("Personal")
            user_page = await runner.page(mine.id)
            await until_awaited(lambda: blue_pixel(user_page))
            assert await page.evaluate("document.body.childElementCount") == 0
            assert await blue_pixel(page) is None
