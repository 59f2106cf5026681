"""A request as listeners are told of it. Only data."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

__all__ = [
    "AuthChallenge",
    "BlockingResponse",
    "Headers",
    "ProxyInfo",
    "RequestBody",
    "RequestFrame",
    "RequestSnapshot",
]

Headers: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, a character for each byte. A name is there once: what came twice is joined, as in Firefox."""


class RequestFrame(msgspec.Struct, frozen=True):
    """Where a request is made."""

    tab_id: int
    """-1 for what belongs to no tab, such as a service worker."""
    window_id: int
    cookie_store_id: str
    frame_id: int = 0
    """0 is the frame at the top of a tab."""
    parent_frame_id: int = -1
    ancestors: tuple[tuple[int, str], ...] = ()
    """The frames around it, from the innermost to the one at the top: their ids, and where they are."""


class RequestBody(msgspec.Struct, frozen=True):
    """What is sent along with a request: as a form, if it is one, else as bytes."""

    form: dict[str, list[str]] | None = None
    raw: tuple[bytes, ...] = ()
    error: str = ""
    """Why it is not known."""


class ProxyInfo(msgspec.Struct, frozen=True):
    """A server that requests go through.

    `type` is `http`, `https`, `socks`, `socks4`, `masque` or `direct`, which is none.
    """

    type: str
    host: str = ""
    port: int = 0
    username: str = ""
    password: str = ""
    proxy_dns: bool = False
    failover_timeout: int = 10
    authorization: str | None = None
    """The Proxy-Authorization header of requests for a tunnel."""
    isolation_key: str | None = None


class AuthChallenge(msgspec.Struct, frozen=True):
    """A server, or a proxy, wants to know who asks."""

    scheme: str
    realm: str
    is_proxy: bool
    host: str
    port: int


class RequestSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A request at one moment of its life. What is not known yet is None."""

    request_id: str
    place: RequestFrame
    time: float
    """Seconds since 1970."""
    url: str
    method: str
    type: str
    document_url: str | None = None
    """The page that the request is for; None for the page itself."""
    origin_url: str | None = None
    """Where it was asked for; None if nobody but the user did."""
    is_third_party: bool = False
    body: RequestBody | None = None
    proxy: ProxyInfo | None = None
    ip: str | None = None
    from_cache: bool = False
    status_code: int = 0
    status_line: str = ""
    request_headers: Headers = ()
    response_headers: Headers | None = None
    redirect_url: str | None = None
    error: str | None = None
    challenge: AuthChallenge | None = None


class BlockingResponse(msgspec.Struct, frozen=True):
    """What a listener that may interfere has answered: anything, as scripts do."""

    extension_id: str
    value: Any
    changes_headers: bool = False
    """Whether it asked for the headers that it may change at this moment."""
    can_set_host_header: Any = None
    """A function that says whether it may make a request say that it is for another host."""
