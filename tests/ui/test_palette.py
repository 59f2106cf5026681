"""The colors and icons that the manager page offers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hatbox.ui
from hatbox.identity.icons_file import ICONS_FILE
from hatbox.identity.palette import COLORS, ICONS
from tests.ui.static_modules import value_of


@pytest.mark.deno
def test_the_page_offers_the_colors_and_icons_that_the_profile_accepts() -> None:
    colors, icons = value_of("palette.js", "COLORS, ICONS", "return [COLORS, ICONS];")
    assert colors == [each.color for each in COLORS]
    assert icons == [each.icon for each in ICONS]


def test_every_color_has_its_code_and_every_icon_its_drawing() -> None:
    tokens = (Path(hatbox.ui.__file__).parent / "static" / "css" / "tokens.css").read_text("utf-8")
    codes = dict(re.findall(r'^\[data-color="(\w+)"\] \{ --id: (#\w+);', tokens, re.MULTILINE))
    [other] = re.findall(r"^\[data-color\] \{.* --id: (#\w+);", tokens, re.MULTILINE)  # of gray, and of unknown names
    assert {"gray": other, **codes} == {each.color: each.color_code for each in COLORS}
    drawn = set(re.findall(r'id="id-(\w+)"', ICONS_FILE.read_text("utf-8")))
    assert drawn == {each.icon for each in ICONS}
