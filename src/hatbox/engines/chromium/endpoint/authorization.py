"""Who may use an endpoint. The layer above decides; the endpoint knows neither grants nor profiles."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from typing import Protocol

__all__ = ["Authorization", "Authorize", "TokenAuthorization", "authorize_token"]


class Authorization(Protocol):
    """The right of one client to use the endpoint."""

    @property
    def ended(self) -> asyncio.Future[None]:
        """Done when the right has ended: the connections of the client are closed at once."""

    @property
    def program(self) -> str:
        """The name of the program, for people; may be empty."""

    @property
    def grant_id(self) -> str:
        """The id of its grant; empty without one."""

    def record(self, action: str, url: str = "") -> None:
        """Record what the client does, on the host of a URL. Must return at once."""


Authorize = Callable[[str], "Authorization | Awaitable[Authorization | None] | None"]
"""The authorization of a token; None if it has none. It must compare tokens in constant time, or by their hash.

Raises GrantRefused for a valid token that does not allow to use the endpoint: the client gets the message."""


class TokenAuthorization:
    """An authorization that lasts until `end`. Nothing is recorded."""

    program: str = ""
    """See Authorization."""
    grant_id: str = ""
    """See Authorization."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """See Authorization."""

    def end(self) -> None:
        """Close the connections of all clients with the token, and accept no more. Ending twice has no effect."""
        if not self.ended.done():
            self.ended.set_result(None)

    def record(self, action: str, url: str = "") -> None:
        """See Authorization."""


def authorize_token(token: str, authorization: TokenAuthorization) -> Authorize:
    """Authorize clients that have this token, until the authorization ends."""
    expected = token.encode()

    def authorize(given: str) -> Authorization | None:
        is_valid = hmac.compare_digest(given.encode("utf-8", "replace"), expected)
        return authorization if is_valid and not authorization.ended.done() else None

    return authorize
