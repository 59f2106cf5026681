from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.errors import ManifestError
from hatbox.extensions.package.json_text import MAX_BYTES, parse_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
COMMENTS = st.text().map(lambda text: "//" + text.replace("\n", " ") + "\n")


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "line 1, column 1"),
        (b"{\n 'a': 1}", "line 2, column 2"),
        (b'{"a": 1,}', "line 1, column [89]"),  # newer Pythons point at the comma
        (b'// one\n{"a": /* two */ 1}', "line 2, column 7"),
        (b'{"a": "b\n"}', "line 1, column 9"),
        (b"NaN", "it is not valid JSON"),
        (b"// no number\nNaN", "it is not valid JSON"),
        (b"-Infinity", "it is not valid JSON"),
        (b"9" * 5000, "it is not valid JSON"),
        (b"[" * 100_000, "it is not valid JSON"),
        (b'{"' + b'\\"' * 200_000, "line 1, column 2"),  # hours, if each quote were tried as the first of a string
        (b'"\\' * 200_000, "line 1, column"),
        (b" " * (MAX_BYTES + 1), "it is larger than 2 MiB"),
        (b'{"a":\n"\xff"}', "line 2 is not UTF-8 text"),
        ("{}".encode("utf-16"), "line 1 is not UTF-8 text"),
    ],
)
def test_what_is_no_json_is_refused_with_the_place(contents: bytes, message: str) -> None:
    with pytest.raises(ManifestError, match=message) as refused:
        parse_json("manifest.json", contents)
    assert str(refused.value).startswith("manifest.json: ")


def test_comments_and_a_byte_order_mark_are_no_part_of_it() -> None:
    text = '\ufeff// one\n{"a": "http://x", // "two"\n "b\\"//": 1 // three\n}//'
    assert parse_json("manifest.json", text.encode()) == {"a": "http://x", 'b"//': 1}


@given(VALUES, st.lists(COMMENTS, max_size=5))
def test_comments_between_lines_never_matter(value: object, comments: list[str]) -> None:
    lines = json.dumps(value, indent=1, ensure_ascii=False).split("\n")
    for at, comment in enumerate(comments):
        lines.insert(at * 2, comment.rstrip("\n"))
    assert parse_json("x", "\n".join(lines).encode("utf-8", "replace")) == json.loads(
        json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    )


@given(st.binary())
def test_whatever_it_is_it_is_read_or_refused(contents: bytes) -> None:
    try:
        parse_json("x", contents)
    except ManifestError as error:
        assert error.file == "x"


def test_half_a_character_becomes_a_whole_one() -> None:
    assert parse_json("x", rb'{"\ud800": ["a\udc00b", "\ud83d\ude00", 1.5]}') == {"\ufffd": ["a\ufffdb", "😀", 1.5]}
