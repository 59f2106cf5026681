"""JSON Lines, the format of Hatbox: identities, cookies and site data, one JSON object per line.

    {"format": "hatbox", "version": 2}
    {"identity": {"name": "Work", "icon": "briefcase", "color": "orange", "hidden": false, "uuid": "7f0c…"}}
    {"cookie": {"name": "sid", "value": "1", "domain": "site.example", …}}
    {"siteData": {"origin": "https://site.example", "data": "{\\"local\\": …}"}}
    {"identity": null}
    {"end": {"identities": 1, "cookies": 1, "origins": 1}}

Identities stand in the user's order, and a cookie belongs to the identity above it; `null` is the store of no
identity. The last line tells that nothing has been cut off. In `name`, `value` and `path` of a cookie each character,
up to U+00FF, stands for a byte. `data` is JSON as text, because text of sites need not be valid Unicode. Version 1 has
neither UUIDs nor site data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from hatbox.cookies.cookie import Cookie, Partition, SameSite
from hatbox.errors import InvalidInputFile
from hatbox.formats.adjacent_files import SITE_DATA
from hatbox.formats.base import (
    Bundle,
    BundleEntry,
    ExportResult,
    Format,
    IdentityAttributes,
    SiteData,
    Tally,
    decode_json,
)
from hatbox.formats.origin_storage import canonical_origin
from hatbox.tabs.site_data import decode_site_data

__all__ = ["FORMAT", "read", "write"]

_VERSION: Final = 2
_VERSIONS: Final = (1, 2)


class _Identity(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    icon: str
    color: str
    hidden: bool
    uuid: str = ""


class _SiteDataLine(msgspec.Struct, forbid_unknown_fields=True):
    origin: str
    data: str


class _Partition(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    top_level_site: str
    cross_site_ancestor: bool


class _CookieLine(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    name: str
    value: str
    domain: str
    host_only: bool
    path: str
    secure: bool
    http_only: bool
    same_site: SameSite
    expires: float | None
    partition: _Partition | None
    sequence: int
    created: float
    last_access: float


class _End(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    identities: int
    cookies: int
    origins: int = 0


class _Header(msgspec.Struct):
    format: str
    version: int


class _Line(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Any line after the first: exactly one of these."""

    identity: _Identity | msgspec.UnsetType | None = msgspec.UNSET
    cookie: _CookieLine | msgspec.UnsetType = msgspec.UNSET
    site_data: _SiteDataLine | msgspec.UnsetType = msgspec.field(name="siteData", default=msgspec.UNSET)
    end: _End | msgspec.UnsetType = msgspec.UNSET


_decode_header = msgspec.json.Decoder(_Header).decode
_decode_line = msgspec.json.Decoder(_Line).decode
_encode = msgspec.json.Encoder().encode


def read(data: bytes, source: str) -> Bundle:
    """Parse a file. Raises InvalidInputFile if it is incomplete."""
    lines = _lines(data)
    _expect_header(lines, source)
    holdings: list[BundleEntry] = []
    end: _End | None = None
    number = 1
    for number, text in lines:
        line = decode_json(_decode_line, text, source, number)
        if end is not None:
            raise InvalidInputFile(source, "data after the end line", number)
        if line.identity is not msgspec.UNSET:
            uuid = line.identity.uuid if line.identity else ""
            holdings.append(BundleEntry(_label(line.identity), uuid=uuid))
        elif line.cookie is not msgspec.UNSET:
            if not holdings:
                raise InvalidInputFile(source, "cookie before the first identity", number)
            holdings[-1].cookies.append(_read_cookie(line.cookie, source, number))
        elif line.site_data is not msgspec.UNSET:
            if not holdings:
                raise InvalidInputFile(source, "site data before the first identity", number)
            holdings[-1].site_data.append(_read_site_data(line.site_data, source, number))
        elif line.end is not msgspec.UNSET:
            end = line.end
        else:
            raise InvalidInputFile(source, "expected an identity, a cookie, site data or the end", number)
    bundle = Bundle(holdings, ordered=True)
    if end is None:
        raise InvalidInputFile(source, "truncated: the end line is missing", number + 1)
    if end != _count(bundle):
        raise InvalidInputFile(source, "lines are missing: the counts of the end line do not match", number)
    return bundle


