"""Playwright's storage state: cookies, and localStorage of origins, which is not imported yet.

Its text is Unicode; a cookie whose bytes are not UTF-8 cannot be written.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, Literal

import msgspec

from hatbox.cookies.cookie import Cookie, Partition, SameSite
from hatbox.cookies.partitions import canonical_partition
from hatbox.formats.base import (
    Bundle,
    BundleEntry,
    ExportResult,
    Format,
    Tally,
    decode_json,
    host_of,
    plausible_same_site,
)
from hatbox.javascript.text import well_formed

__all__ = ["FORMAT", "read", "write"]

UNSET: Final = "SameSite attributes that were not set, and are Lax now"
NOT_UTF8: Final = "cookies with bytes that are not UTF-8"
STORAGE: Final = "origins with localStorage (import not supported yet)"

_SAME_SITE: Final = {"Strict": SameSite.STRICT, "Lax": SameSite.LAX, "None": SameSite.NONE}
_WORD_OF: Final = {value: word for word, value in _SAME_SITE.items()} | {SameSite.UNSPECIFIED: "Lax"}
_SESSION: Final = -1


class _StorageStateCookie(msgspec.Struct, omit_defaults=True):
    name: str
    value: str
    domain: str
    path: str
    expires: float = _SESSION
    httpOnly: bool = False  # noqa: N815 - Playwright's names
    secure: bool = False
    sameSite: Literal["Strict", "Lax", "None"] | None = None  # noqa: N815
    partitionKey: str | None = None  # noqa: N815
    _crHasCrossSiteAncestor: bool = False  # noqa: N815


class _State(msgspec.Struct):
    cookies: list[_StorageStateCookie]
    origins: list[dict[str, Any]] = []


_decode = msgspec.json.Decoder(_State).decode


def read(data: bytes, source: str) -> Bundle:
    """Parse the cookies of a storage state, in its order, without an identity."""
    state = decode_json(_decode, data, source)
    lost: Tally = Counter()
    if stored := sum(bool(origin.get("localStorage") or origin.get("indexedDB")) for origin in state.origins):
        lost[STORAGE] = stored
    return Bundle(
        [BundleEntry(None, [_read_cookie(each, place) for place, each in enumerate(state.cookies, 1)])], dropped=lost
    )


def write(bundle: Bundle) -> ExportResult:
    """Write the cookies of all entries into one storage state, without localStorage."""
    lost: Tally = Counter(bundle.not_carried)
    cookies = [_written_cookie(cookie, lost) for holding in bundle.entries for cookie in holding.cookies]
    written = [cookie for cookie in cookies if cookie is not None]
    data = msgspec.json.encode({"cookies": written, "origins": []})
    return ExportResult(msgspec.json.format(data, indent=2) + b"\n", len(written), lost)


def _read_cookie(given: _StorageStateCookie, place: int) -> Cookie:
    domain, host_only = host_of(given.domain, shared=given.domain.startswith("."))
    same_site = _SAME_SITE[given.sameSite] if given.sameSite else SameSite.UNSPECIFIED
    return Cookie(
        name=_octets(given.name),
        value=_octets(given.value),
        domain=domain,
        path=_octets(given.path),
        host_only=host_only,
        secure=given.secure,
        http_only=given.httpOnly,
        same_site=plausible_same_site(same_site, secure=given.secure),
        expires=None if given.expires == _SESSION else given.expires,
        partition=_partition(given, domain),
        sequence=place,
    )


def _partition(given: _StorageStateCookie, domain: str) -> Partition | None:
    if not given.partitionKey:
        return None
    return canonical_partition(Partition(given.partitionKey, given._crHasCrossSiteAncestor), domain)


def _written_cookie(cookie: Cookie, lost: Tally) -> dict[str, object] | None:
    try:
        name, value, path = map(_text, (cookie.name, cookie.value, cookie.path))
    except UnicodeDecodeError:
        lost[NOT_UTF8] += 1
        return None
    if cookie.same_site is SameSite.UNSPECIFIED:
        lost[UNSET] += 1
    written: dict[str, object] = {
        "name": name,
        "value": value,
        "domain": cookie.domain if cookie.host_only else f".{cookie.domain}",
        "path": path,
        "expires": _SESSION if cookie.expires is None else cookie.expires,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
        "sameSite": _WORD_OF[cookie.same_site],
    }
    if cookie.partition is not None:
        written["partitionKey"] = cookie.partition.top_level_site
        written["_crHasCrossSiteAncestor"] = cookie.partition.cross_site_ancestor
    return written


def _octets(text: str) -> str:
    return text if text.isascii() else well_formed(text).encode().decode("latin-1")


def _text(octets: str) -> str:
    return octets if octets.isascii() else octets.encode("latin-1").decode()


FORMAT: Final = Format(
    "storage-state",
    read,
    write,
    has_identities=False,
    unsupported=(UNSET, NOT_UTF8, "times of creation and of last use"),
)
