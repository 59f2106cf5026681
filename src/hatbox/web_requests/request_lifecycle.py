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
from hatbox.events import Question
from hatbox.web_requests.headers import HeaderChanges
from hatbox.web_requests.proxies import DIRECT, read_proxies
from hatbox.web_requests.request_model import Answer, Body, Challenge, Headers, RequestSnapshot, Proxy

if TYPE_CHECKING:
    from hatbox.web_requests.request_events import Requests

__all__ = ["Credentials", "Exchange", "Redirected", "RequestCancelled"]

logger = logging.getLogger("hatbox.web_requests")

_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ABORTED: Final = "NS_ERROR_ABORT"
_STOPPED: Final = "NS_BINDING_ABORTED"
_NOTHING_YET: Final = (200, "HTTP/1.1 200 ")  # what Firefox says of a redirect before anything was sent


class RequestCancelled(HatboxError):
    """A listener has cancelled a request."""


class Redirected(Exception):
    """A listener has sent a request elsewhere."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


class Credentials(NamedTuple):
    """Who asks."""

    username: str
    password: str


class Exchange:
    """A request. Its id stays the same wherever redirects lead."""

    def __init__(self, requests: Requests, first: RequestSnapshot) -> None:
        self._requests = requests
        self._moment = first
        self._is_open = False
        self.follows_redirects = True
        """Whether a listener may redirect it. If not, a redirect fails the request, as for fetch() without `follow`."""
        self.proxies: tuple[Proxy, ...] | None = None
        """The proxies to try; None where nobody has said anything."""
        self.proxy_credentials: Credentials | None = None
        """What to tell a proxy that wants to know who asks."""

    @property
    def url(self) -> str:
        """Where it goes now."""
        return self._moment.url

    @property
    def proxy(self) -> Proxy | None:
        """The proxy that it goes through."""
        return self._moment.proxy

    @property
    def is_open(self) -> bool:
        """Whether it has begun, and is not over."""
        return self._is_open

    def go(self, url: str, method: str = "GET", *, body: Body | None = None, third_party: bool = False) -> None:
        """It goes here next."""
        self._is_open = True
        fresh = {"proxy": None, "ip": None, "status_code": 0, "status_line": "", "response_headers": None}
        self._know(url=url, method=method, body=body, is_third_party=third_party, request_headers=(), **fresh)

    async def choose_proxy(self, headers: Headers = ()) -> None:
        """Ask for proxies. Whoever is asked later decides; None and what cannot be read leave it to the others."""
        self._know(request_headers=headers)
        proxies: tuple[Proxy, ...] | None = None
        for answer in self._ask(self._requests.on_proxy_request):
            given = await self._patiently(answer, "proxy.onRequest")
            if given is None or given.said is None:
                continue
            try:
                proxies = read_proxies(given.said, proxies)
            except ApiError as error:
                self._requests.on_proxy_error.emit((given.who, str(error)))
        self.proxies = proxies
        self.use_proxy(proxies[0] if proxies else DIRECT)

    def use_proxy(self, proxy: Proxy) -> None:
        """It goes through this proxy."""
        self._know(proxy=None if proxy.type == "direct" else proxy)

    async def before_request(self) -> None:
        """Raises RequestCancelled, or Redirected, if a listener wants so."""
        secure = False
        for answer in self._ask(self._requests.on_before_request):
            if said := self._verdict(await self._patiently(answer, "webRequest.onBeforeRequest")):
                secure |= said.said.get("upgradeToSecure") is True
        if secure and self.url.startswith("http:"):
            self._redirect("https:" + self.url.removeprefix("http:"), 0, "", None)

    async def before_send_headers(self, headers: Headers) -> Headers:
        """The headers to send. Raises as before_request does."""
        self._know(request_headers=headers)
        sent = await self._change_headers(self._requests.on_before_send_headers, headers, "requestHeaders")
        self._know(request_headers=sent)
        self._requests.on_send_headers.emit(self._now())
        return sent

    async def headers_received(self, code: int, line: str, headers: Headers, ip: str | None = None) -> Headers:
        """The headers to go by. Raises as before_request does."""
        self._know(status_code=code, status_line=line, response_headers=headers, ip=ip)
        changed = await self._change_headers(self._requests.on_headers_received, headers, "responseHeaders")
        self._know(response_headers=changed)
        return changed

    async def authenticate(self, challenge: Challenge) -> Credentials | None:
        """Who to say that asks; None if no listener knows. Raises RequestCancelled."""
        self._know(challenge=challenge)
        try:
            for answer in self._ask(self._requests.on_auth_required):
                said = self._verdict(await self._patiently(answer, "webRequest.onAuthRequired"), may_redirect=False)
                given = said.said.get("authCredentials") if said else None
                match given:
                    case {"username": str(username), "password": str(password)}:
                        return Credentials(username, password)
        finally:
            self._know(challenge=None)
        return None

    def redirecting(self, url: str) -> None:
        """The server sends it elsewhere."""
        self._requests.on_before_redirect.emit(self._now(redirect_url=url))

    def response_started(self, ip: str | None = None, *, from_cache: bool = False) -> None:
        """The body begins to come; from here, if that was not known before."""
        self._know(ip=ip or self._moment.ip, from_cache=from_cache)
        self._requests.on_response_started.emit(self._now())

    def completed(self) -> None:
        """It is over, and all is well."""
        if self._is_open:
            self._is_open = False
            self._requests.on_completed.emit(self._now())

    def failed(self, error: str) -> None:
        """It is over, because of an error that has this name in Firefox. Of one that never began nothing is told."""
        if self._is_open:
            self._is_open = False
            self._requests.on_error_occurred.emit(self._now(error=error))

    async def _change_headers(self, question: Question[RequestSnapshot], headers: Headers, member: str) -> Headers:
        changes = HeaderChanges(headers)
        for answer in self._ask(question):
            given = self._verdict(await self._patiently(answer, question.name))
            if given and given.changes_headers and given.said.get(member) is not None:
                changes.apply(given.said[member], given.who, given.may_name_host)
        return changes.headers

    def _verdict(self, answer: Answer | None, *, may_redirect: bool = True) -> Answer | None:
        """An answer that is neither to cancel nor to redirect; None if it says nothing at all."""
        if answer is None or not isinstance(answer.said, Mapping):
            return None
        if answer.said.get("cancel"):
            self.failed(_ABORTED)
            raise RequestCancelled(f"{answer.who} has cancelled it")
        url = answer.said.get("redirectUrl") if may_redirect else None
        if url and isinstance(url, str) and _ABSOLUTE.match(url):
            received = self._moment.response_headers
            code, line = _NOTHING_YET if received is None else (self._moment.status_code, self._moment.status_line)
            self._redirect(url, code, line, received or ())
        elif url:
            logger.warning("%s: nothing can be redirected to %.200r", answer.who, url)
        return answer

    def _redirect(self, url: str, code: int, line: str, headers: Headers | None) -> None:
        if not self.follows_redirects:
            self.failed(_STOPPED)
            raise RequestCancelled(
                f"a listener redirects the request to {url}, but the request does not follow redirects"
            )
        self._know(status_code=code, status_line=line, response_headers=headers)
        self.redirecting(url)
        raise Redirected(url)

    def _ask(self, question: Question[RequestSnapshot]) -> list[asyncio.Future[Any]]:
        return question.begin(self._now())

    async def _patiently(self, answer: asyncio.Future[Any], name: str) -> Answer | None:
        try:
            given = await asyncio.wait_for(answer, self._requests.patience)
        except TimeoutError:
            logger.error("a listener of %s has not answered for %g seconds", name, self._requests.patience)
            return None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            logger.error("a listener of %s was cancelled", name)  # which is its own affair, and not the request's
            return None
        return given if isinstance(given, Answer) else None

    def _know(self, **news: Any) -> None:
        self._moment = msgspec.structs.replace(self._moment, **news)

    def _now(self, **more: Any) -> RequestSnapshot:
        return msgspec.structs.replace(self._moment, time=self._requests.time(), **more)
