from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.javascript.wire_codec import UNDEFINED, decode, encode, without_undefined

texts = st.text(st.characters(exclude_categories=()))  # lone surrogates too
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\ud800", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_every_value_of_json_comes_back_lone_surrogates_and_large_numbers_too(value: Any) -> None:
    assert decode(encode(value)) == value


@pytest.mark.parametrize("other", ["", "\ud800", 10**30])
def test_what_json_has_no_word_for_comes_back_whatever_stands_beside_it(other: Any) -> None:
    nan = decode(b'{"\\u0000":["number","NaN"]}')
    date = decode(b'{"\\u0000":["object","Date",5]}')
    back = decode(encode([UNDEFINED, nan, date, other]))
    assert back[0] is UNDEFINED
    assert math.isnan(back[1])
    assert (type(back[2]).__name__, back[2].clone) == ("Date", 5)
    assert back[3] == other


def test_undefined_is_none_to_python() -> None:
    assert without_undefined(UNDEFINED) is None
    assert without_undefined({"a": [UNDEFINED, 1]}) == {"a": [None, 1]}
