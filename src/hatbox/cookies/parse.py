"""Parses Set-Cookie values (RFC 6265bis, 5.6) into their attributes. Knows no clock, no URL and no jar.

Only a value that cannot be parsed is rejected here; whether a cookie is stored is decided in `storage_model`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import msgspec

from hatbox.cookies.cookie import SameSite
from hatbox.cookies.dates import parse_date
from hatbox.javascript.text import well_formed
from hatbox.text_cache import cache_short_texts

__all__ = ["LONGEST_ATTRIBUTE", "LONGEST_PAIR", "SetCookie", "as_octets", "bare_domain", "parse_set_cookie"]

LONGEST_PAIR: Final = 4096
LONGEST_ATTRIBUTE: Final = 1024

_CONTROL: Final = re.compile(r"[\x00-\x08\x0A-\x1F\x7F]")
_BEYOND_OCTETS: Final = re.compile(r"[^\x00-\xFF]")
_MAX_AGE: Final = re.compile(r"-?[0-9]+")
_WSP: Final = " \t"
_SAME_SITE: Final = {"none": SameSite.NONE, "lax": SameSite.LAX, "strict": SameSite.STRICT}


class SetCookie(msgspec.Struct, gc=False):
    """The attributes of a Set-Cookie value, before any rule is applied.

    `domain` is lower case and without its leading dot, unless it is a single dot, which no host matches; empty and
    absent mean the same. `path` is None if the value has no path, or one that does not start with `/`: then the default
    path applies. `expires` is the parsed date.
    """

    name: str
    value: str
    domain: str = ""
    path: str | None = None
    secure: bool = False
    http_only: bool = False
    same_site: SameSite = SameSite.UNSPECIFIED
    max_age: int | None = None
    expires: float | None = None
    partitioned: bool = False


def parse_set_cookie(line: str | bytes) -> SetCookie | None:
    """The fields of a Set-Cookie value, or None if it is not a cookie."""
    line = as_octets(line)
    # Most values are printable ASCII, and this test is many times faster than the search.
    if not line.isprintable() and _CONTROL.search(line):
        return None
    pair, _, attributes = line.partition(";")
    name, equals, value = pair.partition("=")
    if not equals:
        name, value = "", name
    name = name.strip(_WSP)
    value = value.strip(_WSP)
    if not 0 < len(name) + len(value) <= LONGEST_PAIR:
        return None
    return SetCookie(name, value, *_read_attributes(attributes)) if attributes else SetCookie(name, value)


def as_octets(text: str | bytes) -> str:
    """Text with one character per byte; other characters are encoded as UTF-8."""
    if isinstance(text, bytes):
        return text.decode("latin-1")
    if text.isascii() or not _BEYOND_OCTETS.search(text):
        return text
    return well_formed(text).encode().decode("latin-1")


class _Attributes(NamedTuple):
    domain: str
    path: str | None
    secure: bool
    http_only: bool
    same_site: SameSite
    max_age: int | None
    expires: float | None
    partitioned: bool


@cache_short_texts(1024)  # the Set-Cookie values of a server differ in the cookie value, seldom in the attributes
def _read_attributes(text: str) -> _Attributes:
    """The last value of each attribute. Too long or invalid ones are ignored."""
    said: dict[str, str] = {}
    for attribute in text.split(";"):
        name, _, value = attribute.partition("=")
        name = name.strip(_WSP).lower()
        value = value.strip(_WSP)
        if len(value) <= LONGEST_ATTRIBUTE and _means_something(name, value):
            said[name] = value
    path = said.get("path", "")
    max_age, expires = said.get("max-age"), said.get("expires")
    return _Attributes(
        domain=bare_domain(said.get("domain", "")).lower(),
        path=path if path.startswith("/") else None,
        secure="secure" in said,
        http_only="httponly" in said,
        same_site=_SAME_SITE.get(said.get("samesite", "").lower(), SameSite.UNSPECIFIED),
        max_age=int(max_age) if max_age is not None else None,
        expires=parse_date(expires) if expires is not None else None,
        partitioned="partitioned" in said,
    )


def bare_domain(domain: str) -> str:
    """A Domain attribute without its leading dot. A single dot is not an empty domain: browsers reject the cookie."""
    return domain.removeprefix(".") or domain


def _means_something(name: str, value: str) -> bool:
    """Whether an attribute is valid. An invalid date or age does not replace an earlier one."""
    if name == "expires":
        return parse_date(value) is not None
    return name != "max-age" or _MAX_AGE.fullmatch(value) is not None
