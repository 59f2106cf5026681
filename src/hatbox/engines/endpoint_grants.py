"""Grants for endpoints: whether a grant allows to use one, and the clients that have its token.

Implements Authorize of the endpoint by the grants of a profile. What the clients do is recorded with their grant.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from hatbox.errors import GrantRefused, ProfileError

if TYPE_CHECKING:
    from hatbox.activity_log.activity_service import ActivityLog
    from hatbox.grants.grant import Grant
    from hatbox.grants.grant_service import Grants

__all__ = ["ENDPOINT_ACTIONS", "EndpointGrants", "GrantedClients", "check_endpoint_grant"]

ENDPOINT_ACTIONS: Final = ("pages", "cookieValues")
"""The actions that a grant for an endpoint must allow: CDP can read all pages and cookies of the identity."""


def check_endpoint_grant(grant: Grant, cookie_store_id: str) -> None:
    """Raise GrantRefused, with what is missing, if a grant does not allow to use the endpoint of an identity."""
    problems = []
    if not grant.allows_identity(cookie_store_id):
        problems.append("does not include this identity")
    if missing := [each for each in ENDPOINT_ACTIONS if not grant.allows(each)]:
        problems.append(f"does not allow the action{'s' if len(missing) > 1 else ''} {' and '.join(missing)}")
    if not grant.allows_private_networks:
        problems.append("is limited to some hosts" if grant.is_limited else "does not allow private networks")
    if problems:
        raise GrantRefused(
            f"the grant {grant.id} {', '.join(problems)}. An endpoint needs a grant for its identity and all "
            "hosts, also those of private networks: hatbox grant create --identity NAME --host '<all_urls>' "
            f"{' '.join(f'--action {each}' for each in ENDPOINT_ACTIONS)}"
        )


class EndpointGrants:
    """The grants that authorize clients of endpoints, for all identities of a profile."""

    def __init__(self, grants: Callable[[], Grants], activity_log: Callable[[], ActivityLog]) -> None:
        self._grants = grants
        self._activity_log = activity_log
        self._clients: dict[tuple[str, str], GrantedClients] = {}  # by the ids of the grant and the identity

    def for_identity(
        self, cookie_store_id: str, grant_id: str = ""
    ) -> Callable[[str], Awaitable[GrantedClients | None]]:
        """The Authorize for clients of one identity. With `grant_id`, clients with another grant are refused.

        The endpoint calls it with an empty token only for clients that need none: they have this grant.
        """
        return lambda token: self._authorize(token, cookie_store_id, grant_id)

    async def _authorize(self, token: str, cookie_store_id: str, grant_id: str) -> GrantedClients | None:
        """None for a token that was guessed, was revoked or has expired."""
        grants, activity_log = self._grants(), self._activity_log()
        try:
            grant = await (grants.verify(token) if token or not grant_id else grants.verify_id(grant_id))
        except GrantRefused:
            return None
        if grant_id and grant.id != grant_id:
            return None
        try:
            check_endpoint_grant(grant, cookie_store_id)
        except GrantRefused:
            activity_log.record(cookie_store_id, "endpoint.connect", outcome="refused", grant=grant.id)
            raise
        key = grant.id, cookie_store_id
        clients = self._clients.get(key)
        if clients is None or clients.ended.done():  # one future for all requests, because each is a listener
            clients = GrantedClients(grants.ended(grant.id), grant, activity_log, cookie_store_id)
            self._clients[key] = clients
            clients.ended.add_done_callback(lambda _: self._clients.pop(key, None))
        return clients


class GrantedClients:
    """The clients of one grant. Implements Authorization."""

    def __init__(
        self, ended: asyncio.Future[None], grant: Grant, activity_log: ActivityLog, cookie_store_id: str
    ) -> None:
        self.ended = ended
        """See Authorization."""
        self.program = grant.purpose or f"grant {grant.id}"
        """See Authorization."""
        self.grant_id = grant.id
        """See Authorization."""
        self._activity_log = activity_log
        self._cookie_store_id = cookie_store_id

    def record(self, action: str, url: str = "") -> None:
        """See Authorization. The log bounds the number of entries."""
        with contextlib.suppress(ProfileError):
            self._activity_log.record(self._cookie_store_id, action, host=url, grant=self.grant_id)
