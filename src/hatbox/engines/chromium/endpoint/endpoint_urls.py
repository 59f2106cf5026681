"""Which URLs a client of an endpoint may load and see. Pure text."""

from __future__ import annotations

from typing import Final

from hatbox.engines.chromium.extension_resources import is_resource_url
from hatbox.urls.protected_pages import is_protected_cookie, is_protected_page
from hatbox.urls.url import Url, parse_url

__all__ = ["is_protected_cookie", "is_withheld", "loadable_url"]

_WEB: Final = ("http", "https")
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


def _is_web_page(url: Url) -> bool:
    if url.scheme in _WEB:
        return not is_protected_page(url) and not is_resource_url(url.text)
    if url.scheme == "about":
        return url.path.partition("?")[0].partition("#")[0] in _BLANK
    if url.scheme == "blob":
        inner = None if url.path.startswith(_OPAQUE) else parse_url(url.path)
        return url.path.startswith(_OPAQUE) or (inner is not None and inner.scheme in _WEB and _is_web_page(inner))
    return url.scheme == "data"
