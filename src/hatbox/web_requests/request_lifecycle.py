"""One request with all its redirects: calls the webRequest listeners, and applies their blocking responses.

An engine calls the methods in order. The first listener that cancels or redirects decides; header changes are combined.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from hatbox.errors import ApiError, HatboxError
from hatbox.events import ResponseEvent
from hatbox.web_requests.headers import HeaderChanges
from hatbox.web_requests.proxies import DIRECT, read_proxies
from hatbox.web_requests.request_model import (
    AuthChallenge,
    BlockingResponse,
    Headers,
    ProxyInfo,
    RequestBody,
    RequestFrame,
    RequestSnapshot,
)
from hatbox.web_requests.response_filter import CHANNEL_REDIRECTED, FilterOverflow, ResponseFilter

if TYPE_CHECKING:
    from hatbox.web_requests.request_events import RequestEvents

__all__ = ["AuthCredentials", "RequestCancelled", "RequestLifecycle", "RequestRedirected"]

logger = logging.getLogger("hatbox.web_requests")

_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ABORTED: Final = "NS_ERROR_ABORT"
_STOPPED: Final = "NS_BINDING_ABORTED"
_STATUS_BEFORE_SEND: Final = (200, "HTTP/1.1 200 ")  # Firefox reports this status for a redirect before sending


class RequestCancelled(HatboxError):
    """A listener cancelled the request."""


class RequestRedirected(Exception):
    """A listener redirected the request."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


class AuthCredentials(NamedTuple):
    """User name and password."""

    username: str
    password: str


