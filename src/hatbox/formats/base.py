"""What every format gives and takes: identities with their cookies, and what became of them on the way.

Knows no single format, no file and no profile. An identity is known by its looks here, not by its number, because
numbers mean nothing on another machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias, TypeVar

import msgspec

from hatbox.cookies.cookie import Cookie, SameSite
from hatbox.errors import InvalidInputFile
from hatbox.urls.hosts import canonical_host, is_ip

__all__ = [
    "Bundle",
    "BundleEntry",
    "ExportResult",
    "Format",
    "IdentityAttributes",
    "ImportReport",
    "Tally",
    "decode_json",
    "host_of",
    "plausible_same_site",
]

T = TypeVar("T")

Tally: TypeAlias = Counter[str]
"""What happened, in words, and how often; 0 is a number that nobody can know."""

_BYTE: Final = re.compile(r"\(byte (\d+)\)")


class IdentityAttributes(msgspec.Struct, frozen=True):
    """An identity as people know it. `hidden` is None where the format does not say."""

    name: str
    icon: str
    color: str
    hidden: bool | None = None


class BundleEntry(msgspec.Struct, frozen=True):
    """An identity and its cookies, oldest first. Without a label: the cookies of no identity.

    `number` is the one that the identity has where it comes from, for formats that have numbers themselves.
    """

    label: IdentityAttributes | None
    cookies: list[Cookie] = []
    number: int = 0


class Bundle(msgspec.Struct):
    """What was read from somewhere, or is to be written. `ordered` says that the order of identities is the user's."""

    entries: list[BundleEntry]
    ordered: bool = False
    skipped: Tally = msgspec.field(default_factory=Counter)
    dropped: Tally = msgspec.field(default_factory=Counter)
    not_carried: Tally = msgspec.field(default_factory=Counter)
    """Data of these identities that no format contains; every writer reports it."""

    @property
    def count(self) -> int:
        """How many cookies there are."""
        return sum(len(holding.cookies) for holding in self.entries)


class ExportResult(msgspec.Struct):
    """A bundle as bytes, and what did not fit in."""

    data: bytes
    cookies: int
    dropped: Tally


class ImportReport(msgspec.Struct, rename="camel"):
    """What an import or an export has done. `skipped` could not be taken, `lost` could not be carried."""

    identities_new: int = 0
    identities_matched: int = 0
    cookies_new: int = 0
    cookies_changed: int = 0
    cookies_unchanged: int = 0
    skipped: Tally = msgspec.field(default_factory=Counter)
    dropped: Tally = msgspec.field(default_factory=Counter)


class Format(NamedTuple):
    """A format of one file: how it is read (bytes, and a name for them) and written."""

    name: str
    read: Callable[[bytes, str], Bundle]
    write: Callable[[Bundle], ExportResult]
    has_identities: bool
    """Whether it says whose the cookies are; if not, it holds those of one identity, whichever that is."""
    unsupported: tuple[str, ...]
    """What it cannot carry."""


def host_of(text: str, *, shared: bool) -> tuple[str, bool]:
    """The domain of a cookie and whether it is one of that host only, from a spelling of another program.

    A domain that no URL could have comes back as it is: whoever takes the cookie in will say that it cannot be.
    """
    bare = text.removeprefix(".")
    domain = canonical_host(bare) or bare
    return domain, not shared or is_ip(domain)  # nothing is below an address


def plausible_same_site(same_site: SameSite, *, secure: bool) -> SameSite:
    """Other programs write None for cookies that say nothing. A cookie that is not secure cannot have said it."""
    return SameSite.UNSPECIFIED if same_site is SameSite.NONE and not secure else same_site


def decode_json(decode: Callable[[bytes], T], data: bytes, source: str, first_line: int = 1) -> T:
    """What a decoder makes of bytes; raises InvalidInputFile that says what is wrong, and in which line."""
    try:
        return decode(data)
    except msgspec.ValidationError as error:
        # The message has the path of the value, which tells more than a line, unless each line is a value.
        raise InvalidInputFile(source, str(error), first_line if b"\n" not in data else None) from error
    except msgspec.DecodeError as error:
        at = _BYTE.search(str(error))
        end = int(at[1]) if at else len(data)
        raise InvalidInputFile(source, str(error), first_line + data[:end].count(b"\n")) from error
    except UnicodeDecodeError as error:
        valid = data.decode("utf-8", "ignore").encode()
        same = next((place for place, (a, b) in enumerate(zip(data, valid, strict=False)) if a != b), len(valid))
        raise InvalidInputFile(source, "it is not UTF-8 text", first_line + data[:same].count(b"\n")) from error
    except RecursionError as error:
        raise InvalidInputFile(source, "it is nested too deeply") from error
