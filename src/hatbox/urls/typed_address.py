"""Addresses as people type them: adds the scheme that was omitted. Pure text: knows nothing of tabs."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from hatbox.urls.hosts import canonical_host
from hatbox.urls.url import parse_url

__all__ = ["has_one_host", "parse_typed_address"]

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT: Final = re.compile(r"[0-9]+(?=[/?#]|$)")
# Text before a colon and a number is a host, as in `localhost:8000`, except these.
_NEVER_HOSTS: Final = frozenset(
    {"about", "blob", "chrome", "data", "file", "ftp", "javascript", "mailto", "tel", "view-source", "ws", "wss"}
)
_LOOPBACK: Final = re.compile(r"localhost|.+\.localhost|127(\.\d+){3}|\[::1\]", re.IGNORECASE)


def parse_typed_address(typed: str) -> str:
    """The http or https URL, with its scheme. Raises ValueError, with the problem, if a tab cannot load it."""
    text = typed.strip()
    scheme = _scheme(text)
    if scheme not in ("", "http", "https"):
        raise ValueError(f"unsupported URL scheme: {scheme} (use http or https)")
    url = text if scheme else f"{_default_scheme(text)}://{text}"
    if not text or text.startswith(("/", ".", "?", "#")) or not _is_url(url):
        raise ValueError("not a URL")
    if not has_one_host(url):
        raise ValueError("programs disagree about its host. Write it without \\ and without % in the host")
    return url


def has_one_host(url: str) -> bool:
    """Whether browsers and HTTP clients read the same host.

    In `http://a\\@b/` they read a and b; in `http://%61/`, a and %61.
    """
    parsed = parse_url(url)
    if parsed is None:
        return False
    written = urlsplit(url).hostname or ""
    return "%" not in written and canonical_host(written) == parsed.host


def _scheme(text: str) -> str:
    match = _SCHEME.match(text)
    if match is None:
        return ""
    scheme = match[1].lower()
    return "" if _PORT.match(text, match.end()) and scheme not in _NEVER_HOSTS else scheme


def _default_scheme(text: str) -> str:
    """The scheme of a URL without one: http for loopback hosts, which have no certificate."""
    try:
        host = urlsplit(f"//{text}").netloc.rpartition("@")[2]
    except ValueError:
        return "https"
    return "http" if _LOOPBACK.fullmatch(re.sub(r":\d*$", "", host)) else "https"


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and url.isprintable() and parse_url(url) is not None
    except ValueError:  # invalid port or IP address
        return False
