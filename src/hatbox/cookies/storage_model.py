"""The storage model (RFC 6265bis, 5.7): whether a Set-Cookie value is accepted, and the cookie that it creates.

Pure: the jar adds the cookie, and `cookie_rows` writes it to the profile.
"""

from __future__ import annotations

from math import inf
from typing import Final

from hatbox.cookies.cookie import Cookie, SameSite
from hatbox.cookies.domains import domain_matches
from hatbox.cookies.exclusion_reasons import ExclusionReason
from hatbox.cookies.jar_index import PartitionCookies
from hatbox.cookies.parse import LONGEST_PAIR, SetCookie, parse_set_cookie
from hatbox.cookies.paths import default_path, path_matches
from hatbox.cookies.prefixes import satisfies_prefix
from hatbox.cookies.public_suffixes import PublicSuffixes
from hatbox.cookies.request_urls import RequestUrl
from hatbox.cookies.samesite import NO_PAGE, RequestContext, may_set, partition_of
from hatbox.errors import CookieRejected
from hatbox.urls.hosts import is_ip

__all__ = ["LIFETIME_SECONDS", "check_fields", "check_replacement", "create_cookie", "same_content"]

LIFETIME_SECONDS: Final = 400 * 86400.0
_NO_RESTRICTION: Final = SameSite.NONE


def create_cookie(
    parsed: SetCookie,
    request_url: RequestUrl,
    now: float,
    context: RequestContext,
    suffixes: PublicSuffixes,
    lifetime: float,
) -> Cookie:
    """Create the cookie of a Set-Cookie value, without its sequence. Raises CookieRejected."""
    name, value = parsed.name, parsed.value
    if not name and "=" in value:  # the RFC stores it, both browsers reject it
        raise CookieRejected(ExclusionReason.IMPERSONATES, name)
    domain = _domain(parsed, request_url, suffixes)
    host_only = not domain
    if parsed.secure:
        if not request_url.secure:
            raise CookieRejected(ExclusionReason.INSECURE, name)
    elif parsed.same_site is _NO_RESTRICTION:
        raise CookieRejected(ExclusionReason.NONE_INSECURE, name)
    elif parsed.partitioned:
        raise CookieRejected(ExclusionReason.PARTITIONED_INSECURE, name)
    if parsed.http_only and context.script:
        raise CookieRejected(ExclusionReason.SCRIPT, name)
    if (
        context is not NO_PAGE
        and parsed.same_site is not _NO_RESTRICTION
        and not may_set(context, request_url, suffixes)
    ):
        raise CookieRejected(ExclusionReason.CROSS_SITE, name)
    if not satisfies_prefix(
        name,
        value,
        secure=parsed.secure,
        http_only=parsed.http_only,
        host_only=host_only,
        path_attribute=parsed.path,
    ):
        raise CookieRejected(ExclusionReason.PREFIX, name)
    return Cookie(
        name=name,
        value=value,
        domain=domain or request_url.host,
        path=parsed.path or default_path(request_url.path),
        host_only=host_only,
        secure=parsed.secure,
        http_only=parsed.http_only,
        same_site=parsed.same_site,
        expires=_expiry(parsed, now, lifetime),
        partition=partition_of(context, request_url, suffixes) if parsed.partitioned else None,
        created=now,
        last_access=now,
    )


def check_fields(fields: SetCookie) -> None:
    """Reject fields that a Set-Cookie value could not contain: they would not round-trip."""
    name, value = fields.name, fields.value
    if not name and not value:
        raise CookieRejected(ExclusionReason.EMPTY, name)
    if len(name) + len(value) > LONGEST_PAIR:
        raise CookieRejected(ExclusionReason.SIZE, name)
    read = parse_set_cookie(f"{name}={value}; Path={fields.path or ''}; Domain={fields.domain}")
    if read is None or (read.name, read.value, read.path, read.domain) != (name, value, fields.path, fields.domain):
        raise CookieRejected(ExclusionReason.CHARACTERS, name)


def check_replacement(
    cookie: Cookie, partition_cookies: PartitionCookies, request_url: RequestUrl, context: RequestContext, now: float
) -> Cookie | None:
    """The cookie that this one replaces, if any. Raises CookieRejected if stored cookies forbid it."""
    if not request_url.secure and partition_cookies.secure and _overlays_secure(cookie, partition_cookies, now):
        raise CookieRejected(ExclusionReason.OVERLAYS_SECURE, cookie.name)
    old = partition_cookies.domains.get(cookie.domain, {}).get((cookie.name, cookie.path, cookie.host_only))
    if old is None or old.expired(now):
        return None
    if old.http_only and context.script:
        raise CookieRejected(ExclusionReason.REPLACES_HTTP_ONLY, cookie.name)
    return old


def same_content(old: Cookie, new: Cookie) -> bool:
    """Whether replacing one by the other is not observable; they have the same key."""
    return (
        old.value == new.value
        and old.expires == new.expires
        and old.secure == new.secure
        and old.http_only == new.http_only
        and old.same_site is new.same_site
    )


def _domain(parsed: SetCookie, request_url: RequestUrl, suffixes: PublicSuffixes) -> str:
    """The domain of a domain cookie; empty for a host-only cookie."""
    host = request_url.host
    if not host:
        raise CookieRejected(ExclusionReason.HOST, parsed.name)
    domain = parsed.domain
    if not domain:
        return ""
    if domain == host:
        # An IP address has no subdomains: both browsers make it host-only, as the RFC does for public suffixes.
        return "" if is_ip(host) or suffixes.is_suffix(host) else domain
    if not domain.isascii() or not domain_matches(host, domain):
        raise CookieRejected(ExclusionReason.DOMAIN, parsed.name)
    if suffixes.is_suffix(domain):
        raise CookieRejected(ExclusionReason.PUBLIC_SUFFIX, parsed.name)
    return domain


def _expiry(parsed: SetCookie, now: float, lifetime: float) -> float | None:
    if parsed.max_age is not None:
        return now + min(parsed.max_age, lifetime) if parsed.max_age > 0 else -inf
    if parsed.expires is not None:
        return min(parsed.expires, now + lifetime)
    return None


def _overlays_secure(cookie: Cookie, partition_cookies: PartitionCookies, now: float) -> bool:
    """Whether an insecure cookie would be sent with, or instead of, a secure one of the same name."""
    return any(
        neighbour.secure
        and neighbour.name == cookie.name
        and path_matches(cookie.path, neighbour.path)
        and not neighbour.expired(now)
        for domain, cookies in partition_cookies.domains.items()
        if domain_matches(domain, cookie.domain) or domain_matches(cookie.domain, domain)
        for neighbour in cookies.values()
    )
