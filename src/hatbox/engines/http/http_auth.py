"""Servers and proxies that want to know who asks (RFC 9110, 11): what they say, and the request that answers them."""

from __future__ import annotations

import re
from typing import Final

import httpx

from hatbox.engines.http.intercepting_transport import TUNNEL_ERROR
from hatbox.web_requests import AuthChallenge, AuthCredentials, ProxyInfo, RequestLifecycle

__all__ = ["answer_challenge", "parse_challenge", "with_credentials"]

_REALM: Final = re.compile(r'realm="((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_OF_PROXY: Final = "Proxy-Authenticate"
_HEADERS: Final = {401: "WWW-Authenticate", 407: _OF_PROXY}
_PORTS: Final = {"http": 80, "https": 443}


async def answer_challenge(
    exchange: RequestLifecycle, request: httpx.Request, response: httpx.Response
) -> httpx.Request | None:
    """The request with credentials, if the response requires them and a listener supplies them."""
    refused = response.extensions.get(TUNNEL_ERROR)
    if challenge := parse_challenge(response, exchange.proxy):
        who = await exchange.authenticate(challenge)
        if who is not None and challenge.is_proxy:
            exchange.proxy_credentials = who
            return request
        if who is not None:
            return with_credentials(request, response, challenge, who)
    if isinstance(refused, Exception):
        raise refused
    return None


def parse_challenge(response: httpx.Response, proxy: ProxyInfo | None) -> AuthChallenge | None:
    """What a response wants to know; None if nothing, or not in a way that is known here."""
    name = _HEADERS.get(response.status_code)
    is_proxy = name == _OF_PROXY
    if name is None or (is_proxy and proxy is None):
        return None
    known = ("basic",) if is_proxy else ("digest", "basic")  # the safer one first
    offered = {line.partition(" ")[0].lower(): line for line in response.headers.get_list(name)}
    for scheme in known:
        if scheme in offered:
            realm = _REALM.search(offered[scheme])
            url = response.request.url
            host, port = (proxy.host, proxy.port) if is_proxy and proxy else (url.host, url.port or _PORTS[url.scheme])
            return AuthChallenge(scheme, re.sub(r"\\(.)", r"\1", realm[1]) if realm else "", is_proxy, host, port)
    return None


def with_credentials(
    request: httpx.Request, response: httpx.Response, challenge: AuthChallenge, who: AuthCredentials
) -> httpx.Request:
    """The request again, with an answer."""
    if challenge.scheme == "basic":
        return next(httpx.BasicAuth(*who).auth_flow(request))
    flow = httpx.DigestAuth(*who).auth_flow(request)
    next(flow)
    return flow.send(response)
