"""Netscape's cookies.txt, as curl, wget and yt-dlp read and write it: seven fields a line, with a TAB between them.

A cookie that one of these readers, or Python's http.cookiejar, cannot read is left out, named and counted: to
http.cookiejar and yt-dlp, one such line makes the whole file unreadable.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from hatbox.cookies.cookie import Cookie, SameSite
from hatbox.cookies.domains import parse_domain
from hatbox.errors import InvalidInputFile
from hatbox.formats.base import (
    Bundle,
    BundleEntry,
    CookieName,
    ExportResult,
    Format,
    Tally,
    leave_out,
)

__all__ = ["FORMAT", "read", "write"]

_HEADER: Final = "# Netscape HTTP Cookie File\n# Written by Hatbox. Keep it secret: these cookies are your logins.\n\n"
_HTTP_ONLY: Final = "#HttpOnly_"
_FLAGS: Final = {"TRUE": True, "FALSE": False}
_FIELDS: Final = 7
_LONGEST_LINE: Final = 4999  # bytes, with the line feed; curl ignores longer lines
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

HIDDEN: Final = "that the identity is hidden"
SAME_SITE: Final = "SameSite attributes"
PARTITIONED: Final = "partitioned cookies, which would be sent to every site"
TABS: Final = "cookies with a TAB in them"
CONTROL: Final = "cookies with line breaks or other control characters"
NOT_UTF8: Final = "cookies with bytes that are not UTF-8, which Python and yt-dlp cannot read"
TOO_LONG: Final = f"cookies with a line of more than {_LONGEST_LINE} bytes, which curl cannot read"
NAMELESS: Final = "cookies without a name"


def read(data: bytes, source: str) -> Bundle:
    """Parse the cookies of a file, in its order, without an identity."""
    # One character per byte. Lines end at line feeds only: values may contain other line separators.
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").split("\n")
    cookies: list[Cookie] = []
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\r")
        if http_only := line[: len(_HTTP_ONLY)].lower() == _HTTP_ONLY.lower():
            line = line[len(_HTTP_ONLY) :]
        elif line.startswith("#"):
            continue
        if line.strip(" \t"):
            cookies.append(_cookie(line, http_only, len(cookies) + 1, source, number))
    return Bundle([BundleEntry(None, cookies)])


def write(bundle: Bundle) -> ExportResult:
    """Write the cookies of all entries into one file."""
    lost: Tally = Counter(bundle.not_carried)
    left_out: dict[str, list[CookieName]] = {}
    lines: list[bytes] = []
    for holding in bundle.entries:
        lost.update([HIDDEN] if holding.label and holding.label.hidden else [])
        for cookie in holding.cookies:
            line = _line(cookie)
            if reason := _obstacle(cookie, line):
                leave_out(cookie, reason, left_out)
                continue
            lines.append(line)
            lost.update([SAME_SITE] if cookie.same_site is not SameSite.UNSPECIFIED else [])
    lost.update({reason: len(names) for reason, names in left_out.items()})
    return ExportResult(_HEADER.encode() + b"".join(lines), len(lines), lost, left_out)


def _cookie(line: str, http_only: bool, place: int, source: str, number: int) -> Cookie:
    fields = line.split("\t")
    if len(fields) == _FIELDS - 1:  # an editor removed the TAB before an empty value
        fields.append("")
    if len(fields) != _FIELDS:
        found = f"{len(fields)} fields" if len(fields) > 1 else "no TAB"
        raise InvalidInputFile(source, f"expected {_FIELDS} fields separated by TABs, found {found}", number)
    host, shared, path, secure, expires, name, value = fields
    for flag in (shared, secure):
        if flag.upper() not in _FLAGS:
            raise InvalidInputFile(source, f"expected TRUE or FALSE, not {flag!r}", number)
    domain, host_only = parse_domain(host, shared=_FLAGS[shared.upper()])
    return Cookie(
        name=name,
        value=value,
        domain=domain,
        path=path or "/",
        host_only=host_only,
        secure=_FLAGS[secure.upper()],
        http_only=http_only,
        expires=_expires(expires, source, number),
        sequence=place,
    )


def _expires(text: str, source: str, number: int) -> float | None:
    """Seconds since 1970; empty and 0 mean a session cookie. Some programs write fractions."""
    try:
        seconds = float(text or 0)
        int(seconds)
    except (ValueError, OverflowError):
        raise InvalidInputFile(source, f"invalid expiry time: {text!r}", number) from None
    return seconds or None


def _obstacle(cookie: Cookie, line: bytes) -> str:
    """Why a program that reads this format could not read the cookie; empty if all can."""
    text = cookie.name + cookie.value + cookie.path
    if cookie.partition is not None:
        return PARTITIONED
    if "\t" in text:
        return TABS
    if _CONTROL.search(text):
        return CONTROL
    if not cookie.name:
        return NAMELESS  # curl would read its value as a name
    try:
        line.decode()
    except UnicodeDecodeError:
        return NOT_UTF8
    return TOO_LONG if len(line) > _LONGEST_LINE else ""


def _line(cookie: Cookie) -> bytes:
    host = cookie.domain.strip("[]")  # curl and wget know IPv6 addresses without brackets
    fields = (
        host if cookie.host_only else f".{host}",
        "FALSE" if cookie.host_only else "TRUE",
        cookie.path,
        "TRUE" if cookie.secure else "FALSE",
        # 0 would make it a session cookie.
        "0" if cookie.expires is None else str(max(int(cookie.expires), 1)),
        cookie.name,
        cookie.value,
    )
    return ((_HTTP_ONLY if cookie.http_only else "") + "\t".join(fields) + "\n").encode("latin-1")


FORMAT: Final = Format(
    "cookies.txt",
    read,
    write,
    has_identities=False,
    unsupported=(
        SAME_SITE,
        PARTITIONED,
        TABS,
        CONTROL,
        NOT_UTF8,
        TOO_LONG,
        NAMELESS,
        "HttpOnly cookies in wget, which ignores them",
        HIDDEN,
        "times of creation and of last use",
        "fractions of a second",
    ),
)
