"""The icons of identities at Firefox's URLs (`resource://usercontext-content/NAME.svg`), for extension pages."""

from __future__ import annotations

from hatbox.extensions.pages.page_urls import ICON_BASE, RESERVED_FOLDER
from hatbox.identity.glyphs import glyph_file

__all__ = ["ICON_FOLDER", "identity_icon"]

ICON_FOLDER = f"{RESERVED_FOLDER}usercontext-content/"
"""The same icons below the origin of the pages, for CSS masks, which other schemes may not supply."""

_COLOR = "#5b5b66"


def identity_icon(url: str) -> bytes | None:
    """The SVG file at a URL or a path of an icon; None if it is not an icon."""
    base = ICON_BASE if url.startswith(ICON_BASE) else ICON_FOLDER
    name, dot, extension = url.removeprefix(base).partition(".")
    return glyph_file(f"id-{name}", _COLOR) if url.startswith(base) and dot + extension == ".svg" else None
