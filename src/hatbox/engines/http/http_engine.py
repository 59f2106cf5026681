"""The HTTP engine: a navigation is an HTTP request with the cookies of the identity. No browser, no scripts.

Reads the final URL, status, title and icon. Errors are a state of the tab. Complete pages are not requested again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import mimetypes
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, ClassVar, Final, cast

import httpx
import msgspec

from hatbox.clients.httpx import async_client, decoded_body
from hatbox.clients.identity_binding import IdentityBinding
from hatbox.clients.request_chain import request_chain
from hatbox.content_coding import BodyTooLarge, ContentCodingError, accept_encoding
from hatbox.cookies.cookie_stores import CookieStores
from hatbox.engines.base import Engine, EngineDelegate, PageState
from hatbox.engines.http.first_request import FirstRequestCheck, NavigationBlocked
from hatbox.engines.http.html import HtmlHead, is_html, media_type, read_head
from hatbox.engines.http.http_auth import answer_challenge
from hatbox.engines.http.intercepting_transport import LIFECYCLE, REDIRECT_URL, InterceptingTransport
from hatbox.engines.load_errors import firefox_error_name, format_bytes, load_error_message
from hatbox.engines.navigation_rules import NavigationReopened, NavigationRules
from hatbox.errors import PackageError
from hatbox.identities.service import Identities
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import IdentityLike
from hatbox.tabs.tab_model import BLANK, Tab, is_blank
from hatbox.web_requests import RequestCancelled, RequestEvents, RequestFrame, RequestLifecycle, RequestRedirected
from hatbox.web_requests.headers import merge_duplicates
from hatbox.web_requests.request_model import ReadExtensionFile

__all__ = ["HttpEngine", "LoadLimits"]

logger = logging.getLogger("hatbox.engines")

_HEADERS: Final = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Upgrade-Insecure-Requests": "1",
}
_HEAD_SCAN_BYTES: Final = 128 * 1024  # the title is searched in these bytes
_REDIRECT_BODY_BYTES: Final = 64 * 1024  # read from the body of a redirect, to reuse its connection


class LoadLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a page load."""

    timeout: float = 30.0
    """Seconds, from the first request to the last byte."""
    max_bytes: int = 16_000_000
    """Of the decoded body. The rest is not read; the page counts as loaded, with an error."""
    max_redirects: int = 20
    max_concurrent: int = 32
    """Loads at the same time; others wait."""


