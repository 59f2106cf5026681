"""SameSite (RFC 6265bis, 5.2 and 5.6.7): the initiator of a request, and which cookies are sent with it.

Knows requests, and only the SameSite attribute of cookies. Requests of a plain HTTP client are same-site.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import msgspec

from hatbox.cookies.cookie import Partition, SameSite
from hatbox.cookies.partitions import canonical_partition
from hatbox.cookies.public_suffixes import PublicSuffixes
from hatbox.cookies.request_urls import RequestUrl, parse_request_url

__all__ = [
    "LAX_UNSAFE_SECONDS",
    "NO_PAGE",
    "RequestContext",
    "SameSiteContext",
    "compute_same_site_context",
    "is_sent",
    "may_set",
    "partition_of",
]

LAX_UNSAFE_SECONDS: Final = 120.0
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class RequestContext(msgspec.Struct, frozen=True, kw_only=True):
    """The context of a request: its initiator, method and redirects.

    `site_for_cookies` is any URL of the site in whose name the request is made: of the top-level page if every frame
    in between is of its site, and for a navigation that of the page that started it; `"null"` is a site like no other.
    None means that no page did: a program, or a person typing an address. `navigation` is that of a top-level page.
    `redirects` are the URLs that the request came through, where these shall count: one of another site makes the
    request cross-site (so Firefox; the RFC and Chromium look at the current URL only, which is what giving none does).
    `script` is document.cookie rather than HTTP. `partition` is that of the page; None is the request's own site.
    """

    site_for_cookies: str | None = None
    method: str = "GET"
    navigation: bool = False
    redirects: tuple[str, ...] = ()
    script: bool = False
    partition: Partition | None = None


NO_PAGE: Final = RequestContext()


class SameSiteContext(IntEnum):
    """Which cookies are sent, by their SameSite attribute; each member includes those before it."""

    NONE = 0  # SameSite=None
    LAX_UNSAFE = 1  # and new cookies without the attribute
    LAX = 2  # and Lax cookies, and all without the attribute
    STRICT = 3  # all cookies


def compute_same_site_context(
    context: RequestContext, request_url: RequestUrl, suffixes: PublicSuffixes
) -> SameSiteContext:
    """The SameSite context of a request."""
    if _is_same_site(context, request_url, suffixes):
        return SameSiteContext.STRICT
    if context.script or not context.navigation:
        return SameSiteContext.NONE
    return SameSiteContext.LAX if context.method.upper() in _SAFE_METHODS else SameSiteContext.LAX_UNSAFE


def is_sent(same_site_context: SameSiteContext, same_site: SameSite, age: float) -> bool:
    """Whether a cookie of this age is sent.

    A cookie that says nothing is lax, but while it is new it also goes with an unsafe navigation (5.6.7.2):
    single sign-on posts its answer that way, and both browsers send it.
    """
    if same_site is SameSite.NONE or same_site_context is SameSiteContext.STRICT:
        return True
    if same_site is SameSite.STRICT or same_site_context is SameSiteContext.NONE:
        return False
    return same_site_context is SameSiteContext.LAX or (same_site is SameSite.UNSPECIFIED and age <= LAX_UNSAFE_SECONDS)


def may_set(context: RequestContext, request_url: RequestUrl, suffixes: PublicSuffixes) -> bool:
    """Whether the response may set cookies that are not SameSite=None: a navigation may set any."""
    return (context.navigation and not context.script) or _is_same_site(context, request_url, suffixes)


def partition_of(context: RequestContext, request_url: RequestUrl, suffixes: PublicSuffixes) -> Partition:
    """The partition of a request: that of its page, or its own as for a top-level page."""
    if context.partition is None:
        return Partition(f"{request_url.scheme}://{suffixes.site(request_url.host)}")
    return canonical_partition(context.partition, request_url.host)


def _is_same_site(context: RequestContext, request_url: RequestUrl, suffixes: PublicSuffixes) -> bool:
    if context.site_for_cookies is None:
        return True
    own = (request_url.scheme, suffixes.site(request_url.host))
    for url in (context.site_for_cookies, *context.redirects):
        other = parse_request_url(url)
        if not other.host or (other.scheme, suffixes.site(other.host)) != own:
            return False
    return True
