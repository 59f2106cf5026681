"""httpx clients bound to an identity. Every transport of the client is wrapped.

Requests that were checked for own cookies are marked: httpx itself copies the cookies of a 401 response into the
request that it repeats for digest authentication, and those are replaced.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Final, NoReturn, TypeAlias, TypeVar, cast

import httpx

from hatbox.clients.disabled_cookie_jar import DisabledCookieJar
from hatbox.clients.httpx_routes import (
    PROXY_KEY,
    AsyncProxyRoutes,
    IsNamed,
    RoutedAsyncTransport,
    RoutedTransport,
    SyncProxyRoutes,
)
from hatbox.clients.identity_binding import IdentityBinding, RequestState, SyncIdentityBinding
from hatbox.clients.request_chain import request_chain
from hatbox.clients.setting_headers import setting_headers
from hatbox.clients.wrapped_transport import WrappedTransport
from hatbox.content_coding import ContentCodingError, ContentDecoder, accept_encoding
from hatbox.cookies.request_urls import RequestUrl, request_url_from
from hatbox.errors import CookiesNotAllowed
from hatbox.identity.settings import NO_SETTINGS
from hatbox.tasks import AsyncOnly

__all__ = ["async_client", "client", "decoded_body"]

T = TypeVar("T")

TransportWrapper: TypeAlias = Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]

_BINDING_KEY: Final = "hatbox.binding"
_DEFAULT_USER_AGENT: Final = f"python-httpx/{httpx.__version__}"


def client(binding: SyncIdentityBinding, options: Mapping[str, Any]) -> httpx.Client:
    """An httpx.Client; the options are those of httpx.Client, without cookies."""
    return _Client(binding, options)


def async_client(
    binding: IdentityBinding,
    options: Mapping[str, Any],
    wrap_transport: TransportWrapper | None = None,
    is_named: IsNamed | None = None,
) -> httpx.AsyncClient:
    """An httpx.AsyncClient; the options are those of httpx.AsyncClient, without cookies.

    `wrap_transport` wraps each transport. The wrapper sees requests with the identity's cookies, and responses with
    Set-Cookie. With `is_named`, hosts for which it is false are refused if they have an address of a private network.
    """
    return _AsyncClient(binding, options, wrap_transport, is_named)


async def decoded_body(response: httpx.Response, max_bytes: int) -> AsyncGenerator[bytes, None]:
    """The decoded body of a streamed response, in chunks. Raises ContentCodingError beyond `max_bytes`."""
    if response.is_stream_consumed:  # a mock transport: httpx has decoded the body already
        for piece in ContentDecoder("", max_bytes).decode(response.content):
            yield piece
        return
    decoder = ContentDecoder(response.headers.get("Content-Encoding", ""), max_bytes)
    # A generator, although httpx does not declare it: it must be closed if it is not read to its end.
    async with contextlib.aclosing(cast("AsyncGenerator[bytes, None]", response.aiter_raw())) as chunks:
        async for chunk in chunks:
            for piece in decoder.decode(chunk):
                yield piece


class _NoClientCookies:
    """Overrides `cookies` of both clients, and names the identity in their repr."""

    _cookies: httpx.Cookies
    _binding: IdentityBinding | SyncIdentityBinding

    def __repr__(self) -> str:
        return f"<{type(self).__mro__[2].__qualname__} bound to {str(self._binding)!r}>"

    @property
    def cookies(self) -> httpx.Cookies:
        """Always empty: cookies are in the cookie store of the identity."""
        return self._cookies

    @cookies.setter
    def cookies(self, _: object) -> NoReturn:
        raise CookiesNotAllowed("a client was given a jar")


class _Client(_NoClientCookies, httpx.Client):
    def __init__(self, binding: SyncIdentityBinding, options: Mapping[str, Any]) -> None:
        super().__init__(**_without_cookies(options))
        _accept_codings(self, options)
        self._binding = binding
        routes = SyncProxyRoutes(options)

        def wrap(inner: httpx.BaseTransport) -> httpx.BaseTransport:
            return _Transport(RoutedTransport(inner, routes), binding, routes)

        self._transport = wrap(self._transport)
        self._mounts = _wrapped(self._mounts, wrap)

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        with request_chain():
            return super().send(request, **options)


class _AsyncClient(AsyncOnly, _NoClientCookies, httpx.AsyncClient):
    def __init__(
        self,
        binding: IdentityBinding,
        options: Mapping[str, Any],
        wrap_transport: TransportWrapper | None,
        is_named: IsNamed | None,
    ) -> None:
        super().__init__(**_without_cookies(options))
        _accept_codings(self, options)
        self._binding: IdentityBinding = binding

        routes = AsyncProxyRoutes(options, is_named)

        def wrap(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
            routed = RoutedAsyncTransport(routes.checked(inner), routes)
            return _AsyncTransport(routed if wrap_transport is None else wrap_transport(routed), binding, routes)

        self._transport = wrap(self._transport)
        self._mounts = _wrapped(self._mounts, wrap)

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        with request_chain():
            return await super().send(request, **options)

    async def __aenter__(self) -> _AsyncClient:
        await self._binding.open_cookie_store()
        return await super().__aenter__()


class _Transport(httpx.BaseTransport):
    def __init__(self, inner: httpx.BaseTransport, binding: SyncIdentityBinding, routes: SyncProxyRoutes) -> None:
        self._inner = inner
        self._binding = binding
        self._routes = routes

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        _refuse_own_cookies(request, self._binding)
        request_url = _request_url(request)
        state = self._binding.request_state(request_url)
        response = self._inner.handle_request(_outgoing(request, state, self._routes.extensions(state.settings)))
        try:
            self._binding.receive(request_url, _set_cookie_values(response))
        except BaseException:
            response.close()
            raise
        return _bounded(response)

    def __enter__(self) -> _Transport:
        self._inner.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._inner.__exit__(*error)

    def close(self) -> None:
        self._inner.close()


class _AsyncTransport(WrappedTransport):
    def __init__(self, inner: httpx.AsyncBaseTransport, binding: IdentityBinding, routes: AsyncProxyRoutes) -> None:
        super().__init__(inner)
        self._binding = binding
        self._routes = routes

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        _refuse_own_cookies(request, self._binding)
        request_url = _request_url(request)
        state = await self._binding.request_state(request_url)
        response = await self._inner.handle_async_request(
            _outgoing(request, state, self._routes.extensions(state.settings))
        )
        try:
            await self._binding.receive(request_url, _set_cookie_values(response))
        except BaseException:
            await response.aclose()
            raise
        return _bounded(response)


class _BoundedDecoder:
    """The decoder that httpx uses. Created when the body is read, so that errors are raised there."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._decoder: ContentDecoder | None = None

    def decode(self, data: bytes) -> bytes:
        try:
            if self._decoder is None:
                self._decoder = ContentDecoder(self._response.headers.get("Content-Encoding", ""))
            return b"".join(self._decoder.decode(data))
        except ContentCodingError as error:
            raise httpx.DecodingError(str(error), request=self._response.request) from error

    def flush(self) -> bytes:
        return b""


