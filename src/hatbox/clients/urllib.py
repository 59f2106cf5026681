"""A urllib opener bound to an identity. The last request processor adds cookies, the first response processor stores
them.

In another order, a later handler could add a Cookie header, or an earlier one follow a redirect before its cookies are
stored.
"""

from __future__ import annotations

import copy
import sys
import urllib.request
from collections.abc import Sequence
from http.client import HTTPResponse
from typing import Any, Final, cast
from urllib.request import BaseHandler, OpenerDirector, Request
from weakref import WeakKeyDictionary

from hatbox.clients.identity_binding import SyncIdentityBinding
from hatbox.clients.request_chain import request_chain
from hatbox.clients.setting_headers import setting_headers
from hatbox.clients.urllib_routes import needs_network, proxy_errors, send
from hatbox.cookies.request_urls import RequestUrl, parse_request_url
from hatbox.errors import CookiesNotAllowed

__all__ = ["opener"]

_DEFAULT_USER_AGENT: Final = f"Python-urllib/{urllib.request.__version__}"  # type: ignore[attr-defined]
_PROXY: Final = "_hatbox_proxy"  # the attribute of a request with the proxy setting of its identity


def opener(binding: SyncIdentityBinding, handlers: Sequence[BaseHandler | type[BaseHandler]]) -> OpenerDirector:
    """An opener with these handlers, as from urllib.request.build_opener, bound to an identity."""
    for handler in handlers:
        kind = handler if isinstance(handler, type) else type(handler)
        if issubclass(kind, urllib.request.HTTPCookieProcessor):
            raise CookiesNotAllowed("a handler with a jar was given")
    in_flight: WeakKeyDictionary[Request, RequestUrl] = WeakKeyDictionary()
    processors = _RequestProcessor(binding, in_flight), _ResponseProcessor(binding, in_flight)
    built = urllib.request.build_opener(*handlers, *processors)
    built.__class__ = _BoundOpener  # build_opener() has no parameter for the class
    cast("_BoundOpener", built).binding = binding
    return built


class _BoundOpener(OpenerDirector):
    binding: SyncIdentityBinding

    def __repr__(self) -> str:
        return f"<OpenerDirector bound to {str(self.binding)!r}>"

    def open(self, *arguments: Any, **options: Any) -> Any:
        """Send a request, and those of its redirects."""
        with request_chain():
            return super().open(*arguments, **options)

    def _open(self, req: Request, data: Any = None) -> Any:
        """Send a request: as urllib does, or by the proxy of the identity."""
        proxy = getattr(req, _PROXY, "")
        if proxy == "" and needs_network(req):  # not http: the processor below has not seen it
            proxy = self.binding.settings().proxy
        if proxy:
            return send(self, req, proxy)
        with proxy_errors(lambda: _proxy_of(req)):
            return super()._open(req, data)  # type: ignore[misc]


def _proxy_of(request: Request) -> str:
    """The proxy of the environment that urllib has set on a request; empty without one."""
    return request.host if request.has_proxy() or request._tunnel_host else ""  # type: ignore[attr-defined]


class _RequestProcessor(BaseHandler):
    handler_order = sys.maxsize

    def __init__(self, binding: SyncIdentityBinding, in_flight: WeakKeyDictionary[Request, RequestUrl]) -> None:
        self._binding = binding
        self._in_flight = in_flight

    def http_request(self, request: Request) -> Request:
        """A copy of the request with cookies. The caller's request can be sent again with another identity."""
        request_url = self._in_flight.get(request)  # known if urllib repeats the request with authentication
        if request_url is None:
            if request.has_header("Cookie"):
                raise CookiesNotAllowed("the request has a Cookie header of its own")
            request_url = parse_request_url(f"{request.type}://{request.host}{request.selector}")
            request = copy.copy(request)
            request.unredirected_hdrs = dict(request.unredirected_hdrs)
            self._in_flight[request] = request_url
        request.remove_header("Cookie")
        cookies, settings = self._binding.request_state(request_url)
        if cookies:
            request.add_unredirected_header("Cookie", cookies)
        headers = setting_headers(
            settings,
            request.get_header("User-agent"),
            _DEFAULT_USER_AGENT,
            has_accept_language=request.has_header("Accept-language"),
        )
        for name, value in headers.items():
            request.add_unredirected_header(name, value)
        setattr(request, _PROXY, settings.proxy)
        return request

    https_request = http_request


class _ResponseProcessor(BaseHandler):
    handler_order = -sys.maxsize

    def __init__(self, binding: SyncIdentityBinding, in_flight: WeakKeyDictionary[Request, RequestUrl]) -> None:
        self._binding = binding
        self._in_flight = in_flight

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        """Store the cookies of a response."""
        set_cookie_values = [line.encode("latin-1") for line in response.headers.get_all("Set-Cookie", ())]
        try:
            self._binding.receive(self._in_flight[request], set_cookie_values)
        except BaseException:
            response.close()
            raise
        return response

    https_response = http_response
