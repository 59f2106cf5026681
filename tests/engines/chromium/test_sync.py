"""Chromium without an event loop."""

from __future__ import annotations

from pathlib import Path

import hatbox
from tests.site import Site


def test_pages_are_used_without_an_event_loop(browser: str, path: Path, site: Site) -> None:
    with (
        hatbox.open_sync(path) as profile,
        profile.chromium(headless=True, browser=browser) as engine,
        engine.new_page("Work", site.url("/page/1")) as page,
    ):
        assert page.title() == "Page 1"
        assert page.evaluate("1 + 1") == 2
        assert page.locator("body").count() == 1
        with page.expect_navigation() as navigation:
            page.goto(site.url("/page/2"))
        assert navigation.value.ok
        (tab,) = profile.tabs.query("Work")
        assert engine.page(tab.id).url == site.url("/page/2")
