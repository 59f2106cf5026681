"""The files of an extension's package that its scripts name by URL. Pure text."""

from __future__ import annotations

import posixpath
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

__all__ = ["package_path"]

_EXTENSION: Final = "moz-extension:"


def package_path(url: str, page: str) -> str | None:
    """The file that a URL names, relative to an extension page: `../a%20b.js?x` in js/x.html is `a b.js`.

    None if it is not in the extension of that page.
    """
    if not page.startswith(_EXTENSION):
        return None
    text = url.strip()
    # As https, because urljoin() does not know the scheme moz-extension.
    base = urlsplit("https:" + page.removeprefix(_EXTENSION))
    if text.lower().startswith(_EXTENSION):
        text = "https:" + text[len(_EXTENSION) :]
    elif text.lower().startswith("https:"):
        return None
    try:
        found = urlsplit(urljoin(base.geturl(), text))
    except ValueError:  # invalid IPv6 brackets
        return None
    if found.scheme != "https" or found.netloc != base.netloc:
        return None
    return posixpath.normpath(unquote(found.path) or "/").lstrip("/")
