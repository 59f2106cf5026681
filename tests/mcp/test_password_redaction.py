"""Password fields in snapshots."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.mcp.password_redaction import (
    HIDDEN,
    MAX_PASSWORDS,
    TooManyPasswords,
    url_without_passwords,
    without_passwords,
)

SNAPSHOT = """\
- generic [ref=e1]:
  - textbox "Name" [ref=e2]: ann
  - textbox "Password: secret one" [ref=e3]: hunter2
  - textbox "Again" [ref=e4]:
    - /placeholder: type it
    - text: "a: b"
  - paragraph: a
  - button "ok" [ref=e5]"""


def test_the_value_of_a_password_field_is_hidden() -> None:
    assert without_passwords(SNAPSHOT, ["hunter2"]) == SNAPSHOT.replace("hunter2", HIDDEN)


def test_a_value_in_a_line_of_its_own_is_hidden() -> None:
    assert without_passwords(SNAPSHOT, [" a:  b\n"]) == SNAPSHOT.replace("a: b", HIDDEN)


def test_a_short_password_hides_only_whole_values() -> None:
    assert without_passwords(SNAPSHOT, ["a"]) == SNAPSHOT.replace("paragraph: a", f"paragraph: {HIDDEN}")


def test_a_password_that_the_page_copies_into_a_label_is_hidden() -> None:
    assert "hunter2" not in without_passwords('- button "Show hunter2" [ref=e1]', ["hunter2"])


def test_without_passwords_nothing_changes() -> None:
    assert without_passwords(SNAPSHOT, ["", "  "]) == SNAPSHOT


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=4))
def test_no_password_of_four_characters_is_shown(password: str) -> None:
    normal = " ".join(password.split())
    if len(normal) < 4 or normal in HIDDEN + "textbox [ref=e1]: ":
        return
    line = f"- textbox [ref=e1]: {json.dumps(normal, ensure_ascii=False)}"
    assert without_passwords(line, [password]) == f'- textbox [ref=e1]: "{HIDDEN}"'


@pytest.mark.parametrize(
    "line",
    ['- textbox "PIN": "7"', "- text: '7'", "- text: 7", '- "text: x": 7'],
)
def test_a_short_password_is_hidden_in_quotes_too(line: str) -> None:
    assert "7" not in without_passwords(line, ["7"])


@pytest.mark.parametrize("form", ["it's", "it''s", 'a\\"bc', "tab\\x01x"])
def test_escaped_passwords_are_hidden(form: str) -> None:
    passwords = ["it's", 'a"bc', "tab\x01x"]
    assert form not in without_passwords(f"- 'button \"{form}\"'", passwords)


def test_the_time_does_not_grow_with_the_number_of_colons_and_values() -> None:
    """Quadratic time took minutes here."""
    passwords = [f"{number:0150}" for number in range(MAX_PASSWORDS)]
    hostile = "- text: " + "a: " * 30_000 + "\n" + "- text: 7: \n" * 5000
    started = time.process_time()
    without_passwords(hostile, [*passwords[1:], "7"])
    assert time.process_time() - started < 5


@pytest.mark.parametrize("passwords", [[str(each) for each in range(MAX_PASSWORDS + 1)], ["x" * 1_000_000]])
def test_a_page_with_too_many_passwords_is_not_shown(passwords: list[str]) -> None:
    with pytest.raises(TooManyPasswords):
        without_passwords(SNAPSHOT, passwords)


@pytest.mark.parametrize(("mark", "shown"), [("\u200b", ""), ("\u00ad", ""), ("\ufeff", " "), ("\u00a0", " ")])
def test_invisible_characters_do_not_show_a_password(mark: str, shown: str) -> None:
    """Playwright removes some of them, and takes others for a space."""
    for each in (mark, shown):
        line = f"- textbox: zero{each}width"
        assert without_passwords(line, [f"zero{mark}width"]) == f"- textbox: {HIDDEN}"


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/?p=s%C3%A9cret+%2B%26&q=1",
        "http://a.example/?p=s%c3%a9cret%20%2b%26&q=1",
        "http://a.example/?p=s\xe9cret%20+%26&q=1",
    ],
)
def test_a_url_has_no_password(url: str) -> None:
    assert url_without_passwords(url, ["s\xe9cret +&"]) == "http://a.example/?p=(hidden)&q=1"


def test_other_parts_of_a_url_stay() -> None:
    url = "http://a.example/7%0A?a=77&p=7#7"
    assert url_without_passwords(url, ["7"]) == "http://a.example/7%0A?a=77&p=(hidden)#7"
    assert url_without_passwords(f"{url}%0Along-secret", ["long-secret"]) == f"{url}%0A(hidden)"


def test_the_time_for_a_url_does_not_grow_with_its_square() -> None:
    started = time.process_time()
    url_without_passwords("http://a.example/?" + "a=" * 100_000, [f"{'a' * 190}{number}" for number in range(100)])
    assert time.process_time() - started < 5
