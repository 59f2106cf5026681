"""The namespace hatbox.extensions: what is installed and runs, what it may do, its button, menus and console."""

from __future__ import annotations

import asyncio
import io
import os
import re
import zipfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.extensions.extension import Extension
from hatbox.extensions.runtime import Exit
from hatbox.manager_api.managed_extensions import package_uploads
from hatbox.manager_api.managed_extensions.permission_sentences import sentence_of
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.manager_api.page_errors import refused
from tests.store.in_loop import in_loop
from tests.waiting import until, until_awaited

ID = "made@example.org"
BACKGROUND = """
browser.browserAction.setBadgeText({text: "7"});
browser.menus.create({id: "top", title: "&Open in", contexts: ["all"]});
browser.menus.create({id: "work", parentId: "top", title: "Work", contexts: ["all"]});
browser.browserAction.onClicked.addListener(() => console.warn("clicked <b>"));
browser.menus.onClicked.addListener(({menuItemId}) => console.log("menu", menuItemId));
browser.commands.onCommand.addListener((name) => console.log("command", name));
console.log("ready");
"""
MANIFEST: dict[str, Any] = {
    "permissions": ["menus", "https://*.site.example/*"],
    "optional_permissions": ["cookies", "https://other.example/*"],
    "browser_action": {"default_title": "Switch"},
    "options_ui": {"page": "options.html"},
    "commands": {"go": {"suggested_key": {"default": "Ctrl+Shift+Y"}, "description": "Go"}},
    "icons": {"48": "icon.svg"},
}
FILES = {"options.html": "<p>options", "icon.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>"}


def api(profile: hatbox.Profile) -> Any:
    return profile.browser(["hatbox"]).hatbox.extensions


async def only(profile: hatbox.Profile) -> dict[str, Any]:
    (listed,) = await api(profile).list()
    found: dict[str, Any] = listed
    return found


def packed(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for file in folder.iterdir():
            archive.writestr(file.name, file.read_bytes())
    return buffer.getvalue()


async def upload(profile: hatbox.Profile, data: bytes, name: str = "made.xpi", part: int = 100) -> dict[str, Any]:
    token = await api(profile).beginInstall(name, len(data))
    for start in range(0, len(data), part):
        await api(profile).addInstallPart(token, b64encode(data[start : start + part]).decode())
    prepared: dict[str, Any] = await api(profile).prepareInstall(token)
    return prepared


# ── Installing ──


@in_loop
async def test_a_dropped_file_is_installed_after_its_permissions_were_shown(address: str, tmp_path: Path) -> None:
    data = packed(make(tmp_path, files=FILES, **MANIFEST))
    async with hatbox.open(address) as profile:
        prepared = await upload(profile, data)
        assert (prepared["name"], prepared["version"], prepared["isUpdate"]) == ("made", "1", False)
        required = [each["sentence"] for each in prepared["permissions"] if each["required"]]
        assert required == ["Add items to menus", "Access your data for *.site.example"]
        assert await api(profile).list() == []  # nothing is installed yet
        assert await api(profile).install(prepared["token"]) == ID
        listed = await only(profile)
        assert (listed["id"], listed["isInstalled"], listed["isRunning"]) == (ID, True, False)
        assert listed["icon"].startswith("data:image/svg+xml;base64,")
        assert (listed["action"]["title"], listed["action"]["enabled"]) == ("Switch", False)  # it is stopped
        assert [each["name"] for each in listed["commands"]] == ["go"]
        with refused("Choose it again"):
            await api(profile).install(prepared["token"])
        again = await upload(profile, data)
        assert (again["isUpdate"], again["replaces"]) == (True, "made 1")
        assert again["added"] == []
        wider = make(
            tmp_path / "wider", files=FILES, **MANIFEST | {"permissions": [*MANIFEST["permissions"], "history"]}
        )
        wanted = (await upload(profile, packed(wider)))["added"]
        assert [each["sentence"] for each in wanted] == ["Access the browsing history"]
        other = await upload(profile, data, "another.xpi")
        assert other["isUpdate"] is False
        with refused("already installed"):
            await api(profile).install(other["token"])
        await api(profile).install(other["token"], {"replace": True, "keepData": True})


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("notes.txt", b"x", "notes.txt is not an extension. Choose an .xpi or .zip file."),
        ("broken.xpi", b"PK broken", "broken.xpi"),
    ],
)
@in_loop
async def test_a_file_that_is_no_extension_is_refused_by_its_name(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        with refused(message) as raised:
            await upload(profile, data, name)
        assert "hatbox-upload" not in str(raised.value)
        assert await api(profile).list() == []


@in_loop
async def test_uploads_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_uploads, "MAX_BYTES", 1 << 20)
    async with hatbox.open(tmp_path / "profile.db") as profile:
        with refused("At most 1 MB can be installed from here"):
            await api(profile).beginInstall("big.xpi", (1 << 20) + 1)
        token = await api(profile).beginInstall("a.xpi", 10)
        with refused("not base64"):
            await api(profile).addInstallPart(token, "???")
        with refused("0 of 10 bytes"):
            await api(profile).prepareInstall(token)
        with refused("more bytes than announced"):
            await api(profile).addInstallPart(token, b64encode(bytes(11)).decode())
        with refused("Choose it again"):
            await api(profile).prepareInstall(token)
        first = await api(profile).beginInstall("a.xpi", 10)
        for _ in range(3):
            await api(profile).beginInstall("a.xpi", 10)
        with refused("Choose it again"):  # the oldest of four is dropped
            await api(profile).addInstallPart(first, "")
        reading = await api(profile).beginInstall("a.xpi", 1)
        await api(profile).addInstallPart(reading, "AA==")
        preparing = asyncio.ensure_future(api(profile).prepareInstall(reading))
        await asyncio.sleep(0)
        with refused("no part can be added"):
            await api(profile).addInstallPart(reading, "")
        with refused():
            await preparing
        monkeypatch.setattr(package_uploads, "_MAX_SECONDS", 0.0)
        token = await api(profile).beginInstall("a.xpi", 10)  # as of a page that was closed
        expired = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.0, expired.set_result, None)
        await expired
        with refused("too long ago"):
            await api(profile).addInstallPart(token, "")


