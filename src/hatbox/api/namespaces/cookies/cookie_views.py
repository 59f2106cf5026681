"""Cookies as scripts see them. Knows nothing of stores or permissions.

The cookie engine stores octets as Latin-1 text; scripts see them decoded as UTF-8.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from hatbox.api.namespaces.cookies.partition_keys import PartitionKey, partition_key
from hatbox.cookies.cookie import ChangeCause, Cookie
from hatbox.cookies.cookie_stores import CookieChange
from hatbox.javascript.text import well_formed

__all__ = [
    "CookieChangeView",
    "CookieStoreView",
    "CookieView",
    "RemovedCookie",
    "change_info",
    "cookie_view",
    "to_octets",
]

# Firefox has no separate cause for a cookie that is removed by an expired one.
_CAUSES: Final = {ChangeCause.EXPIRED_OVERWRITE: ChangeCause.EXPLICIT}


class CookieView(msgspec.Struct, frozen=True, gc=False):
    """cookies.Cookie."""

    name: str
    value: str
    domain: str
    host_only: bool
    path: str
    secure: bool
    http_only: bool
    same_site: str
    session: bool
    first_party_domain: str
    partition_key: PartitionKey | None
    expiration_date: float | None
    store_id: str


class CookieChangeView(NamedTuple):
    """The changeInfo of cookies.onChanged."""

    removed: bool
    cookie: CookieView
    cause: str


class RemovedCookie(NamedTuple):
    """The result of cookies.remove()."""

    url: str
    name: str
    store_id: str
    first_party_domain: str
    partition_key: PartitionKey | None


class CookieStoreView(NamedTuple):
    """cookies.CookieStore."""

    id: str
    tab_ids: tuple[int, ...]
    incognito: bool = False


def cookie_view(cookie: Cookie, store_id: str) -> CookieView:
    """The view of a cookie in a store."""
    name, value, path = cookie.name, cookie.value, cookie.path
    return CookieView(
        name=name if name.isascii() else _text(name),
        value=value if value.isascii() else _text(value),
        domain=cookie.domain if cookie.host_only else f".{cookie.domain}",
        host_only=cookie.host_only,
        path=path if path.isascii() else _text(path),
        secure=cookie.secure,
        http_only=cookie.http_only,
        same_site=cookie.same_site._value_,
        session=cookie.expires is None,
        first_party_domain="",
        partition_key=partition_key(cookie) if cookie.partition else None,
        expiration_date=cookie.expires,
        store_id=store_id,
    )


def change_info(change: CookieChange) -> CookieChangeView:
    """The view of a change."""
    cause = _CAUSES.get(change.cause, change.cause)
    return CookieChangeView(change.removed, cookie_view(change.cookie, change.cookie_store_id), cause.value)


def to_octets(text: str) -> str:
    """Encode a script's text as the cookie engine stores it."""
    return text if text.isascii() else well_formed(text).encode().decode("latin-1")


def _text(octets: str) -> str:
    return octets.encode("latin-1").decode("utf-8", "replace")
