"""Extensions capture pages of Chromium as images, within limits."""

from __future__ import annotations

import base64
import struct
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ApiError
from tests.engines.chromium.real import with_browser
from tests.site import Site


def png_size(url: str) -> tuple[int, int]:
    data = base64.b64decode(url.removeprefix("data:image/png;base64,"))
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    return width, height


@with_browser
async def test_a_page_is_captured_whole_in_part_and_larger(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        api: Any = profile.browser({"tabs", "<all_urls>"})
        page = await runner.new_page("Work", site.url("/long"))
        tab = (await api.tabs.query({"active": True}))[0]["id"]
        view = await page.evaluate("[innerWidth, innerHeight]")
        width, height = png_size(await api.tabs.captureTab(tab))
        assert abs(width - view[0]) <= 20
        assert abs(height - view[1]) <= 20
        assert png_size(await api.tabs.captureVisibleTab()) == (width, height)
        rect = {"x": 10, "y": 900, "width": 40, "height": 30}
        assert png_size(await api.tabs.captureTab(tab, {"rect": rect})) == (40, 30)
        assert png_size(await api.tabs.captureTab(tab, {"rect": rect, "scale": 2})) == (80, 60)
        jpeg = await api.tabs.captureTab(tab, {"format": "jpeg", "quality": 10})
        assert base64.b64decode(jpeg.removeprefix("data:image/jpeg;base64,")).startswith(b"\xff\xd8")
        other = await runner.new_page("Personal", site.url("/page/1"))
        assert png_size(await api.tabs.captureTab(tab))[0] == width  # in the background
        await other.close()


@with_browser
async def test_an_image_that_would_be_too_large_is_refused_and_names_its_size(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        api: Any = profile.browser({"tabs", "<all_urls>"})
        await runner.new_page("Work", site.url("/page/1"))
        for rect in ({"x": 0, "y": 0, "width": 1e9, "height": 10}, {"x": 0, "y": 0, "width": 0, "height": 10}):
            with pytest.raises(ApiError, match=r"cannot capture .* pixels"):
                await api.tabs.captureTab(None, {"rect": rect})
        with pytest.raises(ApiError, match="cannot capture"):
            await api.tabs.captureTab(None, {"scale": 1000})
