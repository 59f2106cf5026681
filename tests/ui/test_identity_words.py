"""Texts of the screens of one identity, of the trash and of backups."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.ui.static_modules import value_of

pytestmark = pytest.mark.deno


def words(function: str, *arguments: Any, module: str = "archive_words.js") -> Any:
    return value_of(module, function, f"return {function}(...{json.dumps(arguments)});")


def plan(identities: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    rest = {"hasChanges": True, "isNewProfile": False, "storesPlain": False, "others": []}
    return {**rest, "identities": identities, **more}


def part(name: str, *changes: str, created: bool = False) -> dict[str, Any]:
    return {"name": name, "changes": list(changes), "created": created}


def test_a_wrong_setting_says_what_to_write() -> None:
    def problem(*arguments: str) -> Any:
        return words("settingProblem", *arguments, module="setting_words.js")

    zone = problem("timezone", "Europe/Berlinx", "Did you mean Europe/Berlin, Europe/Dublin, Europe/Rome?")
    assert zone == "There is no time zone Europe/Berlinx. Try Europe/Berlin or Europe/Dublin."
    assert problem("timezone", "x", "Use a name such as UTC.") == "There is no time zone x. Try Europe/Berlin."
    assert problem("locale", "?", "Use a language tag.") == "Write a language and a region, for example de-DE."
    port = problem("proxy", "socks5://h", "It needs a host and a port, such as 127.0.0.1:8080. Use direct.")
    assert port == "Write it as socks5://127.0.0.1:9050. The port is needed."
    too_large = problem("proxy", "http://h:70000", "The port must be 1 to 65535. Use direct.")
    assert too_large == "The port must be 1 to 65535."
    assert problem("proxy", "x", "The user name is empty.") == "The user name is empty."


def test_sizes_are_short() -> None:
    sizes = {0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1500: "2 KB", 999_600: "1.0 MB", 4_900_000: "4.9 MB"}
    assert [words("sizeText", each) for each in sizes] == list(sizes.values())


def test_a_preview_says_what_stays_what_changes_and_what_comes_back() -> None:
    shown = plan(
        [part("A"), part("B"), part("Travel", "2 cookies changed"), part("Old", "created", created=True), part("")],
        others=["1 site rule added."],
    )
    text = "2 identities are the same, 1 would change back, 1 comes back. All others stay as they are."
    assert words("planText", shown) == text
    assert words("planLines", shown) == [
        {"name": "Travel", "text": "2 cookies changed"},
        {"name": "Old", "text": "created"},
        {"name": "", "text": "1 site rule added."},
    ]
    assert words("restoreLabel", shown) == "Restore 2 identities"
    assert words("restoredText", shown) == "2 identities restored."


def test_a_preview_without_changes_says_so() -> None:
    assert words("planText", plan([part("A")], hasChanges=False)) == (
        "Nothing would change: everything is as in the backup."
    )
    assert words("restoreLabel", plan([part("A")], others=["The order of the identities changes."])) == "Restore"


def test_an_error_beside_a_backup_does_not_repeat_its_name() -> None:
    assert words("errorText", "a.hatbox: the passphrase is wrong.", "a.hatbox") == "The passphrase is wrong."
    assert words("errorText", "b.hatbox: it is damaged.", "a.hatbox") == "B.hatbox: it is damaged."


def test_a_removed_identity_says_by_which_program_and_on_how_many_sites() -> None:
    def trash(function: str, *arguments: Any) -> Any:
        return words(function, *arguments, module="trash_words.js")

    minute = 60_000
    known = {"removedAt": 0, "removedBy": "manager page", "cookies": 31, "sites": 6, "tabs": 4}
    assert trash("removedText", known, 4 * minute) == "Removed 4 min ago by manager page"
    assert trash("removedText", {"removedAt": 0}, 1) == "Removed just now"
    assert trash("contentsOf", known) == "31 cookies on 6 sites, 4 tabs"
    assert trash("contentsOf", {"cookies": 1, "tabs": 0}) == "1 cookie, no tabs"
    assert trash("contentsOf", {"cookies": 0, "sites": 0, "tabs": 1}) == "No cookies, 1 tab"
    body = "const day = 86_400_000; return [0, 1, day, 30 * day].map((now) => leftText({expiresAt: 30 * day}, now));"
    left = value_of("trash_words.js", "leftText", body)
    assert left == ["30 days left", "30 days left", "29 days left", "Deleted soon"]


def test_a_right_to_left_name_does_not_reorder_the_words_around_it() -> None:
    body = r"""
    const made = (name) => sentence`Delete ${name} forever?`;
    return [made("Work"), made("\u05d0\u05d1 2"), made("a\u202eb"), made("\u2069\u05d0"), made(7)];
    """
    plain, hebrew, override, unbalanced, number = value_of("sentences.js", "sentence", body)
    assert plain == "Delete Work forever?"
    assert hebrew == "Delete \u2068\u05d0\u05d1 2\u2069 forever?"
    assert override == "Delete ab forever?"
    assert unbalanced == "Delete \u2068\u05d0\u2069 forever?"
    assert number == "Delete 7 forever?"
