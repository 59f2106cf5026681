from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.javascript.json_text import decode_javascript_json, encode_javascript_json

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**14), 10**14) | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(values)
def test_what_javascript_can_say_comes_back(value: object) -> None:
    data = encode_javascript_json(value)
    data.decode()
    assert decode_javascript_json(data) == value


def test_numbers_are_those_of_javascript() -> None:
    assert math.copysign(1, decode_javascript_json(b"-0")) == -1
    assert decode_javascript_json(b"12345678901234567890") == 12345678901234567168.0
    assert isinstance(decode_javascript_json(b"9007199254740993"), float)
    assert decode_javascript_json(b"1" * 5000) == math.inf


@pytest.mark.parametrize("data", [b"", b"NaN", b"[Infinity]", b"\xff", b"\xff\xfe1\x00", b"{", b"\x00"])
def test_other_text_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_javascript_json(data)


def test_what_javascript_has_no_json_for_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        encode_javascript_json(math.nan)
    with pytest.raises(RecursionError):
        decode_javascript_json(b"[" * 100_000 + b"]" * 100_000)
