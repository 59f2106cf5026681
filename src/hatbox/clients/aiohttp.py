"""An aiohttp.ClientSession that wears an identity, hooked in where a request is written and where its answer begins.

A middleware looks first, before anything is connected. A single request can do without it, and it is not what counts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import aiohttp
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse, hdrs
from aiohttp.connector import Connection
from aiohttp.typedefs import LooseCookies
from yarl import URL

from hatbox.clients.identity_binding import IdentityBinding
from hatbox.cookies.request_urls import RequestUrl, target_from
from hatbox.errors import CookiesNotAllowed

__all__ = ["session"]


def session(worn: IdentityBinding, options: Mapping[str, Any]) -> aiohttp.ClientSession:
    """An aiohttp.ClientSession; the options are those of aiohttp.ClientSession, without cookies and cookie_jar."""
    for name in ("cookies", "cookie_jar"):
        if options.get(name) is not None:
            raise CookiesNotAllowed(f"{name}= was given")

    async def look_first(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        await _dress(request, worn)
        return await handler(request)

    return aiohttp.ClientSession(
        **{
            **options,
            "cookies": None,
            "cookie_jar": _EmptyCookieJar(),
            "middlewares": (*options.get("middlewares", ()), look_first),
            "request_class": _request_class(options.get("request_class", ClientRequest), worn),
            "response_class": _response_class(options.get("response_class", ClientResponse), worn),
        }
    )


class _EmptyCookieJar(aiohttp.DummyCookieJar):
    @property
    def unsafe(self) -> bool:
        return True  # else aiohttp would leave out, and not bring to our notice, cookies= for an IP address

    def update_cookies(
        self,
        cookies: LooseCookies,  # noqa: ARG002 - whatever they are
        response_url: URL = URL(),  # noqa: B008 - as aiohttp has it
    ) -> None:
        if not response_url.host:
            raise CookiesNotAllowed("cookies were put into a client's own jar")


def _request_class(base: type[ClientRequest], worn: IdentityBinding) -> type[ClientRequest]:
    class Request(base):  # type: ignore[valid-type,misc]
        def update_cookies(self, cookies: LooseCookies | None) -> None:
            if cookies:
                raise CookiesNotAllowed("cookies= was given")

        async def send(self, conn: Connection) -> ClientResponse:
            await _dress(self, worn)
            response: ClientResponse = await super().send(conn)
            return response

    return Request


def _response_class(base: type[ClientResponse], worn: IdentityBinding) -> type[ClientResponse]:
    class Response(base):  # type: ignore[valid-type,misc]
        async def start(self, connection: Connection) -> ClientResponse:
            started: ClientResponse = await super().start(connection)
            lines = [value for name, value in self.raw_headers if name.lower() == b"set-cookie"]
            await worn.receive(_target(self.url), lines)
            return started

    return Response


async def _dress(request: ClientRequest, worn: IdentityBinding) -> None:
    """Give the request its cookies, in the place of those that it got from here before."""
    if hdrs.COOKIE in request.headers and getattr(request, "_hatbox_worn", None) is not worn:
        raise CookiesNotAllowed("the request has a Cookie header of its own")
    request._hatbox_worn = worn  # type: ignore[attr-defined]
    cookies = _encodable(await worn.header(_target(request.url)))
    request.headers.popall(hdrs.COOKIE, None)
    if cookies:
        request.headers[hdrs.COOKIE] = cookies


def _encodable(header: str) -> str:
    """The header as text. aiohttp sends UTF-8 only, so a cookie that is something else has to stay behind."""
    if header.isascii():
        return header
    texts: list[str] = []
    for pair in header.split("; "):
        with contextlib.suppress(UnicodeDecodeError):
            texts.append(pair.encode("latin-1").decode("utf-8"))
    return "; ".join(texts)


def _target(url: URL) -> RequestUrl:
    return target_from(url.scheme, url.raw_host or "", url.raw_path)
