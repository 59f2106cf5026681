"""Sites that require a user name and a password (RFC 7617): they can be entered, and are stored nowhere."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError

import hatbox
from tests.engines.chromium.desktop import Keyboard
from tests.engines.chromium.real import with_browser
from tests.engines.chromium.test_pages import tab_when
from tests.site import Site

PASSWORD = "hunter2inaurl"


def stored(path: Path) -> bool:
    """Whether the password is in a file beside the profile."""
    return any(PASSWORD.encode() in file.read_bytes() for file in path.parent.iterdir() if file.is_file())


@pytest.mark.parametrize("is_watched", [False, True], ids=["no listener", "onAuthRequired listener"])
@with_browser
async def test_a_user_name_and_a_password_can_be_entered_in_a_window(
    is_watched: bool, browser: str, desktop: Keyboard, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(browser=browser) as runner:
        if is_watched:
            script = profile.browser(["webRequest", "<all_urls>"])
            script.webRequest.onAuthRequired.addListener(lambda _: None, {"urls": ["<all_urls>"]})
            await runner.wait_until_synced()
        await profile.tabs.open("Work", site.url("/basic"))
        waiting = await tab_when(profile, http_status=401, loading=False)
        assert waiting.error.endswith("requires a user name and a password: enter them in its window")
        for _ in range(20):  # the dialog gets the focus after the page has opened
            await asyncio.to_thread(desktop.type, f"me\t{PASSWORD}\n")
            if await _has_answered(site):
                break
        await tab_when(profile, title="Hello me", url=site.url("/basic"), http_status=200, error="", loading=False)
    assert not stored(path)


async def _has_answered(site: Site) -> bool:
    try:
        await asyncio.wait_for(asyncio.to_thread(site.wait_for, "/basic", 2), 1)
    except (TimeoutError, AssertionError):
        return False
    return True


@with_browser
async def test_in_headless_mode_the_error_says_how_to_provide_credentials(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        tab = await profile.tabs.open("Work", site.url("/basic"))
        tab = await runner.wait_until_loaded(tab.id)
        assert tab.http_status == 401
        assert "requires a user name and a password: there is no window to enter them in" in tab.error


@with_browser
async def test_a_password_in_a_url_is_used_and_not_stored(browser: str, path: Path, site: Site) -> None:
    url = site.url("/basic").replace("://", f"://me:{PASSWORD}@")
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", url)
            assert await page.title() == "Hello me"
            await page.goto(site.url("/page/1").replace("://", f"://me:{PASSWORD}@"))  # by a Playwright user
            await tab_when(profile, url=site.url("/page/1"), title="Page 1", loading=False)
            await profile.identities.hide("firefox-container-2")
            await runner.wait_until_settled()
            assert not stored(path)
            await profile.identities.show("firefox-container-2")
            (tab,) = await profile.tabs.query()
            page = await runner.page(tab.id)
            with pytest.raises(PlaywrightError, match="INVALID_AUTH_CREDENTIALS"):
                await page.go_back()  # nor is it in the history
            await tab_when(profile, url=site.url("/basic"), loading=False)
        assert not stored(path)


@with_browser
async def test_a_password_of_one_identity_is_not_sent_by_another(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        urls = [site.url("/basic").replace("://", f"://{user}:{PASSWORD}@") for user in ("work", "personal")]
        pages = await asyncio.gather(runner.new_page("Work", urls[0]), runner.new_page("Personal", urls[1]))
        assert [await page.title() for page in pages] == ["Hello work", "Hello personal"]
        await runner.new_page("Banking", site.url("/basic"))
        (tab,) = await profile.tabs.query("Banking")
        assert tab.http_status == 401
