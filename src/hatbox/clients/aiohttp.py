"""An aiohttp.ClientSession bound to an identity: adds cookies when a request is written, stores them when a response
starts.

A middleware checks the request and the identity before the connection, so that errors are raised early. A request may
override middlewares.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Mapping
from typing import Any

import aiohttp
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse, hdrs
from aiohttp.connector import Connection
from aiohttp.http import SERVER_SOFTWARE
from aiohttp.typedefs import LooseCookies
from yarl import URL

from hatbox.clients.aiohttp_routes import RoutedConnector, forget_authorization, proxy_timeouts
from hatbox.clients.identity_binding import IdentityBinding
from hatbox.clients.request_chain import request_chain
from hatbox.clients.setting_headers import setting_headers
from hatbox.cookies.request_urls import RequestUrl, request_url_from
from hatbox.errors import CookiesNotAllowed

__all__ = ["session"]


def session(binding: IdentityBinding, options: Mapping[str, Any]) -> aiohttp.ClientSession:
    """An aiohttp.ClientSession; the options are those of aiohttp.ClientSession, without cookies and cookie_jar."""
    for name in ("cookies", "cookie_jar"):
        if options.get(name) is not None:
            raise CookiesNotAllowed(f"{name}= was given")

    async def check_early(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        _refuse_own_cookies(request, binding)
        await binding.open_cookie_store()
        with proxy_timeouts(request):
            return await handler(request)

    bound = _bound_session(binding)(
        **{
            **options,
            "cookies": None,
            "cookie_jar": _EmptyCookieJar(),
            "middlewares": (*options.get("middlewares", ()), check_early),
            "request_class": _request_class(options.get("request_class", ClientRequest), binding),
            "response_class": _response_class(options.get("response_class", ClientResponse), binding),
        }
    )
    bound._connector = RoutedConnector(bound._connector, binding)  # type: ignore[assignment,arg-type]
    return bound


def _bound_session(binding: IdentityBinding) -> type[aiohttp.ClientSession]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # aiohttp discourages subclasses

        class Session(aiohttp.ClientSession):
            async def _request(self, *arguments: Any, **options: Any) -> ClientResponse:
                with request_chain():
                    return await super()._request(*arguments, **options)

            def __repr__(self) -> str:
                return f"<ClientSession bound to {str(binding)!r}>"

    return Session


class _EmptyCookieJar(aiohttp.DummyCookieJar):
    @property
    def unsafe(self) -> bool:
        return True  # otherwise aiohttp would silently drop cookies= for an IP address

    def update_cookies(
        self,
        cookies: LooseCookies,  # noqa: ARG002 - part of the signature
        response_url: URL = URL(),  # noqa: B008 - as aiohttp has it
    ) -> None:
        if not response_url.host:
            raise CookiesNotAllowed("cookies were put into a client's own jar")


def _request_class(base: type[ClientRequest], binding: IdentityBinding) -> type[ClientRequest]:
    class Request(base):  # type: ignore[valid-type,misc]
        def update_cookies(self, cookies: LooseCookies | None) -> None:
            if cookies:
                raise CookiesNotAllowed("cookies= was given")

        async def send(self, conn: Connection) -> ClientResponse:
            await _add_cookies(self, binding)
            try:
                response: ClientResponse = await super().send(conn)
            finally:
                forget_authorization(self)
            return response

    return Request


def _response_class(base: type[ClientResponse], binding: IdentityBinding) -> type[ClientResponse]:
    class Response(base):  # type: ignore[valid-type,misc]
        async def start(self, connection: Connection) -> ClientResponse:
            started: ClientResponse = await super().start(connection)
            set_cookie_values = [value for name, value in self.raw_headers if name.lower() == b"set-cookie"]
            await binding.receive(_request_url(self.url), set_cookie_values)
            return started

    return Response


async def _add_cookies(request: ClientRequest, binding: IdentityBinding) -> None:
    """Set the Cookie header, replacing one that was set here before, and the headers of the settings."""
    _refuse_own_cookies(request, binding)
    # Changes by other processes were read when the request was connected.
    state = await binding.delivered_state(_request_url(request.url))
    request.headers.popall(hdrs.COOKIE, None)
    if cookies := _encodable(state.cookies):
        request.headers[hdrs.COOKIE] = cookies
    request.headers.update(
        setting_headers(
            state.settings,
            request.headers.get(hdrs.USER_AGENT),
            SERVER_SOFTWARE,
            has_accept_language=hdrs.ACCEPT_LANGUAGE in request.headers,
        )
    )


def _refuse_own_cookies(request: ClientRequest, binding: IdentityBinding) -> None:
    if hdrs.COOKIE in request.headers and getattr(request, "_hatbox_binding", None) is not binding:
        raise CookiesNotAllowed("the request has a Cookie header of its own")
    request._hatbox_binding = binding  # type: ignore[attr-defined]


def _encodable(header: str) -> str:
    """The header as text. aiohttp sends UTF-8 only, so other cookies are dropped."""
    if header.isascii():
        return header
    texts: list[str] = []
    for pair in header.split("; "):
        with contextlib.suppress(UnicodeDecodeError):
            texts.append(pair.encode("latin-1").decode("utf-8"))
    return "; ".join(texts)


def _request_url(url: URL) -> RequestUrl:
    return request_url_from(url.scheme, url.raw_host or "", url.raw_path)
