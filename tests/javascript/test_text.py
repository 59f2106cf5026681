from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.javascript.text import code_units, is_blank, stringify, well_formed


@pytest.mark.parametrize(
    "text", ["", " ", "\t\n\v\f\r", "\xa0", "\ufeff", "\u3000", "\u2028\u2029", "\u1680\u202f\u205f"]
)
def test_what_trim_takes_away_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " a ", "\x00", "\x1c", "\x85", "\u200b", "\u180e"])
def test_what_trim_leaves_is_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_a_lone_surrogate_is_replaced_and_a_pair_is_one_character() -> None:
    assert well_formed("a\ud800b") == "a\ufffdb"
    assert well_formed("\udc00") == "\ufffd"
    assert well_formed("\ud83d\ude00") == "😀"


@given(st.text())
def test_text_without_surrogates_is_left_alone(text: str) -> None:
    assert well_formed(text) == text


@given(st.text(alphabet=st.characters(codec=None)))
def test_what_is_well_formed_can_be_written_to_a_file(text: str) -> None:
    well_formed(text).encode("utf-8")


def test_text_is_sorted_by_utf_16_code_units() -> None:
    assert sorted(["ﬁ", "😀", "z"], key=code_units) == ["z", "😀", "ﬁ"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (-0.0, "0"),
        (1.0, "1"),
        (1e20, "100000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (-1.25e-9, "-1.25e-9"),
        (math.nan, "null"),
        (math.inf, "null"),
        (2**60, "1152921504606847000"),
        (10**400, "null"),
        ("é\n\u2028", '"é\\n\u2028"'),
        ("\ud800", '"\\ud800"'),
        (["blue", print], '["blue",null]'),
        ((1, 2), "[1,2]"),
        ({"b": 1, "a": {}, "f": print}, '{"b":1,"a":{}}'),
        (print, "undefined"),
        ({1, 2}, "{}"),
    ],
)
def test_a_value_is_written_as_json_stringify_writes_it(value: object, text: str) -> None:
    assert stringify(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_so_that_it_can_be_read_back(number: float) -> None:
    assert float(stringify(number)) == number
