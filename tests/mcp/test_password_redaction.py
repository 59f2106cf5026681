"""Password fields in snapshots."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.mcp.password_redaction import HIDDEN, MAX_PASSWORDS, TooManyPasswords, without_passwords

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
