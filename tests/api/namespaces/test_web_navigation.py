"""webNavigation events of the HTTP engine, in the order of Firefox 153."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.api.caller import Caller
from hatbox.api.namespaces.web_navigation import navigation_args
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
NO_FILTER = {part + how: None for part in PARTS for how in ("Contains", "Equals", "Prefix", "Suffix")}


class Heard:
    """The events that a script receives, in order."""

    def __init__(self, browser: Any) -> None:
        self.all: list[tuple[str, dict[str, Any]]] = []
        self._news = asyncio.Event()
        for name in NAMES:
            getattr(browser.webNavigation, name).addListener(lambda details, name=name: self._on_event(name, details))

    def _on_event(self, name: str, details: dict[str, Any]) -> None:
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


def test_a_navigation_emits_its_events_in_order(tmp_path: Path) -> None:
    async def main() -> None:
        with Site() as site:
            async with asyncio.timeout(30), hatbox.open(tmp_path / "p.db") as profile, profile.http_engine():
                browser = profile.browser(["webNavigation", "tabs"])
                received = Heard(browser)
                tab = await profile.tabs.open("firefox-default", site.url("/redirect/1"))
                assert await received.until("onCompleted") == WHOLE
                page = (await profile.tabs.get(tab.id)).url
                where = {"frameId": 0, "parentFrameId": -1, "tabId": tab.id, "windowId": tab.window_id}
                assert received.last == {"url": page, "timeStamp": received.last["timeStamp"], **where}
                await profile.tabs.navigate(tab.id, f"{page}#end")
                assert await received.until("onReferenceFragmentUpdated") == ["onReferenceFragmentUpdated"]
                assert (received.last["url"], received.last["transitionType"]) == (f"{page}#end", "link")
                await profile.tabs.reload(tab.id)
                assert await received.until("onCompleted") == WHOLE
                frames = await browser.webNavigation.getAllFrames({"tabId": tab.id})
                assert [(each["frameId"], each["parentFrameId"], each["url"]) for each in frames] == [
                    (0, -1, f"{page}#end")
                ]

    asyncio.run(main())


def test_a_load_that_fails_or_is_given_up_is_an_error(tmp_path: Path) -> None:
    async def main() -> None:
        with Site() as site:
            async with asyncio.timeout(30), hatbox.open(tmp_path / "p.db") as profile, profile.http_engine():
                received = Heard(profile.browser(["webNavigation"]))
                tab = await profile.tabs.open("firefox-default", "http://127.0.0.1:1/")
                assert await received.until("onCommitted") == ["onBeforeNavigate", "onErrorOccurred", "onCommitted"]
                await profile.tabs.navigate(tab.id, site.url("/slow"))
                assert await received.until("onBeforeNavigate") == ["onBeforeNavigate"]
                await profile.browser([]).tabs.remove(tab.id)
                assert await received.until("onErrorOccurred") == ["onErrorOccurred"]
                assert (received.last["url"], received.last["error"]) == (site.url("/slow"), "Error code 2152398850")
                site.released.set()

    asyncio.run(main())


def test_unknown_frames_are_rejected(tmp_path: Path) -> None:
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
    ("url_filter", "matches"),
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
def test_a_filter_matches_if_all_of_its_properties_do(url_filter: dict[str, Any], matches: bool) -> None:
    load = {"url": "https://site.example:8443/a/page?q=1#mark"}
    filter_ = {"url": [{**NO_FILTER, "schemes": None, "ports": None, **url_filter}]}
    assert (navigation_args(Caller("script"), load, filter_) is not None) is matches
    assert navigation_args(Caller("script"), load, None) == (load,)
