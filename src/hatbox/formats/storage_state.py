"""Playwright's storage state: cookies, localStorage and IndexedDB of one identity.

Playwright gives the file to the browser as a whole: one cookie that Chromium rejects, and no context is created. Such a
cookie is left out, named and counted. Checked against Playwright 1.65 with Chromium 156.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from typing import Any, Final, Literal

import msgspec

from hatbox.cookies.cookie import Cookie, Partition, SameSite
from hatbox.cookies.domains import parse_domain
from hatbox.cookies.partitions import canonical_partition
from hatbox.formats.adjacent_files import SITE_DATA
from hatbox.formats.base import (
    Bundle,
    BundleEntry,
    CookieName,
    ExportResult,
    Format,
    Tally,
    decode_json,
    leave_out,
    plausible_same_site,
    unknown_members,
)
from hatbox.formats.cookies_txt import HIDDEN
from hatbox.formats.origin_storage import origin_entry, site_data_of
from hatbox.javascript.json_text import decode_javascript_json
from hatbox.javascript.text import well_formed

__all__ = ["FORMAT", "read", "write"]

UNSET: Final = "SameSite attributes that were not set, and are Lax now"
NOT_UTF8: Final = "cookies with bytes that are not UTF-8"
CHARACTERS: Final = "cookies with a TAB or another control character, or a space at an end, which Chromium rejects"
REJECTED: Final = "cookies that must be Secure in Chromium, and are not"
PORTS: Final = "cookies that are partitioned by a site with a port, which Chromium ignores"

_SAME_SITE: Final = {"Strict": SameSite.STRICT, "Lax": SameSite.LAX, "None": SameSite.NONE}
_WORD_OF: Final = {value: word for word, value in _SAME_SITE.items()} | {SameSite.UNSPECIFIED: "Lax"}
_SESSION: Final = -1
_LATEST: Final = 253_402_300_799  # seconds; Playwright accepts no later expiry time
_BAD_TEXT: Final = re.compile(r"[\x00-\x1f\x7f]|^[ \t]|[ \t]$")
_BAD_PATH: Final = re.compile(r"[\x00-\x1f\x7f\\]")
_PORT: Final = re.compile(r":[0-9]+$")


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


class _Cookies(msgspec.Struct):
    cookies: msgspec.Raw


_decode_state = msgspec.json.Decoder(_State).decode


def read(data: bytes, source: str) -> Bundle:
    """Parse the cookies, in their order, and the site data of a storage state, without an identity."""
    state = decode_json(_decode, data, source)
    lost = _not_taken(data)
    cookies = [_read_cookie(each, place) for place, each in enumerate(state.cookies, 1)]
    return Bundle([BundleEntry(None, cookies, site_data=site_data_of(state.origins, source, lost))], dropped=lost)


def _not_taken(data: bytes) -> Tally:
    """What a later Playwright, or another program, has added, such as `credentials`."""
    lost = unknown_members(data, _State.__struct_fields__)
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        cookies = msgspec.json.decode(data, type=_Cookies).cookies
        lost += unknown_members(cookies, _StorageStateCookie.__struct_fields__)
    return lost


def write(bundle: Bundle) -> ExportResult:
    """Write the cookies and the site data of all entries into one storage state."""
    lost: Tally = Counter({what: count for what, count in bundle.not_carried.items() if what not in SITE_DATA})
    left_out: dict[str, list[CookieName]] = {}
    cookies: list[dict[str, object]] = []
    origins: list[dict[str, Any]] = []
    for holding in bundle.entries:
        lost.update([HIDDEN] if holding.label and holding.label.hidden else [])
        for cookie in holding.cookies:
            if reason := _obstacle(cookie):
                leave_out(cookie, reason, left_out)
            else:
                cookies.append(_written_cookie(cookie))
                lost.update([UNSET] if cookie.same_site is SameSite.UNSPECIFIED else [])
        origins += [entry for each in holding.site_data if (entry := origin_entry(each, lost)) is not None]
    lost.update({reason: len(names) for reason, names in left_out.items()})
    # ASCII: JavaScript's text may have lone surrogates, which UTF-8 has no form for.
    text = json.dumps({"cookies": cookies, "origins": origins}, indent=2, allow_nan=False)
    return ExportResult(text.encode() + b"\n", len(cookies), lost, left_out, len(origins))


def _decode(data: bytes) -> _State:
    """Decode JSON: with msgspec, which describes a mistake better, and for site data with JavaScript's text."""
    problem: msgspec.DecodeError | None = None
    try:
        state = _decode_state(data)
        if not state.origins:
            return state
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        problem = error
    try:
        decoded = decode_javascript_json(data)
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise problem or msgspec.DecodeError(str(error)) from None
    return msgspec.convert(decoded, _State)


def _read_cookie(given: _StorageStateCookie, place: int) -> Cookie:
    domain, host_only = parse_domain(given.domain, shared=given.domain.startswith("."))
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


def _obstacle(cookie: Cookie) -> str:
    """Why Playwright, or Chromium, would not accept the cookie as it is; empty if they do."""
    try:
        for octets in (cookie.name, cookie.value, cookie.path):
            _text(octets)
    except UnicodeDecodeError:
        return NOT_UTF8
    if _BAD_TEXT.search(cookie.name) or _BAD_TEXT.search(cookie.value) or _BAD_PATH.search(cookie.path):
        return CHARACTERS
    if not cookie.secure and (cookie.partition is not None or cookie.same_site is SameSite.NONE):
        return REJECTED
    return PORTS if cookie.partition is not None and _PORT.search(cookie.partition.top_level_site) else ""


def _written_cookie(cookie: Cookie) -> dict[str, object]:
    written: dict[str, object] = {
        "name": _text(cookie.name),
        "value": _text(cookie.value),
        "domain": cookie.domain if cookie.host_only else f".{cookie.domain}",
        "path": _text(cookie.path),
        "expires": _SESSION if cookie.expires is None else min(cookie.expires, _LATEST),
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
    unsupported=(
        UNSET,
        NOT_UTF8,
        CHARACTERS,
        REJECTED,
        PORTS,
        "IndexedDB records with Blobs, Files, CryptoKeys, DataViews or Float16Arrays",
        HIDDEN,
        "times of creation and of last use",
    ),
)
