"""The colors and icons of Firefox 153, in its order."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from hatbox.errors import InvalidColor, InvalidIcon

__all__ = [
    "COLORS",
    "ICONS",
    "Color",
    "Icon",
    "PaletteColor",
    "PaletteIcon",
    "accepted_color",
    "accepted_icon",
    "color_code",
    "icon_url",
]

Color: TypeAlias = Literal["gray", "yellow", "orange", "red", "pink", "purple", "violet", "blue", "cyan", "green"]
"""The colors of identities."""

Icon: TypeAlias = Literal[
    "fingerprint",
    "briefcase",
    "dollar",
    "cart",
    "vacation",
    "gift",
    "food",
    "fruit",
    "pet",
    "tree",
    "chill",
    "circle",
    "fence",
]
"""The icons of identities."""


class PaletteColor(NamedTuple):
    """A color and its CSS code."""

    color: str
    color_code: str


class PaletteIcon(NamedTuple):
    """An icon and its URL in Firefox."""

    icon: str
    icon_url: str


COLORS: Final = (
    PaletteColor("gray", "#7c7c7d"),
    PaletteColor("yellow", "#ffcb00"),
    PaletteColor("orange", "#ff9f00"),
    PaletteColor("red", "#ff613d"),
    PaletteColor("pink", "#ff4bda"),
    PaletteColor("purple", "#af51f5"),
    PaletteColor("violet", "#764edd"),
    PaletteColor("blue", "#37adff"),
    PaletteColor("cyan", "#00c79a"),
    PaletteColor("green", "#51cd00"),
)

ICONS: Final = tuple(PaletteIcon(name, f"resource://usercontext-content/{name}.svg") for name in get_args(Icon))

# Names of older Firefox releases. Firefox accepts them and stores the new names.
_RENAMED_COLORS: Final = {"toolbar": "gray", "turquoise": "cyan"}

_ACCEPTED_COLORS: Final = {**{color: color for color, _ in COLORS}, **_RENAMED_COLORS}
_ACCEPTED_ICONS: Final = {icon: icon for icon, _ in ICONS}

_CODE_OF: Final = dict(COLORS)
_URL_OF: Final = dict(ICONS)


def accepted_color(name: str) -> str:
    """The stored name of a color. Raises InvalidColor for a name that Firefox rejects."""
    accepted = _ACCEPTED_COLORS.get(name)
    if accepted is None:
        raise InvalidColor(name)
    return accepted


def accepted_icon(name: str) -> str:
    """The stored name of an icon. Raises InvalidIcon for a name that Firefox rejects."""
    accepted = _ACCEPTED_ICONS.get(name)
    if accepted is None:
        raise InvalidIcon(name)
    return accepted


def color_code(name: str) -> str:
    """The CSS code of a stored color; gray for an unknown name."""
    return _CODE_OF.get(_RENAMED_COLORS.get(name, name), _CODE_OF["gray"])


def icon_url(name: str) -> str:
    """The URL of a stored icon; the circle for an unknown name."""
    return _URL_OF.get(name, _URL_OF["circle"])
