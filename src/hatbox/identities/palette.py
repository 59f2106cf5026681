"""The colors and icons of Firefox 153, in its order. Knows nothing of identities."""

from __future__ import annotations

from typing import Final, NamedTuple

from hatbox.errors import InvalidColor, InvalidIcon

__all__ = ["COLORS", "ICONS", "Color", "IdentityIcon", "accepted_color", "accepted_icon", "color_code", "icon_url"]


class Color(NamedTuple):
    """A color of the palette and the code that it is drawn with."""

    color: str
    color_code: str


class IdentityIcon(NamedTuple):
    """An icon and the address that Firefox knows it by."""

    icon: str
    icon_url: str


COLORS: Final = (
    Color("gray", "#7c7c7d"),
    Color("yellow", "#ffcb00"),
    Color("orange", "#ff9f00"),
    Color("red", "#ff613d"),
    Color("pink", "#ff4bda"),
    Color("purple", "#af51f5"),
    Color("violet", "#764edd"),
    Color("blue", "#37adff"),
    Color("cyan", "#00c79a"),
    Color("green", "#51cd00"),
)

ICONS: Final = tuple(
    IdentityIcon(name, f"resource://usercontext-content/{name}.svg")
    for name in (
        *("fingerprint", "briefcase", "dollar", "cart", "vacation", "gift", "food"),
        *("fruit", "pet", "tree", "chill", "circle", "fence"),
    )
)

# Older releases of Firefox used these names; today's takes them and stores the new ones.
_RENAMED_COLORS: Final = {"toolbar": "gray", "turquoise": "cyan"}

_ACCEPTED_COLORS: Final = {**{color: color for color, _ in COLORS}, **_RENAMED_COLORS}
_ACCEPTED_ICONS: Final = {icon: icon for icon, _ in ICONS}

_CODE_OF: Final = dict(COLORS)
_URL_OF: Final = dict(ICONS)


def accepted_color(name: str) -> str:
    """The name under which a color is stored; raises InvalidColor for a name that Firefox refuses."""
    accepted = _ACCEPTED_COLORS.get(name)
    if accepted is None:
        raise InvalidColor(name)
    return accepted


def accepted_icon(name: str) -> str:
    """The name of an icon, unchanged; raises InvalidIcon for a name that Firefox refuses."""
    accepted = _ACCEPTED_ICONS.get(name)
    if accepted is None:
        raise InvalidIcon(name)
    return accepted


def color_code(name: str) -> str:
    """How to draw a stored color: neutral gray for a name that this version does not know."""
    return _CODE_OF.get(_RENAMED_COLORS.get(name, name), _CODE_OF["gray"])


def icon_url(name: str) -> str:
    """How to draw a stored icon: a plain circle for a name that this version does not know."""
    return _URL_OF.get(name, _URL_OF["circle"])
