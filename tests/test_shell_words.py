from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from hatbox.shell_words import shell_word


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_word_is_one_word_for_a_shell(text: str) -> None:
    assert shlex.split(f"a {shell_word(text)} b") == ["a", text, "b"]
