"""httpx clients that wear an identity, hooked in around every transport that the client has.

A request that has gone through without cookies of its own is marked as ours: httpx itself puts the cookies of a 401
answer into the request that it repeats for digest authentication, and these are replaced like any others.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Final, NoReturn, TypeAlias, TypeVar, cast

import httpx

from hatbox.clients.empty_jar import DisabledCookieJar
from hatbox.clients.identity_binding import IdentityBinding, SyncIdentityBinding
from hatbox.content_coding import ContentCodingError, ContentDecoder, accept_encoding
from hatbox.cookies.request_urls import RequestUrl, target_from
from hatbox.errors import CookiesNotAllowed

__all__ = ["async_client", "client", "decoded_body"]

T = TypeVar("T")

Around: TypeAlias = Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]

_MARK: Final = "hatbox.worn"


def client(worn: SyncIdentityBinding, options: Mapping[str, Any]) -> httpx.Client:
    """An httpx.Client; the options are those of httpx.Client, without cookies."""
    return _Client(worn, options)


def async_client(worn: IdentityBinding, options: Mapping[str, Any], around: Around | None = None) -> httpx.AsyncClient:
    """An httpx.AsyncClient; the options are those of httpx.AsyncClient, without cookies.

    `around` may put something around each transport: it sees requests with the identity's cookies, and responses
    before cookies are taken from them.
    """
    return _AsyncClient(worn, options, around)


async def decoded_body(response: httpx.Response, most_bytes: int) -> AsyncGenerator[bytes, None]:
    """The decoded body of a streamed response, in chunks. Raises ContentCodingError beyond `most_bytes`."""
    if response.is_stream_consumed:  # a mock transport: httpx has decoded the body already
        for piece in ContentDecoder("", most_bytes).decode(response.content):
            yield piece
        return
    decoder = ContentDecoder(response.headers.get("Content-Encoding", ""), most_bytes)
    # It is a generator, which httpx does not declare: it has to be closed if it is not read to its end.
    async with contextlib.aclosing(cast("AsyncGenerator[bytes, None]", response.aiter_raw())) as chunks:
        async for chunk in chunks:
            for piece in decoder.decode(chunk):
                yield piece


class _NoClientCookies:
    """The jar of both clients; it stands before httpx's own class, whose `cookies` it takes the place of."""

    _cookies: httpx.Cookies

    @property
    def cookies(self) -> httpx.Cookies:
        """Always empty: the cookies are in the identity's store."""
        return self._cookies

    @cookies.setter
    def cookies(self, _: object) -> NoReturn:
        raise CookiesNotAllowed("a client was given a jar")


class _Client(_NoClientCookies, httpx.Client):
    def __init__(self, worn: SyncIdentityBinding, options: Mapping[str, Any]) -> None:
        super().__init__(**_without_cookies(options))
        _accept_codings(self, options)
        self._transport = _Transport(self._transport, worn)
        self._mounts = _wrapped(self._mounts, lambda inner: _Transport(inner, worn))


class _AsyncClient(_NoClientCookies, httpx.AsyncClient):
    def __init__(self, worn: IdentityBinding, options: Mapping[str, Any], around: Around | None) -> None:
        super().__init__(**_without_cookies(options))
        _accept_codings(self, options)
        self._worn = worn

        def dress(inner: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
            return _AsyncTransport(inner if around is None else around(inner), worn)

        self._transport = dress(self._transport)
        self._mounts = _wrapped(self._mounts, dress)

    async def __aenter__(self) -> _AsyncClient:
        await self._worn.open_cookie_store()
        return await super().__aenter__()


class _Transport(httpx.BaseTransport):
    def __init__(self, inner: httpx.BaseTransport, worn: SyncIdentityBinding) -> None:
        self._inner = inner
        self._worn = worn

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        _refuse_own_cookies(request, self._worn)
        target = _target(request)
        response = self._inner.handle_request(_with_cookie_header(request, self._worn.header(target)))
        try:
            self._worn.receive(target, _lines(response))
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


class _AsyncTransport(httpx.AsyncBaseTransport):
    def __init__(self, inner: httpx.AsyncBaseTransport, worn: IdentityBinding) -> None:
        self._inner = inner
        self._worn = worn

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        _refuse_own_cookies(request, self._worn)
        target = _target(request)
        response = await self._inner.handle_async_request(_with_cookie_header(request, await self._worn.header(target)))
        try:
            await self._worn.receive(target, _lines(response))
        except BaseException:
            await response.aclose()
            raise
        return _bounded(response)

    async def __aenter__(self) -> _AsyncTransport:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._inner.__aexit__(*error)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedDecoder:
    """The decoder that httpx uses. It is created when the body is read, so that errors are raised there."""

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


def _refuse_own_cookies(request: httpx.Request, worn: IdentityBinding | SyncIdentityBinding) -> None:
    if request.extensions.get(_MARK) is worn:
        return
    if "Cookie" in request.headers:
        raise CookiesNotAllowed("the request has a Cookie header of its own")
    request.extensions[_MARK] = worn


def _target(request: httpx.Request) -> RequestUrl:
    url = request.url
    return target_from(url.scheme, url.raw_host.decode("ascii"), url.raw_path.decode("ascii"))


def _with_cookie_header(request: httpx.Request, cookies: str) -> httpx.Request:
    """The request that goes out. The caller's own stays bare, and can be sent with another identity as well."""
    headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"cookie"]
    if cookies:
        headers.append((b"Cookie", cookies.encode("latin-1")))
    return httpx.Request(
        request.method, request.url, headers=headers, stream=request.stream, extensions=request.extensions
    )


def _lines(response: httpx.Response) -> list[bytes]:
    return [value for name, value in response.headers.raw if name.lower() == b"set-cookie"]