@pytest.mark.parametrize("extension", ["", "unknown@example", "hatbox"])
@in_loop
async def test_the_console_of_an_unknown_extension_is_not_watched(tmp_path: Path, extension: str) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        with refused("no longer installed"):
            await api(profile).log(extension)
        assert await profile.store.read(lambda each: each.extensions.find("log.watchers")) == []


# ── Permissions ──


@in_loop
async def test_optional_permissions_are_granted_and_revoked_and_required_ones_are_not(
    address: str, tmp_path: Path
) -> None:
    async with hatbox.open(address) as profile:
        await profile.extensions.install(make(tmp_path, files=FILES, **MANIFEST))

        async def granted() -> dict[str, bool]:
            return {each["name"]: each["granted"] for each in (await only(profile))["permissions"]}

        assert await granted() == {
            "menus": True,
            "https://*.site.example/*": True,
            "cookies": False,
            "https://other.example/*": False,
        }
        await api(profile).grant(ID, "cookies")
        await api(profile).grant(ID, "https://other.example/*")
        assert all((await granted()).values())
        await api(profile).revoke(ID, "cookies")
        assert (await granted())["cookies"] is False
        with refused("menus is required"):
            await api(profile).revoke(ID, "menus")
        with refused("bookmarks"):
            await api(profile).grant(ID, "bookmarks")
        await api(profile).remove(ID)
        assert await api(profile).list() == []
        with refused("no longer installed"):
            await api(profile).remove(ID)


def test_permissions_are_said_in_sentences() -> None:
    assert sentence_of("<all_urls>") == sentence_of("*://*/*") == "Access your data for all sites"
    assert sentence_of("https://*.bank.example/*") == "Access your data for *.bank.example"
    assert sentence_of("tabs") == "See addresses and titles of tabs"
    assert sentence_of("somethingNew") == "Use somethingNew"


# ── Running ──


