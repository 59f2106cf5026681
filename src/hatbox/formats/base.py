"""The contract of formats: bundles of identities with their cookies, and reports.

Knows no single format and no profile. `identity_match` decides which identity an entry is; its number means nothing on
another machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, TypeVar

import msgspec

from hatbox.cookies.cookie import Cookie, SameSite
from hatbox.errors import InvalidInputFile

__all__ = [
    "Bundle",
    "BundleEntry",
    "CookieName",
    "ExportResult",
    "Format",
    "IdentityAttributes",
    "ImportKey",
    "ImportReport",
    "SiteData",
    "Tally",
    "decode_json",
    "leave_out",
    "name_sources",
    "place_key",
    "plausible_same_site",
    "unknown_members",
]

T = TypeVar("T")

Tally: TypeAlias = Counter[str]
"""Descriptions with counts; 0 if the count is unknown."""

_BYTE: Final = re.compile(r"\(byte (\d+)\)")


class IdentityAttributes(msgspec.Struct, frozen=True):
    """Name, color and icon of an identity. `hidden` is None if the format does not store it."""

    name: str
    icon: str
    color: str
    hidden: bool | None = None


class SiteData(msgspec.Struct, frozen=True):
    """localStorage and IndexedDB of an origin. `data` is JSON, as the profile stores it."""

    origin: str
    data: bytes


class ImportKey(msgspec.Struct, frozen=True):
    """What an identity is called where it comes from, so that the next import finds the identity that it became.

    `lasting`: the source never gives the key to another identity. Otherwise the name must be the same, too.
    """

    key: str
    lasting: bool = True


class BundleEntry(msgspec.Struct, frozen=True):
    """An identity, its cookies, oldest first, and its site data. Without attributes: the default store.

    `number` is the one that the identity has where it comes from, for formats that have numbers themselves.
    """

    label: IdentityAttributes | None
    cookies: list[Cookie] = []
    number: int = 0
    site_data: list[SiteData] = []
    uuid: str = ""
    source: ImportKey | None = None


class Bundle(msgspec.Struct):
    """Identities with cookies, read from a format or to be written. `ordered`: in the user's order."""

    entries: list[BundleEntry]
    ordered: bool = False
    skipped: Tally = msgspec.field(default_factory=Counter)
    dropped: Tally = msgspec.field(default_factory=Counter)
    not_carried: Tally = msgspec.field(default_factory=Counter)
    """Data of these identities beside the cookies. A writer reports what it does not contain."""

    @property
    def count(self) -> int:
        """The number of cookies."""
        return sum(len(holding.cookies) for holding in self.entries)


def unknown_members(data: bytes | msgspec.Raw, known: Collection[str]) -> Tally:
    """The members of JSON objects that the format does not know: they are not imported.

    Of one object, or of those in an array; by name, with the number of their elements. Data that is no JSON has none.
    """
    found: Tally = Counter()
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        decoded = msgspec.json.decode(data, type=dict[str, msgspec.Raw] | list[dict[str, msgspec.Raw]])
        for each in [decoded] if isinstance(decoded, dict) else decoded:
            for name in each.keys() - known:
                elements = msgspec.json.decode(each[name])
                found[f"unknown: {name[:40]!a}"] += len(elements) if isinstance(elements, list) else 1
    return found


class CookieName(msgspec.Struct, frozen=True):
    """A cookie that was left out of an export, without its value."""

    name: str
    domain: str
    path: str


class ExportResult(msgspec.Struct):
    """An exported bundle as bytes, and what was dropped. `left_out` names the cookies among it."""

    data: bytes
    cookies: int
    dropped: Tally
    left_out: dict[str, list[CookieName]] = {}
    origins: int = 0
    """The number of origins with site data."""


class ImportReport(msgspec.Struct, rename="camel"):
    """The result of an import. `skipped`: invalid data; `dropped`: data that the format cannot store.

    Origins are those with site data: localStorage and IndexedDB.
    """

    identities_new: int = 0
    identities_matched: int = 0
    cookies_new: int = 0
    cookies_changed: int = 0
    cookies_unchanged: int = 0
    origins_new: int = 0
    origins_changed: int = 0
    origins_unchanged: int = 0
    skipped: Tally = msgspec.field(default_factory=Counter)
    dropped: Tally = msgspec.field(default_factory=Counter)


class Format(NamedTuple):
    """A format of one file: a parser (of bytes, and a name for messages) and a writer."""

    name: str
    read: Callable[[bytes, str], Bundle]
    write: Callable[[Bundle], ExportResult]
    has_identities: bool
    """Whether it stores identities. If not, it contains the cookies of one."""
    unsupported: tuple[str, ...]
    """What it cannot store."""


def place_key(path: Path) -> str:
    """A key of a file or folder, for `ImportKey`. The path itself is not stored in a profile."""
    return hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]


def name_sources(bundle: Bundle, format_name: str, path: Path) -> Bundle:
    """A bundle whose numbered entries are known by this file, so that the next import of it finds their identities."""
    place = place_key(path)
    entries = [
        msgspec.structs.replace(each, source=ImportKey(f"{format_name}:{place}:{each.number}", lasting=False))
        if each.number and each.source is None
        else each
        for each in bundle.entries
    ]
    return msgspec.structs.replace(bundle, entries=entries)


def leave_out(cookie: Cookie, reason: str, left_out: dict[str, list[CookieName]]) -> None:
    """Note that a cookie is not in an export, and why."""
    left_out.setdefault(reason, []).append(CookieName(cookie.name, cookie.domain, cookie.path))


def plausible_same_site(same_site: SameSite, *, secure: bool) -> SameSite:
    """The SameSite attribute. Other programs write None for unset; an insecure cookie cannot have set None."""
    return SameSite.UNSPECIFIED if same_site is SameSite.NONE and not secure else same_site


def decode_json(decode: Callable[[bytes], T], data: bytes, source: str, first_line: int = 1) -> T:
    """Decode bytes. Raises InvalidInputFile with the problem and the line."""
    try:
        return decode(data)
    except msgspec.ValidationError as error:
        # The message contains the path of the value, which is more precise than a line number.
        line = first_line if b"\n" not in data else None
        raise InvalidInputFile(source, str(error), line, "this JSON is in another format") from error
    except msgspec.DecodeError as error:
        at = _BYTE.search(str(error))
        end = int(at[1]) if at else len(data)
        line = first_line + data[:end].count(b"\n")
        raise InvalidInputFile(source, str(error), line, "this JSON is damaged or incomplete") from error
    except UnicodeDecodeError as error:
        valid = data.decode("utf-8", "ignore").encode()
        same = next((place for place, (a, b) in enumerate(zip(data, valid, strict=False)) if a != b), len(valid))
        raise InvalidInputFile(source, "not UTF-8 text", first_line + data[:same].count(b"\n")) from error
    except RecursionError as error:
        raise InvalidInputFile(source, "nested too deeply") from error
