"""httpx clients of programs with a grant: each request is checked against the grant, and recorded.

The check is outside of the transport that adds the cookies of the identity: a refused request reads none. Without the
action `cookieValues`, nothing that the program gets contains a value that Hatbox has sent or received as a cookie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn
from urllib.parse import quote

import httpx

from hatbox.activity_log.activity_service import ActivityLog
from hatbox.clients.checked_network import AddressRefused
from hatbox.clients.granted_stream import GrantedStream, until_end
from hatbox.clients.wrapped_transport import WrappedTransport
from hatbox.errors import GrantRefused, PermissionDenied
from hatbox.grants.grant import Grant
from hatbox.grants.grant_service import Grants

__all__ = ["GrantedRequests", "connected_url", "restrict"]

_OPTIONS: Final = frozenset({"base_url", "follow_redirects", "headers", "max_redirects", "params", "timeout"})
_OWN_PREFIX: Final = "hatbox."  # of extensions that Hatbox itself adds to a request
_EXTENSIONS: Final = frozenset({"timeout"})  # others, such as trace and target, see cookies or change the host
_RESPONSE_EXTENSIONS: Final = frozenset({"http_version", "reason_phrase"})  # not the connection itself
_REFUSED_METHODS: Final = frozenset({"CONNECT", "TRACE", "TRACK"})  # the response would contain the request
_HIDDEN_HEADERS: Final = ("Set-Cookie", "Set-Cookie2")


class GrantedRequests:
    """The requests of one grantee, as one identity."""

    def __init__(
        self, grant: Grant, grants: Grants, activity_log: ActivityLog, identity: str | None, options: Mapping[str, Any]
    ) -> None:
        self._grant_id = grant.id
        self._grants = grants
        self._activity_log = activity_log
        self.identity = grant.identities[0]
        """The cookieStoreId."""
        if identity is None and len(grant.identities) > 1:
            self._refuse("", f"identity is required. The grant has {', '.join(grant.identities)}.")
        if identity is not None and not grant.allows_identity(identity):
            allowed = ", ".join(grant.identities)
            self._refuse("", f"the grant does not include {ascii(identity)[:200]}. Allowed: {allowed}.")
        self.identity = identity or self.identity
        if unknown := sorted(set(options) - _OPTIONS):
            allowed = ", ".join(sorted(_OPTIONS))
            self._refuse("", f"a client with a grant cannot have {', '.join(unknown)}. Allowed are: {allowed}.")
        self.options: Mapping[str, Any] = {**options, "trust_env": False}
        """The options of the client. A proxy or certificate that the program has set in its environment is not used."""

    def start(self, request: httpx.Request) -> Grant:
        """The grant, if it allows a request. Raises PermissionDenied."""
        url = connected_url(request)
        try:
            grant = self._grants.check(self._grant_id)
        except GrantRefused as error:
            self._refuse(url, str(error))
        if not grant.allows("fetch"):
            self._refuse(url, "a request needs a grant with fetch: hatbox grant create --action fetch")
        if not grant.allows_identity(self.identity):
            self._refuse(url, f"the grant {grant.id} does not include {self.identity} any more.")
        if not grant.allows_url(url):
            shown = ascii(url)[:200]
            self._refuse(url, f"the grant {grant.id} does not include the host of {shown}. Allowed: {grant.hosts_text}")
        if request.method.upper() in _REFUSED_METHODS:
            self._refuse(url, f"the method {request.method.upper()} is not allowed with a grant.")
        if request.headers.get_list("Host") != [request.url.netloc.decode("ascii")]:
            self._refuse(url, "a Host header other than that of the URL is not allowed with a grant. Omit it.")
        return grant

    def require_valid(self) -> None:
        """Raise PermissionDenied if the grant does not allow the connection any more."""
        try:
            grant = self._grants.check(self._grant_id)
        except GrantRefused as error:
            raise PermissionDenied(str(error)) from None
        if not grant.allows_identity(self.identity):
            raise PermissionDenied(f"the grant {grant.id} does not include {self.identity} any more.")

    def on_end(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` when the grant ends. Returns a function that cancels it."""
        return self._grants.on_revoked(self._grant_id, callback)

    def record(self, url: str, outcome: str) -> None:
        """Record a request in the activity log."""
        self._activity_log.record(self.identity, "fetch", host=url, outcome=outcome, grant=self._grant_id)

    def _refuse(self, url: str, message: str) -> NoReturn:
        self.record(url, "refused")
        raise PermissionDenied(message)


def connected_url(request: httpx.Request) -> str:
    """The scheme, host and port that httpx connects to. It may read the text of a URL in another way than a browser.

    Characters that end a host for a browser, such as a backslash, are encoded: no grant allows such a host.
    """
    host = quote(request.url.raw_host, safe=":")
    port = "" if request.url.port is None else f":{request.url.port}"
    return f"{request.url.scheme}://{f'[{host}]' if ':' in host else host}{port}/"


def restrict(client: httpx.AsyncClient, requests: GrantedRequests) -> httpx.AsyncClient:
    """Check each request of a client, also those that follow a redirect."""
    client._transport = _GrantedTransport(client._transport, requests)
    client._mounts = {
        pattern: None if inner is None else _GrantedTransport(inner, requests)
        for pattern, inner in client._mounts.items()
    }
    return client


class _GrantedTransport(WrappedTransport):
    def __init__(self, inner: httpx.AsyncBaseTransport, requests: GrantedRequests) -> None:
        super().__init__(inner)
        self._requests = requests

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        own = _own_copy(request)  # the program could change its request while this one waits
        grant = self._requests.start(own)
        url, outcome = connected_url(own), "sent"
        problem: Exception | None = None
        try:
            async with until_end(self._requests):
                response = await self._inner.handle_async_request(own)
            outcome = "ok"
        except (httpx.LocalProtocolError, UnicodeError) as error:
            outcome, problem = "failed", error
        except AddressRefused:
            outcome = "refused"
            raise
        except PermissionDenied:
            raise  # the grant has ended: the site may have received it
        except Exception:
            outcome = "failed"
            raise
        finally:  # also if the program cancels it
            request.extensions.update(_own_extensions(own))
            self._requests.record(url, outcome)
        if problem is not None:
            raise problem if grant.allows("cookieValues") else _without_value(problem)
        try:
            self._requests.require_valid()
        except PermissionDenied:
            await response.aclose()
            raise
        if not grant.allows("cookieValues"):
            for name in _HIDDEN_HEADERS:
                response.headers.pop(name, None)
        response.extensions = {
            name: value for name, value in response.extensions.items() if name in _RESPONSE_EXTENSIONS
        }
        response.stream = GrantedStream(response.stream, self._requests)
        return response


def _own_copy(request: httpx.Request) -> httpx.Request:
    extensions = {name: value for name, value in request.extensions.items() if name in _EXTENSIONS}
    return httpx.Request(
        request.method,
        request.url,
        headers=request.headers.raw,
        stream=request.stream,
        extensions={**extensions, **_own_extensions(request)},
    )


def _own_extensions(request: httpx.Request) -> dict[str, Any]:
    return {name: value for name, value in request.extensions.items() if name.startswith(_OWN_PREFIX)}


def _without_value(error: Exception) -> Exception:
    """The error for an invalid header, whose message may contain the value of a cookie."""
    reason = "header" if isinstance(error, httpx.LocalProtocolError) else "character"
    return httpx.LocalProtocolError(f"the request was not sent: it has an invalid {reason}, or a cookie has")
