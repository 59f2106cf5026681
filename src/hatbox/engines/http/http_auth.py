"""HTTP authentication (RFC 9110, section 11): parses challenges, and adds credentials to the retried request."""

from __future__ import annotations

import re
from typing import Final

import httpx

from hatbox.engines.http.intercepting_transport import TUNNEL_ERROR
from hatbox.web_requests import AuthChallenge, AuthCredentials, ProxyInfo, RequestLifecycle

__all__ = ["answer_challenge", "parse_challenge", "with_credentials"]

_REALM: Final = re.compile(r'realm="((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_PROXY_AUTHENTICATE: Final = "Proxy-Authenticate"
_HEADERS: Final = {401: "WWW-Authenticate", 407: _PROXY_AUTHENTICATE}
_PORTS: Final = {"http": 80, "https": 443}


async def answer_challenge(
    lifecycle: RequestLifecycle, request: httpx.Request, response: httpx.Response
) -> httpx.Request | None:
    """The request with credentials, if the response requires them and a listener supplies them."""
    tunnel_error = response.extensions.get(TUNNEL_ERROR)
    if challenge := parse_challenge(response, lifecycle.proxy):
        credentials = await lifecycle.authenticate(challenge)
        if credentials is not None and challenge.is_proxy:
            lifecycle.proxy_credentials = credentials
            return request
        if credentials is not None:
            return with_credentials(request, response, challenge, credentials)
    if isinstance(tunnel_error, Exception):
        raise tunnel_error
    return None


def parse_challenge(response: httpx.Response, proxy: ProxyInfo | None) -> AuthChallenge | None:
    """The challenge of a response; None without one, or with unsupported schemes only."""
    name = _HEADERS.get(response.status_code)
    is_proxy = name == _PROXY_AUTHENTICATE
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
    request: httpx.Request, response: httpx.Response, challenge: AuthChallenge, credentials: AuthCredentials
) -> httpx.Request:
    """The request with credentials."""
    if challenge.scheme == "basic":
        return next(httpx.BasicAuth(*credentials).auth_flow(request))
    flow = httpx.DigestAuth(*credentials).auth_flow(request)
    next(flow)
    return flow.send(response)