class RequestLifecycle:
    """A request. Its id stays the same over redirects."""

    def __init__(self, requests: RequestEvents, first: RequestSnapshot) -> None:
        self._requests = requests
        self._state = first
        self._is_open = False
        self._filters: list[ResponseFilter] = []
        self._has_body_started = False
        self.follows_redirects = True
        """Whether listeners may redirect it. If not, a redirect fails the request, as for fetch() without `follow`."""
        self.proxies: tuple[ProxyInfo, ...] | None = None
        """The proxies to try; None without a result of a listener."""
        self.proxy_credentials: AuthCredentials | None = None
        """The credentials for the proxy."""

    @property
    def url(self) -> str:
        """The current URL."""
        return self._state.url

    @property
    def place(self) -> RequestFrame:
        """The tab and frame."""
        return self._state.place

    @property
    def proxy(self) -> ProxyInfo | None:
        """The proxy in use."""
        return self._state.proxy

    @property
    def is_open(self) -> bool:
        """Whether it has started and not finished."""
        return self._is_open

    @property
    def snapshot(self) -> RequestSnapshot:
        """Its current state."""
        return self._state

    @property
    def has_filters(self) -> bool:
        """Whether extensions filter its response: then the engine must read the body with `filter_body`."""
        return bool(self._filters)

    def add_filter(self, response_filter: ResponseFilter) -> bool:
        """Filter the response of the current hop. Returns False if its body has started."""
        if not self._is_open or self._has_body_started:
            return False
        self._filters.append(response_filter)
        return True

    def filter_body(self, chunks: AsyncIterable[bytes]) -> AsyncIterable[bytes]:
        """The body, filtered by extensions. As in Firefox, the last filter comes first.

        Reading it raises RequestCancelled if a filter wrote too much.
        """
        self._has_body_started = True
        for each in reversed(self._filters):
            chunks = each.apply(chunks)
        return self._until_overflow(chunks) if self._filters else chunks

    async def _until_overflow(self, chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        try:
            async for chunk in chunks:
                yield chunk
        except FilterOverflow as error:
            self.failed(_ABORTED)
            raise RequestCancelled(str(error)) from error

    def start_hop(
        self, url: str, method: str = "GET", *, body: RequestBody | None = None, third_party: bool = False
    ) -> None:
        """Start the request, or its next hop after a redirect."""
        self._is_open = True
        for each in self._filters:
            each.fail(CHANNEL_REDIRECTED)
        self._filters.clear()
        fresh = {"proxy": None, "ip": None, "status_code": 0, "status_line": "", "response_headers": None}
        self._update(url=url, method=method, body=body, is_third_party=third_party, request_headers=(), **fresh)

    async def choose_proxy(self, headers: Headers = ()) -> None:
        """Call proxy.onRequest. The last valid result counts; errors are emitted."""
        self._update(request_headers=headers)
        proxies: tuple[ProxyInfo, ...] | None = None
        for answer in self._dispatch(self._requests.on_proxy_request):
            given = await self._wait_for_listener(answer, "proxy.onRequest")
            if given is None or given.value is None:
                continue
            try:
                proxies = read_proxies(given.value, proxies)
            except ApiError as error:
                self._requests.on_proxy_error.emit((given.extension_id, str(error)))
        self.proxies = proxies
        self.use_proxy(proxies[0] if proxies else DIRECT)

    def use_proxy(self, proxy: ProxyInfo) -> None:
        """Set the proxy in use."""
        self._update(proxy=None if proxy.type == "direct" else proxy)

    async def before_request(self) -> None:
        """Call onBeforeRequest. Raises RequestCancelled or RequestRedirected."""
        secure = False
        for answer in self._dispatch(self._requests.on_before_request):
            if said := self._apply_blocking_response(
                await self._wait_for_listener(answer, "webRequest.onBeforeRequest")
            ):
                secure |= said.value.get("upgradeToSecure") is True
        if secure and self.url.startswith("http:"):
            self._redirect("https:" + self.url.removeprefix("http:"), 0, "", None)

    async def before_send_headers(self, headers: Headers) -> Headers:
        """Call onBeforeSendHeaders and onSendHeaders. Returns the headers to send. Raises as before_request."""
        self._update(request_headers=headers)
        sent = await self._change_headers(self._requests.on_before_send_headers, headers, "requestHeaders")
        self._update(request_headers=sent)
        self._requests.on_send_headers.emit(self._snapshot())
        return sent

    async def headers_received(self, code: int, line: str, headers: Headers, ip: str | None = None) -> Headers:
        """Call onHeadersReceived. Returns the response headers. Raises as before_request."""
        self._update(status_code=code, status_line=line, response_headers=headers, ip=ip)
        changed = await self._change_headers(self._requests.on_headers_received, headers, "responseHeaders")
        self._update(response_headers=changed)
        return changed

    async def authenticate(self, challenge: AuthChallenge) -> AuthCredentials | None:
        """Call onAuthRequired. Returns credentials, or None. Raises RequestCancelled."""
        self._update(challenge=challenge)
        try:
            for answer in self._dispatch(self._requests.on_auth_required):
                said = self._apply_blocking_response(
                    await self._wait_for_listener(answer, "webRequest.onAuthRequired"), may_redirect=False
                )
                given = said.value.get("authCredentials") if said else None
                match given:
                    case {"username": str(username), "password": str(password)}:
                        return AuthCredentials(username, password)
        finally:
            self._update(challenge=None)
        return None

    def server_redirected(self, url: str) -> None:
        """Emit onBeforeRedirect."""
        self._requests.on_before_redirect.emit(self._snapshot(redirect_url=url))

    def response_started(self, ip: str | None = None, *, from_cache: bool = False) -> None:
        """Emit onResponseStarted."""
        self._update(ip=ip or self._state.ip, from_cache=from_cache)
        self._requests.on_response_started.emit(self._snapshot())

    def completed(self) -> None:
        """Emit onCompleted."""
        if self._is_open:
            self._close()
            self._requests.on_completed.emit(self._snapshot())

    def failed(self, error: str) -> None:
        """Emit onErrorOccurred with a Firefox error name, if the request had started."""
        if self._is_open:
            self._close()
            self._requests.on_error_occurred.emit(self._snapshot(error=error))

    def _close(self) -> None:
        self._is_open = False
        for each in self._filters:
            each.release()
        self._filters.clear()

    async def _change_headers(self, event: ResponseEvent[RequestSnapshot], headers: Headers, member: str) -> Headers:
        changes = HeaderChanges(headers)
        for answer in self._dispatch(event):
            given = self._apply_blocking_response(await self._wait_for_listener(answer, event.name))
            if given and given.changes_headers and given.value.get(member) is not None:
                changes.apply(given.value[member], given.extension_id, given.can_set_host_header)
        return changes.headers

    def _apply_blocking_response(
        self, answer: BlockingResponse | None, *, may_redirect: bool = True
    ) -> BlockingResponse | None:
        """Apply cancel and redirectUrl. Returns the response for other members, or None if it is empty."""
        if answer is None or not isinstance(answer.value, Mapping):
            return None
        if answer.value.get("cancel"):
            self.failed(_ABORTED)
            raise RequestCancelled(f"cancelled by {answer.extension_id}")
        url = answer.value.get("redirectUrl") if may_redirect else None
        if url and isinstance(url, str) and _ABSOLUTE.match(url):
            received = self._state.response_headers
            code, line = _STATUS_BEFORE_SEND if received is None else (self._state.status_code, self._state.status_line)
            self._redirect(url, code, line, received or ())
        elif url:
            logger.warning("%s: invalid redirectUrl: %.200r", answer.extension_id, url)
        return answer

    def _redirect(self, url: str, code: int, line: str, headers: Headers | None) -> None:
        if not self.follows_redirects:
            self.failed(_STOPPED)
            raise RequestCancelled(
                f"a listener redirects the request to {url}, but the request does not follow redirects"
            )
        self._update(status_code=code, status_line=line, response_headers=headers)
        self.server_redirected(url)
        raise RequestRedirected(url)

    def _dispatch(self, event: ResponseEvent[RequestSnapshot]) -> list[asyncio.Future[Any]]:
        return event.dispatch(self._snapshot())

    async def _wait_for_listener(self, answer: asyncio.Future[Any], name: str) -> BlockingResponse | None:
        try:
            given = await asyncio.wait_for(answer, self._requests.blocking_timeout)
        except TimeoutError:
            logger.error(
                "%s listener timed out after %g s; continuing without it", name, self._requests.blocking_timeout
            )
            return None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            logger.error("%s listener was cancelled; continuing without it", name)
            return None
        return given if isinstance(given, BlockingResponse) else None

    def _update(self, **changes: Any) -> None:
        self._state = msgspec.structs.replace(self._state, **changes)

    def _snapshot(self, **more: Any) -> RequestSnapshot:
        return msgspec.structs.replace(self._state, time=self._requests.time(), **more)
