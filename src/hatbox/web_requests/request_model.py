"""The data of webRequest events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

__all__ = [
    "AuthChallenge",
    "BlockingResponse",
    "Headers",
    "ProxyInfo",
    "ReadExtensionFile",
    "RequestBody",
    "RequestFrame",
    "RequestSnapshot",
]

ReadExtensionFile: TypeAlias = Callable[[str], bytes | None]
"""Returns the file at a moz-extension:// URL, or None."""

Headers: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, one character per byte. Each name occurs once: duplicates are joined, as in Firefox."""


class RequestFrame(msgspec.Struct, frozen=True):
    """The tab and frame of a request."""

    tab_id: int
    """-1 without a tab, as for a service worker."""
    window_id: int
    cookie_store_id: str
    frame_id: int = 0
    """0 is the main frame."""
    parent_frame_id: int = -1
    ancestors: tuple[tuple[int, str], ...] = ()
    """Ids and URLs of the ancestor frames, from the parent to the main frame."""
    is_for_person: bool = False
    """Whether a person uses the page, which has no tab, at the request of a program."""


class RequestBody(msgspec.Struct, frozen=True):
    """The body of a request: form data, or bytes."""

    form: dict[str, list[str]] | None = None
    raw: tuple[bytes, ...] = ()
    error: str = ""
    """Why the body is unavailable."""


class ProxyInfo(msgspec.Struct, frozen=True):
    """A proxy server.

    `type` is `http`, `https`, `socks`, `socks4`, `masque` or `direct`, which is no proxy.
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
    """An authentication challenge of a server or proxy."""

    scheme: str
    realm: str
    is_proxy: bool
    host: str
    port: int


class RequestSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a request during an event. Unknown members are None."""

    request_id: str
    place: RequestFrame
    time: float
    """Seconds since 1970."""
    url: str
    method: str
    type: str
    document_url: str | None = None
    """The URL of the document that made the request; None for the document itself."""
    origin_url: str | None = None
    """The URL that initiated the request; None for the user."""
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
    """The return value of a blocking listener, unchecked."""

    extension_id: str
    value: Any
    changes_headers: bool = False
    """Whether its extraInfoSpec includes the headers of this event."""
    can_set_host_header: Any = None
    """A function that checks whether it may set the Host header."""
