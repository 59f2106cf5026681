from __future__ import annotations

import base64
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.formats.javascript_dates import iso_of, milliseconds_of
from hatbox.formats.structured_values import (
    BLOBS,
    DATES,
    KEYS,
    PROTO,
    VIEWS,
    InvalidEncoding,
    NotTranslatable,
    decode_value,
    encode_value,
    pack_plain,
)
from tests.formats.strategies import timeless

# Values as site_data.js packs them. It numbers objects in the order in which it meets them.
_text = st.text(st.characters(exclude_categories=[]), max_size=4)
_keys = _text.filter(lambda text: text != "__proto__")
_numbers = st.one_of(
    st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False).filter(lambda each: each != 0)
)
_base64 = st.binary(max_size=16).map(lambda octets: base64.b64encode(octets).decode())
_leaves = st.one_of(
    st.none(),
    st.booleans(),
    _text,
    _numbers,
    st.sampled_from([["n", "NaN"], ["n", "-0"], ["n", "Infinity"], ["u"], ["i", "-12345678901234567890"]]),
    st.integers(-8_640_000_000_000_000, 8_640_000_000_000_000).map(lambda each: ["d", each]),
    st.tuples(_text, st.sampled_from(["", "gi"])).map(lambda each: ["x", *each]),
    st.tuples(_text, _text, _text).map(lambda each: ["e", *each]),
    _base64.map(lambda each: ["b", each]),
    st.binary(max_size=4).map(lambda octets: view(octets * 8)),
)
_packed = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: ["a", *items]),
        st.lists(inner, max_size=3).map(lambda items: ["s", *items]),
        st.lists(st.tuples(inner, inner).map(list), max_size=2).map(lambda pairs: ["m", *pairs]),
        st.dictionaries(_keys, inner, max_size=3).map(lambda fields: ["o", *map(list, fields.items())]),
    ),
    max_leaves=12,
)


def view(octets: bytes) -> list[Any]:
    return ["v", "Float64Array", ["b", base64.b64encode(octets).decode()], 0, len(octets) // 8]


def through_playwright(packed: Any) -> Any:
    is_plain, encoded = encode_value(packed)
    return pack_plain(encoded) if is_plain else decode_value(encoded)


@given(_packed)
@timeless
def test_values_come_back_from_playwrights_encoding(packed: Any) -> None:
    assert through_playwright(packed) == packed


def test_what_is_the_same_object_stays_the_same_object() -> None:
    cycle = ["o", ["date", ["d", 5]], ["list", ["a", 1]], ["self", ["r", 0]], ["again", ["r", 2]]]
    is_plain, encoded = encode_value(cycle)
    assert not is_plain
    assert encoded == {
        "o": [
            {"k": "date", "v": {"d": "1970-01-01T00:00:00.005Z"}},
            {"k": "list", "v": {"a": [1], "id": 2}},
            {"k": "self", "v": {"ref": 1}},
            {"k": "again", "v": {"ref": 2}},
        ],
        "id": 1,
    }
    assert decode_value(encoded) == cycle
    # Playwright has no numbers for these: each reference is a copy.
    assert decode_value(encode_value(["a", ["d", 5], ["r", 1]])[1]) == ["a", ["d", 5], ["d", 5]]


def test_a_view_shows_its_part_of_the_buffer_also_if_others_share_it() -> None:
    packed = ["a", ["b", base64.b64encode(bytes(range(8))).decode()], ["v", "Uint16Array", ["r", 1], 2, 2]]
    part = base64.b64encode(bytes([2, 3, 4, 5])).decode()
    assert encode_value(packed)[1]["a"][1] == {"ta": {"b": part, "k": "ui16"}}
    assert through_playwright(packed)[2] == ["v", "Uint16Array", ["b", part], 0, 2]


@pytest.mark.parametrize(
    ("packed", "reason"),
    [
        (["f", "", "text/plain"], BLOBS),
        (["a", ["k", {}, ["o"], []]], KEYS),
        (["v", "DataView", ["b", ""], 0, 0], VIEWS),
        (["d", None], DATES),
        (["o", ["__proto__", 1]], PROTO),
        (["o", ["x", ["o", ["__proto__", 1]]]], PROTO),
    ],
)
def test_what_playwright_would_change_is_not_translated(packed: Any, reason: str) -> None:
    with pytest.raises(NotTranslatable, match=reason):
        encode_value(packed)


@pytest.mark.parametrize("packed", [["z"], [], [1], ["r", 7], ["v", "Int8Array", 1, 0, 0], ["o", [1]], ["d", 1e99]])
def test_what_hatbox_has_not_written_is_refused(packed: Any) -> None:
    with pytest.raises(InvalidEncoding):
        encode_value(packed)


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "o", "m", "s", "id", "ref", "v", "d", "k", "ta", "ab", "e", "r"]), inner
        )
    ),
    max_leaves=10,
)


@given(_json)
@timeless
def test_any_json_is_decoded_or_refused(encoded: Any) -> None:
    try:
        packed = decode_value(encoded)
    except (InvalidEncoding, NotTranslatable):
        return
    encode_value(packed)


@given(st.integers(-8_640_000_000_000_000, 8_640_000_000_000_000))
@timeless
def test_dates_of_all_years_come_back(milliseconds: int) -> None:
    assert milliseconds_of(iso_of(milliseconds)) == milliseconds


def test_dates_are_spelled_as_javascript_does() -> None:
    assert iso_of(0) == "1970-01-01T00:00:00.000Z"
    assert iso_of(-1) == "1969-12-31T23:59:59.999Z"
    assert iso_of(951_782_400_000) == "2000-02-29T00:00:00.000Z"
    assert iso_of(8_640_000_000_000_000) == "+275760-09-13T00:00:00.000Z"
    assert iso_of(-8_640_000_000_000_000) == "-271821-04-20T00:00:00.000Z"
    for bad in (
        "",
        "2001-02-29T00:00:00.000Z",
        "1970-01-01",
        "+275760-09-14T00:00:00.000Z",
        "1970-01-01T24:00:00.000Z",
    ):
        with pytest.raises(ValueError, match="not a time"):
            milliseconds_of(bad)
    with pytest.raises(ValueError, match="not a time"):
        iso_of(math.inf)
