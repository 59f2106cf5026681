"""The identity indicator: name, color and icon of an identity, shown at the edge of each page.

Pure: identity_indicator.js draws it. The page cannot read it: it is in the closed shadow root of an isolated world.
"""

from __future__ import annotations

import re
from typing import Any, Final
from xml.etree import ElementTree

from hatbox.identities.model import ContextualIdentity

__all__ = ["IdentityIndicator", "icon_shapes", "indicator_for"]

IdentityIndicator = dict[str, Any]
"""The argument of identity_indicator.js: `name`, `color` and `ink` (CSS), and `shapes`, SVG elements of the icon."""

_MAX_NAME: Final = 40  # characters; longer names are cut
_DARK, _LIGHT = "#15141a", "#ffffff"
_DARK_BELOW: Final = 0.18  # the relative luminance at which both inks have the same contrast (WCAG 2)

# 32 by 32.
_SHAPES: Final = {
    "briefcase": '<path d="M12 11V8h8v3m-13 0h18v13H7z" {line}/><path d="M7 17h18" {line}/>',
    "cart": '<path d="M6 8h3l3 12h11l3-9H10" {line}/><circle cx="13" cy="24" r="2" {fill}/>'
    '<circle cx="22" cy="24" r="2" {fill}/>',
    "chill": '<path d="M6 12h20M9 12c0 8 6 8 6 1m2 0c0 7 6 7 6-1" {line}/>',
    "circle": '<circle cx="16" cy="16" r="7" {fill}/>',
    "dollar": '<path d="M20 11c-2-3-9-2-8 2s9 2 9 6-8 5-10 1M16 6v20" {line}/>',
    "fence": '<path d="M9 25V10l2-3 2 3v15zm10 0V10l2-3 2 3v15zM6 14h20M6 20h20" {line}/>',
    "fingerprint": '<path d="M10 23c-3-9 1-14 6-14s8 4 7 11m-9 5c-2-7-1-11 2-11s3 4 3 10" {line}/>',
    "food": '<path d="M10 7v6c0 4 5 4 5 0V7m-2.5 9v10M21 7c-3 3-3 8 0 10v9" {line}/>',
    "fruit": '<path d="M16 12c-10-5-10 13 0 13s10-18 0-13zm0 0c0-3 1-5 4-6" {line}/>',
    "gift": '<path d="M7 13h18v12H7zm9 0v12M16 13c-3-8-9-4-5-1m5 1c3-8 9-4 5-1" {line}/>',
    "pet": '<circle cx="16" cy="20" r="5" {fill}/><circle cx="9" cy="15" r="2.4" {fill}/>'
    '<circle cx="14" cy="10" r="2.4" {fill}/><circle cx="19" cy="10" r="2.4" {fill}/>'
    '<circle cx="23" cy="15" r="2.4" {fill}/>',
    "tree": '<path d="M16 6l7 9h-3l5 6H7l5-6H9z" {fill}/><path d="M16 21v5" {line}/>',
    "vacation": '<path d="M6 19l20-8c2 2 0 4-3 5l-6 8h-3l3-7-5 2-2 3H7z" {fill}/>',
}
_LINE: Final = 'class="line"'
_FILL: Final = 'class="fill"'


def indicator_for(identity: ContextualIdentity) -> IdentityIndicator:
    """The indicator of an identity."""
    shape = icon_shapes(identity.icon, line=_LINE, fill=_FILL) or _SHAPES["circle"].format(line=_LINE, fill=_FILL)
    shapes = [(each.tag, dict(each.attrib)) for each in ElementTree.fromstring(f"<svg>{shape}</svg>")]  # noqa: S314
    name = " ".join("".join(each if each.isprintable() else " " for each in identity.name).split())
    name = name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"
    color = identity.color_code
    return {"name": name, "color": color, "ink": _ink(color), "shapes": shapes}


def icon_shapes(icon: str, *, line: str, fill: str) -> str | None:
    """The SVG elements of an icon, in a square from 0 to 32, with these attributes for lines and for filled shapes."""
    shapes = _SHAPES.get(icon)
    return None if shapes is None else shapes.format(line=line, fill=fill)


def _ink(color: str) -> str:
    """The color of text on this color."""
    found = re.fullmatch(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", color, re.IGNORECASE)
    if found is None:
        return _DARK
    red, green, blue = (_linear(int(each, 16) / 255) for each in found.groups())
    return _DARK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > _DARK_BELOW else _LIGHT


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)
