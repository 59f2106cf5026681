"""What a test does with the life of an extension: restart, upgrade, disable, enable; and what it waits for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hatbox import Profile
from hatbox.errors import ExtensionError
from hatbox.tabs.tab_model import Window
from hatbox.testing.extensions import ExtensionUnderTest
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno

pytestmark = needs_deno

StartExtension = Callable[..., Awaitable[ExtensionUnderTest]]

BACKGROUND = """
browser.runtime.onInstalled.addListener(({reason, previousVersion}) => {
  browser.test.sendMessage("event", `installed ${reason} ${previousVersion}`);
});
browser.runtime.onStartup.addListener(() => browser.test.sendMessage("event", "startup"));
browser.storage.local.get({runs: 0}).then(async ({runs}) => {
  await browser.storage.local.set({runs: runs + 1});
  browser.test.sendMessage("run", [runs + 1, browser.runtime.getManifest().version]);
});
"""
STORAGE = {"permissions": ["storage"]}


async def test_an_upgraded_extension_has_its_data_and_is_notified(extension: StartExtension) -> None:
    ext = await extension(manifest={**STORAGE, "version": "1.0"}, background=BACKGROUND, files={"old.txt": "x"})
    assert await ext.message("event") == "installed install undefined"
    assert await ext.message("run") == [1, "1.0"]
    await ext.upgrade(manifest={**STORAGE, "version": "2.0"}, background=BACKGROUND, files={"new.txt": "y"})
    assert await ext.message("event") == "installed update 1.0"
    assert await ext.message("run") == [2, "2.0"]
    found = "Promise.all(['old.txt', 'new.txt'].map(n => fetch(n).then(r => r.text(), () => null)))"
    assert await ext.evaluate(f"await {found}") == [None, "y"]


async def test_an_invalid_upgrade_fails_the_test_and_the_old_version_runs_on(extension: StartExtension) -> None:
    ext = await extension(manifest=STORAGE, background=BACKGROUND)
    with pytest.raises(ExtensionError, match="not upgraded"):
        await ext.upgrade(manifest={"manifest_version": 9})
    assert await ext.evaluate("browser.runtime.getManifest().version") == "1.0"


async def test_the_files_of_the_user_are_never_rewritten(extension: StartExtension, tmp_path: Path) -> None:
    folder = make(tmp_path, "globalThis.here = 1;")
    ext = await extension(folder)
    with pytest.raises(TypeError, match="reload"):
        await ext.upgrade(background="")
    assert (folder / "background.js").read_text() == "globalThis.here = 1;"


async def test_a_restarted_extension_starts_as_with_the_browser(extension: StartExtension) -> None:
    ext = await extension(manifest=STORAGE, background=BACKGROUND)
    assert await ext.message("run") == [1, "1.0"]
    await ext.message("event")
    await ext.restart()
    assert await ext.message("event") == "startup"
    assert await ext.message("run") == [2, "1.0"]


async def test_a_disabled_extension_ends_and_runs_again_when_it_is_enabled(
    extension: StartExtension, profile: Profile
) -> None:
    ext = await extension(manifest=STORAGE, background=BACKGROUND)
    assert await ext.message("run") == [1, "1.0"]
    await ext.disable()
    assert profile.extensions.running == []
    await ext.message("event")
    await ext.enable()
    assert await ext.message("run") == [2, "1.0"]
    await ext.restart()
    assert await ext.message("event") == "startup"  # of the restart: enabling it is no startup


async def test_tabs_have_the_name_of_their_identity(extension: StartExtension) -> None:
    ext = await extension(
        manifest={"permissions": ["tabs", "cookies", "contextualIdentities"]},
        background="""
        browser.test.onMessage.addListener(async name => {
          const [{cookieStoreId}] = await browser.contextualIdentities.query({name});
          await browser.tabs.create({cookieStoreId});
          await browser.tabs.create({});
        });
        """,
    )
    await ext.send("Work")
    tabs = await ext.until_tabs(lambda tabs: tabs[0].identity == "Work" and tabs[1].identity is None)
    assert len(tabs) == 2  # without the unused one of the first window


async def test_the_first_window_has_one_tab(extension: StartExtension, first_window: Window) -> None:
    ext = await extension(manifest={"permissions": ["tabs"]})
    [window] = await ext.browser.windows.getAll({"populate": True})
    assert window["id"] == first_window.id
    assert [tab["url"] for tab in window["tabs"]] == ["about:blank"]


async def test_a_background_key_without_scripts_is_completed_and_data_is_written_as_json(
    extension: StartExtension,
) -> None:
    ext = await extension(
        manifest={"background": {"persistent": False}, "default_locale": "en"},
        background="browser.test.sendMessage('text', browser.i18n.getMessage('hello'));",
        files={"_locales/en/messages.json": {"hello": {"message": "Hello"}}},
    )
    assert await ext.message("text") == "Hello"
    assert await ext.sleep()


async def test_a_message_that_contains_itself_is_rejected_and_names_what_cannot_be_cloned(
    extension: StartExtension,
) -> None:
    ext = await extension(
        background="""
        const circular = {};
        circular.circular = circular;
        browser.runtime.onMessage.addListener(() => {});
        browser.test.runTests([async () => {
          const {test, runtime} = browser;
          for (const part of [location, () => {}, new URL("http://x/")]) {
            const error = await runtime.sendMessage([circular, new Map([[1, 2]]), part]).catch(error => error);
            test.assertEq("DataCloneError", error.name);
            test.assertTrue(/^(Location|Function|URL) object could not be cloned/.test(error.message), error.message);
          }
          await test.assertRejects(runtime.sendMessage(circular), /contains itself/, "a circular message");
        }]);
        """
    )
    await ext.finish("runTests")


async def test_an_installed_extension_is_not_temporary_and_is_upgraded_by_installing_it(
    extension: StartExtension,
) -> None:
    background = """
    browser.runtime.onInstalled.addListener(details => browser.test.sendMessage("installed", details));
    browser.runtime.onStartup.addListener(() => browser.test.sendMessage("startup"));
    browser.test.onMessage.addListener(() => browser.runtime.reload());
    browser.test.sendMessage("run");
    """
    ext = await extension(manifest={"version": "1.0"}, background=background, install=True)
    assert await ext.message("installed") == {"reason": "install", "temporary": False}
    await ext.message("run")
    await ext.send("reload")
    await ext.message("run")
    await ext.upgrade(manifest={"version": "2.0"}, background=background)
    assert await ext.message("installed") == {"reason": "update", "previousVersion": "1.0", "temporary": False}
    await ext.disable()
    await ext.enable()
    await ext.restart()
    await ext.message("startup")
    assert [name for name, each in ext._reports._messages.items() if each] == ["run"]  # no event more than once
