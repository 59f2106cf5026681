"""Which URLs a client of an endpoint may load and see. Pure text."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from hatbox.engines.chromium.extension_resources import is_resource_url
from hatbox.urls.protected_pages import PROTECTED_HOST, PROTECTED_PATH, is_protected_cookie, is_protected_page
from hatbox.urls.url import Url, parse_url

__all__ = ["is_protected_cookie", "is_withheld", "loadable_url", "without_manager_paths"]

_WEB: Final = ("http", "https")
_MANAGER: Final = re.compile(rf"({re.escape(PROTECTED_HOST)}(?::\d+)?{PROTECTED_PATH})[\w.~%/-]*", re.ASCII)
_SHOWN: Final = r"\1withheld"
_BODY: Final = re.compile(r'"postDataEntries"\s*:\s*\[[^\]]*\]')  # its texts are Base64, which has no bracket
_PART: Final = re.compile(r'("bytes"\s*:\s*")([^"]*)')
_OPAQUE: Final = "null/"
_BLANK: Final = ("blank", "srcdoc")
_ERROR_PAGE: Final = "chrome-error://chromewebdata/"


def loadable_url(text: str) -> str | None:
    """The URL as Chromium parses it; None if a client must not load it.

    Allowed are http, https, data and blob URLs and about:blank. The manager page and pages of extensions are not.
    """
    url = parse_url(text)
    if url is None or not _is_web_page(url):
        return None
    return url.text


def is_withheld(url: str) -> bool:
    """Whether clients do not see a page, frame or worker at this URL of Chromium."""
    if url in ("", _ERROR_PAGE):  # before the first document
        return False
    parsed = parse_url(url)
    return parsed is None or not _is_web_page(parsed)


def without_manager_paths(text: str) -> str:
    """A message as JSON in which each path of the manager page is replaced: it may have a token.

    A web page can have the same text in its URL, title and requests, so the rest of the message is left as it is.
    """
    if PROTECTED_PATH not in text or _MANAGER.search(text) is None:
        return text
    return _BODY.sub(lambda body: _PART.sub(_without_paths, body[0]), _MANAGER.sub(_SHOWN, text))


def _without_paths(part: re.Match[str]) -> str:
    """A part of the body of a request. What is no Base64 is removed."""
    try:
        content = base64.b64decode(part[2], validate=True).decode("latin-1")
    except binascii.Error:
        content = ""
    return part[1] + base64.b64encode(_MANAGER.sub(_SHOWN, content).encode("latin-1")).decode()


def _is_web_page(url: Url) -> bool:
    if url.scheme in _WEB:
        return not is_protected_page(url) and not is_resource_url(url.text)
    if url.scheme == "about":
        return url.path.partition("?")[0].partition("#")[0] in _BLANK
    if url.scheme == "blob":
        inner = None if url.path.startswith(_OPAQUE) else parse_url(url.path)
        return url.path.startswith(_OPAQUE) or (inner is not None and inner.scheme in _WEB and _is_web_page(inner))
    return url.scheme == "data"
