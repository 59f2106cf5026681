"""URLs as a browser reads those that a script passes in (WHATWG URL standard). Pure text.

More forgiving than the cookie engine, which sees URLs that a client has already read: `https:\\site.example` is one.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from hatbox.javascript.text import well_formed
from hatbox.text_cache import cache_short_texts
from hatbox.urls.hosts import canonical_host

__all__ = ["Url", "parse_url"]

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SPECIAL: Final = re.compile(r"[/\\]*([^/\\?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)
_HOST_AND_PORT: Final = re.compile(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?")
_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}  # all schemes with a host
_AROUND: Final = "".join(map(chr, range(0x21)))
_DROPPED: Final = str.maketrans("", "", "\t\n\r")
_HIGHEST_PORT: Final = 65535
_LONGEST_PORT: Final = 5  # digits
# All that is printable but for what the standard encodes in a path.
_KEPT_IN_PATH: Final = "".join(character for character in map(chr, range(0x21, 0x7F)) if character not in '"#<>?^`{}')
_KEPT_BEHIND_PATH: Final = "".join(character for character in map(chr, range(0x21, 0x7F)) if character not in '"<>')
_HERE: Final = frozenset({".", "%2e"})
_UP: Final = frozenset({"..", ".%2e", "%2e.", "%2e%2e"})


class Url(NamedTuple):
    """A URL. `host` is canonical, and empty for schemes that know none: then all the rest is the path."""

    scheme: str
    host: str
    path: str
    before_host: str = ""
    """Name and password, up to the `@`."""
    after_host: str = ""
    """A port that is not that of the scheme, with its colon."""
    query: str = ""
    """With its question mark."""
    fragment: str = ""
    """With its hash sign."""

    @property
    def text(self) -> str:
        """The whole URL, as browsers write it."""
        authority = f"//{self.before_host}{self.host}{self.after_host}" if self.host else ""
        return f"{self.scheme}:{authority}{self.path}{self.query}{self.fragment}"

    @property
    def directory(self) -> str:
        """The path up to and with its last slash."""
        return self.path[: self.path.rfind("/") + 1] or "/"


@cache_short_texts(1024, longest=2048)
def parse_url(text: str) -> Url | None:
    """The parts of a URL; None if it is none."""
    text = text.strip(_AROUND).translate(_DROPPED)
    match = _SCHEME.match(text)
    if match is None:
        return None
    scheme, rest = match[1].lower(), text[match.end() :]
    if scheme not in _PORTS:
        return Url(scheme, "", rest)
    split = _SPECIAL.match(rest)
    if split is None:
        return None
    # The last @ ends the user info. A regular expression would try every other @ as well.
    user, at, place = split[1].rpartition("@")
    authority = _HOST_AND_PORT.fullmatch(place)
    if authority is None:
        return None
    digits = authority[2]
    number = digits.lstrip("0") if digits else ""
    if len(number) > _LONGEST_PORT or int(number or 0) > _HIGHEST_PORT:
        return None
    host = canonical_host(unquote(authority[1]) if "%" in authority[1] else authority[1])
    if not host:
        return None
    port = int(number or 0) if digits else _PORTS[scheme]
    return Url(
        scheme,
        host,
        _path(split[2]),
        before_host=_encoded(user + at),
        after_host="" if port == _PORTS[scheme] else f":{port}",
        query=_encoded(split[3]),
        fragment=_encoded(split[4]),
    )


def _encoded(text: str | None) -> str:
    return quote(well_formed(text or ""), safe=_KEPT_BEHIND_PATH)


def _path(text: str) -> str:
    """The path as it is sent: encoded, with slashes only, and without `.` and `..`."""
    segments: list[str] = []
    *directories, last = text.replace("\\", "/").removeprefix("/").split("/")
    for segment in directories:
        if segment.lower() in _UP:
            del segments[-1:]
        elif segment.lower() not in _HERE:
            segments.append(segment)
    if last.lower() in _UP:
        del segments[-1:]
    segments.append("" if last.lower() in _UP | _HERE else last)
    return quote(well_formed("/" + "/".join(segments)), safe=_KEPT_IN_PATH)
