"""Proxy URLs: `direct`, or http://, https:// and socks5:// with host, port and credentials. Pure text.

A proxy is stored and compared in one normalised form. Its password is in `ProxyUrl.text` and `ProxyUrl.password` only,
and never in a message or a repr.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from hatbox.errors import InvalidSetting
from hatbox.urls.hosts import canonical_host

__all__ = ["DIRECT_PROXY", "MASK", "ProxyUrl", "hide_password", "parse_proxy"]

DIRECT_PROXY: Final = "direct"
"""The proxy setting of an identity that uses no proxy, whatever the environment says."""
MASK: Final = "***"
"""Shown in place of a password."""

_ALLOWED: Final = "Use direct, http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, with USER:PASSWORD@ if needed"
_FORM: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#\\]*)/?")
_HOST_AND_PORT: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^:\[\]@]+):(?P<port>[0-9]+)")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_MAYBE_PLACE: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]*\]|[^:@]*)(?::[0-9]{0,5})?/?")
_PLACE_WITH_PORT: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]*\]|[^:@/?#]*):[0-9]{0,5}/?")
_SCHEMES: Final = {"http": "http", "https": "https", "socks5": "socks5", "socks5h": "socks5"}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_MAX_LENGTH: Final = 2048
_MAX_PORT: Final = 65535
_MAX_SOCKS_BYTES: Final = 255  # RFC 1929: one byte for each length


class ProxyUrl(NamedTuple):
    """A parsed proxy URL. socks5:// always sends host names to the proxy, which resolves them."""

    scheme: str
    """http, https or socks5."""
    host: str
    """Canonical; an IPv6 address is in brackets."""
    port: int
    username: str = ""
    """Decoded; empty without credentials."""
    password: str = ""

    @property
    def text(self) -> str:
        """The normalised URL, with its credentials."""
        return f"{self.scheme}://{self._userinfo(quote(self.password, safe=''))}{self.address}"

    @property
    def masked(self) -> str:
        """The normalised URL for messages: `***` replaces the password."""
        return f"{self.scheme}://{self._userinfo(MASK)}{self.address}"

    @property
    def server(self) -> str:
        """The normalised URL without credentials."""
        return f"{self.scheme}://{self.address}"

    @property
    def address(self) -> str:
        """Host and port."""
        return f"{self.host}:{self.port}"

    @property
    def is_socks(self) -> bool:
        """Whether it is a SOCKS 5 proxy."""
        return self.scheme == "socks5"

    def __repr__(self) -> str:
        return f"<ProxyUrl {self.masked}>"

    def _userinfo(self, password: str) -> str:
        if not self.username:
            return ""
        user = quote(self.username, safe="")
        return f"{user}:{password}@" if self.password else f"{user}@"


@lru_cache(maxsize=256)
def parse_proxy(text: str) -> ProxyUrl | None:
    """Parse a proxy setting; None is `direct`. Raises InvalidSetting, without the password in its message."""
    given = text.strip(" \t\r\n")
    if given.lower() == DIRECT_PROXY:
        return None
    if len(given) > _MAX_LENGTH or _CONTROL.search(given):
        raise _invalid("(not shown)", f"It is longer than {_MAX_LENGTH} characters, or has control characters")
    found = _FORM.fullmatch(given)
    if found is None or found["scheme"].lower() not in _SCHEMES:
        raise _invalid(hide_password(given), _reason(given, found))
    scheme = _SCHEMES[found["scheme"].lower()]
    userinfo, at, host_and_port = found["authority"].rpartition("@")
    place = _HOST_AND_PORT.fullmatch(host_and_port)
    if place is None:
        raise _invalid(hide_password(given), "It needs a host and a port, such as 127.0.0.1:8080")
    host, port = canonical_host(place["host"]), int(place["port"])
    if not host:
        raise _invalid(hide_password(given), "The host is not valid")
    if not 1 <= port <= _MAX_PORT:
        raise _invalid(hide_password(given), f"The port must be 1 to {_MAX_PORT}")
    username, password = _credentials(scheme, userinfo, hide_password(given)) if at else ("", "")
    return ProxyUrl(scheme, host, port, username, password)


def hide_password(text: str) -> str:
    """A text that may be a proxy URL, for messages: `***` replaces everything that may be a password."""
    scheme, mark, rest = text.partition("://")
    if not mark or not _SCHEME.fullmatch(scheme):  # what is before :// may be part of a password
        scheme, mark, rest = "", "", text
    userinfo, at, place = rest.rpartition("@")
    if at:
        user, colon, _ = userinfo.partition(":")
        if colon and not _PLACE_WITH_PORT.fullmatch(place):  # the password may have this @ itself
            place = MASK
        return f"{scheme}{mark}{user}{colon}{MASK if colon else ''}@{place}"
    if _MAYBE_PLACE.fullmatch(rest):
        return text
    return f"{scheme}{mark}{rest.partition(':')[0]}:{MASK}"


def _credentials(scheme: str, userinfo: str, shown: str) -> tuple[str, str]:
    if _BAD_ESCAPE.search(userinfo):
        raise _invalid(shown, "User name or password has a % that is not an escape. Write %25 for a percent sign")
    user, _, secret = userinfo.partition(":")
    try:
        username, password = unquote(user, errors="strict"), unquote(secret, errors="strict")
    except UnicodeDecodeError:
        raise _invalid(shown, "User name or password is not UTF-8") from None
    if _CONTROL.search(username + password):
        raise _invalid(shown, "User name or password has control characters")
    if not username:
        raise _invalid(shown, "The user name is empty")
    if scheme != "socks5":
        if ":" in username:
            raise _invalid(shown, "HTTP authentication does not allow a colon in the user name")
    elif not password or max(len(username.encode()), len(password.encode())) > _MAX_SOCKS_BYTES:
        raise _invalid(shown, f"SOCKS 5 needs a user name and a password of 1 to {_MAX_SOCKS_BYTES} bytes")
    return username, password


def _reason(given: str, found: re.Match[str] | None) -> str:
    if "://" not in given:
        return "It has no scheme, such as http://"
    if found is None:
        return "A proxy URL has no path, query or fragment"
    return f"The scheme {found['scheme'].lower()} is not supported"


def _invalid(shown: str, reason: str) -> InvalidSetting:
    return InvalidSetting("proxy", shown, f"{reason}. {_ALLOWED}")
