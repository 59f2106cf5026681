"""One request of a page from its beginning to its end, with all redirects, and all that listeners do to it.

An engine goes through the steps in order. Each asks those who listen, in the order in which they have registered, and
does what the answers say: the first that cancels or redirects decides, and changes of headers add up.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
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
    RequestSnapshot,
)

if TYPE_CHECKING:
    from hatbox.web_requests.request_events import RequestEvents

__all__ = ["AuthCredentials", "RequestCancelled", "RequestLifecycle", "RequestRedirected"]

logger = logging.getLogger("hatbox.web_requests")

_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ABORTED: Final = "NS_ERROR_ABORT"
_STOPPED: Final = "NS_BINDING_ABORTED"
_STATUS_BEFORE_SEND: Final = (200, "HTTP/1.1 200 ")  # what Firefox says of a redirect before anything was sent


class RequestCancelled(HatboxError):
    """A listener has cancelled a request."""


class RequestRedirected(Exception):
    """A listener has sent a request elsewhere."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


class AuthCredentials(NamedTuple):
    """Who asks."""

    username: str
    password: str


class RequestLifecycle:
    """A request. Its id stays the same wherever redirects lead."""

    def __init__(self, requests: RequestEvents, first: RequestSnapshot) -> None:
        self._requests = requests
        self._moment = first
        self._is_open = False
        self.follows_redirects = True
        """Whether a listener may redirect it. If not, a redirect fails the request, as for fetch() without `follow`."""
        self.proxies: tuple[ProxyInfo, ...] | None = None
        """The proxies to try; None where nobody has said anything."""
        self.proxy_credentials: AuthCredentials | None = None
        """What to tell a proxy that wants to know who asks."""

    @property
    def url(self) -> str:
        """Where it goes now."""
        return self._moment.url

    @property
    def proxy(self) -> ProxyInfo | None:
        """The proxy that it goes through."""
        return self._moment.proxy

    @property
    def is_open(self) -> bool:
        """Whether it has begun, and is not over."""
        return self._is_open

    def start_hop(
        self, url: str, method: str = "GET", *, body: RequestBody | None = None, third_party: bool = False
    ) -> None:
        """It goes here next."""
        self._is_open = True
        fresh = {"proxy": None, "ip": None, "status_code": 0, "status_line": "", "response_headers": None}
        self._update(url=url, method=method, body=body, is_third_party=third_party, request_headers=(), **fresh)

    async def choose_proxy(self, headers: Headers = ()) -> None:
        """Ask for proxies. Whoever is asked later decides; None and what cannot be read leave it to the others."""
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
        """It goes through this proxy."""
        self._update(proxy=None if proxy.type == "direct" else proxy)

    async def before_request(self) -> None:
        """Raises RequestCancelled, or Redirected, if a listener wants so."""
        secure = False
        for answer in self._dispatch(self._requests.on_before_request):
            if said := self._apply_blocking_response(
                await self._wait_for_listener(answer, "webRequest.onBeforeRequest")
            ):
                secure |= said.value.get("upgradeToSecure") is True
        if secure and self.url.startswith("http:"):
            self._redirect("https:" + self.url.removeprefix("http:"), 0, "", None)

    async def before_send_headers(self, headers: Headers) -> Headers:
        """The headers to send. Raises as before_request does."""
        self._update(request_headers=headers)
        sent = await self._change_headers(self._requests.on_before_send_headers, headers, "requestHeaders")
        self._update(request_headers=sent)
        self._requests.on_send_headers.emit(self._snapshot())
        return sent

    async def headers_received(self, code: int, line: str, headers: Headers, ip: str | None = None) -> Headers:
        """The headers to go by. Raises as before_request does."""
        self._update(status_code=code, status_line=line, response_headers=headers, ip=ip)
        changed = await self._change_headers(self._requests.on_headers_received, headers, "responseHeaders")
        self._update(response_headers=changed)
        return changed

    async def authenticate(self, challenge: AuthChallenge) -> AuthCredentials | None:
        """Who to say that asks; None if no listener knows. Raises RequestCancelled."""
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
        """The server sends it elsewhere."""
        self._requests.on_before_redirect.emit(self._snapshot(redirect_url=url))

    def response_started(self, ip: str | None = None, *, from_cache: bool = False) -> None:
        """The body begins to come; from here, if that was not known before."""
        self._update(ip=ip or self._moment.ip, from_cache=from_cache)
        self._requests.on_response_started.emit(self._snapshot())

    def completed(self) -> None:
        """It is over, and all is well."""
        if self._is_open:
            self._is_open = False
            self._requests.on_completed.emit(self._snapshot())

    def failed(self, error: str) -> None:
        """It is over, because of an error that has this name in Firefox. Of one that never began nothing is told."""
        if self._is_open:
            self._is_open = False
            self._requests.on_error_occurred.emit(self._snapshot(error=error))

    async def _change_headers(self, question: ResponseEvent[RequestSnapshot], headers: Headers, member: str) -> Headers:
        changes = HeaderChanges(headers)
        for answer in self._dispatch(question):
            given = self._apply_blocking_response(await self._wait_for_listener(answer, question.name))
            if given and given.changes_headers and given.value.get(member) is not None:
                changes.apply(given.value[member], given.extension_id, given.can_set_host_header)
        return changes.headers

    def _apply_blocking_response(
        self, answer: BlockingResponse | None, *, may_redirect: bool = True
    ) -> BlockingResponse | None:
        """An answer that is neither to cancel nor to redirect; None if it says nothing at all."""
        if answer is None or not isinstance(answer.value, Mapping):
            return None
        if answer.value.get("cancel"):
            self.failed(_ABORTED)
            raise RequestCancelled(f"{answer.extension_id} has cancelled it")
        url = answer.value.get("redirectUrl") if may_redirect else None
        if url and isinstance(url, str) and _ABSOLUTE.match(url):
            received = self._moment.response_headers
            code, line = (
                _STATUS_BEFORE_SEND if received is None else (self._moment.status_code, self._moment.status_line)
            )
            self._redirect(url, code, line, received or ())
        elif url:
            logger.warning("%s: nothing can be redirected to %.200r", answer.extension_id, url)
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

    def _dispatch(self, question: ResponseEvent[RequestSnapshot]) -> list[asyncio.Future[Any]]:
        return question.dispatch(self._snapshot())

    async def _wait_for_listener(self, answer: asyncio.Future[Any], name: str) -> BlockingResponse | None:
        try:
            given = await asyncio.wait_for(answer, self._requests.blocking_timeout)
        except TimeoutError:
            logger.error("a listener of %s has not answered for %g seconds", name, self._requests.blocking_timeout)
            return None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            logger.error("a listener of %s was cancelled", name)  # which is its own affair, and not the request's
            return None
        return given if isinstance(given, BlockingResponse) else None

    def _update(self, **news: Any) -> None:
        self._moment = msgspec.structs.replace(self._moment, **news)

    def _snapshot(self, **more: Any) -> RequestSnapshot:
        return msgspec.structs.replace(self._moment, time=self._requests.time(), **more)
