"""Paused requests when a CDP command or a listener fails. Without a browser: a real one rarely rejects a command."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.engines.chromium import request_interception
from hatbox.engines.chromium.fetch_commands import FetchCommand
from hatbox.engines.chromium.in_flight_requests import InFlightRequest, InFlightRequests
from hatbox.engines.chromium.paused_requests import PausedRequests
from hatbox.engines.chromium.request_interception import RequestInterceptor
from hatbox.events import Event
from hatbox.tasks import Tasks
from hatbox.web_requests import RequestEvents, RequestRedirected
from tests.store.in_loop import in_loop
from tests.waiting import until

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

    async def send_without_limit(self, method: str, params: dict[str, Any]) -> None:
        await self.send(method, params)


class Paused(PausedRequests):
    """The paused requests of a session, without frames, listeners and tabs."""

    def __init__(self, session: RejectingSession) -> None:
        self.in_flight = InFlightRequests()
        self.tasks = Tasks()
        missing = cast(Any, None)
        self.requests = RequestEvents()
        super().__init__(cast(Any, session), missing, self.in_flight, self.requests, missing, self.tasks)


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


RULES = SimpleNamespace(rules=SimpleNamespace(are_present=True))


@in_loop
async def test_an_error_page_that_chromium_rejects_does_not_send_the_request() -> None:
    async def blocked(_: dict[str, Any]) -> FetchCommand:
        return FetchCommand("Fetch.failRequest", {"errorReason": "BlockedByClient"})

    session = RejectingSession("Fetch.failRequest")
    await Paused(session)._decide(EVENT, blocked, FAIL)
    assert session.sent == ["Fetch.failRequest", "Fetch.failRequest"]


@pytest.mark.parametrize(
    ("kind", "rules", "expected"),
    [
        ("Document", RULES, "Fetch.failRequest"),
        ("Document", None, "Fetch.continueRequest"),
        ("Ping", RULES, "Fetch.continueRequest"),  # a page may send one when it is closed
    ],
)
def test_a_page_is_not_loaded_if_its_target_closes_while_rules_are_checked(
    kind: str, rules: Any, expected: str
) -> None:
    async def fail(_: dict[str, Any]) -> FetchCommand:
        raise PlaywrightError("Target page, context or browser has been closed")

    @in_loop
    async def decide() -> None:
        session = RejectingSession("")
        paused = Paused(session)
        paused._rules = rules
        await paused._decide(EVENT | {"resourceType": kind}, fail, FAIL)
        assert session.sent == [expected]

    decide()


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
    lifecycle = cast(Any, SimpleNamespace(headers_received=without_cookies, has_filters=False))
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


class _Session:
    """A session that accepts every command, and counts them."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def on(self, *_: Any) -> None: ...

    async def send(self, method: str, *_: Any) -> dict[str, Any]:
        self.sent.append(method)
        return {"targetInfos": []}

    async def detach(self) -> None: ...


def _listened() -> Any:
    return SimpleNamespace(
        on_listeners_changed=Event("interest"),
        on_proxy_request=False,
        has_listeners=True,
        listened_types=None,
        has_response_listeners=False,
        on_auth_required=False,
        on_error_occurred=False,
    )


@in_loop
async def test_fetch_is_enabled_again_after_it_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_interception, "_FIRST_RETRY", 0.01)
    opened: list[_Session] = []

    class Browser:
        async def new_browser_cdp_session(self) -> _Session:
            opened.append(_Session())
            if len(opened) < 3:
                raise PlaywrightError("Protocol error (Fetch.enable): rejected")
            return opened[-1]

    interceptor = RequestInterceptor(cast(Any, Browser()), _listened(), cast(Any, None))
    interceptor.start()
    await until(lambda: interceptor.config is not None)
    assert len(opened) == 3
    assert opened[-1].sent.count("Fetch.enable") == 1
    interceptor.stop()


@in_loop
async def test_a_rule_that_is_added_while_service_workers_are_checked_is_checked_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Browser:
        async def new_browser_cdp_session(self) -> _Session:
            return _Session()

    interceptor = RequestInterceptor(cast(Any, Browser()), _listened(), cast(Any, None))
    checks: list[asyncio.Event] = []

    async def check() -> None:
        checks.append(asyncio.Event())
        await checks[-1].wait()

    monkeypatch.setattr(interceptor, "_remove_service_workers", check)
    interceptor.start()
    await until(lambda: len(checks) == 1)  # as interception starts
    interceptor._on_rules_changed(None)
    checks[0].set()
    await until(lambda: len(checks) == 2)
    interceptor._on_rules_changed(None)
    interceptor._on_rules_changed(None)
    checks[1].set()
    await until(lambda: len(checks) == 3)
    checks[2].set()
    await interceptor.wait_until_ready()
    assert len(checks) == 3
    interceptor.stop()


class NoFrames:
    """Frames of which none is known."""

    async def wait_for_frame(self, *_: object) -> None:
        return None

    def has_frame(self, _: str) -> bool:
        return False


@pytest.mark.parametrize(("fails_closed", "command"), [(False, "Fetch.continueRequest"), (True, "Fetch.failRequest")])
@pytest.mark.parametrize("is_frame_unknown", [True, False])
def test_a_document_that_listeners_cannot_see_fails_if_a_limit_depends_on_them(
    fails_closed: bool, command: str, is_frame_unknown: bool
) -> None:
    async def closed(_: dict[str, Any]) -> FetchCommand:
        raise PlaywrightError("Target closed")

    async def run() -> None:
        session = RejectingSession("")
        paused = Paused(session)
        paused._frames = cast(Any, NoFrames())
        paused.requests.fails_closed = fails_closed
        event = {**EVENT, "resourceType": "Document", "frameId": "1"}
        await paused._decide(event, paused._on_request if is_frame_unknown else closed, FAIL)
        assert session.sent == [command]

    asyncio.run(run())
