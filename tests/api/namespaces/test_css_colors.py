"""Colors as CSS writes them. What Firefox makes of them was recorded: tests/conformance/ui."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.api.namespaces.browser_action.css_colors import contrast_color, parse_color
from tests.conformance.ui.record import RECORDING

_ANSWERS = json.loads(RECORDING.read_text("ascii"))["answers"]["browserAction"]
_NOT_TEXT = {"color array", "color null", "color none", "color undefined"}
RECORDED = {
    name.removeprefix("color "): answer.get("resolved")
    for name, answer in _ANSWERS.items()
    if name.startswith("color ") and name not in _NOT_TEXT and "threw" not in answer
}
CHANNELS = st.integers(0, 255)


def test_the_reference_is_available() -> None:
    assert len(RECORDED) > 40


@pytest.mark.parametrize("text", RECORDED)
def test_a_color_is_what_firefox_makes_of_it(text: str) -> None:
    expected: Any = RECORDED[text]
    color = parse_color(text)
    assert (None if color is None else [list(color), list(contrast_color(color))]) == expected


@pytest.mark.parametrize(
    "text",
    ["rgb()", "rgb(1 2 3 4)", "rgb(1, 2 3)", "rgb(1deg 2 3)", "hsl(50% 1 1)", "lab(1,2,3)", "#", "#12", "red;", "rgb"],
)
def test_what_is_no_color_is_none(text: str) -> None:
    assert parse_color(text) is None


@given(st.text("0123456789abcdefghlnoru#%(),/ .+-"))
def test_no_text_brings_it_down(text: str) -> None:
    for written in (text, f"rgb({text})", f"#{text}"):
        color = parse_color(written)
        assert color is None or all(0 <= channel <= 255 for channel in color)


@given(CHANNELS, CHANNELS, CHANNELS, CHANNELS)
def test_hexadecimal_and_decimal_say_the_same(red: int, green: int, blue: int, alpha: int) -> None:
    color = (red, green, blue, alpha)
    assert parse_color("#" + bytes(color).hex()) == color
    assert parse_color(f"rgb({red} {green} {blue} / {alpha / 255})") == color


@pytest.mark.parametrize(
    "text",
    [
        "rgb(" + " " * 500_000,
        "a" * 500_000,
        f"rgb({'1' * 500_000}!,1,1)",
        "rgb(" + "1e" * 200_000 + ",1,1)",
        "(" * 500_000,
    ],
)
def test_no_color_freezes_the_host(text: str) -> None:
    assert parse_color(text) is None
