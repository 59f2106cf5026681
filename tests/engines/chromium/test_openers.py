"""A new tab has the opener it was opened from, and is next to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.engines.chromium.openers import Openers
from tests.engines.chromium.real import with_browser
from tests.site import Site
from tests.waiting import until_awaited

ONE, TWO = "http://site.example/1", "http://site.example/2"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("url", [ONE, "", "about:blank", "https://other.example/"])
def test_a_new_target_belongs_to_the_request_once(url: str) -> None:
    openers = Openers()
    openers.request("page", ONE, "newTab")
    found = openers.take(None, url)
    assert found is not None
    assert (found.target_id, found.in_background) == ("page", True)
    assert openers.take(None, url) is None


def test_the_request_for_the_same_url_is_preferred() -> None:
    openers = Openers()
    openers.request("first", ONE, "newTab")
    openers.request("second", TWO, "newWindow")
    found = openers.take(None, TWO)
    assert found is not None
    assert (found.target_id, found.in_background) == ("second", False)


def test_a_tab_that_the_user_opens_belongs_to_no_request() -> None:
    openers = Openers()
    openers.request("page", ONE, "newTab")
    assert openers.take(None, "chrome://newtab/") is None


def test_a_request_that_opens_no_tab_expires() -> None:
    clock = Clock()
    openers = Openers(clock)
    openers.request("page", ONE, "newTab")
    clock.now = 10
    assert openers.take(None, "about:blank") is None
    clock.now = 61
    assert openers.take(None, ONE) is None


def test_a_page_that_requests_tabs_without_end_costs_no_memory() -> None:
    openers = Openers()
    for number in range(10_000):
        openers.request("page", f"{ONE}?{number}", "newTab")
    assert len(openers._requested) < 100


@pytest.mark.parametrize("has_listener", [False, True], ids=["no listener", "webRequest listener"])
@with_browser
async def test_a_middle_clicked_link_opens_a_tab_with_its_opener_next_to_it(
    has_listener: bool, browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await runner.new_page("Work", site.url("/page/8"))
        (opener, last) = await profile.tabs.query()
        await profile.tabs.activate(opener.id)
        await runner.wait_until_settled()
        if has_listener:
            script = profile.browser(["webRequest", "<all_urls>"])
            script.webRequest.onBeforeRequest.addListener(lambda _: None, {"urls": ["<all_urls>"]})
            await runner.wait_until_synced()
        clicks: list[dict[str, Any]] = [{"button": "middle"}, {"modifiers": ["Control"]}]
        for count, click in enumerate(clicks, 1):
            await page.click("#next", **click)

            async def are_open(count: int = count) -> bool:
                tabs = await profile.tabs.query()
                return len(tabs) == count + 2 and all(tab.title and not tab.loading for tab in tabs)

            await until_awaited(are_open)
        tabs = await profile.tabs.query()
        assert [tab.title for tab in tabs] == ["Page 1", "Page 2", "Page 2", "Page 8"]
        assert [tab.opener_id for tab in tabs] == [None, opener.id, opener.id, None]
        assert tabs[-1].id == last.id
        assert [tab.id for tab in tabs if tab.active] == [opener.id]  # they are opened in the background
