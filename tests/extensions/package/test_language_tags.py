from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.extensions.package.language_tags import closest, is_right_to_left, variations
from tests.extensions.manifests import LANGUAGES
from tests.extensions.record import recorded

TAGS = st.from_regex(r"[a-z]{2,3}([-_][A-Z][a-z]{3})?([-_][A-Z]{2})?", fullmatch=True) | st.text(max_size=8)


@pytest.mark.parametrize(("case", "chosen"), list(zip(LANGUAGES, recorded()["languages"], strict=True)))
def test_the_language_is_the_one_that_firefox_chooses(case: tuple[list[str], list[str]], chosen: str) -> None:
    assert closest(*case, otherwise="en") == chosen


def test_longer_tags_fall_back_to_shorter_ones() -> None:
    assert list(variations("zh-Hant-TW")) == ["zh-Hant-TW", "zh-Hant", "zh"]


@pytest.mark.parametrize(
    ("tag", "expected"), [("ar", True), ("he-IL", True), ("az-Arab", True), ("en", False), ("?", False)]
)
def test_the_direction_of_writing(tag: str, expected: bool) -> None:
    assert is_right_to_left(tag) is expected


@given(st.lists(TAGS), st.lists(TAGS), TAGS)
def test_one_that_is_there_is_chosen(wanted: list[str], available: list[str], otherwise: str) -> None:
    assert closest(wanted, available, otherwise) in {*available, otherwise}


@given(TAGS, st.lists(TAGS))
def test_what_is_wanted_is_taken_if_it_is_there(tag: str, others: list[str]) -> None:
    chosen = closest([tag], [*others, tag], None)
    assert chosen is None or chosen.replace("_", "-").lower() == tag.replace("_", "-").lower()
