from __future__ import annotations

import pytest

from hatbox.errors import InvalidColor, InvalidIcon
from hatbox.identity import palette


def test_the_colors_and_icons_are_those_of_firefox_in_its_order() -> None:
    assert " ".join(color for color, _ in palette.COLORS) == (
        "gray yellow orange red pink purple violet blue cyan green"
    )
    assert " ".join(icon for icon, _ in palette.ICONS) == (
        "fingerprint briefcase dollar cart vacation gift food fruit pet tree chill circle fence"
    )


@pytest.mark.parametrize(("old", "new"), [("toolbar", "gray"), ("turquoise", "cyan"), ("blue", "blue")])
def test_a_color_of_older_releases_is_taken_under_its_new_name(old: str, new: str) -> None:
    assert palette.accepted_color(old) == new


@pytest.mark.parametrize("name", ["", "Blue", " blue", "grey", "#37adff", "__proto__"])
def test_any_other_color_is_refused_in_firefox_words(name: str) -> None:
    with pytest.raises(InvalidColor, match=f"^Invalid color name {name} for container$"):
        palette.accepted_color(name)


def test_any_other_icon_is_refused_in_firefox_words() -> None:
    with pytest.raises(InvalidIcon, match=r"^Invalid icon nope for container$"):
        palette.accepted_icon("nope")


def test_what_this_version_does_not_know_is_drawn_neutrally() -> None:
    assert palette.color_code("mauve") == "#7c7c7d"
    assert palette.color_code("turquoise") == "#00c79a"
    assert palette.icon_url("rocket") == "resource://usercontext-content/circle.svg"
