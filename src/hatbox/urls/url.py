"""URL parsing for URLs from scripts (WHATWG URL standard), such as `https:\\site.example`. Pure text."""

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
_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}  # default ports of the schemes with a host
_TRIMMED: Final = "".join(map(chr, range(0x21)))
_REMOVED: Final = str.maketrans("", "", "\t\n\r")
_MAX_PORT: Final = 65535
_MAX_PORT_DIGITS: Final = 5
# Printable characters that are not percent-encoded.
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
_PATH_CHARACTERS: Final = _PRINTABLE.translate(str.maketrans("", "", '"#<>?^`{}'))
_QUERY_CHARACTERS: Final = _PRINTABLE.translate(str.maketrans("", "", '"<>'))
_SINGLE_DOT: Final = frozenset({".", "%2e"})
_DOUBLE_DOT: Final = frozenset({"..", ".%2e", "%2e.", "%2e%2e"})


class Url(NamedTuple):
    """A parsed URL. `host` is canonical. Without a host, `path` is everything after the scheme."""

    scheme: str
    host: str
    path: str
    userinfo: str = ""
    """User name and password, with the `@`."""
    port_suffix: str = ""
    """A port other than the default, with its colon."""
    query: str = ""
    """With its question mark."""
    fragment: str = ""
    """With its hash sign."""

    @property
    def text(self) -> str:
        """The serialized URL."""
        authority = f"//{self.userinfo}{self.host}{self.port_suffix}" if self.host else ""
        return f"{self.scheme}:{authority}{self.path}{self.query}{self.fragment}"

    @property
    def directory(self) -> str:
        """The path up to and including its last slash."""
        return self.path[: self.path.rfind("/") + 1] or "/"


@cache_short_texts(1024, longest=2048)
def parse_url(text: str) -> Url | None:
    """Parse a URL; None if it is invalid."""
    text = text.strip(_TRIMMED).translate(_REMOVED)
    match = _SCHEME.match(text)
    if match is None:
        return None
    scheme, rest = match[1].lower(), text[match.end() :]
    if scheme not in _PORTS:
        return Url(scheme, "", rest)
    split = _SPECIAL.match(rest)
    if split is None:
        return None
    # The last @ ends the userinfo. A regular expression would backtrack over every other @.
    user, at, host_and_port = split[1].rpartition("@")
    authority = _HOST_AND_PORT.fullmatch(host_and_port)
    if authority is None:
        return None
    digits = authority[2]
    number = digits.lstrip("0") if digits else ""
    if len(number) > _MAX_PORT_DIGITS or int(number or 0) > _MAX_PORT:
        return None
    host = canonical_host(unquote(authority[1]) if "%" in authority[1] else authority[1])
    if not host:
        return None
    port = int(number or 0) if digits else _PORTS[scheme]
    return Url(
        scheme,
        host,
        _normalize_path(split[2]),
        userinfo=_encode(user + at),
        port_suffix="" if port == _PORTS[scheme] else f":{port}",
        query=_encode(split[3]),
        fragment=_encode(split[4]),
    )


def _encode(text: str | None) -> str:
    return quote(well_formed(text), safe=_QUERY_CHARACTERS) if text else ""


def _normalize_path(text: str) -> str:
    """Normalize a path: percent-encoded, backslashes replaced, dot segments removed."""
    segments: list[str] = []
    *directories, last = text.replace("\\", "/").removeprefix("/").split("/")
    for segment in directories:
        if segment.lower() in _DOUBLE_DOT:
            del segments[-1:]
        elif segment.lower() not in _SINGLE_DOT:
            segments.append(segment)
    if last.lower() in _DOUBLE_DOT:
        del segments[-1:]
    segments.append("" if last.lower() in _DOUBLE_DOT | _SINGLE_DOT else last)
    return quote(well_formed("/" + "/".join(segments)), safe=_PATH_CHARACTERS)
