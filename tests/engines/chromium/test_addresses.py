"""URLs of tabs: those that Chromium cannot load end with an error."""

from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from hatbox.engines.chromium.addresses import EXTENSION_PAGE, NO_REDIRECT, refusal
from tests.engines.chromium.real import with_browser
from tests.engines.chromium.test_pages import tab_when
from tests.site import Site

EXTENSION_URL = "moz-extension://0b8f6f3e-1111-4222-8333-444444444444/page.html"


@pytest.mark.parametrize("url", [EXTENSION_URL, "MOZ-EXTENSION://x/y", "javascript:alert(1)"])
def test_a_url_that_cannot_be_loaded_has_a_reason(url: str) -> None:
    assert refusal(url)


@pytest.mark.parametrize("url", ["https://site.example/moz-extension://x", "about:blank", "data:,x", "", "::"])
def test_any_other_url_is_tried(url: str) -> None:
    assert refusal(url) == ""


@with_browser
async def test_an_extension_page_fails_at_once_with_an_error(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        tab = await profile.tabs.open("Work", EXTENSION_URL)
        loaded = await runner.wait_until_loaded(tab.id)
        assert (loaded.url, loaded.error, loaded.loading) == (EXTENSION_URL, EXTENSION_PAGE, False)
        page = await runner.page(tab.id)  # returns without a load
        await profile.tabs.navigate(tab.id, site.url("/page/1"))  # and the tab can be used
        await tab_when(profile, url=site.url("/page/1"), title="Page 1", error="", loading=False)
        await profile.tabs.navigate(tab.id, EXTENSION_URL)
        await tab_when(profile, url=EXTENSION_URL, error=EXTENSION_PAGE, loading=False)
        assert not page.is_closed()


@with_browser
async def test_an_extension_page_that_another_engine_has_opened_has_an_error(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile:
        async with profile.http_engine() as http:
            tab = await profile.tabs.open("Work", EXTENSION_URL)
            await http.wait_until_loaded(tab.id)
        async with profile.chromium(headless=True, browser=browser):
            await tab_when(profile, url=EXTENSION_URL, error=EXTENSION_PAGE, loading=False)


@with_browser
async def test_a_redirect_to_an_extension_page_has_an_error(browser: str, path: Path, site: Site) -> None:
    def redirect(_: object) -> dict[str, str]:
        return {"redirectUrl": EXTENSION_URL}

    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        script = profile.browser(["webRequest", "webRequestBlocking", "<all_urls>"])
        script.webRequest.onBeforeRequest.addListener(redirect, {"urls": ["*://*/page/5"]}, ["blocking"])
        await runner.wait_until_synced()
        await profile.tabs.open("Work", site.url("/page/5"))
        await tab_when(profile, url=EXTENSION_URL, error=NO_REDIRECT, loading=False)
        assert site.requests("/page/5") == []
