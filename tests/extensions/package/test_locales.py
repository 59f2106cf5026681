from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.errors import ManifestError
from hatbox.extensions.package.locales import Locales, read_locales
from hatbox.extensions.package.package_files import Package, open_package

UUID = "620af865-e1c6-44fd-a096-06ded7ca48a9"

MESSAGES: dict[str, dict[str, Any]] = {
    "pt": {"x": {"message": "xpt"}, "onlyDefault": {"message": "def"}},
    "en": {"x": {"message": "xen"}, "sub": {"message": "<$1|$2>"}},
    "en_US": {
        "X": {"message": "x en US"},
        "dollars": {"message": "$$ $$$ $$$$1 $1$ $ $0 $a"},
        "twelve": {"message": "$10 $9 $11"},
        "ph": {
            "message": "[$Name$][$NOPE$][$name$$name$][$n$]",
            "placeholders": {"name": {"content": "$1"}, "n": {"content": 5}},
        },
        "weird": {"message": "a$b$c$d$e", "placeholders": {"b": {"content": "$c$"}}},
        "num": {
            "message": "$n$ $o$ $l$ $z$ $t$",
            "placeholders": {
                "n": {"content": 1.50},
                "o": {"content": {}},
                "l": {"content": [1, "a", None]},
                "z": {"content": None},
                "t": {"content": True},
            },
        },
    },
}

# Recorded with Firefox 153.7.0esr: what i18n.getMessage() returned to an extension with these messages.
ANSWERS: list[tuple[str, Any, str]] = [
    ("x", (), "x en US"),
    ("X", (), "x en US"),
    ("sub", "a", "<a|>"),
    ("sub", ["a", "b"], "<a|b>"),
    ("sub", None, "<null|>"),
    ("sub", [], "<|>"),
    ("sub", [1, None], "<1|null>"),
    ("sub", {}, "<[object Object]|>"),
    ("sub", ["$1", "$$"], "<$1|$$>"),
    ("sub", [["p", "q"]], "<p,q|>"),
    ("nope", (), ""),
    ("", (), ""),
    ("@@extension_id", (), UUID),
    ("@@EXTENSION_ID", (), UUID),
    ("@@ui_locale", (), "en-US"),
    ("@@bidi_dir", (), "ltr"),
    ("@@bidi_reversed_dir", (), "rtl"),
    ("@@bidi_start_edge", (), "left"),
    ("@@bidi_end_edge", (), "right"),
    ("@@nope", (), ""),
    ("dollars", "z", "$ $$ $$$1  $ $0 $a"),
    ("twelve", ["1", "2", "3", "4", "5", "6", "7", "8", "9", "ten"], "ten 9 "),
    ("ph", "q", "[q][][qq][5]"),
    ("onlydefault", (), "def"),
    ("weird", (), "a$c$ce"),
    ("num", (), "1.5 [object Object] 1,a, null true"),
]

NAMES = st.from_regex(r"[A-Za-z0-9@_]{1,8}", fullmatch=True)


def make_package(folder: Path, messages: dict[str, Any]) -> Package:
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text("{}")
    for language, contents in messages.items():
        place = folder / "_locales" / language
        place.mkdir(parents=True)
        text = contents if isinstance(contents, str) else json.dumps(contents)
        (place / "messages.json").write_text(text, "utf-8")
    return open_package(folder)


@pytest.mark.parametrize(
    ("contents", "problem"),
    [
        ("", "it is not valid JSON"),
        ("[]", "it is not an object"),
        ('{"a": "b"}', 'a: it has no text. Write messages as {"name": {"message": "text"}}.'),
        ('{"a": {}}', "a: it has no text"),
        ('{"a": {"message": 5}}', "a: it has no text"),
    ],
)
def test_a_wrong_file_is_named_even_if_the_user_does_not_need_it(tmp_path: Path, contents: str, problem: str) -> None:
    package = make_package(tmp_path, {"en": {}, "fr": contents})
    with pytest.raises(ManifestError, match=re.escape(f"_locales/fr/messages.json: {problem}")):
        read_locales(package, "en", ["en"])
    assert read_locales(package, "en", ["en"], check_all=False).message("x") == ""


def test_the_default_must_be_there_and_be_named(tmp_path: Path) -> None:
    package = make_package(tmp_path, {"pt_BR": {}})
    with pytest.raises(
        ManifestError, match=r'default_locale: it is missing.*Add, for example, "default_locale": "pt_BR"\.'
    ):
        read_locales(package)
    with pytest.raises(ManifestError, match=r"default_locale: _locales/pt/messages\.json does not exist"):
        read_locales(package, "pt")
    (tmp_path / "_locales" / "fr").mkdir()
    (tmp_path / "_locales" / "fr" / "notes").write_text("")
    with pytest.raises(ManifestError, match=r"_locales/fr/messages\.json: the file does not exist"):
        read_locales(package, "pt_BR")


