"""The drawings of identity icons, and those of the pages that show identities: the symbols of icons.svg.

A drawing is a list of shapes on a grid of 20 by 20, in `currentColor`. It contains no text of users.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final, TypeAlias
from xml.etree import ElementTree

__all__ = ["Glyph", "glyph", "identity_glyph"]

Glyph: TypeAlias = "list[tuple[str, dict[str, str], Glyph]]"
"""The shapes of a drawing: the SVG element, its attributes and its children."""

_FILE: Final = "icons.svg"
_NAMESPACE: Final = "{http://www.w3.org/2000/svg}"


def glyph(symbol: str) -> Glyph:
    """The drawing with the id of a symbol, such as `ui-check`. Raises KeyError."""
    return _glyphs()[symbol]


def identity_glyph(icon: str) -> Glyph:
    """The drawing of an identity's icon; the circle for an unknown name."""
    return _glyphs().get(f"id-{icon}") or glyph("id-circle")


@cache
def _glyphs() -> dict[str, Glyph]:
    root = ElementTree.fromstring(files(__package__).joinpath(_FILE).read_text("utf-8"))  # noqa: S314 - our own file
    return {symbol.attrib["id"]: [_shape(each) for each in symbol] for symbol in root}


def _shape(element: ElementTree.Element) -> tuple[str, dict[str, str], Glyph]:
    return element.tag.removeprefix(_NAMESPACE), dict(element.attrib), [_shape(each) for each in element]
