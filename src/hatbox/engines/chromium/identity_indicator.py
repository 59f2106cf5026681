"""The identity indicator: name, color and icon of an identity, shown at the edge of each page.

Pure: identity_indicator.js draws it. The page cannot read it: it is in the closed shadow root of an isolated world.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from hatbox.identity.glyphs import identity_glyph
from hatbox.identity.model import ContextualIdentity

__all__ = [
    "NEUTRAL",
    "IdentityIndicator",
    "PersonRequestText",
    "ended_text",
    "indicator_for",
    "request_text",
    "with_programs",
]

IdentityIndicator = dict[str, Any]
"""The argument of identity_indicator.js: `name`, `color` and `ink` (CSS), `shapes`, the glyph of the icon, and
`programs`, the sentence about connected programs."""

PersonRequestText = dict[str, str]
"""Its member `request`, on the page of a person: the `message` of the program that requests something. With `ended`,
the title when the request has ended, there are no buttons."""

NEUTRAL: Final[IdentityIndicator] = {"name": "", "color": "#5b5b66", "ink": "#ffffff", "shapes": [], "programs": ""}
"""For the default store, which has neither name nor color."""

_MAX_NAME: Final = 40  # characters; longer names are cut
_MAX_PROGRAMS: Final = 160
_MAX_MESSAGE: Final = 500
_DARK, _LIGHT = "#15141a", "#ffffff"
_DARK_BELOW: Final = 0.18  # the relative luminance at which both inks have the same contrast (WCAG 2)


def indicator_for(identity: ContextualIdentity) -> IdentityIndicator:
    """The indicator of an identity."""
    name, color = _one_line(identity.name, _MAX_NAME), identity.color_code
    return {"name": name, "color": color, "ink": _ink(color), "shapes": identity_glyph(identity.icon), "programs": ""}


def with_programs(indicator: IdentityIndicator | None, programs: Sequence[str]) -> IdentityIndicator | None:
    """The indicator of an identity to which programs are connected."""
    if indicator is None or not programs:
        return indicator
    start = "A program is connected" if len(programs) == 1 else f"{len(programs)} programs are connected"
    names = ", ".join(_one_line(each, _MAX_PROGRAMS) for each in programs[: _MAX_PROGRAMS // 2])
    return indicator | {"programs": _one_line(f"{start}: {names}", _MAX_PROGRAMS)}


def request_text(message: str) -> PersonRequestText:
    """A request to a person, as it is shown: one line of bounded length, without invisible characters."""
    return {"message": _one_line(message, _MAX_MESSAGE)}


def ended_text() -> PersonRequestText:
    """What a person sees when the request has ended."""
    return {"message": "Close this window. The agent can use its own pages afterwards.", "ended": "Request ended"}


def _one_line(text: str, limit: int) -> str:
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _ink(color: str) -> str:
    """The color of text on this color."""
    found = re.fullmatch(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", color, re.IGNORECASE)
    if found is None:
        return _DARK
    red, green, blue = (_linear(int(each, 16) / 255) for each in found.groups())
    return _DARK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > _DARK_BELOW else _LIGHT


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)
