"""The URL that a person means by what they typed. Pure text: knows nothing of tabs."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import typer

from hatbox.cli.terminal.terminal_text import visible
from hatbox.tabs.tab_model import BLANK
from hatbox.urls.url import parse_url

__all__ = ["parse_url_argument"]

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT: Final = re.compile(r"[0-9]+(?=[/?#]|$)")
# What comes before a colon and a number is a host, as in `localhost:8000`, but for these.
_NEVER_HOSTS: Final = frozenset(
    {"about", "blob", "chrome", "data", "file", "ftp", "javascript", "mailto", "tel", "view-source", "ws", "wss"}
)
_THIS_MACHINE: Final = re.compile(r"localhost|.+\.localhost|127(\.\d+){3}|\[::1\]", re.IGNORECASE)


def parse_url_argument(typed: str) -> str:
    """The URL, with the scheme that it lacks; what no tab can show is wrong usage."""
    text = typed.strip()
    scheme = _scheme(text)
    if text == BLANK:
        return text
    if scheme not in ("", "http", "https"):
        raise _refused(typed, f"a tab shows pages of http:// and https://, not of {scheme}:")
    url = text if scheme else f"{_missing_scheme(text)}://{text}"
    if not text or text.startswith(("/", ".", "?", "#")) or not _is_url(url):
        raise _refused(typed, "this is no address")
    return url


def _scheme(text: str) -> str:
    match = _SCHEME.match(text)
    if match is None:
        return ""
    scheme = match[1].lower()
    return "" if _PORT.match(text, match.end()) and scheme not in _NEVER_HOSTS else scheme


def _missing_scheme(text: str) -> str:
    """The scheme of an address without one: that of this machine has no certificate."""
    try:
        host = urlsplit(f"//{text}").netloc.rpartition("@")[2]
    except ValueError:
        return "https"
    return "http" if _THIS_MACHINE.fullmatch(re.sub(r":\d*$", "", host)) else "https"


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and url.isprintable() and parse_url(url) is not None
    except ValueError:  # no such port, no such address
        return False


def _refused(typed: str, why: str) -> typer.BadParameter:
    return typer.BadParameter(f'"{visible(typed)}": {why}', param_hint="URL")
