"""The life cycle of extensions: installed, updated, reloaded, disabled, removed, and the events of each."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.errors import ApiError, ExtensionError, ExtensionNotFound
from hatbox.extensions.extension import Extension
from hatbox.extensions.runtime import ExtensionTerminated, ScriptError
from tests.api.caller import extension_browser
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.waiting import until

pytestmark = needs_deno

TELLS = """
var told = [];
for (const name of ["onInstalled", "onStartup"]) {
  browser.runtime[name].addListener((...args) => { told.push([name, ...args]); });
}
"""


def with_profile(tmp_path: Path, use: Callable[[Profile], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(60), hatbox.open(tmp_path / "profile.db") as profile:
            await use(profile)

    asyncio.run(main())


def heard(profile: Profile) -> list[tuple[str, dict[str, Any]]]:
    """The management events of other extensions."""
    events: list[tuple[str, dict[str, Any]]] = []
    management = extension_browser(profile, ["management"]).management
    for name in ("onInstalled", "onUninstalled", "onEnabled", "onDisabled"):
        getattr(management, name).addListener(lambda info, name=name: events.append((name, info)))
    return events


async def told(extension: Extension) -> Any:
    return await extension.evaluate("told")


def test_it_is_told_that_it_is_new_or_another_or_that_a_session_begins(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        extension = await profile.extensions.start(make(tmp_path, TELLS))
        assert await told(extension) == [["onInstalled", {"reason": "install", "temporary": True}]]
        await profile.extensions.stop(extension)
        extension = await profile.extensions.start(make(tmp_path, TELLS))
        assert await told(extension) == [["onStartup"]]
        await profile.extensions.stop(extension)
        await profile.extensions.install(make(tmp_path, TELLS))
        extension = await profile.extensions.start(make(tmp_path, TELLS, version="2"))
        details = {"reason": "update", "previousVersion": "1", "temporary": False}
        assert await told(extension) == [["onInstalled", details]]

    with_profile(tmp_path, use)


def test_reload_runs_the_files_as_they_are_now(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        extension = await profile.extensions.start(make(tmp_path, f"{TELLS} var run = 1;"))
        page = extension.page("popup.html")
        make(tmp_path, f"{TELLS} var run = 2;", version="1.5", permissions=["cookies"])
        before = extension.runtime
        events = heard(profile)
        assert await extension.evaluate("typeof browser.runtime.reload()") == "undefined"
        await until(lambda: extension.runtime not in (None, before))
        assert await extension.evaluate("[run, browser.runtime.getManifest().version, typeof browser.cookies]") == [
            2, "1.5", "object",
        ]  # fmt: skip
        details = {"reason": "update", "previousVersion": "1", "temporary": True}
        assert await told(extension) == [["onInstalled", details]]
        assert extension.browser.runtime.getManifest()["version"] == "1.5"
        assert [(name, info["version"]) for name, info in events] == [("onInstalled", "1.5")]
        with pytest.raises(ApiError, match="Receiving end"):
            await page.send_message(1)

    with_profile(tmp_path, use)


def test_a_reload_of_what_has_become_unreadable_leaves_it_running(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(profile: Profile) -> None:
        folder = make(tmp_path, "var run = 1;")
        extension = await profile.extensions.start(folder)
        (folder / "manifest.json").write_text("{", "utf-8")
        await profile.extensions.reload(extension.id)
        assert "still running the old version" in caplog.text
        assert await extension.evaluate("run") == 1

    with_profile(tmp_path, use)


def test_another_version_is_run_at_once_unless_it_listens_for_that(tmp_path: Path) -> None:
    listens = "var update = new Promise(done => browser.runtime.onUpdateAvailable.addListener(done));"

    async def use(profile: Profile) -> None:
        await profile.extensions.install(make(tmp_path, ""))
        extension = await profile.extensions.start(make(tmp_path, ""))
        await profile.extensions.install(make(tmp_path, listens, version="2"))
        await until(lambda: extension.manifest.version == "2" and extension.runtime is not None)
        await until(
            lambda: extension.runtime is not None and extension.runtime.listeners.count("runtime.onUpdateAvailable")
        )
        await profile.extensions.install(make(tmp_path, "", version="3"))
        assert await extension.evaluate("update") == {"version": "3"}
        assert extension.manifest.version == "2"
        await extension.evaluate("browser.runtime.reload()")
        await until(lambda: extension.manifest.version == "3")

    with_profile(tmp_path, use)


def test_one_that_is_disabled_stops_and_cannot_be_started(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        events = heard(profile)
        folder = make(tmp_path, "", icons={"16": "a.svg"})
        extension = await profile.extensions.start(folder)
        await profile.extensions.set_enabled(extension.id, False)
        await until(lambda: not profile.extensions.running)
        with pytest.raises(ExtensionError, match=r"made@example.org is disabled"):
            await profile.extensions.start(folder)
        await profile.extensions.set_enabled(extension.id, False)  # as it is
        await profile.extensions.set_enabled(extension.id, True)
        await profile.extensions.start(folder)
        assert [name for name, _ in events] == ["onInstalled", "onDisabled", "onEnabled"]
        _, disabled = events[1]
        assert disabled == {
            "id": "made@example.org", "name": "made", "description": "", "version": "1", "mayDisable": False,
            "enabled": False, "optionsUrl": "", "installType": "development", "type": "extension",
            "disabledReason": "unknown",
        }  # fmt: skip
        with pytest.raises(ExtensionNotFound):
            await profile.extensions.set_enabled("nobody@example.org", True)

    with_profile(tmp_path, use)


def test_it_can_remove_itself_with_all_that_it_has_kept(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        events = heard(profile)
        folder = make(tmp_path, "", permissions=["storage"])
        await profile.extensions.install(folder)
        extension = await profile.extensions.start(folder)
        await extension.evaluate("browser.storage.local.set({a: 1})")
        await extension.evaluate("browser.runtime.setUninstallURL('https://bye.example/')")
        with pytest.raises(ScriptError, match="User cancelled uninstall of extension"):  # there is no user to ask
            await extension.evaluate("browser.management.uninstallSelf({showConfirmDialog: true})")
        await extension.evaluate("void browser.management.uninstallSelf()")
        await until(lambda: not profile.extensions.running)
        assert await profile.extensions.installed() == []
        assert [name for name, _ in events][-1] == "onUninstalled"
        assert events[-1][1]["installType"] == "normal"
        (tab,) = await profile.tabs.query()
        assert tab.pending_url == "https://bye.example/"
        extension = await profile.extensions.start(folder)
        assert await extension.evaluate("browser.storage.local.get()") == {}
        assert extension.runtime is not None

    with_profile(tmp_path, use)


def test_the_page_for_the_end_can_be_taken_back(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        extension = await profile.extensions.start(make(tmp_path))
        for call in ("setUninstallURL('https://bye.example/')", "setUninstallURL('')"):
            await extension.evaluate(f"browser.runtime.{call}")
        await profile.extensions.remove(extension.id)
        assert await profile.tabs.query() == []

    with_profile(tmp_path, use)


def test_management_shows_those_that_stay_and_those_that_run(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await profile.extensions.install(make(tmp_path, name="stays"))
        gone = await profile.extensions.start(make(tmp_path, name="gone"))
        await profile.extensions.stop(gone)
        extension = await profile.extensions.start(make(tmp_path, permissions=["management"]))
        every = await extension.evaluate("browser.management.getAll()")
        assert [(each["id"], each["installType"]) for each in every] == [
            ("stays@example.org", "normal"), ("made@example.org", "development"),
        ]  # fmt: skip
        with pytest.raises(ScriptError, match=r"No such addon gone@example.org"):
            await extension.evaluate("browser.management.get('gone@example.org')")

    with_profile(tmp_path, use)


def test_without_the_permission_an_extension_can_manage_only_itself(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        extension = await profile.extensions.start(make(tmp_path))
        names = await extension.evaluate("Object.keys(browser.management).filter(name => /^[a-z]/.test(name)).sort()")
        assert names == ["getSelf", "uninstallSelf"]
        assert sorted(name for name in dir(extension.browser.management) if name[0].islower()) == names
        for path in ("management.getAll", "management.setEnabled"):
            namespace, _, member = path.partition(".")
            with pytest.raises(ApiError, match="needs the permission management"):
                extension._host.call(namespace, member, [])
        assert (await extension.browser.management.getSelf())["id"] == extension.id
        with pytest.raises(AttributeError):
            _ = extension.browser.management.onInstalled

    with_profile(tmp_path, use)


def test_what_is_granted_is_shown(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        granted = {"permissions": ["cookies"], "origins": ["https://a.example/*"]}
        made = make(tmp_path, optional_permissions=["cookies", "https://a.example/*"])

        async def agree(_: Any) -> bool:
            return True

        extension = await profile.extensions.start(made, decide=agree)
        extension.caller.is_handling_user_input = True
        await asyncio.wait_for(profile._dispatcher.call(extension.caller, "permissions", "request", [granted]), 5)  # type: ignore[arg-type]
        info = await extension.browser.management.getSelf()
        assert info["permissions"] == ["cookies"]
        assert info["hostPermissions"][0] == "https://a.example/*"

    with_profile(tmp_path, use)


def test_the_options_page_is_opened_once(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        made = make(tmp_path, options_ui={"page": "options.html"}, files={"options.html": ""})
        extension = await profile.extensions.start(made)
        await extension.evaluate("browser.runtime.openOptionsPage()")
        await profile.tabs.open("firefox-default")
        await extension.evaluate("browser.runtime.openOptionsPage()")
        tabs = await profile.tabs.query()
        assert [(tab.pending_url, tab.active) for tab in tabs] == [
            (f"{extension.manifest.base_url}options.html", True), ("", False),
        ]  # fmt: skip

    with_profile(tmp_path, use)


def test_a_manifest_that_a_script_got_is_its_own(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        extension = await profile.extensions.start(make(tmp_path))
        shown = extension.browser.runtime.getManifest()
        assert json.loads(json.dumps(shown)) == await extension.evaluate("browser.runtime.getManifest()")
        shown["name"] = "mine"
        assert extension.browser.runtime.getManifest()["name"] == "made"

    with_profile(tmp_path, use)


def test_with_manifest_version_3_what_it_has_not_is_not_there(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        extension = await profile.extensions.start(make(tmp_path, manifest_version=3))
        assert await extension.evaluate("['getURL' in browser.extension, typeof browser.extension.getViews]") == [
            False, "function",
        ]  # fmt: skip
        assert not hasattr(extension.browser.extension, "getURL")
        assert not hasattr(extension.browser.extension, "getViews")  # there is no window in Python

    with_profile(tmp_path, use)


def test_a_background_cannot_list_pages_that_it_cannot_reach(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        extension = await profile.extensions.start(make(tmp_path, browser_action={"default_popup": "popup.html"}))
        names = "[typeof browser.extension.getViews, typeof browser.extension.getBackgroundPage]"
        assert await extension.evaluate(names) == ["undefined", "function"]

    with_profile(tmp_path, use)


def test_nothing_can_be_evaluated_while_it_is_down_and_it_says_so(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        ended = asyncio.Event()
        extension = await profile.extensions.start(make(tmp_path), on_exit=lambda *_: ended.set())
        assert extension.runtime is not None
        os.kill(extension.runtime.process.pid, signal.SIGKILL)
        await ended.wait()
        with pytest.raises(ExtensionTerminated, match="is not running; it is being restarted"):
            await extension.evaluate("1")

    with_profile(tmp_path, use)


def with_background(tmp_path: Path, background: dict[str, Any]) -> Path:
    """An extension whose manifest has this key `background`; gone.js and gone.html are not among its files."""
    made = make(tmp_path, files={"ran.js": "globalThis.ran = true;", "imports.js": "import './gone.js';"})
    manifest = json.loads((made / "manifest.json").read_text("utf-8"))
    (made / "manifest.json").write_text(json.dumps(manifest | {"background": background}), "utf-8")
    return made


@pytest.mark.parametrize(
    "background",
    [
        {"scripts": ["gone.js", "ran.js"]},
        {"scripts": ["ran.js", "gone.js"], "persistent": False},
        {"scripts": ["gone.js", "ran.js"], "type": "module"},
        {"scripts": ["imports.js", "ran.js"], "type": "module"},
    ],
)
def test_a_missing_background_script_does_not_stop_the_others(tmp_path: Path, background: dict[str, Any]) -> None:
    async def use(profile: Profile) -> None:
        extension = await profile.extensions.start(with_background(tmp_path, background))
        assert await extension.evaluate("globalThis.ran") is True

    with_profile(tmp_path, use)


@pytest.mark.parametrize("background", [{"page": "gone.html"}, {"scripts": ["gone.js"]}])
def test_an_extension_runs_without_any_file_of_its_background(tmp_path: Path, background: dict[str, Any]) -> None:
    async def use(profile: Profile) -> None:
        extension = await profile.extensions.start(with_background(tmp_path, background))
        assert await extension.evaluate("browser.runtime.id") == extension.id
        (warning,) = extension.manifest.warnings
        assert "gone" in warning

    with_profile(tmp_path, use)
