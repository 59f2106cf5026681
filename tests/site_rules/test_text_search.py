"""TextSearch finds the same texts as `in`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hatbox.site_rules.text_search import TextSearch

_TEXTS = st.lists(st.text("ab/", min_size=1, max_size=6), max_size=12)


@given(_TEXTS, st.text("ab/", max_size=60))
def test_exactly_the_contained_texts_are_found(texts: list[str], searched: str) -> None:
    assert TextSearch(texts).contained_in(searched) == {text for text in texts if text in searched}
