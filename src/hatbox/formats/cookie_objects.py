"""Arrays of cookies as `cookies.getAll()` returns them, which extensions that export cookies write. Only read."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from hatbox.cookies.cookie import Cookie, Partition, SameSite
from hatbox.cookies.domains import parse_domain
from hatbox.cookies.partitions import canonical_partition
from hatbox.formats.base import Bundle, BundleEntry, decode_json, plausible_same_site, unknown_members
from hatbox.javascript.text import well_formed

__all__ = ["read"]

_SAME_SITE: Final = {
    "none": SameSite.NONE,
    "no_restriction": SameSite.NONE,
    "lax": SameSite.LAX,
    "strict": SameSite.STRICT,
}


class _CookieObject(msgspec.Struct, rename="camel"):
    name: str
    value: str
    domain: str
    path: str = "/"
    host_only: bool | None = None
    secure: bool = False
    http_only: bool = False
    same_site: str | None = None
    session: bool = False
    expiration_date: float | None = None
    expires: Any = None
    """Used by other programs in place of expirationDate; -1 is a session cookie."""
    partition_key: Any = None


# The second line: of stores, and what cookies are made of in Firefox and in Chromium's protocol.
_KNOWN: Final = {
    *_CookieObject.__struct_encode_fields__,
    *("storeId", "id", "firstPartyDomain", "sameParty", "priority", "sourceScheme", "sourcePort", "size"),
}
_decode = msgspec.json.Decoder(list[_CookieObject]).decode


def read(data: bytes, source: str) -> Bundle:
    """Parse the cookies of an array, in its order, without an identity."""
    given = decode_json(_decode, data, source)
    entry = BundleEntry(None, [_cookie(each, place) for place, each in enumerate(given, 1)])
    return Bundle([entry], dropped=unknown_members(data, _KNOWN))


def _cookie(given: _CookieObject, place: int) -> Cookie:
    is_shared = given.domain.startswith(".") if given.host_only is None else not given.host_only
    domain, host_only = parse_domain(given.domain, shared=is_shared)
    same_site = _SAME_SITE.get((given.same_site or "").lower(), SameSite.UNSPECIFIED)
    return Cookie(
        name=_octets(given.name),
        value=_octets(given.value),
        domain=domain,
        path=_octets(given.path) or "/",
        host_only=host_only,
        secure=given.secure,
        http_only=given.http_only,
        same_site=plausible_same_site(same_site, secure=given.secure),
        expires=_expires(given),
        partition=_partition(given.partition_key, domain),
        sequence=place,
    )


def _expires(given: _CookieObject) -> float | None:
    seconds = given.expires if given.expiration_date is None else given.expiration_date
    is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0
    return float(seconds) if is_time and not given.session else None


def _partition(given: Any, domain: str) -> Partition | None:
    """The partition, as the cookies API or as Puppeteer writes it."""
    crossed = False
    if isinstance(given, dict):
        crossed = given.get("hasCrossSiteAncestor") is True
        given = given.get("topLevelSite")
    return canonical_partition(Partition(given, crossed), domain) if given and isinstance(given, str) else None


def _octets(text: str) -> str:
    return text if text.isascii() else well_formed(text).encode().decode("latin-1")
