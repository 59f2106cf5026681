from __future__ import annotations

import json
from pathlib import Path

import hatbox
from hatbox.cli.commands.run.script_errors import is_hatbox, is_own, script_error

SCRIPT = Path("x.py")


def _raised(error: KeyError, cause: Exception) -> KeyError:
    try:
        raise error from cause
    except KeyError as caught:
        return caught


def test_only_files_of_the_user_are_the_users_own() -> None:
    assert is_own("x.py")
    assert is_own(__file__)
    assert not is_own(json.__file__)
    assert not is_own(hatbox.__file__)
    assert not is_own("<frozen importlib._bootstrap>")
    assert is_hatbox(hatbox.__file__)
    assert not is_hatbox(str(Path(hatbox.__file__).parents[1] / "hatbox_of_mine.py"))


def test_an_error_without_a_line_of_the_user_names_the_script() -> None:
    failure = script_error(ValueError("oh"), SCRIPT, "a call failed")
    assert failure.message == "x.py: a call failed: ValueError: oh"
    assert failure.details["line"] is None


def test_an_error_without_words_is_its_type() -> None:
    assert script_error(ValueError(), SCRIPT).message == "x.py: ValueError"


def test_further_lines_and_notes_are_kept() -> None:
    error = ValueError("one\ntwo")
    error.add_note("three")
    assert list(script_error(error, SCRIPT).lines) == ["    two", "    three"]


def test_the_errors_in_a_group_and_the_cause_of_an_error_are_reported() -> None:
    group = ExceptionGroup("several", [ValueError("a"), _raised(KeyError("b"), TypeError("c"))])
    first, second, third = script_error(group, SCRIPT).lines
    assert first == "    - ValueError: a"
    assert second.startswith("    - ")
    assert second.endswith("KeyError: 'b'")
    assert third.strip() == "caused by TypeError: c"
