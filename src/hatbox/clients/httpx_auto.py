"""httpx clients whose requests each use the identity of their URL, as the site rules decide.

Each identity has a client of its own, with its own connections. That client follows redirects, so they stay in the
identity in which they started, as sign-in needs. `Response.next_request` stays there too: the object itself, because
callers copy the extensions and headers of a request into others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

import httpx

from hatbox.clients.httpx import _NoClientCookies, _without_cookies

__all__ = ["auto_async_client", "auto_client"]

_TRANSPORT_OPTIONS: Final = frozenset(
    {"verify", "cert", "trust_env", "http1", "http2", "proxy", "mounts", "limits", "transport"}
)
_REFUSING: Final = httpx.MockTransport(lambda request: httpx.Response(500, request=request))
"""The transport of the client itself, which never sends. Without one, httpx would load certificates."""

_Default: TypeAlias = httpx._client.UseClientDefault
_DEFAULT: Final = httpx.USE_CLIENT_DEFAULT
_Redirects: TypeAlias = "WeakKeyDictionary[httpx.Request, str]"
"""The cookieStoreIds of requests that a response offered as its next_request."""


def auto_async_client(
    choose: Callable[[str], Awaitable[str]],
    create: Callable[[str], httpx.AsyncClient],
    options: Mapping[str, Any],
) -> httpx.AsyncClient:
    """An httpx.AsyncClient. `choose` returns the cookieStoreId for a URL, `create` the client of an identity."""
    return _AutoAsyncClient(choose, create, options)


def auto_client(
    choose: Callable[[str], str], create: Callable[[str], httpx.Client], options: Mapping[str, Any]
) -> httpx.Client:
    """An httpx.Client. `choose` returns the cookieStoreId for a URL, `create` the client of an identity."""
    return _AutoClient(choose, create, options)


class _AutoClient(_NoClientCookies, httpx.Client):
    def __init__(
        self, choose: Callable[[str], str], create: Callable[[str], httpx.Client], options: Mapping[str, Any]
    ) -> None:
        super().__init__(**_request_options(options), transport=_REFUSING)
        self._headers = httpx.Headers(options.get("headers"))  # the client of the identity adds the others
        self._choose = choose
        self._create = create
        self._clients: dict[str, httpx.Client] = {}
        self._redirects: _Redirects = WeakKeyDictionary()

    def __repr__(self) -> str:
        return "<Client bound to the identity of each URL>"

    def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        auth: Any = _DEFAULT,
        follow_redirects: bool | _Default = _DEFAULT,
    ) -> httpx.Response:
        _expect_open(self)
        store_id = self._redirects.get(request) or self._choose(_url_of(request))
        client = self._clients.get(store_id)
        if client is None:
            # Two threads may create one at the same time: both use the first.
            client = self._clients.setdefault(store_id, self._create(store_id))
        _add_headers(request, client)
        response = client.send(request, stream=stream, auth=auth, follow_redirects=follow_redirects)
        if response.next_request is not None:
            self._redirects[response.next_request] = store_id
        return response

    def close(self) -> None:
        super().close()
        for client in self._clients.values():
            client.close()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self.close()


class _AutoAsyncClient(_NoClientCookies, httpx.AsyncClient):
    def __init__(
        self,
        choose: Callable[[str], Awaitable[str]],
        create: Callable[[str], httpx.AsyncClient],
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(**_request_options(options), transport=_REFUSING)
        self._headers = httpx.Headers(options.get("headers"))  # the client of the identity adds the others
        self._choose = choose
        self._create = create
        self._clients: dict[str, httpx.AsyncClient] = {}
        self._redirects: _Redirects = WeakKeyDictionary()

    def __repr__(self) -> str:
        return "<AsyncClient bound to the identity of each URL>"

    async def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        auth: Any = _DEFAULT,
        follow_redirects: bool | _Default = _DEFAULT,
    ) -> httpx.Response:
        _expect_open(self)
        store_id = self._redirects.get(request) or await self._choose(_url_of(request))
        client = self._clients.get(store_id)
        if client is None:
            client = self._clients[store_id] = self._create(store_id)
        _add_headers(request, client)
        response = await client.send(request, stream=stream, auth=auth, follow_redirects=follow_redirects)
        if response.next_request is not None:
            self._redirects[response.next_request] = store_id
        return response

    async def aclose(self) -> None:
        await super().aclose()
        for client in self._clients.values():
            await client.aclose()

    async def __aexit__(self, *error: Any) -> None:
        await super().__aexit__(*error)
        await self.aclose()


def _request_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that concern building a request. The client of an identity gets all of them."""
    return {name: value for name, value in _without_cookies(options).items() if name not in _TRANSPORT_OPTIONS}


def _expect_open(client: httpx.Client | httpx.AsyncClient) -> None:
    if client.is_closed:
        raise RuntimeError("Cannot send a request, as the client has been closed.")  # as httpx says it


def _url_of(request: httpx.Request) -> str:
    """The URL as httpx sends it: rules must decide about the host that httpx connects to."""
    url = request.url
    host = url.raw_host.decode("ascii")
    port = "" if url.port is None else f":{url.port}"
    return f"{url.scheme}://{f'[{host}]' if ':' in host else host}{port}{url.raw_path.decode('ascii')}"


def _add_headers(request: httpx.Request, client: httpx.Client | httpx.AsyncClient) -> None:
    for name, value in client.headers.items():
        request.headers.setdefault(name, value)
