"""webNavigation: what scripts are told of the loads of the HTTP engine. The order is what Firefox 153 told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.api.caller import Caller
from hatbox.api.namespaces.web_navigation.navigation_filter import navigation_args
from hatbox.errors import ApiError
from tests.site import Site

NAMES = (
    "onBeforeNavigate",
    "onCommitted",
    "onDOMContentLoaded",
    "onCompleted",
    "onErrorOccurred",
    "onReferenceFragmentUpdated",
)
WHOLE = ["onBeforeNavigate", "onCommitted", "onDOMContentLoaded", "onCompleted"]
PARTS = ("host", "path", "query", "url")
NO_WISH = {part + how: None for part in PARTS for how in ("Contains", "Equals", "Prefix", "Suffix")}


class Heard:
    """What a script is told of loads, in order."""

    def __init__(self, browser: Any) -> None:
        self.all: list[tuple[str, dict[str, Any]]] = []
        self._news = asyncio.Event()
        for name in NAMES:
            getattr(browser.webNavigation, name).addListener(lambda details, name=name: self._hear(name, details))

    def _hear(self, name: str, details: dict[str, Any]) -> None:
        self.all.append((name, details))
        self._news.set()

    async def until(self, name: str) -> list[str]:
        """The names up to this one; they are forgotten."""
        while name not in [each for each, _ in self.all]:
            self._news.clear()
            await self._news.wait()
        names = [each for each, _ in self.all]
        self.last = self.all[-1][1]
        self.all = []
        return names


def test_a_load_is_told_step_by_step(tmp_path: Path) -> None:
    async def main() -> None:
        with Site() as site:
            async with asyncio.timeout(30), hatbox.open(tmp_path / "p.db") as profile, profile.http_engine():
                browser = profile.browser(["webNavigation", "tabs"])
                heard = Heard(browser)
                tab = await profile.tabs.open("firefox-default", site.url("/redirect/1"))
                assert await heard.until("onCompleted") == WHOLE
                page = (await profile.tabs.get(tab.id)).url
                where = {"frameId": 0, "parentFrameId": -1, "tabId": tab.id, "windowId": tab.window_id}
                assert heard.last == {"url": page, "timeStamp": heard.last["timeStamp"], **where}
                await profile.tabs.navigate(tab.id, f"{page}#end")
                assert await heard.until("onReferenceFragmentUpdated") == ["onReferenceFragmentUpdated"]
                assert (heard.last["url"], heard.last["transitionType"]) == (f"{page}#end", "link")
                await profile.tabs.reload(tab.id)
                assert await heard.until("onCompleted") == WHOLE
                frames = await browser.webNavigation.getAllFrames({"tabId": tab.id})
                assert [(each["frameId"], each["parentFrameId"], each["url"]) for each in frames] == [
                    (0, -1, f"{page}#end")
                ]

    asyncio.run(main())


def test_a_load_that_fails_or_is_given_up_is_an_error(tmp_path: Path) -> None:
    async def main() -> None:
        with Site() as site:
            async with asyncio.timeout(30), hatbox.open(tmp_path / "p.db") as profile, profile.http_engine():
                heard = Heard(profile.browser(["webNavigation"]))
                tab = await profile.tabs.open("firefox-default", "http://127.0.0.1:1/")
                assert await heard.until("onCommitted") == ["onBeforeNavigate", "onErrorOccurred", "onCommitted"]
                await profile.tabs.navigate(tab.id, site.url("/slow"))
                assert await heard.until("onBeforeNavigate") == ["onBeforeNavigate"]
                await profile.browser([]).tabs.remove(tab.id)
                assert await heard.until("onErrorOccurred") == ["onErrorOccurred"]
                assert (heard.last["url"], heard.last["error"]) == (site.url("/slow"), "Error code 2152398850")
                site.released.set()

    asyncio.run(main())


def test_frames_that_are_not_there_are_refused(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "p.db") as profile:
            navigation = profile.browser(["webNavigation"]).webNavigation
            tab = await profile.tabs.open("firefox-default")
            with pytest.raises(ApiError, match=r"^No frame found with frameId: 7$"):
                await navigation.getFrame({"tabId": tab.id, "frameId": 7})
            with pytest.raises(ApiError, match=r"^Invalid tab ID: 999$"):
                await navigation.getFrame({"tabId": 999, "frameId": 0})
            with pytest.raises(ApiError, match=r"^Invalid tab ID: 999$"):
                await navigation.getAllFrames({"tabId": 999})
            assert (await navigation.getFrame({"tabId": tab.id, "frameId": 0}))["url"] == "about:blank"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("wish", "fits"),
    [
        ({"hostSuffix": "other.example"}, False),
        ({"hostEquals": ".site.example"}, False),
        ({"hostEquals": "site.example", "pathPrefix": "/b"}, False),
        ({"urlContains": "#mark"}, False),
        ({"schemes": ["http"]}, False),
        ({"ports": [443, [1, 80]]}, False),
        ({}, True),
        ({"hostSuffix": ".site.example"}, True),
        ({"hostContains": ".site."}, True),
        ({"hostEquals": "site.example", "pathPrefix": "/a", "queryEquals": "q=1"}, True),
        ({"urlSuffix": "?q=1", "schemes": ["https"], "ports": [[8000, 9000]]}, True),
    ],
)
def test_a_filter_fits_if_all_that_it_says_does(wish: dict[str, Any], fits: bool) -> None:
    load = {"url": "https://site.example:8443/a/page?q=1#mark"}
    wishes = {"url": [{**NO_WISH, "schemes": None, "ports": None, **wish}]}
    assert (navigation_args(Caller("script"), load, wishes) is not None) is fits
    assert navigation_args(Caller("script"), load, None) == (load,)
