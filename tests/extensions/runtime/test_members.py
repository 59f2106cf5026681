"""Synchronous members: served in the extension process, from the boot settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hatbox import Profile
from hatbox.api.caller import ExtensionCaller
from hatbox.extensions.extension import Extension
from hatbox.extensions.package.locales import Locales
from hatbox.extensions.runtime import ScriptError, boot
from tests.api.caller import extension_caller
from tests.extensions.made import run_made
from tests.extensions.runtime.lab import BASE, CAMEL, Lab, in_lab, needs_deno

pytestmark = needs_deno

LOCALES = Locales([{"hello": "Hello $1, $2 and $$3", "price": "$$$$1 $10 $", "empty": ""}], ["de-DE", "en"], "the-uuid")


def caller() -> ExtensionCaller:
    who = extension_caller()
    who.texts = LOCALES
    return who


def test_messages_are_what_python_says(tmp_path: Path) -> None:
    names = ["hello", "HELLO", "price", "empty", "missing", "@@ui_locale", "@@extension_id", ""]
    substitutions: list[Any] = [[], ["Ann"], ["Ann", "Bob", "x"], "Ann", 5, ["a", None, [1, [2]], {}]]

    async def use(lab: Lab) -> None:
        runtime = await lab.start(caller=caller(), data={"i18n": LOCALES.for_runtime()})
        cases = [(name, given) for name in names for given in substitutions]
        said = await runtime.evaluate(f"{json.dumps(cases)}.map(each => browser.i18n.getMessage(...each))")
        assert said == [LOCALES.message(name, given) for name, given in cases]

    in_lab(tmp_path, use)


def test_languages_and_urls(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(caller=caller(), data={"i18n": LOCALES.for_runtime()})
        assert await runtime.evaluate("browser.i18n.getUILanguage()") == "de-DE"
        assert await runtime.evaluate("browser.i18n.getAcceptLanguages()") == ["de-DE", "en"]
        assert await runtime.evaluate("browser.i18n.getMessage('hello')") == "Hello null,  and $3"
        assert await runtime.evaluate("browser.i18n.getMessage('hello', undefined)") == "Hello ,  and $3"
        assert await runtime.evaluate("browser.runtime.getURL('/a.html#b')") == f"{BASE}a.html#b"
        assert (
            await runtime.evaluate("(browser.runtime.getManifest().name = 'x', browser.runtime.getManifest().name)")
            == "Lab"
        )
        with pytest.raises(ScriptError, match="Incorrect argument types"):
            await runtime.evaluate("browser.i18n.getMessage(1)")

    in_lab(tmp_path, use)


def test_a_file_of_members_can_say_how_listeners_are_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    members = """
        host => ({
          members: {answer: 42, later: () => host.call("contextualIdentities.query", [{}]), absent() {}},
          events: {onCreated: (listener, args) => listener(...args, host.data.extra)},
        })
    """
    monkeypatch.setattr(boot, "_members", lambda: [(CAMEL, members)])

    async def use(lab: Lab) -> None:
        runtime = await lab.start(data={"extra": "more"})
        await runtime.evaluate("browser.contextualIdentities.onCreated.addListener((...args) => args)")
        assert await runtime.listeners.dispatch(f"{CAMEL}.onCreated", [1]) == [[1, "more"]]
        assert await runtime.evaluate("browser.contextualIdentities.answer") == 42
        # A function that the schema does not declare does not exist.
        assert await runtime.evaluate("'absent' in browser.contextualIdentities") is False

    in_lab(tmp_path, use)


@pytest.mark.parametrize("version", [2, 3])
def test_extension_has_the_last_error_with_manifest_version_2_only(tmp_path: Path, version: int) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        assert await extension.evaluate("['extension', 'runtime'].map(name => 'lastError' in browser[name])") == [
            version == 2,
            True,
        ]

    run_made(tmp_path, use, manifest_version=version)
