from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ApiError
from tests.engines.chromium.real import with_browser
from tests.site import Site


@with_browser
async def test_a_tab_goes_back_and_forward_and_stays_at_the_ends(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        api: Any = profile.browser({"tabs"})
        page = await runner.new_page("Work", site.url("/page/1"))
        tab = (await api.tabs.query({"active": True}))[0]["id"]
        await page.goto(site.url("/page/2"))
        await api.tabs.goBack(tab)
        await page.wait_for_url(site.url("/page/1"))
        await api.tabs.goForward()
        await page.wait_for_url(site.url("/page/2"))
        await api.tabs.goForward(tab)  # no such page
        with pytest.raises(ApiError, match="Invalid tab ID: 99999"):
            await api.tabs.goBack(99999)
        assert page.url == site.url("/page/2")
