"""webRequest.filterResponseData in a real Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox import Profile
from hatbox.extensions.extension import Extension
from tests.extensions.made import run_made
from tests.extensions.response_filters import PERMISSIONS, capitals, text_site
from tests.extensions.runtime.lab import needs_deno

pytestmark = needs_deno


@pytest.mark.parametrize("types", ['["main_frame"]', '["main_frame", "xmlhttprequest"]'])
def test_a_page_and_its_requests_get_the_filtered_response(tmp_path: Path, browser: str, types: str) -> None:
    async def use(profile: Profile, _: Extension) -> None:
        async with profile.chromium(headless=True, browser=browser) as engine:
            tab = await profile.tabs.open("Work", f"{site}/page")
            assert (await engine.wait_until_loaded(tab.id)).title == "Filtered"
            page = await engine.page(tab.id)
            assert await page.inner_text("p") == "HELLO"
            fetched = await page.evaluate("fetch('/text').then(response => response.text())")
            assert fetched == ("HELLO world" if "xmlhttprequest" in types else "hello world")
            redirected = await page.evaluate("fetch('/go').then(response => response.text())")
            assert redirected == fetched

    with text_site() as site:
        run_made(tmp_path, use, capitals(types), permissions=[*PERMISSIONS])