def is_in_process_table(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@needs_deno
@in_loop
async def test_buttons_menus_commands_and_console_of_an_extension_in_another_process(
    tmp_path: Path,
) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as running, hatbox.open(path) as page:
        changed: list[str] = []
        lines: list[str] = []

        def on_changed(each: dict[str, Any]) -> None:
            changed.extend(each["ids"])

        def on_log(each: dict[str, Any]) -> None:
            lines.extend(line["text"] for line in each["lines"])

        api(page).onChanged.addListener(on_changed)
        events = api(page)
        events.onLog.addListener(on_log)
        await running.tabs.open("Work", "https://site.example/")
        extension = await running.extensions.start(make(tmp_path, BACKGROUND, files=FILES, **MANIFEST))
        area = extension.area
        await until(lambda: area in changed)

        async def has_badge() -> bool:
            listed = await only(page)
            return bool(listed["action"]["badge"] == "7" and len(listed["menus"]) == 2)

        await until_awaited(has_badge)
        listed = await only(page)
        assert (listed["isRunning"], listed["isInstalled"], listed["showsPages"]) == (True, False, False)
        assert listed["action"]["title"] == "Switch"
        assert [(each["title"], each["canClick"]) for each in listed["menus"]] == [("Open in", False), ("Work", True)]
        assert listed["commands"] == [{"name": "go", "description": "Go", "shortcut": "Ctrl+Shift+Y"}]
        await api(page).log(area)
        await until(lambda: any(each.startswith("ready") for each in lines))
        await api(page).clickAction(area)
        await until(lambda: any(each.startswith("clicked <b>") for each in lines))
        await api(page).clickMenu(area, "work")
        await until(lambda: any(each.startswith("menu work") for each in lines))
        await api(page).runCommand(area, "go")
        await until(lambda: any(each.startswith("command go") for each in lines))
        with refused("Stop it, and start it on this page"):
            await api(page).openOptions(area)
        with refused("has no menu item"):
            await api(page).clickMenu(area, "missing")
        del changed[:]
        await api(page).stop(area)
        assert await api(page).list() == []
        await until(lambda: area in changed)
        events.onLog.removeListener(on_log)


@needs_deno
@in_loop
async def test_an_extension_is_started_in_a_process_of_its_own_and_stopped_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await profile.extensions.install(make(tmp_path, BACKGROUND, files=FILES, **MANIFEST))
        await profile.extensions.set_enabled(ID, False)
        await api(profile).start(ID)
        listed = await only(profile)
        assert listed["isRunning"]
        assert listed["enabled"]
        assert listed["showsPages"]  # in a browser that is started when a page is requested
        assert not await profile.running_engines()  # the choice of an engine is the user's
        await api(profile).start(ID)  # it runs already: nothing happens
        assert (await only(profile))["pid"] == listed["pid"]
        await api(profile).stop(ID)
        assert not (await only(profile))["isRunning"]
        if os.name == "posix":
            await until(lambda: not is_in_process_table(listed["pid"]))
        await api(profile).stop(ID)
        with refused("no longer installed"):
            await api(profile).start("missing@example.org")


@needs_deno
@in_loop
async def test_a_background_that_fails_is_named_on_the_card_also_of_one_from_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as terminal, hatbox.open(path) as page:
        changed: list[str] = []
        api(page).onChanged.addListener(lambda each: changed.extend(each["ids"]))
        folder = make(tmp_path, "// in line 2\nthrow new Error('no café');")
        extension = await terminal.extensions.start(folder, on_log=lambda _: None)
        await until(lambda: extension.area in changed)
        listed = await only(page)
        assert listed["isRunning"]
        failed = re.compile(r"Its background script failed: Error: no café \(background\.js:2:\d+\)\. See its log\.")
        assert failed.fullmatch(listed["problem"])
        (folder / "background.js").write_text("console.log('mended')", "utf-8")
        await terminal.extensions.reload(extension.id)
        assert "problem" not in await only(page)


@needs_deno
@in_loop
async def test_a_background_that_crashes_for_good_says_so_until_it_is_started_again(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await profile.extensions.install(make(tmp_path, BACKGROUND, files=FILES, **MANIFEST))

        async def start() -> Extension:
            package = await profile.extensions.package(ID)
            return await profile.extensions.start(package, on_log=lambda _: None, on_exit=lambda *_: None)

        extension = await start()
        exits = extension._supervisor.on_exit
        exits(Exit("crashed: out of memory", "v8\n  <frames>"), 0.5)
        await until_problem(profile, "Its background ended unexpectedly and is being restarted: it ran out of memory.")
        exits(Exit("exited", "trace\nstatus 7"), None)
        await profile.extensions.stop(extension)  # as the program does that runs it
        assert (await only(profile))["problem"] == "It ended unexpectedly: exited: status 7. Start it again."
        extension = await start()
        assert "problem" not in await only(profile)
        await profile.extensions.stop(extension)


async def until_problem(profile: hatbox.Profile, text: str) -> None:
    async def is_shown() -> bool:
        return (await only(profile)).get("problem") == text

    await until_awaited(is_shown)


@needs_deno
@in_loop
async def test_the_reason_is_shown_if_an_extension_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HATBOX_SANDBOX", "nonsense")
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await profile.extensions.install(make(tmp_path, BACKGROUND, files=FILES, **MANIFEST))
        with refused(r"made could not be started: .*HATBOX_SANDBOX"):
            await api(profile).start(ID)
