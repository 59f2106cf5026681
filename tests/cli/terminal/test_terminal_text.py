from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cli.terminal.terminal_text import harmless_json, visible, without_passwords


def steers_a_terminal(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character not in "\u200c\u200d"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Work", "Work"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\x1b[31mred\x7f", r"\x1b[31mred\x7f"),
        ("\x9b2J", r"\x9b2J"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\U000e0041", r"\U000e0041"),
        ("\udc80", r"\udc80"),
        ("山田\u3000太郎 👩\u200d🌾 [bold]", "山田\u3000太郎 👩\u200d🌾 [bold]"),
    ],
)
def test_what_could_steer_a_terminal_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_a_terminal_cannot_show_is_escaped_too() -> None:
    assert visible("Läden 東", "ascii") == r"L\xe4den \u6771"
    assert visible("Läden 東", "latin-1") == r"Läden \u6771"


@given(st.text(), st.sampled_from(["utf-8", "latin-1", "ascii", "cp437"]))
def test_nothing_that_is_shown_can_steer_a_terminal(text: str, encoding: str) -> None:
    shown = visible(text, encoding)
    shown.encode(encoding)
    assert not any(steers_a_terminal(character) for character in shown)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.booleans())
def test_json_stays_the_same_document_and_becomes_harmless(text: str, ascii_only: bool) -> None:
    harmless = harmless_json(json.dumps([text], ensure_ascii=False, indent=1), ascii_only=ascii_only)
    assert json.loads(harmless) == [text]
    assert not any(steers_a_terminal(character) for character in harmless.replace("\n", ""))
    assert harmless.isascii() or not ascii_only


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("extra argument (postgresql://u:s3cret@h/db)", "extra argument (postgresql://u:…@h/db)"),
        ("postgresql://u:a@s3cret@h/db", "postgresql://u:…@h/db"),
        ("postgresql://:s3cret@h/db and x://v:s3cret@i", "postgresql://:…@h/db and x://v:…@i"),
        ("postgresql://h/db?password=s3cret&sslmode=require", "postgresql://h/db?password=…&sslmode=require"),
        ("postgresql://h/db?a=b&sslpassword=s3cret", "postgresql://h/db?a=b&sslpassword=…"),
        ("http://localhost:8000/users/@me", "http://localhost:8000/users/@me"),
        ("no URL: a@b", "no URL: a@b"),
    ],
)
def test_passwords_in_urls_are_not_shown(text: str, shown: str) -> None:
    assert without_passwords(text) == shown
