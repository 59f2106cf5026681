"""A urllib opener that wears an identity: one handler that is asked last before a request goes out, one first after it.

urllib.request is part of Python. A handler that is asked later could still add a Cookie header, and one that is asked
earlier could follow a redirect before its cookies are taken.
"""

from __future__ import annotations

import copy
import sys
import urllib.request
from collections.abc import Sequence
from http.client import HTTPResponse
from urllib.request import BaseHandler, OpenerDirector, Request
from weakref import WeakKeyDictionary

from hatbox.clients.identity_binding import SyncIdentityBinding
from hatbox.cookies.request_urls import RequestUrl, target_of
from hatbox.errors import CookiesNotAllowed

__all__ = ["opener"]


def opener(worn: SyncIdentityBinding, handlers: Sequence[BaseHandler | type[BaseHandler]]) -> OpenerDirector:
    """What urllib.request.build_opener makes of these handlers, wearing an identity."""
    for handler in handlers:
        kind = handler if isinstance(handler, type) else type(handler)
        if issubclass(kind, urllib.request.HTTPCookieProcessor):
            raise CookiesNotAllowed("a handler with a jar was given")
    under_way: WeakKeyDictionary[Request, RequestUrl] = WeakKeyDictionary()
    return urllib.request.build_opener(*handlers, _RequestProcessor(worn, under_way), _Receiver(worn, under_way))


class _RequestProcessor(BaseHandler):
    handler_order = sys.maxsize

    def __init__(self, worn: SyncIdentityBinding, under_way: WeakKeyDictionary[Request, RequestUrl]) -> None:
        self._worn = worn
        self._under_way = under_way

    def http_request(self, request: Request) -> Request:
        """The request that goes out. The caller's own stays bare, and can be sent with another identity as well."""
        target = self._under_way.get(request)  # known already where urllib repeats one with authentication
        if target is None:
            if request.has_header("Cookie"):
                raise CookiesNotAllowed("the request has a Cookie header of its own")
            target = target_of(f"{request.type}://{request.host}{request.selector}")
            request = copy.copy(request)
            request.unredirected_hdrs = dict(request.unredirected_hdrs)
            self._under_way[request] = target
        request.remove_header("Cookie")
        if cookies := self._worn.header(target):
            request.add_unredirected_header("Cookie", cookies)
        return request

    https_request = http_request


class _Receiver(BaseHandler):
    handler_order = -sys.maxsize

    def __init__(self, worn: SyncIdentityBinding, under_way: WeakKeyDictionary[Request, RequestUrl]) -> None:
        self._worn = worn
        self._under_way = under_way

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        """The answer as it is, its cookies taken."""
        lines = [line.encode("latin-1") for line in response.headers.get_all("Set-Cookie", ())]
        try:
            self._worn.receive(self._under_way[request], lines)
        except BaseException:
            response.close()
            raise
        return response

    https_response = http_response
