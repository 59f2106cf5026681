"""A requests.Session bound to an identity. The adapter mounted for a URL is wrapped.

requests builds the Cookie header of a redirected or repeated request from a jar attached to the request. Here it is the
session's empty jar, which also marks the requests of this session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.cookies import RequestsCookieJar
from requests.exceptions import ContentDecodingError

from hatbox.clients.disabled_cookie_jar import DisabledCookieJar
from hatbox.clients.identity_binding import SyncIdentityBinding
from hatbox.clients.request_chain import request_chain
from hatbox.clients.requests_routes import RequestsRoutes, proxy_errors
from hatbox.clients.setting_headers import setting_headers
from hatbox.content_coding import ContentCodingError, check_expansion, codings_of
from hatbox.cookies.request_urls import RequestUrl, request_url_from
from hatbox.errors import CookiesNotAllowed

__all__ = ["session"]

_DEFAULT_USER_AGENT: Final = requests.utils.default_user_agent()


def session(binding: SyncIdentityBinding) -> requests.Session:
    """A requests.Session bound to an identity."""
    return _Session(binding)


class _EmptyRequestsJar(DisabledCookieJar, RequestsCookieJar):
    def copy(self) -> _EmptyRequestsJar:
        return self


class _Session(requests.Session):
    def __init__(self, binding: SyncIdentityBinding) -> None:
        self._empty = _EmptyRequestsJar()
        self._routes = RequestsRoutes()
        self._binding: SyncIdentityBinding | None = None
        super().__init__()
        self._binding = binding

    def __repr__(self) -> str:
        return f"<Session bound to {str(self._binding)!r}>"

    def __copy__(self) -> _Session:
        if self._binding is None:
            raise RuntimeError("session is not bound to an identity")
        copied = _Session(self._binding)
        for name in requests.Session.__attrs__:
            if name != "cookies":
                setattr(copied, name, getattr(self, name))
        return copied

    def __getstate__(self) -> NoReturn:
        raise TypeError("a session that is bound to an identity cannot be pickled or copied deeply: bind another one")

    @property
    def cookies(self) -> RequestsCookieJar:
        """Always empty: cookies are in the cookie store of the identity."""
        return self._empty

    @cookies.setter
    def cookies(self, _: object) -> None:
        if self._binding is not None:  # requests.Session sets a jar in its constructor
            raise CookiesNotAllowed("a session was given a jar")

    def get_adapter(self, url: str) -> BaseAdapter:
        if self._binding is None:
            raise RuntimeError("session is not bound to an identity")
        return _Adapter(super().get_adapter(url), self._binding, self._routes)

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        if request._cookies is not self._empty:
            if "Cookie" in request.headers:
                raise CookiesNotAllowed("the request has a Cookie header of its own")
            request._cookies = self._empty
        with request_chain():
            return super().send(request, **options)

    def close(self) -> None:
        self._routes.close()
        super().close()


class _Adapter(BaseAdapter):
    """Wraps the mounted adapter, also one of the user."""

    def __init__(self, inner: BaseAdapter, binding: SyncIdentityBinding, routes: RequestsRoutes) -> None:
        super().__init__()
        self._inner = inner
        self._binding = binding
        self._routes = routes

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:
        request_url = _request_url(request)
        outgoing = request.copy()
        outgoing.headers.pop("Cookie", None)
        cookies, settings = self._binding.request_state(request_url)
        if cookies:
            outgoing.headers["Cookie"] = cookies
        user_agent = outgoing.headers.get("User-Agent", _DEFAULT_USER_AGENT)  # without one, urllib3 would add its own
        outgoing.headers.update(
            setting_headers(
                settings,
                user_agent if isinstance(user_agent, str) else user_agent.decode("latin-1"),
                _DEFAULT_USER_AGENT,
                has_accept_language="Accept-Language" in outgoing.headers,
            )
        )
        inner = self._inner if settings.proxy is None else self._routes.adapter(self._inner, settings.proxy)
        with proxy_errors(outgoing, inner, options):
            response = inner.send(outgoing, *arguments, **options)
        try:
            self._binding.receive(request_url, _set_cookie_values(response))
        except BaseException:
            response.close()
            raise
        _bound(response)
        response.connection = self  # type: ignore[assignment] # by which digest authentication sends the request once more
        return response

    def close(self) -> NoReturn:
        raise RuntimeError("a session closes the adapters that are mounted")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _bound(response: requests.Response) -> None:
    """Limit a response to two codings and to the expansion of one. urllib3 decodes; this counts the bytes."""
    try:
        codings_of(response.headers.get("Content-Encoding", ""))
    except ContentCodingError as error:
        response.close()
        raise ContentDecodingError(error, request=response.request) from error
    read, position = response.iter_content, getattr(response.raw, "tell", None)
    if position is None:  # an adapter that does not use urllib3
        return

    def counted(chunks: Iterator[Any]) -> Iterator[Any]:
        size = 0
        for chunk in chunks:
            size += len(chunk)
            try:
                check_expansion(position(), size)
            except ContentCodingError as error:
                response.close()
                raise ContentDecodingError(error, request=response.request) from error
            yield chunk

    def iter_content(chunk_size: int | None = 1, decode_unicode: bool = False) -> Iterator[Any]:
        return counted(read(chunk_size, decode_unicode))  # type: ignore[call-overload]

    response.iter_content = iter_content  # type: ignore[method-assign]


def _request_url(request: requests.PreparedRequest) -> RequestUrl:
    url = urlsplit(request.url or "")
    return request_url_from(url.scheme, url.hostname or "", url.path)


def _set_cookie_values(response: requests.Response) -> list[bytes]:
    headers: Any = getattr(response.raw, "headers", None)
    if hasattr(headers, "getlist"):
        values = headers.getlist("Set-Cookie")
    else:  # the answer of an adapter that does without urllib3, and has joined what it got
        values = [value] if (value := response.headers.get("Set-Cookie")) else []
    return [value.encode("latin-1", "replace") for value in values]
