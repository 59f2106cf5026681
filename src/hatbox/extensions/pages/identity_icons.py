"""The icons of identities at Firefox's URLs (`resource://usercontext-content/NAME.svg`), for extension pages."""

from __future__ import annotations

from hatbox.engines.chromium.identity_indicator import icon_shapes
from hatbox.extensions.pages.page_urls import ICON_BASE, RESERVED_FOLDER

__all__ = ["ICON_FOLDER", "identity_icon"]

ICON_FOLDER = f"{RESERVED_FOLDER}usercontext-content/"
"""The same icons below the origin of the pages, for CSS masks, which other schemes may not supply."""

_LINE = 'fill="none" stroke="#5b5b66" stroke-width="2"'
_FILL = 'fill="#5b5b66"'


def identity_icon(url: str) -> bytes | None:
    """The SVG file at a URL or a path of an icon; None if it is not an icon."""
    base = ICON_BASE if url.startswith(ICON_BASE) else ICON_FOLDER
    name, dot, extension = url.removeprefix(base).partition(".")
    shapes = icon_shapes(name, line=_LINE, fill=_FILL) if url.startswith(base) and dot + extension == ".svg" else None
    if shapes is None:
        return None
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="4 4 24 24">{shapes}</svg>'.encode()
