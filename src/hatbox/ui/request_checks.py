"""Decides whether a request comes from the manager page itself. Pure: knows headers, and no server.

A page from elsewhere can make a browser send requests to loopback: with its own Origin, or through a name that it has
rebound to 127.0.0.1, with its own Host.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hatbox.urls.protected_pages import PROTECTED_HOST

__all__ = ["ADDRESS", "allowed_hosts", "cookie_values", "is_from_here", "is_from_page", "is_opened_by_user"]

ADDRESS: Final = PROTECTED_HOST
"""The only address of the server."""

_HTTP_PORT: Final = 80


def allowed_hosts(port: int) -> frozenset[str]:
    """The values of Host that a browser sends to this port of 127.0.0.1. Links have no other name for it."""
    return frozenset({f"{ADDRESS}:{port}", *([ADDRESS] if port == _HTTP_PORT else [])})


def is_from_here(headers: Mapping[str, str], hosts: frozenset[str], *, needs_origin: bool) -> bool:
    """Whether Host is this server, and Origin too, which a request that changes something has to have."""
    host = headers.get("host", "")
    if host.lower() not in hosts:
        return False
    origin = headers.get("origin")
    return not needs_origin if origin is None else origin == f"http://{host}"


def is_from_page(headers: Mapping[str, str]) -> bool:
    """Whether the page or the address bar sent the request. Older browsers do not say."""
    return headers.get("sec-fetch-site", "none") in ("same-origin", "none")


def is_opened_by_user(headers: Mapping[str, str]) -> bool:
    """Whether a link was opened in a tab: not in a frame, not as an image, not in advance, not by a script.

    A document that another program has served on this port would have a handle of the window.
    """
    return (
        headers.get("sec-fetch-site") != "same-origin"
        and headers.get("sec-fetch-mode", "navigate") == "navigate"
        and headers.get("sec-fetch-dest", "document") == "document"
        and "sec-purpose" not in headers
        and headers.get("purpose") != "prefetch"
    )


def cookie_values(header: str, name: str) -> list[str]:
    """The values of all cookies with this name. Another server on this host may have set one too."""
    pairs = (each.strip().partition("=") for each in header.split(";"))
    return [value for key, _, value in pairs if key == name]
