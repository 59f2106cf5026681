"""i18n as scripts find it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hatbox import Profile
from hatbox.extensions.extension import Extension
from hatbox.extensions.package.user_languages import user_languages
from tests.extensions.made import run_made
from tests.extensions.runtime.lab import needs_deno

MANIFEST = {
    "manifest_version": 2,
    "name": "__MSG_hat__",
    "version": "1",
    "default_locale": "en",
    "background": {"scripts": ["background.js"]},
}
MESSAGES = {
    "hi": {"message": "Hello $1 and $WHO$ $$1 $2!", "placeholders": {"who": {"content": "[$2]"}}},
    "dollar": {"message": "a $$ b $$$ $x$ $0 $10"},
}
# What Firefox 153 returns, asked with the same file.
ANSWERS: list[tuple[list[Any], str]] = [
    (["hi"], "Hello null and [] $1 !"),
    (["HI", ["a", "b"]], "Hello a and [b] $1 b!"),
    (["hi", "a"], "Hello a and [] $1 !"),
    (["hi", []], "Hello  and [] $1 !"),
    (["hi", None], "Hello null and [] $1 !"),
    (["hi", 5], "Hello 5 and [] $1 !"),
    (["hi", {"a": 1}], "Hello [object Object] and [] $1 !"),
    (["hi", [1, None]], "Hello 1 and [null] $1 null!"),
    (["dollar"], "a $ b $$  $0 "),
    (["nope"], ""),
    (["constructor"], ""),
    (["@@ui_locale"], "en-US"),
    (["@@bidi_dir"], "ltr"),
]


@needs_deno
def test_messages_are_those_of_firefox_in_javascript_and_in_python(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        for arguments, answer in ANSWERS:
            assert await extension.evaluate(f"browser.i18n.getMessage(...{json.dumps(arguments)})") == answer
            assert extension.browser.i18n.getMessage(*arguments) == answer
        assert await extension.evaluate("browser.i18n.getMessage('hi', undefined)") == "Hello  and [] $1 !"
        assert await extension.evaluate("browser.i18n.getMessage('@@extension_id')") == extension.manifest.uuid

    run_made(tmp_path, use, files={"_locales/en/messages.json": json.dumps(MESSAGES)}, default_locale="en")


@needs_deno
def test_wrong_arguments_are_thrown(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        for call in (
            "getMessage()",
            "getMessage(5)",
            "getMessage(null)",
            "getMessage('a', 'b', 'c')",
            "getUILanguage(1)",
        ):
            name = call.partition("(")[0]
            thrown = await extension.evaluate(f"try {{ browser.i18n.{call} }} catch (error) {{ return error.message }}")
            assert thrown == f"Incorrect argument types for i18n.{name}."

    run_made(tmp_path, use)


@needs_deno
def test_an_extension_without_texts_has_the_languages_all_the_same(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        assert await extension.evaluate("browser.i18n.getMessage('a')") == ""
        assert await extension.evaluate("browser.i18n.getUILanguage()") == "en-US"
        assert "en-US" in await extension.evaluate("browser.i18n.getAcceptLanguages()")
        assert await extension.evaluate("browser.i18n.detectLanguage === undefined") is True

    run_made(tmp_path, use)


@needs_deno
def test_an_extension_speaks_the_language_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("locale.getlocale", lambda: ("de_DE", "UTF-8"))

    async def use(_: Profile, extension: Extension) -> None:
        assert extension.manifest.name == "Hut"
        assert await extension.evaluate("[browser.i18n.getMessage('hat'), browser.i18n.getUILanguage()]") == [
            "Hut",
            "de-DE",
        ]
        assert await extension.evaluate("browser.i18n.getAcceptLanguages()") == ["de-DE", "en-US", "en"]
        assert await extension.evaluate("navigator.languages") == ["de-DE", "en-US", "en"]

    texts = {"en": "Hat", "de": "Hut"}
    files = {f"_locales/{each}/messages.json": json.dumps({"hat": {"message": texts[each]}}) for each in texts}
    run_made(tmp_path, use, files=files | {"manifest.json": json.dumps(MANIFEST)})


@pytest.mark.parametrize("known", [None, "C", "English_United States", "no locale"])
def test_a_system_that_does_not_say_speaks_english(monkeypatch: pytest.MonkeyPatch, known: str | None) -> None:
    def getlocale() -> tuple[str | None, None]:
        if known == "no locale":
            raise ValueError("unknown locale: UTF-8")
        return known, None

    monkeypatch.setattr("locale.getlocale", getlocale)
    assert user_languages() == ("en-US", "en")