def _bounded(response: httpx.Response) -> httpx.Response:
    """The response with a decoder that has a limit. httpx would decode any number of codings."""
    if "Content-Encoding" in response.headers:
        response._decoder = _BoundedDecoder(response)  # type: ignore[assignment]
    return response


def _accept_codings(client: httpx.Client | httpx.AsyncClient, options: Mapping[str, Any]) -> None:
    """Request the codings that can be decoded within a limit, unless the caller has set Accept-Encoding."""
    if "Accept-Encoding" not in httpx.Headers(options.get("headers")):
        client.headers["Accept-Encoding"] = accept_encoding()


def _without_cookies(options: Mapping[str, Any]) -> dict[str, Any]:
    if options.get("cookies") is not None:
        raise CookiesNotAllowed("cookies= was given")
    return {**options, "cookies": DisabledCookieJar()}


def _wrapped(mounts: Mapping[Any, T | None], wrap: Callable[[T], T]) -> dict[Any, T | None]:
    return {pattern: None if inner is None else wrap(inner) for pattern, inner in mounts.items()}


def _refuse_own_cookies(request: httpx.Request, binding: IdentityBinding | SyncIdentityBinding) -> None:
    if request.extensions.get(_BINDING_KEY) is binding:
        return
    if "Cookie" in request.headers:
        raise CookiesNotAllowed("the request has a Cookie header of its own")
    request.extensions[_BINDING_KEY] = binding


def _request_url(request: httpx.Request) -> RequestUrl:
    url = request.url
    return request_url_from(url.scheme, url.raw_host.decode("ascii"), url.raw_path.decode("ascii"))


def _outgoing(request: httpx.Request, state: RequestState, extensions: Mapping[str, str]) -> httpx.Request:
    """A copy of the request with cookies and settings. The caller's request can be sent with another identity too."""
    headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"cookie"]
    if state.cookies:
        headers.append((b"Cookie", state.cookies.encode("latin-1")))
    own = {name: value for name, value in request.extensions.items() if name != PROXY_KEY}
    outgoing = httpx.Request(
        request.method, request.url, headers=headers, stream=request.stream, extensions={**own, **extensions}
    )
    if state.settings != NO_SETTINGS:
        outgoing.headers.update(
            setting_headers(
                state.settings,
                request.headers.get("User-Agent"),
                _DEFAULT_USER_AGENT,
                has_accept_language="Accept-Language" in request.headers,
            )
        )
    return outgoing


def _set_cookie_values(response: httpx.Response) -> list[bytes]:
    return [value for name, value in response.headers.raw if name.lower() == b"set-cookie"]
