"""commands: the manifest, and what was changed since. What Firefox answers is compared in tests/conformance."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from hatbox import ApiError, Profile
from hatbox.errors import ArgumentError
from hatbox.extension_data import commands
from hatbox.extensions.package.manifest_formats import is_shortcut
from hatbox.schema import load
from tests.api.ui_actions import PERSISTENT, browser_of, in_profile

GO = {"description": "Go", "suggested_key": {"default": "Ctrl + Shift + Y", "linux": None}}
MANIFEST: dict[str, Any] = {**PERSISTENT, "commands": {"go": GO, "stay": {"description": None, "suggested_key": None}}}
WORDS = [
    "Alt",
    "Command",
    "Ctrl",
    "MacCtrl",
    "Shift",
    "A",
    "5",
    "F1",
    "F10",
    "F13",
    "F20",
    "Comma",
    "MediaStop",
    "",
    "a",
]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_keys_are_taken_as_in_a_manifest_and_none_and_those_that_only_users_have(length: int) -> None:
    (surface,) = (each for each in load() if each.namespace == "commands")
    normalise = surface.functions["update"].normalise
    for words in itertools.product(WORDS, repeat=length):
        for text in ("+".join(words), " + ".join(words)):
            try:
                taken = bool(normalise([{"name": "go", "shortcut": text}]))
            except ArgumentError:
                taken = False
            assert taken == (text == "" or is_shortcut(text, by_user=True)), text


def test_a_command_that_is_not_in_the_manifest_is_rejected(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = browser_of(profile, MANIFEST)
        for call in (browser.commands.update({"name": "no"}), browser.commands.reset("no")):
            with pytest.raises(ApiError, match=r'^Unknown command "no"$'):
                await call

    in_profile(tmp_path, use)


def test_changed_commands_persist_and_can_be_reset(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = browser_of(profile, MANIFEST)
        received: list[Any] = []
        browser.commands.onChanged.addListener(received.append)
        browser_of(profile, MANIFEST, extension_id="o@x").commands.onChanged.addListener(received.append)
        first = {"name": "go", "description": "Go", "shortcut": "Ctrl+Shift+Y"}
        assert await browser.commands.getAll() == [first, {"name": "stay", "description": None, "shortcut": ""}]
        await browser.commands.update({"name": "go", "shortcut": " Alt + 1 ", "description": ""})
        await browser.commands.update({"name": "go", "shortcut": "Alt+1", "description": "New"})
        assert (await browser.commands.getAll())[0] == {"name": "go", "description": "New", "shortcut": "Alt+1"}
        assert received == [{"name": "go", "newShortcut": "Alt+1", "oldShortcut": "Ctrl+Shift+Y"}]
        newer = browser_of(profile, {**MANIFEST, "commands": {"go": {**GO, "description": "Changed"}}})
        assert (await newer.commands.getAll())[0]["description"] == "New"
        await browser.commands.reset("go")
        assert (await browser.commands.getAll())[0] == first

    in_profile(tmp_path, use)


def test_the_shortcut_of_the_action_survives_manifest_version_3(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        old = browser_of(profile, {**PERSISTENT, "commands": {"_execute_browser_action": {}}})
        new = browser_of(profile, {"manifest_version": 3, "commands": {"_execute_action": {}}})
        await old.commands.update({"name": "_execute_browser_action", "shortcut": "Alt+1"})
        assert (await new.commands.getAll())[0]["shortcut"] == "Alt+1"
        await new.commands.reset("_execute_action")
        assert (await new.commands.getAll())[0]["shortcut"] == ""

    in_profile(tmp_path, use)


def test_a_command_is_delivered_to_its_extension_as_user_input(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        received: list[Any] = []
        for name in ("own@x", "other@x"):
            browser = browser_of(profile, MANIFEST, extension_id=name)
            caller = browser._caller

            async def listener(command: str, tab: Any, name: str = name, caller: Any = caller) -> None:
                received.append((name, command, tab, caller.is_handling_user_input))

            browser.commands.onCommand.addListener(listener)
        await profile.store.write(lambda each: commands.execute(each, "own@x", "go", None))
        await profile.store.deliver_pending_changes()
        assert received == [("own@x", "go", None, True)]

    in_profile(tmp_path, use)
