"""Values that are removed from text, in all spellings."""

from __future__ import annotations

import html
import json
import re
import string
from collections.abc import Callable
from urllib.parse import quote, quote_plus, unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hatbox.mcp.hidden_values import MIN_VALUE, HiddenValues

MARKER = "(omitted)"
SPELLINGS: list[Callable[[str], str]] = [
    str,
    quote,
    lambda text: re.sub("%..", lambda found: found[0].lower(), quote(text, safe="")),
    quote_plus,
    html.escape,
    lambda text: "".join(f"&#x{ord(each):x};" for each in text),
    lambda text: json.dumps(text)[1:-1],
    lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    lambda text: "".join(f"\\u{ord(each):04X}" for each in text),
    lambda text: "".join(f"\\x{ord(each):02x}" for each in text),
]
VALUES = st.text(string.ascii_letters + string.digits + "/+=%&.-_:\"'\\ ", min_size=MIN_VALUE, max_size=30).map(
    lambda text: f"x{text}x"
)


@given(VALUES, st.lists(st.sampled_from(SPELLINGS), max_size=2))
@example("x0000'%80x", [html.escape])  # without its escapes, the text has a byte that is in no character
@example("x0000'%C3x", [html.escape])
def test_a_value_is_hidden_in_every_spelling(value: str, spellings: list[Callable[[str], str]]) -> None:
    text = value
    for spell in spellings:
        text = spell(text)
    assert HiddenValues([value], MARKER).hide(f"a\U0001f600<{text}>b") == f"a\U0001f600<{MARKER}>b"


@given(st.lists(st.text("ab", min_size=MIN_VALUE - 1, max_size=12), max_size=8), st.text("ab", max_size=60))
def test_every_character_of_a_value_is_hidden_and_no_other(values: list[str], text: str) -> None:
    covered = [False] * len(text)
    for value in values:
        for start in range(len(text)):
            if len(value) >= MIN_VALUE and text.startswith(value, start):
                covered[start : start + len(value)] = [True] * len(value)
    shown = HiddenValues(values, "-").hide(text)
    assert shown.replace("-", "") == "".join(each for each, is_in in zip(text, covered, strict=True) if not is_in)


@pytest.mark.parametrize(
    "value", ["s%3Aabc.def%2Bghi/j", "%7B%22id%22%3A%2212345%22%7D", "caf\xc3\xa9-session", "a b c d e f"]
)
@pytest.mark.parametrize("spell", SPELLINGS)
def test_a_value_with_escapes_is_hidden_with_and_without_them(value: str, spell: Callable[[str], str]) -> None:
    hidden = HiddenValues([value], MARKER)
    for each in (value, unquote(value)):
        assert hidden.hide(f"<{spell(each)}>") == f"<{MARKER}>"


@given(st.text(), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_is_accepted(text: str, values: list[str]) -> None:
    HiddenValues(values, MARKER).hide(f"{text}{''.join(values)}\ud83d")


def test_a_value_is_hidden_in_quotes_of_a_snapshot() -> None:
    assert HiddenValues(["it's-a-value"], MARKER).hide("- 'text \"it''s-a-value\"': x") == f"- 'text \"{MARKER}\"': x"


def test_the_rest_of_a_character_of_which_a_value_is_a_part_is_replaced() -> None:
    hidden = HiddenValues(["%A9 session", "session %C3"], MARKER)
    assert hidden.hide("caf\xe9 session") == f"caf\ufffd{MARKER}"
    assert hidden.hide("session \xe9") == f"{MARKER}\ufffd"


def test_short_values_are_shown() -> None:
    assert HiddenValues(["1234567", ""], MARKER).hide("1234567") == "1234567"
    assert HiddenValues(["日本語"], MARKER).hide("日本語") == "日本語"


@pytest.mark.slow
def test_the_time_does_not_grow_with_the_number_of_values_that_start_alike() -> None:
    values = [f"{'a' * number}!" for number in range(3_000, 4_000)]
    assert HiddenValues(values, MARKER).hide("a" * 100_000) == "a" * 100_000
