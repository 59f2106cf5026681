"""httpx clients of programs with a grant: each request is checked against the grant, and recorded.

The check is outside of the transport that adds the cookies of the identity: a refused request reads none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import httpx

from hatbox.activity_log.activity_service import ActivityLog
from hatbox.errors import GrantRefused, PermissionDenied
from hatbox.grants.grant import Grant

__all__ = ["GrantedRequests", "restrict"]

_OPTIONS: Final = frozenset({"base_url", "follow_redirects", "headers", "max_redirects", "params", "timeout"})
_EXTENSIONS: Final = frozenset({"timeout"})  # others, such as trace and target, see cookies or change the host


class GrantedRequests:
    """The requests of one grantee, as one identity."""

    def __init__(
        self,
        grant: Grant,
        check: Callable[[str], Grant],
        activity_log: ActivityLog,
        identity: str | None,
        options: Mapping[str, Any],
    ) -> None:
        self._grant_id = grant.id
        self._check = check
        self._activity_log = activity_log
        if identity is None and len(grant.identities) > 1:
            raise PermissionDenied(f"identity is required. The grant has {', '.join(grant.identities)}.")
        self.identity = grant.identities[0] if identity is None else identity
        """The cookieStoreId."""
        if not grant.allows_identity(self.identity):
            allowed = ", ".join(grant.identities)
            raise PermissionDenied(f"the grant does not include {ascii(identity)[:200]}. Allowed: {allowed}.")
        if unknown := sorted(set(options) - _OPTIONS):
            raise PermissionDenied(
                f"a client with a grant cannot have {', '.join(unknown)}. Allowed are: {', '.join(sorted(_OPTIONS))}."
            )

    def start(self, url: str) -> Grant:
        """The grant, if it allows a request of this URL. Raises PermissionDenied."""
        try:
            grant = self._check(self._grant_id)
        except GrantRefused as error:
            self._refuse(url, str(error))
        if not grant.allows("fetch"):
            self._refuse(url, "a request needs a grant with fetch: hatbox grant create --action fetch")
        if not grant.allows_identity(self.identity):
            self._refuse(url, f"the grant {grant.id} does not include {self.identity} any more.")
        if not grant.allows_url(url):
            hosts = ", ".join(grant.hosts or ())
            self._refuse(url, f"the grant {grant.id} does not include the host of {ascii(url)[:200]}. Allowed: {hosts}")
        return grant

    def record(self, url: str, outcome: str) -> None:
        """Record a request in the activity log."""
        self._activity_log.record(self.identity, "fetch", host=url, outcome=outcome, grant=self._grant_id)

    def _refuse(self, url: str, message: str) -> NoReturn:
        self.record(url, "refused")
        raise PermissionDenied(message)


def restrict(client: httpx.AsyncClient, requests: GrantedRequests) -> httpx.AsyncClient:
    """Check each request of a client, also those that follow a redirect."""
    client._transport = _GrantedTransport(client._transport, requests)
    client._mounts = {
        pattern: None if inner is None else _GrantedTransport(inner, requests)
        for pattern, inner in client._mounts.items()
    }
    return client


class _GrantedTransport(httpx.AsyncBaseTransport):
    def __init__(self, inner: httpx.AsyncBaseTransport, requests: GrantedRequests) -> None:
        self._inner = inner
        self._requests = requests

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url)
        self._requests.start(url)
        for name in set(request.extensions) - _EXTENSIONS:
            if not name.startswith("hatbox."):
                del request.extensions[name]
        try:
            response = await self._inner.handle_async_request(request)
        except Exception:
            self._requests.record(url, "failed")
            raise
        try:
            grant = self._requests.start(url)  # it may have ended meanwhile
        except BaseException:
            await response.aclose()
            raise
        if not grant.allows("cookieValues"):
            response.headers.pop("Set-Cookie", None)
        self._requests.record(url, "ok")
        return response

    async def __aenter__(self) -> _GrantedTransport:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._inner.__aexit__(*error)

    async def aclose(self) -> None:
        await self._inner.aclose()
