"""The replay logs what record.py says that it logs, seen with a browser whose ids are as odd as those of a real one."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from hatbox.api.browser import Browser
from hatbox.errors import HatboxError
from tests.conformance.replay import run_case

SITE = "http://localhost:1234"
FIRST = {"id": 71, "index": 0, "windowId": 9, "highlighted": True, "lastAccessed": 1.5, "isArticle": False}


class OddBrowser:
    """Has one tab, and whatever else a test asks it to answer."""

    def __init__(self, **answers: Any) -> None:
        self.tabs = SimpleNamespace(
            query=lambda info: self._soon([] if "status" in info else [FIRST]),
            **{name: self._function(answer) for name, answer in answers.items()},
        )
        self.asked: list[Any] = []

    def _function(self, answer: Any) -> Any:
        def function(*arguments: Any) -> asyncio.Future[Any]:
            self.asked += arguments
            return self._soon(answer.pop(0) if len(answer) > 1 else answer[0])

        return function

    @staticmethod
    def _soon(answer: Any) -> asyncio.Future[Any]:
        future = asyncio.get_running_loop().create_future()
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future


def logged(browser: OddBrowser, *steps: dict[str, Any]) -> list[dict[str, Any]]:
    async def run() -> list[dict[str, Any]]:
        return await run_case(cast(Browser, browser), list(steps), SITE)

    return asyncio.run(run())


def test_ids_are_numbered_as_they_are_seen_and_the_first_ones_are_known() -> None:
    browser = OddBrowser(move=[[{**FIRST, "id": 80, "windowId": 12, "openerTabId": 71}]], hide=[[80, 71, 3]])
    assert logged(browser, {"call": "tabs.move", "show": ["id", "windowId", "openerTabId"]}, {"call": "tabs.hide"}) == [
        {"resolved": [{"id": {"$tab": 2}, "windowId": {"$window": 2}, "openerTabId": {"$tab": 1}}]},
        {"resolved": [{"$tab": 2}, {"$tab": 1}, {"$tab": 3}]},
    ]


def test_what_no_two_browsers_share_is_masked() -> None:
    assert logged(OddBrowser(get=[FIRST]), {"call": "tabs.get"}) == [
        {
            "resolved": {
                "id": {"$tab": 1},
                "index": 0,
                "windowId": {"$window": 1},
                "highlighted": True,
                "lastAccessed": "$number",
                "isArticle": None,
            }
        }
    ]


def test_arguments_can_refer_to_what_was_saved_and_to_pages() -> None:
    browser = OddBrowser(create=[{"id": 5, "tabs": [{"id": 6}]}], get=[None])
    save = {"call": "tabs.create", "args": [{"url": {"$site": "/page"}}], "save": "t"}
    logged(browser, save, {"call": "tabs.get", "args": [{"$ref": "t.tabs.0.id"}, {"$ref": "window.id"}]})
    assert browser.asked == [{"url": f"{SITE}/page"}, 6, 9]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Invalid tab ID: 71", "Invalid tab ID: $tab 1"),
        ("Invalid window ID: 9", "Invalid window ID: $window 1"),
        ("Invalid tab ID: 9", "Invalid tab ID: 9"),
        (f"Illegal URL: {SITE}/x", "Illegal URL: $site/x"),
        ("localhost:1234/x", "$host/x"),
    ],
)
def test_messages_tell_known_ids_and_pages_by_their_names(message: str, shown: str) -> None:
    assert logged(OddBrowser(get=[HatboxError(message)]), {"call": "tabs.get"}) == [{"rejected": shown}]


def test_until_asks_again_until_it_is_so() -> None:
    browser = OddBrowser(get=[{"status": "loading"}, {"status": "loading"}, {"status": "complete"}])
    assert logged(browser, {"until": "tabs.get", "args": [1], "is": {"status": "complete"}}) == []
    assert browser.asked == [1, 1, 1]
