"""What becomes of requests where Chromium does not do what it is told. Without a browser: a real one seldom refuses."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.engines.chromium.request_interception import FetchCommand, RequestInterceptor
from hatbox.events import Event
from hatbox.web_requests import RequestRedirected
from tests.store.in_loop import in_loop

EVENT = {"requestId": "1", "request": {"url": "http://site.example/", "headers": {}}}
FAIL = FetchCommand("Fetch.failRequest")


class Refusing:
    """A session that refuses one method."""

    def __init__(self, refused: str) -> None:
        self.sent: list[str] = []
        self._refused = refused

    async def send(self, method: str, _: dict[str, Any]) -> None:
        self.sent.append(method)
        if method == self._refused:
            raise PlaywrightError(f"Protocol error ({method}): Invalid header")


def watch_over(browser: object = None, session: object = None) -> RequestInterceptor:
    requests = SimpleNamespace(
        on_listeners_changed=Event("listeners"),
        on_proxy_request=False,
        are_heard=True,
        heard_types=None,
        answers_are_heard=False,
        on_auth_required=False,
        on_error_occurred=False,
    )
    watch = RequestInterceptor(cast(Any, browser), cast(Any, requests), cast(Any, None))
    watch._session = cast(Any, session)
    return watch


@in_loop
async def test_what_was_sent_elsewhere_does_not_go_where_it_was_going() -> None:
    async def elsewhere(_: dict[str, Any]) -> FetchCommand:
        raise RequestRedirected("https://other.example/")

    session = Refusing("Fetch.fulfillRequest")
    await watch_over(session=session)._decide(EVENT, elsewhere, FAIL)
    assert session.sent == ["Fetch.fulfillRequest", "Fetch.failRequest"]


@in_loop
async def test_what_is_only_changed_goes_on_as_it_was() -> None:
    async def changed(_: dict[str, Any]) -> FetchCommand:
        return FetchCommand("Fetch.continueRequest", {"headers": [{"name": "a", "value": "\n"}]})

    session = Refusing("Fetch.continueRequest")
    await watch_over(session=session)._decide(EVENT, changed, FAIL)
    assert session.sent == ["Fetch.continueRequest", "Fetch.continueRequest"]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({}, "Fetch.failRequest"),
        ({"responseStatusCode": 200}, "Fetch.continueRequest"),
        ({"authChallenge": {}}, "Fetch.continueWithAuth"),
    ],
)
def test_a_failure_of_our_own_lets_no_request_out_and_none_hang(
    event: dict[str, Any], told: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: dict[str, Any]) -> FetchCommand:
        raise ValueError("a mistake")

    @in_loop
    async def hold() -> None:
        session = Refusing("")
        watch = watch_over(session=session)
        for each in ("_asked", "_answered", "_who"):
            setattr(watch, each, fail)
        (watch._on_auth_required if "authChallenge" in event else watch._on_paused)(EVENT | event)
        await asyncio.wait(watch._tasks)
        assert session.sent == [told]

    hold()
    assert "was not heard of" in caplog.text


@in_loop
async def test_headers_are_changed_also_where_the_body_is_not_to_be_had() -> None:
    async def without_cookies(*_: Any) -> tuple[tuple[str, str], ...]:
        return (("X-Kept", "1"),)

    session = Refusing("Fetch.getResponseBody")
    watch = watch_over(session=session)
    exchange = SimpleNamespace(headers_received=without_cookies)
    watch._flights["1"] = cast(Any, SimpleNamespace(exchange=exchange, kind="main_frame", url="", left=None))
    answered = {"responseStatusCode": 200, "responseHeaders": [{"name": "Set-Cookie", "value": "a=b"}]}
    held = await watch._on_response(EVENT | answered)
    assert held.method == "Fetch.continueResponse"
    assert held.given["responseHeaders"] == [{"name": "X-Kept", "value": "1"}]


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (PlaywrightError("Protocol error (Fetch.enable): 'Fetch.enable' wasn't found"), logging.ERROR),
        (PlaywrightTimeout("the browser did not answer Fetch.enable within 30 s"), logging.ERROR),
        (PlaywrightError("Protocol error (Fetch.enable): Target closed"), logging.DEBUG),
        (PlaywrightError("Target page, context or browser has been closed"), logging.DEBUG),
    ],
)
def test_a_browser_that_cannot_be_listened_to_is_told_of(
    error: PlaywrightError, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    class Unable:
        async def new_browser_cdp_session(self) -> None:
            raise error

    @in_loop
    async def listen() -> None:
        watch = watch_over(Unable())
        watch.begin()
        await watch.settled()
        watch.stop()

    caplog.set_level(logging.DEBUG, "hatbox.engines.chromium")
    listen()
    assert [each.levelno for each in caplog.records if "cannot be watched" in each.message] == [level]
