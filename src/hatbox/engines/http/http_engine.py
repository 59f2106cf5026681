"""The HTTP engine: no browser, nothing to install. To load a page is to ask for it, with the cookies of its identity.

Nothing of a page is run or shown. What a tab needs is read from it: where redirects led, status, title and icon.
An error is a state of the tab, never an exception. Pages that were loaded once are not asked for again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import mimetypes
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Any, ClassVar, Final, TypeAlias, cast

import httpx
import msgspec

from hatbox.clients.httpx import async_client, decoded_body
from hatbox.clients.identity_binding import IdentityBinding
from hatbox.content_coding import BodyTooLarge, ContentCodingError, accept_encoding
from hatbox.cookies.cookie_stores import CookieStores
from hatbox.engines.base import Engine, EngineDelegate, PageState
from hatbox.engines.http.html import Head, is_html, media_type, read_head
from hatbox.engines.http.http_auth import answer_challenge
from hatbox.engines.http.intercepting_transport import EXCHANGE, REDIRECT_URL, InterceptingTransport
from hatbox.engines.load_errors import firefox_error_name, format_bytes, load_error_message
from hatbox.errors import PackageError
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.identities.model import IdentityLike
from hatbox.identities.service import Identities
from hatbox.tabs.tab_model import BLANK, Tab, is_blank
from hatbox.web_requests import RequestCancelled, RequestEvents, RequestFrame, RequestLifecycle, RequestRedirected
from hatbox.web_requests.headers import merge_duplicates

__all__ = ["HttpEngine", "LoadLimits"]

logger = logging.getLogger("hatbox.engines")

_HEADERS: Final = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Upgrade-Insecure-Requests": "1",
}
_HEAD_SCAN_BYTES: Final = 128 * 1024  # bytes of a page in which its title is looked for
_REDIRECT_BODY_BYTES: Final = (
    64 * 1024
)  # bytes that are read of a redirect's own page, so that its connection can be used again


Packed: TypeAlias = Callable[[str], bytes | None]
"""What is at a moz-extension:// URL; None if nothing is."""


class LoadLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a load may cost."""

    timeout: float = 30.0
    """Seconds, from the first request to the last byte."""
    max_bytes: int = 16_000_000
    """Of a page, unpacked. What is beyond is not read; the page counts all the same."""
    max_redirects: int = 20
    max_concurrent: int = 32
    """How many loads may be under way at the same time; others wait for their turn."""


class HttpEngine(Engine):
    """Asks for pages over HTTP. `options` are those of httpx.AsyncClient, for every identity.

    `requests` has those who listen to requests, and may change them; `packed` knows the pages of extensions.
    """

    name: ClassVar[str] = "HTTP"
    keeps_hidden_pages: ClassVar[bool] = True  # a page that nobody sees costs nothing

    def __init__(
        self,
        identities: Identities,
        cookies: CookieStores,
        limits: LoadLimits | None = None,
        options: Mapping[str, Any] | None = None,
        requests: RequestEvents | None = None,
        packed: Packed | None = None,
    ) -> None:
        self.limits = limits or LoadLimits()
        """What a load may cost."""
        self._identities = identities
        self._cookies = cookies
        self._options = dict(options or {})
        self._requests = requests or RequestEvents()
        self._packed = packed or (lambda _: None)
        self._reports: EngineDelegate | None = None
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._loads: dict[int, asyncio.Task[None]] = {}
        self._turns = asyncio.Semaphore(self.limits.max_concurrent)

    async def start(self, reports: EngineDelegate) -> None:
        """See Engine."""
        self._reports = reports

    async def stop(self) -> None:
        """See Engine."""
        for tab_id in list(self._loads):
            await self._cancel(tab_id)
        for cookie_store_id in list(self._clients):
            await self.remove_identity(cookie_store_id)

    async def open(self, tab: Tab, kept: bytes | None) -> None:  # noqa: ARG002 - it never keeps anything
        """See Engine. What was complete is not asked for again."""
        await self.navigate(tab)

    async def navigate(self, tab: Tab) -> None:
        """See Engine."""
        await self._cancel(tab.id)
        if tab.loading:
            load = self._loads[tab.id] = asyncio.create_task(self._load(tab))
            load.add_done_callback(lambda done: self._loads.pop(tab.id) if self._loads.get(tab.id) is done else None)

    async def activate(self, tab: Tab) -> None:
        """See Engine. No page is before another."""

    async def close(self, tab_id: int, *, to_hide: bool) -> None:  # noqa: ARG002 - it keeps hidden pages
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
        if self._reports is not None:
            await self._reports.page_updated(tab.id, page, navigation=tab.navigation_id)

    async def _page(self, tab: Tab, visit: _Visit) -> PageState:
        if is_blank(visit.url):
            return visit.page()
        if visit.url.startswith("moz-extension:"):
            return self._own_page(visit)
        if not visit.url.lower().startswith(("http:", "https:")):
            return visit.page(f"the HTTP engine loads http and https only, not {visit.url.partition(':')[0]}")
        try:
            return visit.page(await self._request_page(tab, visit))
        except RequestCancelled as error:
            logger.debug("%s is not loaded: %s", visit.url, error)
            return PageState(tab.url, stopped=True)
        except TimeoutError:
            return visit.page(f"timed out after {self.limits.timeout:g} seconds")
        except Exception as error:
            why = load_error_message(error, visit.url)
            if not why:
                logger.exception("%s could not be loaded", visit.url)
            return visit.page(why or f"it could not be loaded ({str(error) or type(error).__name__})")

    def _own_page(self, visit: _Visit) -> PageState:
        """A page of an extension, from its package."""
        try:
            contents = self._packed(visit.url)
        except PackageError as error:
            return visit.page(str(error))
        if contents is None:
            return visit.page("no extension that runs here has such a page")
        guessed = mimetypes.guess_type(visit.url.partition("?")[0].partition("#")[0])[0]
        visit.content_type = guessed or "application/octet-stream"
        visit.beginning += contents[:_HEAD_SCAN_BYTES]
        return visit.page()

    async def _request_page(self, tab: Tab, visit: _Visit) -> str:
        exchange = self._requests.start_request(RequestFrame(tab.id, tab.window_id, tab.cookie_store_id), visit.url)
        try:
            async with self._turns, asyncio.timeout(self.limits.timeout):
                return await self._visit(tab, exchange, visit)
        except BaseException as error:
            exchange.failed(firefox_error_name(error, visit.url))
            raise

    async def _visit(self, tab: Tab, exchange: RequestLifecycle, visit: _Visit) -> str:
        """Follow redirects to a page and read it; returns why that did not work."""
        if not httpx.URL(visit.url).host:
            raise httpx.InvalidURL("it names no host")
        client = await self._client(tab.cookie_store_id)
        request: httpx.Request | None = _request(client, visit.url)
        for _ in range(self.limits.max_redirects + 1):
            assert request is not None  # noqa: S101 - there is one before the first turn, and after each redirect
            if request.url.scheme not in ("http", "https"):
                exchange.failed("NS_ERROR_UNKNOWN_PROTOCOL")
                return f"it redirects to {request.url}, and the HTTP engine loads http and https only"
            visit.url = _address(request.url)
            try:
                response = await self._fetch(client, exchange, request)
            except RequestRedirected as elsewhere:
                if elsewhere.url == BLANK:
                    visit.url = BLANK
                    return ""
                request = _request(client, elsewhere.url)
                continue
            async with contextlib.aclosing(response):
                if again := await answer_challenge(exchange, request, response):
                    request = again
                elif response.next_request is None:
                    visit.arrive(response)
                    return await self._arrive(exchange, visit, response)
                else:
                    request = response.next_request
                    exchange.server_redirected(_address(request.url))
                await _drain(response)
        exchange.failed("NS_ERROR_REDIRECT_LOOP")
        return f"too many redirects: more than {self.limits.max_redirects}"

    async def _fetch(
        self, client: httpx.AsyncClient, exchange: RequestLifecycle, request: httpx.Request
    ) -> httpx.Response:
        """The one place where requests go out, each step of a redirect too.

        The identity's cookies are put on in the client's transport, and nobody but the user has asked for the page: so
        all cookies go along, SameSite=Strict too, as when an address is typed into a browser.
        """
        exchange.start_hop(_address(request.url), request.method)
        await exchange.choose_proxy(merge_duplicates(request.headers.multi_items()))
        await exchange.before_request()
        request.extensions[EXCHANGE] = exchange
        response = await client.send(request, stream=True, follow_redirects=False)
        if elsewhere := response.extensions.get(REDIRECT_URL):
            await response.aclose()
            raise RequestRedirected(elsewhere)
        return response

    async def _arrive(self, exchange: RequestLifecycle, visit: _Visit, response: httpx.Response) -> str:
        exchange.response_started()
        problem = await self._read(visit, response)
        exchange.completed()
        return problem

    async def _read(self, visit: _Visit, response: httpx.Response) -> str:
        try:
            async with contextlib.aclosing(decoded_body(response, self.limits.max_bytes)) as pieces:
                async for piece in pieces:
                    visit.beginning += piece[: _HEAD_SCAN_BYTES - len(visit.beginning)]
        except BodyTooLarge:
            return f"larger than {format_bytes(self.limits.max_bytes)}, and the rest was not read"
        except ContentCodingError as error:
            return str(error)
        return ""

    async def _client(self, cookie_store_id: str) -> httpx.AsyncClient:
        identity: IdentityLike = DEFAULT_STORE
        if cookie_store_id != DEFAULT_STORE:  # looked up each time: one that was removed has no client any more
            identity = await self._identities.get(cookie_store_id)
        if cookie_store_id not in self._clients:
            if "verify" not in self._options:
                # Once, because it takes longer than all else; it holds no state of connections that could be shared.
                self._options["verify"] = httpx.create_ssl_context()
            worn = IdentityBinding(self._identities, self._cookies, identity)
            options = {**self._options, "timeout": None}
            self._clients[cookie_store_id] = async_client(
                worn, options, lambda inner: InterceptingTransport(inner, options)
            )
        return self._clients[cookie_store_id]


class _Visit:
    """One load: how far it has come."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.status: int | None = None
        self.content_type = ""
        self.beginning = bytearray()

    def arrive(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.content_type = response.headers.get("Content-Type", "")

    def page(self, error: str = "") -> PageState:
        body = bytes(self.beginning)
        head = read_head(body, self.content_type, self.url) if is_html(self.content_type, body) else Head()
        return PageState(self.url, head.title, head.icon, self.status, media_type(self.content_type), error)


def _request(client: httpx.AsyncClient, url: str) -> httpx.Request:
    return client.build_request("GET", url, headers={**_HEADERS, "Accept-Encoding": accept_encoding()})


def _is_same_page(tab: Tab, url: str) -> bool:
    """Whether only another place in the page that is there is asked for."""
    page, mark, _ = url.partition("#")
    return bool(mark) and url != tab.url and page == tab.url.partition("#")[0] and not tab.error


def _address(url: httpx.URL) -> str:
    """As browsers write it: with a path, if only /."""
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
