from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.identity.palette import COLORS, ICONS
from tests.cli.conftest import Cli


def test_colors_lists_the_palette_in_firefox_order(cli: Cli) -> None:
    assert cli("colors").out.splitlines()[:2] == ["gray    #7c7c7d", "yellow  #ffcb00"]
    assert cli("colors", "--json").json == [{"color": color, "colorCode": code} for color, code in COLORS]


def test_icons_lists_the_icons_in_firefox_order(cli: Cli) -> None:
    assert cli("icons").out.splitlines()[1] == "briefcase    resource://usercontext-content/briefcase.svg"
    assert cli("icons", "--json").json == [{"icon": icon, "iconUrl": url} for icon, url in ICONS]


@pytest.mark.parametrize("verb", ["colors", "icons"])
def test_the_palette_needs_no_profile(cli: Cli, profile: Path, verb: str, no_profile: None) -> None:
    assert cli(verb).status == 0
    assert not profile.exists()


def test_a_person_sees_swatches_and_glyphs(cli: Cli) -> None:
    assert "\x1b[48;2;255;203;0m  \x1b[0m yellow" in cli("colors", tty=True).out
    assert "💼 briefcase" in cli("icons", tty=True).out
