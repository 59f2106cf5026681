"""Runs webRequest listeners for the requests that CDP Fetch has paused, and continues them as the listeners decide.

A request is paused before it is sent, when its response headers have arrived, and when it is challenged to
authenticate. Each hop of a redirect is paused again.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, TypeAlias
from urllib.parse import urljoin, urlsplit

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.addresses import NO_REDIRECT, refusal
from hatbox.engines.chromium.extension_resources import is_resource_url
from hatbox.engines.chromium.fetch_commands import (
    CANCEL_AUTH,
    CONTINUE,
    DEFAULT_AUTH,
    FAIL_REQUEST,
    FetchCommand,
    continue_with_headers,
    cors_headers,
    header_entries,
    provide_credentials,
    redirect,
)
from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.in_flight_requests import InFlightRequest, InFlightRequests, request_key
from hatbox.engines.chromium.request_details import TabLookup, is_third_party, request_body, track_request
from hatbox.engines.chromium.resource_answers import ResourceAnswers
from hatbox.engines.chromium.resource_types import DOCUMENT_TYPES, MAIN_FRAME
from hatbox.engines.chromium.rule_checks import RuleChecks
from hatbox.engines.chromium.sessions import Session
from hatbox.engines.navigation_rules import NavigationReopened
from hatbox.tasks import Tasks
from hatbox.web_requests import AuthChallenge, Headers, RequestCancelled, RequestEvents, RequestRedirected
from hatbox.web_requests.headers import merge_duplicates

__all__ = ["PausedRequests"]

logger = logging.getLogger("hatbox.engines.chromium")

_INVALID_INTERCEPTION_ID: Final = "Invalid InterceptionId"  # the error of Chromium for a request that is not paused
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_WITHOUT_BODY: Final = (204, 205, 304)
_MAX_AUTH_ATTEMPTS: Final = 20
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}

_Decide: TypeAlias = Callable[[dict[str, Any]], Awaitable[FetchCommand]]


class PausedRequests:
    """Decides about the paused requests of one session."""

    def __init__(
        self,
        session: Session,
        frames: FrameTree,
        in_flight: InFlightRequests,
        requests: RequestEvents,
        tabs: TabLookup,
        tasks: Tasks,
        rules: RuleChecks | None = None,
        resources: ResourceAnswers | None = None,
    ) -> None:
        self._session = session
        self._frames = frames
        self._in_flight = in_flight
        self._requests = requests
        self._tabs = tabs
        self._tasks = tasks
        self._rules = rules
        self._resources = resources
        self._is_stopped = False

    def stop(self) -> None:
        """Send no more commands: the session ends, and Chromium continues what is paused."""
        self._is_stopped = True
        if self._resources is not None:
            self._resources.floods.cancel()

    def on_request_paused(self, event: dict[str, Any]) -> None:
        """Handle Fetch.requestPaused."""
        if (
            self._resources is not None
            and is_resource_url(event["request"]["url"])
            and self._resources.floods.includes(event)
        ):
            return
        if "responseStatusCode" in event or "responseErrorReason" in event:
            self._handle(event, self._on_response, CONTINUE)
        else:
            self._handle(event, self._on_request, FAIL_REQUEST)  # Fail closed: never load a page in the wrong identity.

    def on_auth_required(self, event: dict[str, Any]) -> None:
        """Handle Fetch.authRequired."""
        self._handle(event, self._on_auth_challenge, DEFAULT_AUTH)

    def _handle(self, event: dict[str, Any], decide: _Decide, fallback: FetchCommand) -> None:
        task = self._tasks.spawn(self._decide(event, decide, fallback))
        if request := self._in_flight.get(request_key(event)):
            request.task = task

    async def _decide(self, event: dict[str, Any], decide: _Decide, fallback: FetchCommand) -> None:
        """Send the command that `decide` returns, or `fallback` if it raises an unexpected error."""
        url = event["request"]["url"]
        command = if_rejected = CONTINUE
        try:
            command = await decide(event)
        except RequestCancelled as error:
            logger.debug("webRequest: %s cancelled: %s", url, error)
            command = FAIL_REQUEST
            self._notify_rules(event, error)
            self._tasks.spawn(self._navigate_to_about_blank(event))
        except RequestRedirected as redirected:
            command, if_rejected = self._redirect(event, redirected.url), FAIL_REQUEST  # never send it to the old URL
        except PlaywrightError as error:
            logger.debug("webRequest: target of %s closed: %s", url, error)
            command = fallback if self._is_ruled(event) else CONTINUE
        except Exception:
            logger.exception("webRequest: handling request failed: %s", url)
            command = fallback
        if command.method == FAIL_REQUEST.method:
            if_rejected = FAIL_REQUEST
        if not self._is_stopped:
            await self._send(event, command, if_rejected)

    async def _send(self, event: dict[str, Any], command: FetchCommand, if_rejected: FetchCommand) -> None:
        try:
            await self._session.send(command.method, {"requestId": event["requestId"], **command.params})
        except PlaywrightError as error:
            is_unchanged = command in (CONTINUE, FAIL_REQUEST)
            if self._is_stopped or is_unchanged or _INVALID_INTERCEPTION_ID in str(error):
                return  # the request is not paused any more
            url = event["request"]["url"]
            logger.warning("webRequest: Chromium rejected the listener's changes to %s: %s", url, error)
            with contextlib.suppress(PlaywrightError):
                await self._session.send(if_rejected.method, {"requestId": event["requestId"], **if_rejected.params})

    async def _on_request(self, event: dict[str, Any]) -> FetchCommand:
        """Call the listeners of onBeforeRequest and onBeforeSendHeaders."""
        key, sent = request_key(event), event["request"]
        if self._resources is not None and is_resource_url(sent["url"]):
            return await self._resources.answer(event)
        request = self._in_flight.get(key)
        if request is None or not request.lifecycle.is_open:
            request = await track_request(event, self._frames, self._tabs, self._requests)
            if request is None:
                return FAIL_REQUEST if await self._is_unknown_and_ruled(event) else CONTINUE
            self._in_flight.add(key, request)
            request.task = asyncio.current_task()
        url = request.url = sent["url"] + sent.get("urlFragment", "")
        lifecycle, headers = request.lifecycle, merge_duplicates(sent["headers"].items())
        third_party = is_third_party(request.frame, request.resource_type, url)
        lifecycle.start_hop(url, sent["method"], body=request_body(sent), third_party=third_party)
        await lifecycle.before_request()
        if self._rules is not None and (command := await self._rules.check(event, request)):
            self._in_flight.pop(key)
            return command
        command = continue_with_headers(await lifecycle.before_send_headers(headers), headers)
        # Pause the response too, whatever the patterns of Fetch.enable say.
        return (
            FetchCommand(command.method, {**command.params, "interceptResponse": True})
            if lifecycle.has_filters
            else command
        )

    async def _on_response(self, event: dict[str, Any]) -> FetchCommand:
        """Call the listeners of onHeadersReceived. A failed request is reported by Network.loadingFailed instead."""
        request = self._in_flight.get(request_key(event))
        if request is None or "responseErrorReason" in event:
            return CONTINUE
        code, phrase = event["responseStatusCode"], event.get("responseStatusText", "")
        original = merge_duplicates((each["name"], each["value"]) for each in event.get("responseHeaders", ()))
        status_line = f"{'HTTP/1.1' if phrase else 'HTTP/2'} {code} {phrase}"
        headers = await request.lifecycle.headers_received(code, status_line, original)
        changes = {"responseCode": code, "responseHeaders": header_entries(headers)}
        if phrase:
            changes["responsePhrase"] = phrase
        if code in _REDIRECTS and (location := {name.lower(): value for name, value in headers}.get("location")):
            request.lifecycle.server_redirected(urljoin(request.url, location))
            return CONTINUE if headers == original else FetchCommand("Fetch.fulfillRequest", changes | {"body": ""})
        if request.lifecycle.has_filters and code not in _WITHOUT_BODY:
            with contextlib.suppress(PlaywrightError):
                return FetchCommand(
                    "Fetch.fulfillRequest", changes | {"body": await self._filtered_body(event, request)}
                )
        request.remaining_bytes = _content_length(original)
        if headers == original:
            return CONTINUE
        sets_cookies = any(name.lower() == "set-cookie" for name, _ in headers)
        if (request.resource_type in DOCUMENT_TYPES or sets_cookies) and code not in _WITHOUT_BODY:
            with contextlib.suppress(PlaywrightError):  # then change at least the headers that need no body
                return FetchCommand("Fetch.fulfillRequest", changes | {"body": await self._response_body(event)})
        return FetchCommand("Fetch.continueResponse", changes)

    async def _filtered_body(self, event: dict[str, Any], request: InFlightRequest) -> str:
        """The response body in Base64, filtered by extensions. Chromium takes it only as a whole."""
        body = base64.b64decode(await self._response_body(event))

        async def chunks() -> AsyncIterator[bytes]:
            yield body

        filtered = b"".join([chunk async for chunk in request.lifecycle.filter_body(chunks())])
        return base64.b64encode(filtered).decode("ascii")

    async def _response_body(self, event: dict[str, Any]) -> str:
        """The response body in Base64. Chromium applies changed policies and cookies only to a fulfilled response."""
        response = await self._session.send_without_limit("Fetch.getResponseBody", {"requestId": event["requestId"]})
        body: str = response["body"]
        return body if response["base64Encoded"] else base64.b64encode(body.encode()).decode()

    async def _on_auth_challenge(self, event: dict[str, Any]) -> FetchCommand:
        """Call the listeners of onAuthRequired."""
        request = self._in_flight.find_challenged(event)
        if request is None or request.auth_attempts >= _MAX_AUTH_ATTEMPTS:
            return DEFAULT_AUTH
        request.auth_attempts += 1
        try:
            credentials = await request.lifecycle.authenticate(_auth_challenge(event["authChallenge"]))
        except RequestCancelled:
            return CANCEL_AUTH
        return DEFAULT_AUTH if credentials is None else provide_credentials(credentials)

    def _redirect(self, event: dict[str, Any], url: str) -> FetchCommand:
        key = request_key(event)
        request = self._in_flight.get(key)
        if self._resources is not None and (request is None or request.resource_type != MAIN_FRAME):
            url = self._resources.redirect_url(url) or url
        if urlsplit(url).scheme in ("http", "https"):
            if request is None or request.resource_type in DOCUMENT_TYPES:
                return redirect(url)
            return redirect(url, cors_headers(event["request"]["headers"].get("Origin"), request.frame))
        if request is None or request.resource_type != MAIN_FRAME:
            logger.warning("webRequest: Chromium cannot redirect %s to %.200r", event["request"]["url"], url)
            return FAIL_REQUEST
        self._in_flight.pop(key)
        target_id = request.frame.target.id
        if why := (NO_REDIRECT if url.startswith("moz-extension:") else refusal(url)):
            self._tabs.fail_load(target_id, url, why)
        else:
            self._tasks.spawn(self._navigate(target_id, url))
        return FAIL_REQUEST

    def _is_ruled(self, event: dict[str, Any]) -> bool:
        """Whether rules or a limit may concern the request: it must not be sent if something fails."""
        has_rules = self._rules is not None and self._rules.rules.are_present
        return (has_rules or self._requests.fails_closed) and event.get("resourceType") == "Document"

    async def _is_unknown_and_ruled(self, event: dict[str, Any]) -> bool:
        """Whether a rule decides the URL of a request whose frame, and so its identity, is unknown."""
        if self._frames.has_frame(event["frameId"]):
            return False
        if self._requests.fails_closed and event.get("resourceType") == "Document":
            return True
        return self._rules is not None and await self._rules.must_fail(event)

    def _notify_rules(self, event: dict[str, Any], error: RequestCancelled) -> None:
        """A listener has cancelled a request."""
        request = self._in_flight.get(request_key(event))
        if self._rules is not None and request is not None and not isinstance(error, NavigationReopened):
            self._rules.rules.listener_cancelled(request.lifecycle.place.tab_id, request.url)

    async def _navigate(self, target_id: str, url: str) -> None:
        with contextlib.suppress(PlaywrightError):
            await self._frames.send(target_id, "Page.navigate", url=url)

    async def _navigate_to_about_blank(self, event: dict[str, Any]) -> None:
        """Navigate a new page whose first request was cancelled to about:blank. Playwright reports it only then.

        A page that Playwright reports may be loading another URL already, which this navigation would interrupt.
        """
        request = self._in_flight.pop(request_key(event))
        if request is not None and request.resource_type == MAIN_FRAME:
            target_id = request.frame.target.id
            with contextlib.suppress(PlaywrightError):
                if await self._frames.is_empty(target_id):
                    await self._navigate(target_id, "about:blank")


def _auth_challenge(challenge: dict[str, Any]) -> AuthChallenge:
    origin = urlsplit(challenge["origin"])
    port = origin.port or _DEFAULT_PORTS.get(origin.scheme, 0)
    is_proxy = challenge.get("source") == "Proxy"
    return AuthChallenge(challenge["scheme"], challenge["realm"], is_proxy, origin.hostname or "", port)


def _content_length(headers: Headers) -> int | None:
    """The size of the body as scripts receive it; None if it is compressed or unknown."""
    values = {name.lower(): value for name, value in headers}
    size = values.get("content-length", "")
    return int(size) if size.isascii() and size.isdigit() and "content-encoding" not in values else None
