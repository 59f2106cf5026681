"""The URLs and the cookie of the manager page, which no extension can access. Pure text.

The manager page may be open in a window of Hatbox, where extensions run. Its URLs are recognized by their path, so that
every process protects the pages of every server. What the server sends for other paths is sandboxed: such a document
has another origin.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from hatbox.urls.url import Url, parse_url

__all__ = [
    "PROTECTED_COOKIE",
    "PROTECTED_HOST",
    "PROTECTED_PATH",
    "is_protected_cookie",
    "is_protected_page",
    "is_protected_url",
    "without_protected_paths",
]

PROTECTED_HOST: Final = "127.0.0.1"
"""The host of the manager page."""
PROTECTED_PATH: Final = "/hatbox-"
"""How the paths of the manager page start."""
PROTECTED_COOKIE: Final = "hatbox_page"
"""The name of its cookie."""

_WITHHELD: Final = "withheld"
_SCHEMES: Final = ("http", "ws")


def is_protected_page(url: Url) -> bool:
    """Whether a URL is one of the manager page."""
    return url.host == PROTECTED_HOST and url.scheme in _SCHEMES and url.path.startswith(PROTECTED_PATH)


def is_protected_url(text: str) -> bool:
    """Whether a URL as text is one of the manager page."""
    url = parse_url(text)
    return url is not None and is_protected_page(url)


def is_protected_cookie(name: str, domain: str) -> bool:
    """Whether a cookie is that of the manager page."""
    return name == PROTECTED_COOKIE and domain == PROTECTED_HOST


def without_protected_paths(text: str) -> str:
    """A URL or another text, in which each path of the manager page is replaced: it is a secret, or has a token."""
    return text if PROTECTED_PATH not in text else _protected().sub(rf"\1{_WITHHELD}", text)


@cache  # few texts have such a path, and every program that starts would compile it
def _protected() -> re.Pattern[str]:
    return re.compile(rf"({re.escape(PROTECTED_HOST)}(?::\d+)?{PROTECTED_PATH})[\w.~%/-]*", re.ASCII)
