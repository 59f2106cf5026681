"""Relative URLs in an extension: their files and their moz-extension:// URLs. Pure text."""

from __future__ import annotations

import posixpath
import re
from typing import Final
from urllib.parse import quote, unquote, urljoin

__all__ = ["absolute_url", "file_name", "is_relative"]

_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:")
_STRIPPED: Final = "".join(map(chr, range(0x21)))
_DUMMY_BASE: Final = "http://extension/"


def is_relative(url: str) -> bool:
    """Whether a URL is relative to the extension."""
    url = url.strip(_STRIPPED)
    return not url.startswith("//") and not _SCHEME.match(url)


def file_name(url: str, base: str = "") -> str:
    """The file of a relative URL, resolved from the file `base`: `../a%20b.js?x` in js/x.html is `a b.js`."""
    path = unquote(re.split(r"[?#]", url.strip(_STRIPPED), maxsplit=1)[0])
    joined = path if path.startswith("/") else posixpath.join("/", posixpath.dirname(base), path)
    return posixpath.normpath(joined).lstrip("/")


def absolute_url(url: str, base_url: str) -> str:
    """The absolute form of a relative URL below `base_url`."""
    joined = urljoin(_DUMMY_BASE, url.strip(_STRIPPED))
    return base_url + quote(joined.removeprefix(_DUMMY_BASE), safe="/?#%:@!$&'()*+,;=-._~[]|")
