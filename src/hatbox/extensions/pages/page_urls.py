"""The two spellings of the URL of an extension page: Firefox's, and the one that Chromium loads. Pure text.

Chromium cannot load documents of the scheme moz-extension. It loads them from an https host without a
domain, and every request to it is intercepted.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["ICON_BASE", "RESERVED_FOLDER", "PageUrls"]

ICON_BASE: Final = "resource://usercontext-content/"
"""The base URL of the icons of identities in Firefox."""

RESERVED_FOLDER: Final = "_generated_hatbox/"
"""The folder of files that are not in the package."""


class PageUrls(NamedTuple):
    """The URLs of the pages of one extension."""

    uuid: str
    """The host in its moz-extension:// URLs."""

    @property
    def extension_origin(self) -> str:
        """The origin that scripts see in runtime.getURL()."""
        return f"moz-extension://{self.uuid}"

    @property
    def origin(self) -> str:
        """The origin in Chromium. Its host is that of Firefox: extensions write `moz-extension://${location.host}/`."""
        return f"https://{self.uuid}"

    def page_url(self, url: str) -> str:
        """The URL in Chromium of a moz-extension:// URL of the extension. Other URLs are unchanged."""
        return _with_origin(url, self.extension_origin, self.origin)

    def extension_url(self, url: str) -> str:
        """The moz-extension:// URL of a URL in Chromium. Other URLs are unchanged."""
        return _with_origin(url, self.origin, self.extension_origin)

    def path_of(self, url: str) -> str | None:
        """The path, query and fragment of a URL of the extension in either spelling; None for another URL."""
        for origin in (self.origin, self.extension_origin):
            if _has_origin(url, origin):
                return url[len(origin) :].removeprefix("/")
        return None


def _has_origin(url: str, origin: str) -> bool:
    return url.startswith(origin) and url[len(origin) : len(origin) + 1] in ("", "/", "?", "#")


def _with_origin(url: str, old: str, new: str) -> str:
    return new + url[len(old) :] if _has_origin(url, old) else url
