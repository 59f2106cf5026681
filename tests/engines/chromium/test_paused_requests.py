"""Paused requests when a CDP command or a listener fails. Without a browser: a real one rarely rejects a command."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.engines.chromium.fetch_commands import FetchCommand
from hatbox.engines.chromium.in_flight_requests import InFlightRequest, InFlightRequests
from hatbox.engines.chromium.paused_requests import PausedRequests
from hatbox.engines.chromium.request_interception import RequestInterceptor
from hatbox.events import Event
from hatbox.tasks import Tasks
from hatbox.web_requests import RequestRedirected
from tests.store.in_loop import in_loop

EVENT = {"requestId": "1", "request": {"url": "http://site.example/", "headers": {}}}
FAIL = FetchCommand("Fetch.failRequest")


class RejectingSession:
    """A session that rejects one method."""

    def __init__(self, rejected: str) -> None:
        self.sent: list[str] = []
        self._rejected = rejected

    async def send(self, method: str, _: dict[str, Any]) -> None:
        self.sent.append(method)
        if method == self._rejected:
            raise PlaywrightError(f"Protocol error ({method}): Invalid header")


class Paused(PausedRequests):
    """The paused requests of a session, without frames, listeners and tabs."""

    def __init__(self, session: RejectingSession) -> None:
        self.in_flight = InFlightRequests()
        self.tasks = Tasks()
        missing = cast(Any, None)
        super().__init__(cast(Any, session), missing, self.in_flight, missing, missing, self.tasks)


@in_loop
async def test_a_redirect_that_chromium_rejects_does_not_reach_the_original_url() -> None:
    async def redirected(_: dict[str, Any]) -> FetchCommand:
        raise RequestRedirected("https://other.example/")

    session = RejectingSession("Fetch.fulfillRequest")
    await Paused(session)._decide(EVENT, redirected, FAIL)
    assert session.sent == ["Fetch.fulfillRequest", "Fetch.failRequest"]


@in_loop
async def test_changes_that_chromium_rejects_leave_the_request_unchanged() -> None:
    async def changed(_: dict[str, Any]) -> FetchCommand:
        return FetchCommand("Fetch.continueRequest", {"headers": [{"name": "a", "value": "\n"}]})

    session = RejectingSession("Fetch.continueRequest")
    await Paused(session)._decide(EVENT, changed, FAIL)
    assert session.sent == ["Fetch.continueRequest", "Fetch.continueRequest"]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({}, "Fetch.failRequest"),
        ({"responseStatusCode": 200}, "Fetch.continueRequest"),
        ({"authChallenge": {}}, "Fetch.continueWithAuth"),
    ],
)
def test_an_internal_error_neither_sends_a_request_nor_leaves_it_paused(
    event: dict[str, Any], expected: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: dict[str, Any]) -> FetchCommand:
        raise ValueError("a mistake")

    @in_loop
    async def pause() -> None:
        session = RejectingSession("")
        paused = Paused(session)
        for handler in ("_on_request", "_on_response", "_on_auth_challenge"):
            setattr(paused, handler, fail)
        (paused.on_auth_required if "authChallenge" in event else paused.on_request_paused)(EVENT | event)
        await paused.tasks.wait()
        assert session.sent == [expected]

    pause()
    assert "webRequest: handling request failed" in caplog.text


@in_loop
async def test_headers_are_changed_also_without_access_to_the_body() -> None:
    async def without_cookies(*_: Any) -> tuple[tuple[str, str], ...]:
        return (("X-Kept", "1"),)

    session = RejectingSession("Fetch.getResponseBody")
    paused = Paused(session)
    lifecycle = cast(Any, SimpleNamespace(headers_received=without_cookies))
    paused.in_flight.add("1", InFlightRequest(lifecycle, cast(Any, None), "main_frame", ""))
    response = {"responseStatusCode": 200, "responseHeaders": [{"name": "Set-Cookie", "value": "a=b"}]}
    command = await paused._on_response(EVENT | response)
    assert command.method == "Fetch.continueResponse"
    assert command.params["responseHeaders"] == [{"name": "X-Kept", "value": "1"}]


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (PlaywrightError("Protocol error (Fetch.enable): 'Fetch.enable' wasn't found"), logging.ERROR),
        (PlaywrightTimeout("Fetch.enable timed out after 30 s"), logging.ERROR),
        (PlaywrightError("Protocol error (Fetch.enable): Target closed"), logging.DEBUG),
        (PlaywrightError("Target page, context or browser has been closed"), logging.DEBUG),
    ],
)
def test_a_failed_fetch_enable_is_an_error_unless_the_browser_has_closed(
    error: PlaywrightError, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    class FailingBrowser:
        async def new_browser_cdp_session(self) -> None:
            raise error

    requests = SimpleNamespace(
        on_listeners_changed=Event("interest"),
        on_proxy_request=False,
        has_listeners=True,
        listened_types=None,
        has_response_listeners=False,
        on_auth_required=False,
        on_error_occurred=False,
    )

    @in_loop
    async def listen() -> None:
        interceptor = RequestInterceptor(cast(Any, FailingBrowser()), cast(Any, requests), cast(Any, None))
        interceptor.start()
        await interceptor.wait_until_ready()
        interceptor.stop()

    caplog.set_level(logging.DEBUG, "hatbox.engines.chromium")
    listen()
    assert [each.levelno for each in caplog.records if "Fetch.enable failed" in each.message] == [level]
