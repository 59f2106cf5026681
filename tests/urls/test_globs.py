from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.urls.globs import glob


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("", "", True),
        ("", "a", False),
        ("*", "", True),
        ("**", "any\nthing", True),
        ("a*", "a", True),
        ("*a", "ba", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("ab*bc", "abc", False),
        ("*ab*ab*", "abab", True),
        ("*ab*ab*", "aab", False),
        ("*b*", "abc", True),
        ("[a]", "[a]", True),
        ("?", "a", True),
        ("?", "", False),
        ("N?xt*", "Next (1)\n", True),
        ("*?b*", "b", False),
        ("*?b*", "bb", True),
        ("*a?c*", "abdabc", True),
        ("*a?", "ba", False),
    ],
)
def test_a_star_is_any_text_and_a_question_mark_one_character(pattern: str, text: str, matches: bool) -> None:
    assert glob(pattern, question=True).matches(text) == matches


def test_a_question_mark_is_itself_where_it_is_no_wildcard() -> None:
    assert glob("a?b*", question=False).matches("a?b")
    assert not glob("a?b", question=False).matches("axb")


@given(st.text("ab*?", max_size=8), st.text("ab?", max_size=10), st.booleans())
def test_matches_are_those_of_the_regular_expression_that_a_glob_stands_for(
    pattern: str, text: str, question: bool
) -> None:
    wild = {"*": ".*", "?": "."} if question else {"*": ".*"}
    expression = "".join(wild.get(each) or re.escape(each) for each in pattern)
    assert glob(pattern, question=question).matches(text) == (re.fullmatch(expression, text, re.DOTALL) is not None)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("*a*a*a*ab", "a" * 100_000),
        ("*a" * 500_000 + "b", "a" * 600_000),
        ("*" + "a" * 500_000 + "b*", "a" * 2_000_000),
        ("*a?" + "a" * 4000 + "?b*", "a" * 100_000),
        ("*" + "?a" * 200_000 + "*", "a" * 500_000),
    ],
)
def test_no_pattern_freezes_the_host(pattern: str, text: str) -> None:
    assert not glob(pattern, question=True).matches(text)
