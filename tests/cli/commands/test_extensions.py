"""hatbox extensions: list, install, remove, permissions and trigger."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hatbox
from hatbox import Profile
from hatbox.cli.commands import extensions
from hatbox.engines.running_engines import RunningEngine, put_record
from hatbox.extensions.extension import Extension
from hatbox.extensions.package.package_files import open_package
from hatbox.extensions.package.stored_package import digest_of, pack
from hatbox.extensions.page_triggers import NO_PAGE_ENGINE
from hatbox.extensions.runtime.sandbox import Layers, available_layers
from tests.api.ui_actions import tab_at
from tests.cli.conftest import Cli, Result, run_here
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno

OPTIONAL: dict[str, Any] = {
    "permissions": ["menus", "https://site.example/*"],
    "optional_permissions": ["bookmarks", "cookies", "https://*.other.example/*"],
}


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return make(tmp_path, name="one", **OPTIONAL)


def same_name(tmp_path: Path, number: int) -> str:
    """An extension called `twin`, with an id of its own."""
    gecko = {"gecko": {"id": f"twin{number}@example.org"}}
    return str(make(tmp_path / str(number), name="twin", browser_specific_settings=gecko))


# ----------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "arguments",
    [
        ["install"],
        ["install", "x", "--keep-data"],
        ["remove"],
        ["permissions"],
        ["trigger", "one"],
        ["trigger", "one", "action", "--tab", "first"],
        ["trigger", "one", "action", "--link", "https://site.example/"],
        ["trigger", "one", "command:go", "--selection", "x"],
        ["trigger", "one", "menu:a", "--close"],
        ["list", "one"],
    ],
)
def test_wrong_usage_is_reported_before_anything_happens(
    cli: Cli, profile: Path, arguments: list[str], no_profile: None
) -> None:
    result = cli("extensions", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("hatbox: ")
    assert not profile.exists()


@pytest.mark.parametrize(
    "arguments", [["remove", "onn"], ["permissions", "onn"], ["trigger", "onn", "action"], ["remove", "one", "onn"]]
)
def test_a_name_that_no_extension_has_brings_up_the_nearest(cli: Cli, one: Path, arguments: list[str]) -> None:
    cli("extensions", "install", str(one))
    assert cli("extensions", *arguments) == (1, "", 'hatbox: extension not found: "onn". Did you mean "one"?\n')
    assert cli("extensions", *arguments, "--json").error["nearest"] == ["one"]
    assert [each["name"] for each in cli("extensions", "list", "--json").json] == ["one"]


def test_a_name_that_nothing_is_like(cli: Cli) -> None:
    expected = 'hatbox: extension not found: "zzz". List extensions with: hatbox extensions list\n'
    assert cli("extensions", "permissions", "zzz") == (1, "", expected)


def test_a_name_that_two_have_is_not_enough(cli: Cli, tmp_path: Path) -> None:
    cli("extensions", "install", same_name(tmp_path, 1), same_name(tmp_path, 2))
    result = cli("extensions", "remove", "twin", "--yes", "--json")
    assert (result.status, result.error["ids"]) == (1, ["twin1@example.org", "twin2@example.org"])
    assert cli("extensions", "remove", "twin2@example.org", "--yes").status == 0
    assert cli("extensions", "remove", "twin", "--yes").out == "Removed twin (twin1@example.org)\n"


def test_what_is_no_extension_is_not_installed(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in ("empty", "missing"):
        result = cli("extensions", "install", str(tmp_path / path))
        assert result.status == 1
        assert str(tmp_path / path) in result.err
    assert cli("extensions", "list", "--json").json == []


def test_what_does_not_run_cannot_be_triggered(cli: Cli, one: Path) -> None:
    cli("extensions", "install", str(one))
    expected = "hatbox: one@example.org is not running. Start it with `hatbox run`.\n"
    assert cli("extensions", "trigger", "one", "action") == (1, "", expected)


# --------------------------------------------------------------------------------------------------- install and remove


def test_install_list_and_remove(cli: Cli, one: Path) -> None:
    assert cli("extensions", "list") == (0, "", "No extensions.\n")
    installed = "Installed one 1 (one@example.org)\n  permissions: menus, https://site.example/*\n"
    assert cli("extensions", "install", str(one)) == (0, installed, "")
    assert cli("extensions", "list").out == "one  1  one@example.org\n"
    document = {
        "id": "one@example.org",
        "name": "one",
        "version": "1",
        "path": str(one),
        "installed": True,
        "enabled": True,
        "reinstallNeeded": False,
        "digest": digest_of(pack(open_package(one))),
        "pid": None,
        "sandbox": json.loads(json.dumps(available_layers()._asdict())),
    }
    assert cli("extensions", "list", "--json").json == [document]
    assert cli("extensions", "list", "--ui", "--json").json == [{**document, "ui": None}]
    declined = cli("extensions", "remove", "one", stdin="n\n")
    assert (declined.status, declined.out) == (1, "")
    assert declined.err.startswith("Remove one (one@example.org) and all data that it has stored? [y/N] ")
    assert cli("extensions", "remove", "one", stdin="y\n").out == "Removed one (one@example.org)\n"
    assert cli("extensions", "list").out == ""
    assert (one / "manifest.json").exists()


def other_one(tmp_path: Path, **keys: Any) -> Path:
    """Another extension, which says that it is the same."""
    gecko = {"gecko": {"id": "one@example.org"}}
    wanted = {"permissions": ["menus", "tabs"], "browser_specific_settings": gecko, **keys}
    return make(tmp_path, name="wallpapers", **wanted)


def test_an_extension_with_the_id_of_another_one_is_refused(cli: Cli, one: Path, tmp_path: Path) -> None:
    cli("extensions", "install", str(one))
    other, fresh = other_one(tmp_path), make(tmp_path, name="fresh")
    refused = cli("extensions", "install", str(fresh), str(other))
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.startswith(
        f'hatbox: one@example.org is already installed: "one" 1, from {one}. This is "wallpapers" 1, from {other}. '
        "It requires tabs in addition and does not require https://site.example/*. "
    )
    assert cli("extensions", "install", str(other), "--json").error["type"] == "AlreadyInstalled"
    assert [each["name"] for each in cli("extensions", "list", "--json").json] == ["one"]


def test_replace_shows_what_is_replaced_and_what_changes(cli: Cli, one: Path, tmp_path: Path) -> None:
    cli("extensions", "install", str(one))
    cli("extensions", "permissions", "one", "--grant", "cookies")
    other = other_one(tmp_path, optional_permissions=["cookies"])
    assert cli("extensions", "install", "--replace", "--yes", str(other)).out.splitlines() == [
        f"Replaced one 1, from {one}",
        f"by wallpapers 1 (one@example.org), from {other}",
        "  now requires: tabs",
        "  no longer requires: https://site.example/*",
        "  no longer granted: cookies",
        "  data: deleted",
    ]
    assert cli("extensions", "permissions", "one@example.org", "--json").json["granted"] == []
    back = cli("extensions", "install", "--replace", "--keep-data", "--yes", str(one), "--json").json[0]
    assert back["replaced"] == {"name": "wallpapers", "version": "1", "path": str(other)}
    assert (back["dataKept"], back["added"], back["removed"]) == (True, ["https://site.example/*"], ["tabs"])


def test_an_update_says_which_permissions_are_new(cli: Cli, one: Path, tmp_path: Path) -> None:
    cli("extensions", "install", str(one))
    make(tmp_path, name="one", version="2", **{**OPTIONAL, "permissions": ["menus", "https://site.example/*", "tabs"]})
    asked = "one (one@example.org) now requires: tabs.\nUpdate it? [y/N] "
    assert cli("extensions", "install", str(one), stdin="n\n") == (1, "", f"{asked}hatbox: not updated\n")
    assert cli("extensions", "list", "--json").json[0]["version"] == "1"
    assert cli("extensions", "install", str(one), stdin="y\n").out.splitlines() == [
        "Updated one 2 (one@example.org), which was 1",
        "  now requires: tabs",
    ]
    assert cli("extensions", "install", str(one)).out == "Installed one 2 (one@example.org)\n"


def test_an_earlier_install_whose_files_are_gone_is_listed_and_not_run(
    cli: Cli, profile: Path, one: Path, tmp_path: Path
) -> None:
    record = {"id": "one@example.org", "path": str(tmp_path / "gone"), "name": "one", "version": "1"}

    async def write() -> None:
        async with hatbox.open(profile) as opened:
            value = msgspec.json.encode(record)  # as it was written before packages were stored
            await opened.store.write(lambda each: each.extensions.put("one@example.org", "installed", "", value))

    asyncio.run(write())
    assert cli("extensions", "list").out == "one  1  one@example.org  reinstall needed\n"
    assert cli("extensions", "list", "--json").json[0]["reinstallNeeded"]
    result = cli("run", "one")
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith("hatbox: one (one@example.org) has to be installed again: ")
    assert cli("extensions", "install", "--replace", "--keep-data", str(one)).status == 0
    assert cli("extensions", "list").out == "one  1  one@example.org\n"


@needs_deno
def test_a_folder_that_runs_with_the_id_of_an_installed_one_is_listed_apart(
    cli: Cli, profile: Path, one: Path, tmp_path: Path
) -> None:
    cli("extensions", "install", str(one))
    other = other_one(tmp_path, optional_permissions=["cookies"])

    async def use(_: Profile, extension: Extension, command: Callable[..., Awaitable[Result]]) -> None:
        listed = (await command("list")).out.splitlines()
        assert [" ".join(line.split()) for line in listed] == [
            "one 1 one@example.org",
            f"wallpapers 1 {extension.area} running (pid {os.getpid()})",
        ]
        assert (await command("permissions", "one@example.org", "--grant", "cookies")).status == 0
        assert (await command("permissions", "wallpapers", "--json")).json["granted"] == []
        assert (await command("permissions", "one", "--json")).json["granted"] == ["cookies"]
        assert (await command("remove", extension.area, "--yes")).out == "Removed wallpapers (one@example.org)\n"
        assert [each["name"] for each in (await command("list", "--json")).json] == ["one"]

    while_it_runs(profile, other, use)


def test_list_shows_the_layers_of_the_sandbox(cli: Cli, one: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("extensions", "install", str(one))
    whole = Layers(no_new_privs=True, landlock=7, seccomp=True)
    monkeypatch.setattr(extensions, "available_layers", lambda: whole)
    assert cli("extensions", "list", tty=True).out.endswith(
        "\nSandbox: no new privileges, Landlock (version 7), seccomp\n"
    )
    assert cli("extensions", "list").err == ""
    part = whole._replace(landlock=0, missing=("Landlock (Function not implemented)",))
    monkeypatch.setattr(extensions, "available_layers", lambda: part)
    line = "Sandbox: no new privileges, seccomp; no Landlock (Function not implemented)\n"
    assert cli("extensions", "list", tty=True).out.endswith(f"\n{line}")
    assert cli("extensions", "list") == (0, "one  1  one@example.org\n", line)
    assert cli("extensions", "list", "--json").json[0]["sandbox"]["missing"] == ["Landlock (Function not implemented)"]


def test_a_name_is_no_instruction_to_the_terminal(cli: Cli, tmp_path: Path) -> None:
    made = make(tmp_path, name="x")
    manifest = (made / "manifest.json").read_text("utf-8").replace('"name": "x"', r'"name": "\u001b[31mred"')
    (made / "manifest.json").write_text(manifest, "utf-8")
    for result in (
        cli("extensions", "install", str(made)),
        cli("extensions", "list"),
        cli("extensions", "list", tty=True),
    ):
        assert result.status == 0
        assert "\x1b[31mred" not in result.out
    refused = cli("extensions", "install", str(make(tmp_path / "other", name="x")))
    assert refused.status == 1
    assert "\x1b[31mred" not in refused.err
    assert "red" in refused.err


# ---------------------------------------------------------------------------------------------------------- permissions


def test_permissions_are_shown_given_and_taken_back(cli: Cli, one: Path) -> None:
    cli("extensions", "install", str(one))
    lines = [
        "required  menus",
        "required  https://site.example/*",
        "optional  bookmarks",
        "optional  cookies",
        "optional  https://*.other.example/*",
    ]
    assert cli("extensions", "permissions", "one").out.splitlines() == lines
    given = cli(
        "extensions", "permissions", "one", "--grant", "cookies", "--grant", "https://a.other.example/x", "--json"
    )
    assert given.json == {
        "id": "one@example.org",
        "name": "one",
        "required": ["menus", "https://site.example/*"],
        "granted": ["cookies", "https://a.other.example/*"],
        "optional": ["bookmarks", "https://*.other.example/*"],
    }
    taken = cli("extensions", "permissions", "one", "--revoke", "cookies", "--grant", "bookmarks", "--json")
    assert taken.json["granted"] == ["bookmarks", "https://a.other.example/*"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--grant", "history", "--grant", "https://*/*"],
            "not an optional permission of one: history, https://*/*. "
            "Optional permissions: bookmarks, cookies, https://*.other.example/*.",
        ),
        (
            ["--grant", "menus"],
            "not an optional permission of one: menus. "
            "Optional permissions: bookmarks, cookies, https://*.other.example/*.",
        ),
        (["--revoke", "menus"], "a required permission of one: menus. Granted permissions: none."),
        (
            ["--grant", "cookies", "--revoke", "bookmarks"],
            "not a granted permission of one: bookmarks. Granted permissions: none.",
        ),
    ],
)
def test_only_what_may_be_asked_for_is_given_and_only_what_was_given_taken(
    cli: Cli, one: Path, arguments: list[str], words: str
) -> None:
    cli("extensions", "install", str(one))
    assert cli("extensions", "permissions", "one", *arguments) == (1, "", f"hatbox: {words}\n")
    assert cli("extensions", "permissions", "one", "--json").json["granted"] == []


def test_hosts_that_version_3_gives_at_the_start_stay_when_more_is_given(cli: Cli, tmp_path: Path) -> None:
    keys: dict[str, Any] = {"manifest_version": 3, "host_permissions": ["https://site.example/*"]}
    cli("extensions", "install", str(make(tmp_path, name="three", optional_permissions=["bookmarks"], **keys)))
    given = cli("extensions", "permissions", "three", "--grant", "bookmarks", "--json").json
    assert given["granted"] == ["bookmarks", "https://site.example/*"]
    taken = cli("extensions", "permissions", "three", "--revoke", "https://site.example/*", "--json").json
    assert (taken["granted"], taken["optional"]) == (["bookmarks"], ["https://site.example/*"])


# -------------------------------------------------------------------------------------------------------------- running


def while_it_runs(
    profile: Path, folder: Path, use: Callable[[Profile, Extension, Callable[..., Awaitable[Result]]], Awaitable[None]]
) -> None:
    """Use the command line while an extension runs; each command has the profile open on its own, in a thread."""

    async def command(*arguments: str) -> Result:
        return await asyncio.to_thread(run_here, "extensions", *arguments)

    async def main() -> None:
        async with asyncio.timeout(60), hatbox.open(profile) as opened:
            await tab_at(opened)
            await use(opened, await opened.extensions.start(folder), command)

    asyncio.run(main())


@needs_deno
def test_what_runs_is_listed_and_triggered(profile: Path, tmp_path: Path) -> None:
    background = """
    browser.menus.create({id: "save", title: "Save", type: "checkbox", contexts: ["tab"]});
    browser.menus.create({id: "line", type: "separator"});
    browser.browserAction.setBadgeText({text: "3"});
    const {promise, resolve} = Promise.withResolvers();
    globalThis.received = promise;
    browser.menus.onClicked.addListener((info, tab) => { resolve([info.menuItemId, info.checked, tab.id]); });
    """
    keys: dict[str, Any] = {
        "permissions": ["menus"],
        "browser_action": {"default_title": "Button", "default_popup": "popup.html"},
        "commands": {"go": {"description": "Go on", "suggested_key": {"default": "Alt+1"}}},
    }
    made = make(tmp_path, background, name="shower", files={"popup.html": ""}, **keys)

    async def use(_: Profile, extension: Extension, command: Callable[..., Awaitable[Result]]) -> None:
        await extension.evaluate("browser.browserAction.getBadgeText({})")
        process, popup = os.getpid(), f"{extension.manifest.base_url}popup.html"
        assert (await command("list", "--ui")).out.splitlines() == [
            f"shower  1  shower@example.org  running (pid {process})",
            "",
            "shower  menu:save   Save    unchecked on tab",
            "shower  menu:line           separator",
            f'shower  action      Button  badge "3" opens {popup}',
            "shower  command:go  Go on   Alt+1",
        ]
        (listed,) = (await command("list", "--ui", "--json")).json
        assert (listed["installed"], listed["pid"]) == (False, process)
        assert listed["ui"]["menus"][0] == {"id": "save", "type": "checkbox", "title": "Save", "contexts": ["tab"]}
        assert listed["ui"]["commands"] == [{"name": "go", "description": "Go on", "shortcut": "Alt+1"}]
        assert await command("trigger", "shower", "menu:save") == (0, "Triggered menu:save of shower in tab 1\n", "")
        assert await extension.evaluate("received") == ["save", True, 1]
        expected = f"action of shower opens {popup}, which is not shown. {NO_PAGE_ENGINE}\n"
        assert await command("trigger", "shower", "action") == (0, expected, "")
        assert (await command("trigger", "shower@example.org", "command:go", "--json")).json == {
            "extension": "shower@example.org",
            "what": "command:go",
            "tabId": 1,
            "popup": None,
            "shown": False,
        }
        wrong = await command("trigger", "shower", "menu:svae")
        assert wrong == (1, "", 'hatbox: shower has no menu item "svae". Did you mean "save"?\n')
        missing = "hatbox: tab not found: 77. List tabs with: hatbox tabs\n"
        assert (await command("trigger", "shower", "action", "--tab", "77")).err == missing

    while_it_runs(profile, made, use)


@needs_deno
def test_pages_are_listed_and_requested_from_the_process_of_the_extension(profile: Path, tmp_path: Path) -> None:
    keys: dict[str, Any] = {"options_ui": {"page": "options.html"}, "sidebar_action": {"default_panel": "panel.html"}}
    made = make(tmp_path, "", name="shower", files={"options.html": "", "panel.html": ""}, **keys)

    async def use(opened: Profile, extension: Extension, command: Callable[..., Awaitable[Result]]) -> None:
        base = extension.manifest.base_url
        assert (await command("list", "--ui")).out.splitlines()[2:] == [
            f"shower  options    opens {base}options.html",
            f"shower  sidebar    opens {base}panel.html",
        ]
        unshown = f"hatbox: the process of shower does not show pages. {NO_PAGE_ENGINE}\n"
        assert await command("open", "shower", "options") == (1, "", unshown)
        assert (await command("open", "shower", "popup")).err == "hatbox: shower has no popup.\n"
        assert (await command("open", "shower", "popups")).status == 2
        # As if its process ran Chromium.
        process = await opened.store.read(lambda transaction: transaction.processes.current)
        engine = RunningEngine("Chromium", process, None, 0.0)
        await opened.store.write(lambda transaction: put_record(transaction, engine))
        assert await command("open", "shower", "sidebar") == (0, f"sidebar of shower opens {base}panel.html\n", "")
        assert (await command("trigger", "shower", "options", "--json")).json == {
            "extension": "shower@example.org",
            "what": "options",
            "tabId": 1,
            "popup": f"{base}options.html",
            "shown": True,
        }

    while_it_runs(profile, made, use)


@needs_deno
def test_what_is_given_to_an_extension_that_runs_is_there_at_once(profile: Path, one: Path) -> None:
    async def use(opened: Profile, extension: Extension, command: Callable[..., Awaitable[Result]]) -> None:
        assert not await extension.evaluate("'cookies' in browser")
        assert (await command("permissions", "one", "--grant", "cookies")).status == 0
        await opened.store.deliver_pending_changes()
        assert await extension.evaluate("'cookies' in browser")

    while_it_runs(profile, one, use)


def test_of_several_that_are_installed_all_are_or_none(cli: Cli, one: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = cli("extensions", "install", str(one), str(empty))
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"hatbox: {empty}: it is not an extension")
    assert cli("extensions", "list").out == ""


def test_what_is_to_be_typed_stays_whole_where_there_is_little_room(
    cli: Cli, one: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("extensions", "install", str(one))
    monkeypatch.setenv("COLUMNS", "30")
    assert "one@example.org" in cli("extensions", "list", tty=True).out