def write(bundle: Bundle) -> ExportResult:
    """Write all identities with their cookies and site data."""
    lines = [_encode({"format": "hatbox", "version": _VERSION})]
    for holding in bundle.entries:
        lines.append(_encode(_Line(identity=_written_label(holding))))
        lines += [_encode(_Line(cookie=_written_cookie(cookie))) for cookie in holding.cookies]
        for each in holding.site_data:
            lines.append(_encode(_Line(site_data=_SiteDataLine(each.origin, each.data.decode()))))
    end = _count(bundle)
    lines.append(_encode(_Line(end=end)))
    lost: Tally = Counter({what: count for what, count in bundle.not_carried.items() if what not in SITE_DATA})
    return ExportResult(b"\n".join(lines) + b"\n", bundle.count, lost, origins=end.origins)


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield number, line


def _expect_header(lines: Iterator[tuple[int, bytes]], source: str) -> None:
    number, text = next(lines, (1, b""))
    try:
        header = _decode_header(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        header = None
    if header is None or header.format != "hatbox":
        raise InvalidInputFile(source, 'the first line is not {"format": "hatbox", …}', number)
    if header.version not in _VERSIONS:
        problem = f"unsupported version {header.version} (supported: 1 to {_VERSION})"
        raise InvalidInputFile(source, problem, number)


def _count(bundle: Bundle) -> _End:
    origins = sum(len(holding.site_data) for holding in bundle.entries)
    return _End(sum(holding.label is not None for holding in bundle.entries), bundle.count, origins)


def _label(identity: _Identity | None) -> IdentityAttributes | None:
    return IdentityAttributes(identity.name, identity.icon, identity.color, identity.hidden) if identity else None


def _written_label(entry: BundleEntry) -> _Identity | None:
    label = entry.label
    return _Identity(label.name, label.icon, label.color, bool(label.hidden), entry.uuid) if label else None


def _read_site_data(given: _SiteDataLine, source: str, number: int) -> SiteData:
    site_data = SiteData(given.origin, given.data.encode())
    if problem := _problem_of(site_data):
        raise InvalidInputFile(source, problem, number)
    return site_data


def _read_cookie(given: _CookieLine, source: str, number: int) -> Cookie:
    for text in (given.name, given.value, given.path):
        if not text.isascii() and any(character > "\xff" for character in text):
            raise InvalidInputFile(source, "cookie with a character above U+00FF", number)
    fields = msgspec.structs.asdict(given)
    partition = given.partition and Partition(given.partition.top_level_site, given.partition.cross_site_ancestor)
    return Cookie(**fields | {"partition": partition})


def _written_cookie(cookie: Cookie) -> _CookieLine:
    return _CookieLine(
        name=cookie.name,
        value=cookie.value,
        domain=cookie.domain,
        host_only=cookie.host_only,
        path=cookie.path,
        secure=cookie.secure,
        http_only=cookie.http_only,
        same_site=cookie.same_site,
        expires=cookie.expires,
        partition=cookie.partition and _Partition(*cookie.partition),
        sequence=cookie.sequence,
        created=cookie.created,
        last_access=cookie.last_access,
    )


FORMAT: Final = Format("json-lines", read, write, has_identities=True, unsupported=())


class _StoredIndex(msgspec.Struct, rename="camel"):
    name: str
    key_path: str | list[str]
    unique: bool
    multi_entry: bool


class _StoredStore(msgspec.Struct, rename="camel"):
    name: str
    key_path: str | list[str] | None
    auto_increment: bool
    indexes: list[_StoredIndex]
    records: list[tuple[Any, Any]]


class _StoredDatabase(msgspec.Struct):
    name: str
    version: int
    stores: list[_StoredStore]


class _StoredSiteData(msgspec.Struct):
    local: list[tuple[str, str]] = []
    databases: list[_StoredDatabase] = []


def _problem_of(site_data: SiteData) -> str:
    """Why this cannot be stored; empty if it can."""
    if canonical_origin(site_data.origin) != site_data.origin:
        return f"not an origin: {site_data.origin[:200]}"
    try:
        msgspec.convert(decode_site_data(site_data.data), _StoredSiteData)
    except RecursionError:
        return "site data nested too deeply"
    except ValueError as error:
        return f"invalid site data: {error}"
    return ""