def test_without_any_there_is_only_what_is_always_there(tmp_path: Path) -> None:
    locales = read_locales(make_package(tmp_path, {}), uuid=UUID)
    assert (locales.message("x"), locales.message("@@extension_id"), locales.available) == ("", UUID, ())


@pytest.mark.parametrize(("name", "substitutions", "answer"), ANSWERS)
def test_messages_are_those_of_firefox(tmp_path: Path, name: str, substitutions: Any, answer: str) -> None:
    locales = read_locales(make_package(tmp_path, MESSAGES), "pt", ["en-US"], UUID)
    assert locales.message(name, substitutions) == answer


@pytest.mark.parametrize(
    ("languages", "text"), [(["en-GB"], "xen"), (["pt-BR"], "xpt"), (["fr"], "xpt"), (["fr", "en"], "xen"), ([], "xpt")]
)
def test_the_text_is_in_the_language_of_the_user(tmp_path: Path, languages: list[str], text: str) -> None:
    assert read_locales(make_package(tmp_path, MESSAGES), "pt", languages).message("x") == text


def test_what_is_missing_in_a_dialect_is_taken_from_the_language_and_then_from_the_default(tmp_path: Path) -> None:
    texts = {name: {name: {"message": name}} for name in ("en", "pt", "pt_BR")}
    locales = read_locales(make_package(tmp_path, texts), "en", ["pt-BR"])
    assert [locales.message(name) for name in ("pt_BR", "pt", "en")] == ["pt_BR", "pt", "en"]


def test_text_written_from_right_to_left(tmp_path: Path) -> None:
    locales = Locales([], ["ar-EG"])
    assert locales.localize("__MSG_@@bidi_dir__ __MSG_@@bidi_start_edge__") == "rtl right"


def test_only_messages_that_there_are_are_put_into_text(tmp_path: Path) -> None:
    locales = read_locales(make_package(tmp_path, MESSAGES), "pt", ["en-US"], UUID)
    assert locales.localize("__MSG_x__ __MSG_nope__ __MSG_@@ui_locale__ __MSG_a-b__") == (
        "x en US __MSG_nope__ en-US __MSG_a-b__"
    )
    assert locales.localize("__MSG_sub__") == "<|>"


def test_javascript_gets_all_it_needs(tmp_path: Path) -> None:
    locales = read_locales(make_package(tmp_path, MESSAGES), "pt", ["en-US", "en"], UUID)
    boot = msgspec.json.decode(msgspec.json.encode(locales.for_runtime()))
    assert boot["uiLanguage"] == "en-US"
    assert boot["acceptLanguages"] == ["en-US", "en"]
    for name, substitutions, answer in ANSWERS:
        if substitutions == ():
            assert boot["messages"].get(name.lower(), "") == answer


@given(st.text(alphabet=st.characters(exclude_characters="$", exclude_categories=["Cs"])), st.lists(st.text()))
def test_text_without_dollars_stays_as_it_is(text: str, substitutions: list[str]) -> None:
    assert Locales([{"a": text}]).message("A", substitutions) == text


@given(st.lists(st.text(), min_size=1, max_size=20))
def test_each_substitution_is_put_where_its_number_is(substitutions: list[str]) -> None:
    text = "|".join(f"${number}" for number in range(1, len(substitutions) + 1))
    assert Locales([{"a": text}]).message("a", substitutions) == "|".join(substitutions)


@given(st.text(), st.lists(st.text() | st.none() | st.integers()))
def test_any_text_and_any_substitutions_make_text(text: str, substitutions: list[Any]) -> None:
    assert isinstance(Locales([{"a": text}]).message("a", substitutions), str)
    assert isinstance(Locales([{"a": text}]).localize(text), str)


@given(st.dictionaries(NAMES, NAMES))
def test_placeholders_are_found_in_any_case(tmp_path_factory: pytest.TempPathFactory, contents: dict[str, str]) -> None:
    wanted = {name.lower(): text for name, text in contents.items()}
    message = {
        "message": " ".join(f"${name.upper()}$" for name in wanted),
        "placeholders": {name: {"content": text} for name, text in contents.items()},
    }
    package = make_package(tmp_path_factory.mktemp("x"), {"en": {"a": message}})
    assert read_locales(package, "en").message("a") == " ".join(wanted.values())


def test_a_text_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    bomb = {"message": "$a$" * 100_000, "placeholders": {"a": {"content": "x" * 100_000}}}
    with pytest.raises(ManifestError, match=r"_locales/en/messages\.json: bomb: its text is longer than"):
        read_locales(make_package(tmp_path / "a", {"en": {"bomb": bomb}}), "en")
    locales = read_locales(make_package(tmp_path / "b", {"en": {"long": {"message": "x" * 100_000}}}), "en")
    with pytest.raises(ManifestError, match="its text is longer than"):
        locales.localize("__MSG_long__" * 100_000)


def test_a_language_with_a_million_parts_does_not_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    assert read_locales(open_package(tmp_path), "a-" * 1_000_000).message("x") == ""
