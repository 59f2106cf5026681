"""URLs that Chromium cannot load in a tab, with the reason. Pure text."""

from __future__ import annotations

from typing import Final

from hatbox.engines.chromium.net_errors import load_error_message

__all__ = ["EXTENSION_PAGE", "NO_REDIRECT", "refusal"]

EXTENSION_PAGE: Final = (
    "The extension of this page is not running in the program of this browser. "
    "Run it there: hatbox run EXTENSION --engine chromium"
)
NO_REDIRECT: Final = "Chromium cannot be redirected to a page of an extension. tabs.update can open it."


def refusal(url: str) -> str:
    """The error for a URL that cannot be loaded; empty if Chromium can try."""
    scheme = url.partition(":")[0].strip().lower()
    if scheme == "moz-extension":
        return EXTENSION_PAGE
    return load_error_message("net::ERR_INVALID_URL", url) if scheme == "javascript" else ""
