"""The requests of the browser, for those who listen to requests, and may change them.

While somebody listens, every request of every page and worker is held twice, before it goes out and when its answer has
come, and each step of a redirect as well. What the protocol tells of it is given to the exchange, which asks the
listeners; what becomes of that is told to the browser. Nobody listens: then there is no session, and nothing is held.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias
from urllib.parse import urljoin, urlsplit

import msgspec
from playwright.async_api import Browser, CDPSession
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.engines.chromium.addresses import refusal
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.frame_tree import FramePath, FrameTree, Target
from hatbox.engines.chromium.net_errors import firefox_error_name
from hatbox.engines.chromium.sessions import within
from hatbox.web_requests import (
    AuthChallenge,
    Headers,
    RequestBody,
    RequestCancelled,
    RequestEvents,
    RequestFrame,
    RequestLifecycle,
    RequestRedirected,
)
from hatbox.web_requests.bodies import parse_request_body
from hatbox.web_requests.headers import merge_duplicates, split_values

__all__ = ["FetchCommand", "RequestInterceptor", "TabLookup"]

logger = logging.getLogger("hatbox.engines.chromium")

_ABORTED: Final = "NS_BINDING_ABORTED"
_INVALID_INTERCEPTION_ID: Final = "Invalid InterceptionId"  # what Chromium says of what it does not hold
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_NOT_SHOWN: Final = (204, 205)
_WITHOUT_BODY: Final = (*_NOT_SHOWN, 304)
_ATTEMPTS: Final = 20  # to say who asks
_PORTS: Final = {"http": 80, "https": 443}
_ADDED_AGAIN: Final = ("cookie", "user-agent")
_MAIN: Final = "main_frame"
_DOCUMENTS: Final = frozenset({_MAIN, "sub_frame"})
_TYPES: Final = {
    "Stylesheet": "stylesheet",
    "Image": "image",
    "Media": "media",
    "Font": "font",
    "Script": "script",
    "XHR": "xmlhttprequest",
    "Fetch": "xmlhttprequest",
    "EventSource": "xmlhttprequest",
    "Preflight": "xmlhttprequest",
    "Manifest": "web_manifest",
    "Ping": "beacon",
    "CSPViolationReport": "csp_report",
}


class TabLookup(Protocol):
    """Who knows the tabs: the engine."""

    async def request_frame(self, target: Target) -> RequestFrame | None:
        """The tab of a page, or the identity of a worker; None if nobody is to hear of what it asks for."""

    def is_shown(self, target_id: str) -> bool:
        """Whether a page is there for more than the protocol."""

    def refuse(self, target_id: str, url: str, why: str) -> None:
        """End the load of a page with an error: a listener redirects it to a URL that cannot be loaded."""

    def target_gone(self, target_id: str) -> None:
        """A page or a worker is no longer there."""


class FetchCommand(NamedTuple):
    """What to tell the browser about a request that it holds."""

    method: str
    given: Mapping[str, Any] = {}


_CONTINUE: Final = FetchCommand("Fetch.continueRequest")
_FAIL_REQUEST: Final = FetchCommand("Fetch.failRequest", {"errorReason": "Aborted"})
_DEFAULT_AUTH: Final = FetchCommand("Fetch.continueWithAuth", {"authChallengeResponse": {"response": "Default"}})


_Decide: TypeAlias = Callable[[dict[str, Any]], Awaitable[FetchCommand]]


class _FetchConfig(NamedTuple):
    """What the browser is to do."""

    patterns: list[dict[str, str]]
    handle_auth_requests: bool
    needs_network_events: bool
    """Whether the end of a request is to be told too, which is told of all."""


class _InFlightRequest(msgspec.Struct):
    """A request that is under way."""

    exchange: RequestLifecycle
    spot: FramePath
    kind: str
    frame_id: str
    url: str = ""
    has_started: bool = False
    left: int | None = None
    """How many bytes are to come, where the server has said it."""
    attempts: int = 0
    task: asyncio.Task[None] | None = None


class RequestInterceptor:
    """Watches the requests of one browser, for as long as somebody listens."""

    def __init__(self, browser: Browser, requests: RequestEvents, places: TabLookup) -> None:
        self._browser = browser
        self._requests = requests
        self._places = places
        self._session: CDPSession | None = None
        self._frames: FrameTree
        self._flights: dict[str, _InFlightRequest] = {}
        self._active_config: _FetchConfig | None = None  # what the browser was told to hold
        self._change: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._has_warned = False
        self._is_stopped = False

    def begin(self) -> None:
        """Watch whenever somebody listens."""
        self._requests.on_listeners_changed.add_listener(self._on_listeners_changed)
        self._on_listeners_changed(None)

    def stop(self) -> None:
        """The browser ends, or has ended: nothing is held any more."""
        self._is_stopped = True
        self._requests.on_listeners_changed.remove_listener(self._on_listeners_changed)
        self._let_go()
        for task in self._tasks:
            task.cancel()

    async def settled(self) -> None:
        """Resolves when all is heard that somebody has asked for by now."""
        if self._change is not None:
            await asyncio.wait([self._change])

    # ----------------------------------------------------------------------------------------------------- beginning

    def _on_listeners_changed(self, _: None) -> None:
        if self._requests.on_proxy_request and not self._has_warned:
            self._has_warned = True
            logger.warning("proxy.onRequest is not asked about the requests of Chromium, which go out as ever")
        if self._change is None and not self._is_stopped and self._wanted() != self._active_config:
            self._change = self._begin(self._update_interception())

    def _wanted(self) -> _FetchConfig | None:
        """What the browser is to hold and to tell: nothing that nobody wants to hear of."""
        requests = self._requests
        if not requests.has_listeners:
            return None
        types, ends = requests.listened_types, requests.has_response_listeners
        only_documents = types is not None and types <= _DOCUMENTS
        pattern = {"urlPattern": "http*"} | ({"resourceType": "Document"} if only_documents else {})
        patterns = [pattern | {"requestStage": stage} for stage in ("Request", *(["Response"] if ends else []))]
        asks_who = bool(requests.on_auth_required)
        ends = ends or asks_who or bool(requests.on_error_occurred) or not only_documents
        return _FetchConfig(patterns, asks_who, ends)

    async def _update_interception(self) -> None:
        try:
            while (wanted := self._wanted()) != self._active_config and not self._is_stopped:
                await within(self._apply_config(wanted), "Fetch.enable")
        except PlaywrightError as error:
            is_refused = "Protocol error" in str(error) and "closed" not in str(error)
            is_late = isinstance(error, PlaywrightTimeout)
            # Else the browser is gone. While it is there, whoever listens must know that nothing is heard.
            level = logging.ERROR if is_refused or is_late else logging.DEBUG
            logger.log(level, "requests cannot be watched: %s", error)
        finally:
            self._change = None

    async def _apply_config(self, wanted: _FetchConfig | None) -> None:
        if wanted is None:
            self._let_go()
            return
        session, is_new = self._session, self._session is None
        if session is None:
            session = await self._browser.new_browser_cdp_session()
            session.on("Fetch.requestPaused", log_exceptions(self._on_paused))
            session.on("Fetch.authRequired", log_exceptions(self._on_auth_required))
            self._session, self._frames = session, FrameTree(session, self._on_event, self._on_gone)
            await self._frames.discover_targets()
        if wanted.needs_network_events:
            await self._frames.enable_network()
        await session.send(
            "Fetch.enable", {"patterns": wanted.patterns, "handleAuthRequests": wanted.handle_auth_requests}
        )
        self._active_config = wanted
        if is_new:
            await self._frames.refresh_loaders()

    def _let_go(self) -> None:
        """End the session: what is held goes on as it is."""
        session, self._session = self._session, None
        self._active_config = None
        if session is None:
            return
        self._frames.stop()
        flights, self._flights = self._flights, {}
        for flight in flights.values():
            if flight.task is not None:
                flight.task.cancel()
            flight.exchange.failed(_ABORTED)
        if not self._is_stopped:
            self._begin(_detach(session))

    # ------------------------------------------------------------------------------------------------ what is held

    def _on_paused(self, event: dict[str, Any]) -> None:
        is_answered = "responseStatusCode" in event or "responseErrorReason" in event
        if is_answered:
            self._handle(event, self._on_response, _CONTINUE)
        else:
            self._handle(
                event, self._on_request, _FAIL_REQUEST
            )  # a page that does not load is better than one in the wrong identity

    def _on_auth_required(self, event: dict[str, Any]) -> None:
        self._handle(event, self._on_auth_challenge, _DEFAULT_AUTH)

    def _handle(self, event: dict[str, Any], decide: _Decide, unheard: FetchCommand) -> None:
        task = self._begin(self._decide(event, decide, unheard))
        if flight := self._flights.get(_key(event)):
            flight.task = task

    async def _decide(self, event: dict[str, Any], decide: _Decide, unheard: FetchCommand) -> None:
        """Tell the browser what was decided; `unheard` where that has failed, and not because the page is gone."""
        session = self._session
        held = otherwise = _CONTINUE
        try:
            held = await decide(event)
        except RequestCancelled as error:
            logger.debug("%s is not loaded: %s", event["request"]["url"], error)
            held = _FAIL_REQUEST
            self._begin(self._navigate_to_about_blank(event))
        except RequestRedirected as elsewhere:
            held, otherwise = (
                self._redirected(event, elsewhere.url),
                _FAIL_REQUEST,
            )  # where it was going, it is not to go
        except PlaywrightError as error:
            logger.debug("%s is gone: %s", event["request"]["url"], error)
        except Exception:
            logger.exception("%s was not heard of", event["request"]["url"])
            held = unheard
        if session is None:
            return
        try:
            await session.send(held.method, {"requestId": event["requestId"], **held.given})
        except PlaywrightError as error:
            if (
                session is not self._session
                or held in (_CONTINUE, _FAIL_REQUEST)
                or _INVALID_INTERCEPTION_ID in str(error)
            ):
                return  # it is not held any more
            logger.warning("%s: Chromium does not do what a listener wants: %s", event["request"]["url"], error)
            with contextlib.suppress(PlaywrightError):
                await session.send(otherwise.method, {"requestId": event["requestId"], **otherwise.given})

    async def _on_request(self, event: dict[str, Any]) -> FetchCommand:
        """A request is about to go out."""
        key, request = _key(event), event["request"]
        flight = self._flights.get(key)
        if flight is None or not flight.exchange.is_open:
            flight = await self._track_request(event)
            if flight is None:
                return _CONTINUE
            self._flights[key] = flight
            flight.task = asyncio.current_task()
        url = flight.url = request["url"] + request.get("urlFragment", "")
        exchange, headers = flight.exchange, merge_duplicates(request["headers"].items())
        exchange.start_hop(
            url, request["method"], body=_body(request), third_party=_is_third_party(flight.spot, flight.kind, url)
        )
        await exchange.before_request()
        sent = await exchange.before_send_headers(headers)
        return _CONTINUE if sent == headers else FetchCommand(_CONTINUE.method, {"headers": _sent(sent, headers)})

    async def _on_response(self, event: dict[str, Any]) -> FetchCommand:
        """The answer to a request has come, or there is none; why is told in the page."""
        flight = self._flights.get(_key(event))
        if flight is None or "responseErrorReason" in event:
            return _CONTINUE
        code, phrase = event["responseStatusCode"], event.get("responseStatusText", "")
        headers = merge_duplicates((each["name"], each["value"]) for each in event.get("responseHeaders", ()))
        line = f"{'HTTP/1.1' if phrase else 'HTTP/2'} {code} {phrase}"
        kept = await flight.exchange.headers_received(code, line, headers)
        changed = {"responseCode": code, "responseHeaders": _list(kept)} | (
            {"responsePhrase": phrase} if phrase else {}
        )
        if code in _REDIRECTS and (location := {name.lower(): value for name, value in kept}.get("location")):
            flight.exchange.server_redirected(urljoin(flight.url, location))
            return _CONTINUE if kept == headers else FetchCommand("Fetch.fulfillRequest", changed | {"body": ""})
        flight.left = _size(headers)
        if kept == headers:
            return _CONTINUE
        sets_cookies = any(name.lower() == "set-cookie" for name, _ in kept)
        if (flight.kind in _DOCUMENTS or sets_cookies) and code not in _WITHOUT_BODY:
            with contextlib.suppress(PlaywrightError):  # then at least what needs no body to be gone by
                return FetchCommand("Fetch.fulfillRequest", changed | {"body": await self._response_body(event)})
        return FetchCommand("Fetch.continueResponse", changed)

    async def _response_body(self, event: dict[str, Any]) -> str:
        """All that was answered, in Base64. Only with it Chromium goes by the policies in other headers, and takes in
        their cookies."""
        assert self._session is not None  # noqa: S101 - whatever is held is held by it
        answer = await self._session.send("Fetch.getResponseBody", {"requestId": event["requestId"]})
        body: str = answer["body"]
        return body if answer["base64Encoded"] else base64.b64encode(body.encode()).decode()

    async def _on_auth_challenge(self, event: dict[str, Any]) -> FetchCommand:
        """A server, or a proxy, wants to know who asks."""
        asked = event["authChallenge"]
        flight = next((each for each in self._flights.values() if _is_for(each, event)), None)
        answer: dict[str, str] = {"response": "Default"}
        if flight is not None and flight.attempts < _ATTEMPTS:
            flight.attempts += 1
            origin = urlsplit(asked["origin"])
            port = origin.port or _PORTS.get(origin.scheme, 0)
            is_proxy = asked.get("source") == "Proxy"
            challenge = AuthChallenge(asked["scheme"], asked["realm"], is_proxy, origin.hostname or "", port)
            try:
                who = await flight.exchange.authenticate(challenge)
            except RequestCancelled:
                answer = {"response": "CancelAuth"}
            else:
                if who is not None:
                    given = {"username": who.username, "password": who.password}
                    answer = {"response": "ProvideCredentials", **given}
        return FetchCommand("Fetch.continueWithAuth", {"authChallengeResponse": answer})

    async def _track_request(self, event: dict[str, Any]) -> _InFlightRequest | None:
        spot = await self._frames.wait_for_frame(event["frameId"])
        if spot is None:
            logger.debug("nobody knows which page has asked for %s", event["request"]["url"])
            return None
        place = await self._places.request_frame(spot.target)
        if place is None:
            return None
        frames, kind = spot.frames, _TYPES.get(event["resourceType"], "other")
        document_url = spot.document_url
        origin_url = None
        if event["resourceType"] == "Document" and frames:
            kind = _MAIN if len(frames) == 1 else "sub_frame"
            document_url = FramePath(spot.target, frames[1:]).document_url if frames[1:] else None
            if kind == _MAIN and event["request"]["headers"].get("Referer"):  # else it is what the user wants
                opener_url = self._frames.url_of(spot.target.opener_id)
                origin_url = spot.document_url or opener_url or event["request"]["headers"]["Referer"]
        if frames:
            numbers = [number for number, _ in frames]
            place = msgspec.structs.replace(
                place, frame_id=numbers[0], parent_frame_id=numbers[1] if numbers[1:] else -1, ancestors=frames[1:]
            )
        exchange = self._requests.start_request(place, event["request"]["url"], kind, document_url, origin_url)
        return _InFlightRequest(exchange, spot, kind, event["frameId"])

    # ------------------------------------------------------------------------------------- what listeners want instead

    def _redirected(self, event: dict[str, Any], url: str) -> FetchCommand:
        flight = self._flights.get(_key(event))
        if urlsplit(url).scheme in ("http", "https"):
            headers = [{"name": "Location", "value": url}]
            if flight is not None and flight.kind not in _DOCUMENTS:
                headers += _cors_headers(event["request"]["headers"].get("Origin"), flight.spot)
            return FetchCommand("Fetch.fulfillRequest", {"responseCode": 307, "responseHeaders": headers, "body": ""})
        if flight is not None and flight.kind == _MAIN:
            self._flights.pop(_key(event), None)
            if why := refusal(url):
                self._places.refuse(flight.spot.target.id, url, why)
                return _FAIL_REQUEST
            self._begin(self._go_to(flight.spot.target.id, url))
        else:
            logger.warning("%s: Chromium cannot redirect this to %.200r", event["request"]["url"], url)
        return _FAIL_REQUEST

    async def _go_to(self, target_id: str, url: str) -> None:
        with contextlib.suppress(PlaywrightError):
            await self._frames.send(target_id, "Page.navigate", url=url)

    async def _navigate_to_about_blank(self, event: dict[str, Any]) -> None:
        """A page that has just opened, and whose first request was cancelled, stays blank: only so it is shown."""
        flight = self._flights.pop(_key(event), None)
        if flight is not None and flight.kind == _MAIN and not self._places.is_shown(flight.spot.target.id):
            await self._go_to(flight.spot.target.id, "about:blank")

    # ------------------------------------------------------------------------------------------------ what else is told

    def _on_event(self, name: str, event: dict[str, Any]) -> None:
        if name == "Network.responseReceived":
            response = event["response"]
            if event["type"] == "Document" and response["status"] not in _NOT_SHOWN:
                self._frames.set_frame_url(event.get("frameId", ""), response["url"])
            self._start(
                event["requestId"], response.get("remoteIPAddress"), from_cache=response.get("fromDiskCache", False)
            )
        elif name == "Network.dataReceived":
            self._receive(event["requestId"], event["dataLength"])
        elif name == "Network.loadingFinished":
            self._finish(event["requestId"])
        elif name == "Network.loadingFailed":
            error = (
                _ABORTED
                if event.get("canceled")
                else firefox_error_name(event["errorText"], self._url(event["requestId"]))
            )
            self._fail(event["requestId"], error)
        elif name == "Page.frameStoppedLoading":
            for key, flight in list(self._flights.items()):
                if flight.frame_id == event["frameId"] and self._is_implicitly_finished(flight):
                    self._finish(key)

    def _is_implicitly_finished(self, flight: _InFlightRequest) -> bool:
        """Whether a request is over, now that nothing is loading in its frame, though that is not told."""
        if self._active_config is not None and not self._active_config.needs_network_events:
            return flight.task is None or flight.task.done()
        return flight.kind == "sub_frame" and flight.has_started

    def _start(self, key: str, ip: str | None, *, from_cache: bool) -> None:
        flight = self._flights.get(key)
        if flight is not None and not flight.has_started:
            flight.has_started = True
            flight.exchange.response_started(ip.strip("[]") if ip else None, from_cache=from_cache)

    def _receive(self, key: str, size: int) -> None:
        """Chromium tells that all has come when a script has read it, which may be never."""
        flight = self._flights.get(key)
        if flight is not None and flight.left is not None:
            flight.left -= size
            if flight.left <= 0:
                self._finish(key)

    def _finish(self, key: str) -> None:
        self._start(key, None, from_cache=False)
        if flight := self._flights.pop(key, None):
            flight.exchange.completed()

    def _fail(self, key: str, error: str) -> None:
        if flight := self._flights.pop(key, None):
            if flight.task is not None:
                flight.task.cancel()  # listeners are asked no more
            flight.exchange.failed(error)

    def _url(self, key: str) -> str:
        flight = self._flights.get(key)
        return flight.url if flight else ""

    def _on_gone(self, target_id: str) -> None:
        for key, flight in list(self._flights.items()):
            if flight.spot.target.id == target_id:
                self._fail(key, _ABORTED)
        self._places.target_gone(target_id)

    def _begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("the Chromium engine failed", exc_info=error)


def _key(event: Mapping[str, Any]) -> str:
    """What stays the same over redirects."""
    return str(event.get("networkId") or event["requestId"])


def _is_for(flight: _InFlightRequest, event: Mapping[str, Any]) -> bool:
    url: str = event["request"]["url"]
    return bool(flight.frame_id == event["frameId"]) and flight.url.partition("#")[0] == url


def _body(request: Mapping[str, Any]) -> RequestBody | None:
    if not request.get("hasPostData"):
        return None
    parts = [base64.b64decode(each["bytes"]) for each in request.get("postDataEntries", ()) if "bytes" in each]
    if not parts:
        return RequestBody(error="Chromium does not tell what is sent")
    content_type = next((value for name, value in request["headers"].items() if name.lower() == "content-type"), "")
    return parse_request_body(content_type, parts)


def _size(headers: Headers) -> int | None:
    """The size of what comes, if that is what scripts get."""
    values = {name.lower(): value for name, value in headers}
    size = values.get("content-length", "")
    return int(size) if size.isascii() and size.isdigit() and "content-encoding" not in values else None


def _is_third_party(spot: FramePath, kind: str, url: str) -> bool:
    """Whether a request leaves the site of one of the documents around it."""
    around = spot.frames if kind not in _DOCUMENTS else spot.frames[1:]
    sites = {_site(each) for _, each in around if each.startswith("http")}
    return bool(sites - {_site(url)})


def _site(url: str) -> str:
    return default_public_suffixes().site(urlsplit(url).hostname or "")


def _list(headers: Headers) -> list[dict[str, str]]:
    return [{"name": name, "value": line} for name, value in headers for line in split_values(name, value)]


def _sent(headers: Headers, before: Headers) -> list[dict[str, str]]:
    """The headers to send. Those that Chromium would add again by itself are empty where a listener wants none."""
    names = {name.lower() for name, _ in headers}
    empty = ((name, "") for name, _ in before if name.lower() in _ADDED_AGAIN and name.lower() not in names)
    return _list((*headers, *empty))


def _cors_headers(origin: str | None, spot: FramePath) -> list[dict[str, str]]:
    """A redirect that no server has sent is one that scripts may follow."""
    page = urlsplit(spot.document_url or "")
    allowed = origin or f"{page.scheme}://{page.netloc}"
    return _list((("Access-Control-Allow-Origin", allowed), ("Access-Control-Allow-Credentials", "true")))


async def _detach(session: CDPSession) -> None:
    with contextlib.suppress(PlaywrightError):
        await session.detach()