class HttpEngine(Engine):
    """Loads pages over HTTP. `options` are those of httpx.AsyncClient, for every identity.

    `requests` are the webRequest events; `read_extension_file` reads pages of extensions. `rules` decide which identity
    loads a URL.
    """

    name: ClassVar[str] = "HTTP"
    keeps_hidden_pages: ClassVar[bool] = True  # hidden pages cost nothing

    def __init__(
        self,
        identities: Identities,
        cookies: CookieStores,
        limits: LoadLimits | None = None,
        options: Mapping[str, Any] | None = None,
        requests: RequestEvents | None = None,
        read_extension_file: ReadExtensionFile | None = None,
        rules: NavigationRules | None = None,
    ) -> None:
        self.limits = limits or LoadLimits()
        """The limits of a page load."""
        self._identities = identities
        self._cookies = cookies
        self._options = dict(options or {})
        self._requests = requests or RequestEvents()
        self._read_extension_file = read_extension_file or (lambda _: None)
        self._rules = rules
        self._delegate: EngineDelegate | None = None
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._loads: dict[int, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(self.limits.max_concurrent)

    async def start(self, delegate: EngineDelegate) -> None:
        """See Engine."""
        self._delegate = delegate

    async def stop(self) -> None:
        """See Engine."""
        await asyncio.gather(*map(self._cancel, list(self._loads)))
        for cookie_store_id in list(self._clients):
            await self.remove_identity(cookie_store_id)

    async def open(self, tab: Tab, snapshot: bytes | None) -> None:  # noqa: ARG002 - it saves no snapshots
        """See Engine. Complete pages are not requested again."""
        await self.navigate(tab)

    async def navigate(self, tab: Tab) -> None:
        """See Engine."""
        await self._cancel(tab.id)
        if tab.loading:
            load = self._loads[tab.id] = asyncio.create_task(self._load(tab))
            load.add_done_callback(lambda done: self._loads.pop(tab.id) if self._loads.get(tab.id) is done else None)

    async def activate(self, tab: Tab) -> None:
        """See Engine. There is nothing to show."""

    async def close(self, tab_id: int, *, hiding: bool) -> None:  # noqa: ARG002 - hidden pages stay
        """See Engine."""
        await self._cancel(tab_id)

    async def remove_identity(self, cookie_store_id: str) -> None:
        """See Engine."""
        if client := self._clients.pop(cookie_store_id, None):
            await client.aclose()

    async def _cancel(self, tab_id: int) -> None:
        if load := self._loads.pop(tab_id, None):
            load.cancel()
            await asyncio.wait([load])

    async def _load(self, tab: Tab) -> None:
        visit = _Visit(tab.pending_url or tab.url)
        if _is_same_page(tab, visit.url):
            page = PageState(visit.url, tab.title, tab.icon, tab.http_status, tab.content_type)
        else:
            page = await self._page(tab, visit)
        if self._delegate is not None:
            await self._delegate.page_updated(tab.id, page, navigation=tab.navigation_id)

    async def _page(self, tab: Tab, visit: _Visit) -> PageState:
        if is_blank(visit.url):
            return visit.page()
        if visit.url.startswith("moz-extension:"):
            return self._own_page(visit)
        if not visit.url.lower().startswith(("http:", "https:")):
            return visit.page(f"unsupported URL scheme: {visit.url.partition(':')[0]} (use http or https)")
        try:
            return visit.page(await self._request_page(tab, visit))
        except RequestCancelled as error:
            logger.debug("HTTP engine: loading %s was stopped: %s", visit.url, error)
            if self._rules is not None and not isinstance(error, NavigationReopened):
                self._rules.listener_cancelled(tab.id, visit.url)
            return PageState(tab.url, stopped=True)
        except NavigationBlocked as error:
            return visit.page(str(error))
        except TimeoutError:
            return visit.page(f"timed out after {self.limits.timeout:g} seconds")
        except Exception as error:
            message = load_error_message(error, visit.url)
            if not message:
                logger.exception("HTTP engine: loading %s failed", visit.url)
            return visit.page(message or f"loading failed ({str(error) or type(error).__name__})")

    def _own_page(self, visit: _Visit) -> PageState:
        """A page of an extension, from its package."""
        try:
            contents = self._read_extension_file(visit.url)
        except PackageError as error:
            return visit.page(str(error))
        if contents is None:
            return visit.page("no running extension has this page")
        guessed = mimetypes.guess_type(visit.url.partition("?")[0].partition("#")[0])[0]
        visit.content_type = guessed or "application/octet-stream"
        visit.head += contents[:_HEAD_SCAN_BYTES]
        return visit.page()

    async def _request_page(self, tab: Tab, visit: _Visit) -> str:
        lifecycle = self._requests.start_request(RequestFrame(tab.id, tab.window_id, tab.cookie_store_id), visit.url)
        try:
            async with self._slots, asyncio.timeout(self.limits.timeout):
                with request_chain():
                    return await self._visit(tab, lifecycle, visit)
        except BaseException as error:
            lifecycle.failed(firefox_error_name(error, visit.url))
            raise

    async def _visit(self, tab: Tab, lifecycle: RequestLifecycle, visit: _Visit) -> str:
        """Follow redirects and read the page. Returns an error message, or an empty string."""
        if not httpx.URL(visit.url).host:
            raise httpx.InvalidURL("URL has no host")
        client = await self._client(tab.cookie_store_id)
        request: httpx.Request | None = _request(client, visit.url)
        check = FirstRequestCheck(self._rules, tab)
        for _ in range(self.limits.max_redirects + 1):
            assert request is not None  # noqa: S101 - set before the loop and after each redirect
            if request.url.scheme not in ("http", "https"):
                lifecycle.failed("NS_ERROR_UNKNOWN_PROTOCOL")
                return f"redirected to an unsupported URL: {request.url} (use http or https)"
            visit.url = _url_text(request.url)
            try:
                response = await self._fetch(client, lifecycle, request, check)
            except RequestRedirected as redirect:
                if redirect.url == BLANK:
                    visit.url = BLANK
                    return ""
                request = _request(client, redirect.url)
                continue
            async with contextlib.aclosing(response):
                if retry := await answer_challenge(lifecycle, request, response):
                    request = retry
                elif response.next_request is None:
                    visit.receive(response)
                    return await self._read_page(lifecycle, visit, response)
                else:
                    request = response.next_request
                    lifecycle.server_redirected(_url_text(request.url))
                await _drain(response)
        lifecycle.failed("NS_ERROR_REDIRECT_LOOP")
        return f"too many redirects: more than {self.limits.max_redirects}"

    async def _fetch(
        self, client: httpx.AsyncClient, lifecycle: RequestLifecycle, request: httpx.Request, check: FirstRequestCheck
    ) -> httpx.Response:
        """Send one request: the first, or a hop of a redirect.

        The transport of the client adds the cookies. The user initiated the navigation, as in the address bar of a
        browser, so SameSite=Strict cookies are sent too.
        """
        lifecycle.start_hop(_url_text(request.url), request.method)
        await lifecycle.choose_proxy(merge_duplicates(request.headers.multi_items()))
        try:
            await lifecycle.before_request()
        except RequestRedirected:
            check.skip()
            raise
        await check.check(lifecycle, _url_text(request.url))
        request.extensions[LIFECYCLE] = lifecycle
        response = await client.send(request, stream=True, follow_redirects=False)
        if url := response.extensions.get(REDIRECT_URL):
            await response.aclose()
            raise RequestRedirected(url)
        return response

    async def _read_page(self, lifecycle: RequestLifecycle, visit: _Visit, response: httpx.Response) -> str:
        lifecycle.response_started()
        problem = await self._read(lifecycle, visit, response)
        lifecycle.completed()
        return problem

    async def _read(self, lifecycle: RequestLifecycle, visit: _Visit, response: httpx.Response) -> str:
        try:
            async with contextlib.aclosing(decoded_body(response, self.limits.max_bytes)) as pieces:
                async for piece in lifecycle.filter_body(pieces):
                    visit.head += piece[: _HEAD_SCAN_BYTES - len(visit.head)]
        except BodyTooLarge:
            return f"larger than {format_bytes(self.limits.max_bytes)}; the rest was not read"
        except ContentCodingError as error:
            return str(error)
        return ""

    async def _client(self, cookie_store_id: str) -> httpx.AsyncClient:
        identity: IdentityLike = DEFAULT_COOKIE_STORE_ID
        if cookie_store_id != DEFAULT_COOKIE_STORE_ID:  # raises for a removed identity
            identity = await self._identities.get(cookie_store_id)
        if cookie_store_id not in self._clients:
            if "verify" not in self._options:
                # Created once, because it is slow. It holds no state of connections.
                self._options["verify"] = httpx.create_ssl_context()
            binding = IdentityBinding(self._identities, self._cookies, identity)
            options = {**self._options, "timeout": None}
            self._clients[cookie_store_id] = async_client(
                binding, options, lambda inner: InterceptingTransport(inner, options)
            )
        return self._clients[cookie_store_id]


class _Visit:
    """The state of one load."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status: int | None = None
        self.content_type = ""
        self.head = bytearray()

    def receive(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.content_type = response.headers.get("Content-Type", "")

    def page(self, error: str = "") -> PageState:
        body = bytes(self.head)
        head = read_head(body, self.content_type, self.url) if is_html(self.content_type, body) else HtmlHead()
        return PageState(self.url, head.title, head.icon, self.status, media_type(self.content_type), error)


def _request(client: httpx.AsyncClient, url: str) -> httpx.Request:
    return client.build_request("GET", url, headers={**_HEADERS, "Accept-Encoding": accept_encoding()})


def _is_same_page(tab: Tab, url: str) -> bool:
    """Whether the URL differs from the current page in its fragment only."""
    page, mark, _ = url.partition("#")
    return bool(mark) and url != tab.url and page == tab.url.partition("#")[0] and not tab.error


def _url_text(url: httpx.URL) -> str:
    """A URL as browsers write it: with a path, at least /."""
    return str(url.copy_with(raw_path=url.raw_path))


async def _drain(response: httpx.Response) -> None:
    size = 0
    async with _closed_early(response.aiter_raw()) as chunks:
        async for chunk in chunks:
            size += len(chunk)
            if size > _REDIRECT_BODY_BYTES:
                return


def _closed_early(chunks: AsyncIterator[bytes]) -> contextlib.aclosing[AsyncGenerator[bytes, None]]:
    return contextlib.aclosing(cast("AsyncGenerator[bytes, None]", chunks))  # httpx does not say that it is one
