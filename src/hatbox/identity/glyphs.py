"""The drawings of identity icons, and those of the pages that show identities: the symbols of icons.svg.

A drawing is a list of shapes on a grid of 20 by 20, in `currentColor`. It contains no text of users.
"""

from __future__ import annotations

from functools import cache
from typing import Final, TypeAlias
from xml.etree import ElementTree

from hatbox.identity.icons_file import ICONS_FILE

__all__ = ["Glyph", "glyph", "glyph_file", "identity_glyph"]

Glyph: TypeAlias = "list[tuple[str, dict[str, str], Glyph]]"
"""The shapes of a drawing: the SVG element, its attributes and its children."""

_SVG: Final = "http://www.w3.org/2000/svg"


def glyph(symbol: str) -> Glyph:
    """The drawing with the id of a symbol, such as `ui-check`. Raises KeyError."""
    return _glyphs()[symbol]


def identity_glyph(icon: str) -> Glyph:
    """The drawing of an identity's icon; the circle for an unknown name."""
    return _glyphs().get(f"id-{icon}") or glyph("id-circle")


def glyph_file(symbol: str, color: str) -> bytes | None:
    """The SVG file of a drawing in a color; None if no symbol has this id."""
    found = _symbols().get(symbol)
    if found is None:
        return None
    root = ElementTree.Element("svg", {"xmlns": _SVG, "viewBox": "0 0 20 20", "color": color})
    root.extend(_without_namespace(each) for each in found)
    return ElementTree.tostring(root)


@cache
def _glyphs() -> dict[str, Glyph]:
    return {name: [_shape(each) for each in symbol] for name, symbol in _symbols().items()}


@cache
def _symbols() -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(ICONS_FILE.read_text("utf-8"))  # noqa: S314 - our own file
    return {symbol.attrib["id"]: symbol for symbol in root}


def _shape(element: ElementTree.Element) -> tuple[str, dict[str, str], Glyph]:
    return element.tag.removeprefix(f"{{{_SVG}}}"), dict(element.attrib), [_shape(each) for each in element]


def _without_namespace(element: ElementTree.Element) -> ElementTree.Element:
    copy = ElementTree.Element(element.tag.removeprefix(f"{{{_SVG}}}"), dict(element.attrib))
    copy.extend(_without_namespace(each) for each in element)
    return copy
