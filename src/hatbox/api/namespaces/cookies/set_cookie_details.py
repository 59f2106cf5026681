"""The cookie of cookies.set(). Error messages match Firefox. Knows no cookie store.

An extension may set cookies that a site may not: secure cookies of an http URL, names with a `__Host-` prefix. Checked
are host permission, domain, and characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from hatbox.api.namespaces.cookies.cookie_views import to_octets
from hatbox.api.namespaces.cookies.partition_keys import resolve_partition
from hatbox.cookies.cookie import Cookie, SameSite
from hatbox.cookies.parse import LONGEST_ATTRIBUTE, LONGEST_PAIR
from hatbox.cookies.public_suffixes import default_public_suffixes
from hatbox.cookies.storage_model import LIFETIME_SECONDS
from hatbox.errors import ApiError, PermissionDenied
from hatbox.javascript.text import stringify
from hatbox.urls.hosts import is_ip
from hatbox.urls.match_patterns import HostPermissions
from hatbox.urls.protected_pages import is_protected_cookie
from hatbox.urls.url import Url

__all__ = ["cookie_from_details"]

_NOT_IN_NAME: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f;=]|^ | $|^$", re.DOTALL)
_NOT_IN_VALUE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f;]|^ | $", re.DOTALL)
_NOT_IN_PATH: Final = re.compile(r"[\x00-\x1f\x7f]")


def cookie_from_details(details: Mapping[str, Any], url: Url, hosts: HostPermissions, now: float) -> Cookie:
    """Create a cookie. Raises ApiError if it is invalid, PermissionDenied without host permission."""
    domain, host_only = _domain(details, url, hosts)
    if is_protected_cookie(details["name"] or "", domain):
        raise _denied(details)
    path = url.directory if details["path"] is None else to_octets(details["path"])
    expires = details["expirationDate"]
    cookie = Cookie(
        name=to_octets(details["name"] or ""),
        value=to_octets(details["value"] or ""),
        domain=domain,
        path=path,
        host_only=host_only,
        secure=bool(details["secure"]),
        http_only=bool(details["httpOnly"]),
        same_site=SameSite(details["sameSite"]),
        expires=None if expires is None else _milliseconds(min(expires, now + LIFETIME_SECONDS)),
        partition=resolve_partition(details["partitionKey"], url),
        created=now,
        last_access=now,
    )
    if message := _rejection(cookie):
        raise ApiError(message.format(name=(details["name"] or "").partition("\0")[0]))
    return cookie


def _domain(details: Mapping[str, Any], url: Url, hosts: HostPermissions) -> tuple[str, bool]:
    """The domain, and whether the cookie is host-only."""
    if url.scheme not in ("http", "https") or not hosts.allow_url(url.scheme, url.host):
        raise _denied(details)
    argument: str = details["domain"] or ""
    if not argument:
        return url.host, True
    domain = (argument[1:] if argument.startswith(".") and argument != "." else argument).lower()
    if ":" in domain and not domain.startswith("["):
        domain = f"[{domain}]"
    host = default_public_suffixes().host_info(url.host)
    if domain != url.host and (host.is_suffix or domain not in host.domains):
        raise _denied(details)
    if is_ip(domain):
        return domain, True
    if host.is_suffix:
        raise ApiError(f'Invalid domain: ".{domain}"')
    return domain, False


def _milliseconds(seconds: float) -> float:
    """Truncate to milliseconds, as Firefox does."""
    return int(seconds * 1000) / 1000


def _denied(details: Mapping[str, Any]) -> PermissionDenied:
    return PermissionDenied(f"Permission denied to set cookie {stringify(details)}")


def _rejection(cookie: Cookie) -> str | None:
    """Why a cookie is rejected, or None."""
    if not cookie.name and not cookie.value:
        return "Cookie with an empty name and an empty value has been rejected."
    if len(cookie.name) + len(cookie.value) > LONGEST_PAIR:
        return f"Cookie “{{name}}” is invalid because its size is too big. Max size is {LONGEST_PAIR} B."
    if _NOT_IN_NAME.search(cookie.name):
        return "Cookie “{name}” has been rejected for invalid characters in the name."
    if _NOT_IN_VALUE.search(cookie.value):
        return "Cookie “{name}” has been rejected for invalid characters in the value."
    if len(cookie.path) > LONGEST_ATTRIBUTE:
        return "Cookie “{name}” has been rejected because its path attribute is too big."
    if _NOT_IN_PATH.search(cookie.path):
        return "Cookie “{name}” has been rejected for invalid path."
    if cookie.same_site is SameSite.NONE and not cookie.secure:
        return (
            "Cookie “{name}” rejected because it has the “SameSite=None” attribute "
            "but is missing the “secure” attribute."
        )
    return None
