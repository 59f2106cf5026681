"""Triggers on real extensions: menus, actions, commands and notifications."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hatbox
from hatbox import Profile
from hatbox.errors import ExtensionError, TriggerError
from hatbox.extension_data import run_records
from hatbox.extension_data.omnibox_input import OmniboxSuggestion, OmniboxView
from hatbox.extensions.extension import Extension
from hatbox.store.processes import start_time
from tests.api.ui_actions import tab_at
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno
from tests.waiting import until_awaited

pytestmark = needs_deno

BUTTON = {"browser_action": {"default_title": "Button"}}
ALL: dict[str, Any] = {
    "permissions": ["menus", "notifications"],
    **BUTTON,
    "page_action": {},
    "commands": {"go": {"description": "Go"}, "_execute_browser_action": {}, "_execute_page_action": {}},
}
RECORDING = """
globalThis.received = [];
const note = (name, event) => event.addListener((...args) => { received.push([name, ...args]); });
note("menu", browser.menus.onClicked);
note("action", browser.browserAction.onClicked);
note("page action", browser.pageAction.onClicked);
note("command", browser.commands.onCommand);
note("clicked", browser.notifications.onClicked);
note("closed", browser.notifications.onClosed);
"""


async def received(extension: Extension) -> list[str]:
    """The names of the events since the last call."""
    names: list[str] = await extension.evaluate("received.splice(0).map(each => each[0])")
    return names


async def error_message(profile: Profile, what: str, **where: Any) -> str:
    with pytest.raises(TriggerError) as raised:
        await profile.extensions.trigger("made@example.org", what, **where)
    return str(raised.value)


# ---------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("what", ["", "menu", "menu:", "action:x", "page-action:", "comand:go", "notification", "x:y"])
def test_an_invalid_trigger_lists_the_valid_ones(tmp_path: Path, what: str) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        await tab_at(profile)
        message = await error_message(profile, what)
        if what != "menu:":
            allowed = (
                "menu:ID, action, page-action, options, sidebar, command:NAME, notification:ID, omnibox:TEXT or "
                "omnibox-enter:TEXT."
            )
            assert message == f'invalid trigger "{what}". Use {allowed}'
        assert await received(extension) == []

    run_made(tmp_path, use, RECORDING, **ALL)


def test_unknown_and_disabled_ui_is_reported(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        await extension.evaluate("browser.tabs.query({}).then(([first]) => browser.tabs.remove(first.id))")
        assert "no tab is open" in await error_message(profile, "action")
        tab = await tab_at(profile)
        for what, words in {
            "menu:svae": 'made has no menu item "svae". Did you mean "save"?',
            "menu:xyz": 'made has no menu item "xyz". List them with `hatbox extensions list --ui`.',
            "menu:parent": 'menu item "Parent" of made is a submenu. Trigger one of its items.',
            "menu:line": 'menu item "line" of made is a separator, which cannot be clicked.',
            "menu:off": 'menu item "Off" of made is disabled.',
            "menu:gone": 'menu item "Gone" of made is not visible.',
            "menu:below": 'menu item "Below" of made is not visible.',
            "menu:link": 'menu item "Link" of made needs a link. Add --link URL.',
            "menu:elsewhere": f'menu item "Elsewhere" of made is not shown in tab {tab.id}.',
            "command:got": 'made has no command "got". Did you mean "go"?',
            "notification:n": 'made has no notification "n". List them with `hatbox extensions list --ui`.',
            "page-action": "the page action of made is not shown in this tab.",
        }.items():
            assert await error_message(profile, what) == words
        link = 'menu item "Link" of made'
        assert await error_message(profile, "menu:link", selection_text="x") == f"{link} is not shown in tab {tab.id}."
        await extension.evaluate("browser.browserAction.disable()")
        assert await error_message(profile, "action") == "the action of made is disabled."
        assert await received(extension) == []
        with pytest.raises(TriggerError, match=r"^none@example\.org is not running\. Start it with `hatbox run`\.$"):
            await profile.extensions.trigger("none@example.org", "action")
        with pytest.raises(hatbox.ApiError, match="Invalid tab ID: 99"):
            await profile.extensions.trigger(extension.id, "action", tab_id=99)

    menus = """
    for (const item of [
      {id: "save", title: "Save"},
      {id: "parent", title: "Parent"},
      {id: "child", title: "Child", parentId: "parent"},
      {id: "line", type: "separator"},
      {id: "off", title: "Off", enabled: false},
      {id: "gone", title: "Gone", visible: false},
      {id: "unseen", visible: false},
      {id: "below", title: "Below", parentId: "unseen"},
      {id: "link", title: "Link", contexts: ["link"]},
      {id: "elsewhere", title: "Elsewhere", documentUrlPatterns: ["https://other.example/*"]},
    ]) browser.menus.create(item);
    """
    run_made(tmp_path, use, RECORDING + menus, **ALL)


def test_an_extension_without_actions_cannot_be_clicked(tmp_path: Path) -> None:
    async def use(profile: Profile, _: Extension) -> None:
        await tab_at(profile)
        assert await error_message(profile, "action") == "made has no action in its manifest."
        assert await error_message(profile, "page-action") == "made has no page action in its manifest."

    run_made(tmp_path, use, "")


# ------------------------------------------------------------------------------------------------------------ triggers


def test_all_ui_of_an_extension_can_be_triggered(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        tab, other = await tab_at(profile), await tab_at(profile, "https://other.example/")
        await profile.tabs.activate(tab.id)
        await extension.evaluate(f"browser.pageAction.show({tab.id})")
        await extension.evaluate("browser.notifications.create('n', {type: 'basic', title: 't', message: 'm'})")

        async def do(what: str, **where: Any) -> tuple[int | None, str | None, list[str]]:
            done = await profile.extensions.trigger(extension.id, what, **where)
            return done.tab_id, done.popup, await received(extension)

        assert await do("menu:a") == (tab.id, None, ["menu"])
        assert await do("menu:1", tab_id=other.id) == (other.id, None, ["menu"])
        assert await do("menu:link", link_url="https://x.example/") == (tab.id, None, ["menu"])
        assert await do("menu:image", image_url="https://x.example/a.png") == (tab.id, None, ["menu"])
        assert await do("menu:button") == (tab.id, None, ["action"])
        assert await do("action", tab_id=other.id) == (other.id, None, ["action"])
        assert await do("page-action") == (tab.id, None, ["page action"])
        assert await do("command:go") == (tab.id, None, ["command"])
        assert await do("command:_execute_browser_action") == (tab.id, None, ["action"])
        assert await do("command:_execute_page_action") == (tab.id, None, ["page action"])
        assert await do("notification:n") == (None, None, ["clicked", "closed"])
        await extension.evaluate("browser.notifications.create('n', {type: 'basic', title: 't', message: 'm'})")
        assert await do("notification:n", close=True) == (None, None, ["closed"])
        await extension.evaluate("browser.browserAction.setPopup({popup: 'popup.html'})")
        assert await do("action") == (tab.id, f"{extension.manifest.base_url}popup.html", [])
        assert await do("menu:button") == (tab.id, f"{extension.manifest.base_url}popup.html", [])

    menus = """
    browser.menus.create({title: "made"});
    const make = (id, context) => { browser.menus.create({id, title: id, contexts: [context]}); };
    make("a", "tab");
    make("link", "link");
    make("image", "image");
    browser.menus.create({id: "button", title: "button", command: "_execute_browser_action"});
    """
    run_made(tmp_path, use, RECORDING + menus, **ALL)


def test_the_ui_is_listed(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        await tab_at(profile)
        await extension.evaluate("browser.notifications.create('n', {type: 'basic', title: 't', message: 'm'})")
        await extension.evaluate("browser.browserAction.setBadgeText({text: '3'})")
        (shown,) = await profile.extensions.ui()
        assert (shown.id, shown.name, shown.pid) == (extension.id, "made", os.getpid())
        assert [item.id for item in shown.menus] == ["p", "c", "q"]
        assert shown.action is not None
        assert (shown.action["title"], shown.action["badgeText"], shown.action["enabled"]) == ("Button", "3", True)
        assert shown.page_action is not None
        assert shown.page_action["enabled"] is False
        assert [command.name for command in shown.commands] == ["go", "_execute_browser_action", "_execute_page_action"]
        assert shown.notifications["n"]["message"] == "m"
        assert await profile.extensions.ui("other@example.org") == []
        await profile.extensions.stop(extension)
        assert await profile.extensions.ui() == []

    menus = "for (const [id, parentId] of [['p'], ['q'], ['c', 'p']]) browser.menus.create({id, parentId, title: id});"
    run_made(tmp_path, use, menus, **ALL)


def test_another_process_would_see_and_trigger_the_same(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        async with hatbox.open(profile.address) as other:
            await tab_at(other)
            assert [each.id for each in await other.extensions.ui()] == [extension.id]
            await other.extensions.trigger(extension.id, "action")
            async with asyncio.timeout(20):
                while not (names := await received(extension)):
                    await profile.store.deliver_pending_changes()
            assert names == ["action"]

    run_made(tmp_path, use, RECORDING, **ALL)


# ---------------------------------------------------------------------------------------------------------- user input


def test_permissions_can_be_requested_in_a_click_listener_only(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        await tab_at(profile)
        await extension.evaluate("browser.menus.onShown.removeListener(whenShown)")
        for name, said in (("now", "given"), ("later", "raised")):
            await profile.extensions.trigger(extension.id, f"menu:{name}")
            assert await extension.evaluate(f"answers.{name}.promise") == said
        await extension.evaluate("browser.menus.onShown.addListener(whenShown)")
        await profile.extensions.trigger(extension.id, "menu:shown")
        assert await extension.evaluate("answers.shown.promise") == "raised"

    background = """
    const ask = () => browser.permissions.request({permissions: ["bookmarks"]}).then(() => "given", () => "raised");
    const answers = {};
    globalThis.answers = answers;
    for (const id of ["now", "later", "shown"]) answers[id] = Promise.withResolvers();
    browser.menus.onClicked.addListener(async ({menuItemId}) => {
      if (menuItemId === "later") await Promise.resolve();
      if (menuItemId !== "shown") answers[menuItemId].resolve(await ask());
    });
    globalThis.whenShown = async ({menuIds}) => { answers[menuIds[0]].resolve(await ask()); };
    for (const [id, context] of [["now", "tab"], ["later", "tools_menu"], ["shown", "page"]]) {
      browser.menus.create({id, title: id, contexts: [context]});
    }
    """

    async def agree(_: Any) -> bool:
        return True

    keys: dict[str, Any] = {"permissions": ["menus"], "optional_permissions": ["bookmarks"]}
    run_made(tmp_path, use, background, start={"decide": agree}, **keys)


def test_a_script_cannot_claim_that_the_user_does_something(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        assert extension._host._user_input_until < 0
        call = extension._host.call_with_user_input("permissions", "request", [{"permissions": ["bookmarks"]}])
        assert call is not None
        with pytest.raises(hatbox.ApiError, match="may only be called from a user input handler"):
            await call

    run_made(tmp_path, use, "", optional_permissions=["bookmarks"])


# ------------------------------------------------------------------------------------------------- one run and the next


async def ids_of(profile: Profile, extension: Extension) -> list[Any]:
    (shown,) = await profile.extensions.ui(extension.id)
    return [item.id for item in shown.menus]


async def pid_of(extension: Extension) -> int:
    await extension.wake()
    assert extension.runtime is not None
    return extension.runtime.process.pid


@pytest.mark.parametrize(("persistent", "version", "menus"), [(False, "1", ["a"]), (False, "2", []), (True, "1", [])])
def test_the_menus_of_an_event_page_last_until_it_is_another_one(
    tmp_path: Path, persistent: bool, version: str, menus: list[str]
) -> None:
    async def main() -> None:
        keys: dict[str, Any] = {**ALL, "persistent": persistent}
        async with asyncio.timeout(60), hatbox.open(tmp_path / "profile.db") as profile:
            first = await profile.extensions.start(make(tmp_path, "", **keys))
            await first.browser.menus.create({"id": "a"})
            await first.browser.browserAction.setTitle({"title": "x"})
            await first.browser.notifications.create("n", {"type": "basic", "title": "t", "message": "m"})
            await profile.extensions.stop(first)
            second = await profile.extensions.start(make(tmp_path, "", version=version, **keys))
            assert await ids_of(profile, second) == menus
            assert await second.browser.browserAction.getTitle({}) == "Button"
            assert await second.browser.notifications.getAll() == {}

    asyncio.run(main())


async def is_made(extension: Extension) -> bool:
    runtime = extension.runtime
    return runtime is not None and await runtime.evaluate("'made' in globalThis")


def test_a_crashed_background_creates_its_menus_again(tmp_path: Path) -> None:
    again = asyncio.Event()

    async def use(profile: Profile, extension: Extension) -> None:
        assert await ids_of(profile, extension) == [1, "a"]
        os.kill(await pid_of(extension), signal.SIGKILL)
        await asyncio.wait_for(again.wait(), 30)
        await until_awaited(lambda: is_made(extension))
        assert await extension.evaluate("made") == [None, None]
        assert await ids_of(profile, extension) == [1, "a"]

    background = """
    const create = properties => new Promise(resolve => {
      browser.menus.create(properties, () => resolve(browser.runtime.lastError?.message ?? null));
    });
    globalThis.made = Promise.all([create({title: "x"}), create({id: "a"})]);
    """
    run_made(tmp_path, use, background, start={"on_exit": lambda *_: again.set()}, **ALL)


def test_a_suspended_background_wakes_for_a_click(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        await tab_at(profile)
        await extension.browser.menus.create({"id": "a"})
        await extension.suspend()
        await profile.extensions.trigger(extension.id, "menu:a")
        assert await extension.evaluate("clicked") == "a"

    background = """
    const {promise, resolve} = Promise.withResolvers();
    globalThis.clicked = promise;
    browser.menus.onClicked.addListener(info => { resolve(info.menuItemId); });
    """
    run_made(tmp_path, use, background, persistent=False, **ALL)


def test_an_extension_runs_in_one_process_and_a_dead_process_is_ignored(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            store = profile.store

            async def begin() -> None:
                await store.write(lambda each: run_records.register_run(each, "a@x", "A", {}, is_same_version=True))

            await begin()
            (record,) = await store.read(run_records.get_all)
            assert (record.id, record.process) == ("a@x", os.getpid())
            await _pretend(profile, record, process=os.getppid(), started_at=start_time(os.getppid()))
            with pytest.raises(ExtensionError, match=rf"A is already running \(pid {os.getppid()}\)"):
                await begin()
            await _pretend(profile, record, process=os.getppid(), started_at="another process of that number")
            assert await store.read(run_records.get_all) == []
            await _pretend(profile, record, process=2**22 + 1, started_at="gone")
            assert await store.read(run_records.get_all) == []
            await begin()

    asyncio.run(main())


async def _pretend(profile: Profile, record: run_records.RunRecord, **changed: Any) -> None:
    value = msgspec.json.encode(msgspec.structs.replace(record, **changed))
    await profile.store.write(lambda each: each.extensions.put(record.id, "running", "", value))


def test_a_menu_item_is_clicked_on_a_bookmark(tmp_path: Path) -> None:
    background = """
    self.received = [];
    browser.menus.create({id: "open", title: "Open", contexts: ["bookmark"]});
    browser.menus.create({id: "everywhere", title: "Everywhere", contexts: ["all"]});
    browser.menus.onShown.addListener(({contexts, bookmarkId, menuIds}, tab) => {
      received.push([contexts, bookmarkId, menuIds, tab ?? null]);
    });
    browser.menus.onClicked.addListener(({menuItemId, bookmarkId, pageUrl}, tab) => {
      received.push([menuItemId, bookmarkId, pageUrl ?? null, tab ?? null]);
    });
    """

    async def use(profile: Profile, extension: Extension) -> None:
        await tab_at(profile)
        bookmark = (await extension.browser.bookmarks.create({"url": "https://site.example/"}))["id"]
        item = 'menu item "Open" of made'
        assert await error_message(profile, "menu:open") == f"{item} needs a bookmark. Add --bookmark ID."
        for what, bookmark_id, words in [
            ("menu:open", "x", 'no bookmark has the id "x".'),
            ("menu:everywhere", bookmark, 'menu item "Everywhere" of made is not shown on bookmarks.'),
        ]:
            assert await error_message(profile, what, bookmark_id=bookmark_id) == words
        await profile.extensions.trigger(extension.id, "menu:open", bookmark_id=bookmark)
        assert await extension.evaluate("received") == [
            [["bookmark"], bookmark, ["open"], None],
            ["open", bookmark, None, None],
        ]

    run_made(tmp_path, use, background, permissions=["menus", "bookmarks", "tabs"])


def test_open_popup_says_that_it_needs_chromium(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        await tab_at(profile)
        call = "browser.browserAction.openPopup().catch(error => error.message)"
        assert "Run the extension with --engine chromium" in await extension.evaluate(call)

    run_made(tmp_path, use, "", files={"popup.html": ""}, browser_action={"default_popup": "popup.html"})


def test_text_of_the_omnibox_reaches_the_extension_and_its_suggestions_are_listed(tmp_path: Path) -> None:
    background = """
        globalThis.seen = [];
        browser.omnibox.setDefaultSuggestion({description: "Choose"});
        browser.omnibox.onInputStarted.addListener((...args) => { seen.push(["started", ...args]); });
        browser.omnibox.onInputChanged.addListener((text, suggest) => {
            seen.push(["changed", text]);
            setTimeout(() => suggest([{content: "work", description: `Open ${text}`}, {content: 1}, null]), 0);
        });
        browser.omnibox.onInputEntered.addListener((...args) => { seen.push(["entered", ...args]); });
    """

    async def use(profile: Profile, extension: Extension) -> None:
        async def omnibox() -> OmniboxView | None:
            return (await profile.extensions.ui())[0].omnibox

        async def has_suggestions() -> bool:
            shown = await omnibox()
            return shown is not None and shown.suggestions == [OmniboxSuggestion("work", "Open wo")]

        await tab_at(profile)
        await profile.extensions.trigger(extension.id, "omnibox:wo")
        await until_awaited(has_suggestions)
        shown = await omnibox()
        assert shown is not None
        assert (shown.keyword, shown.default_suggestion) == ("hat", "Choose")
        await profile.extensions.trigger(extension.id, "omnibox-enter:work")

        async def is_entered() -> bool:
            return bool((await extension.evaluate("seen"))[-1] == ["entered", "work", "currentTab"])

        await until_awaited(is_entered)
        assert await extension.evaluate("seen.slice(0, 2)") == [["started"], ["changed", "wo"]]

    run_made(tmp_path, use, background, omnibox={"keyword": "hat"})


def test_suggestions_of_an_earlier_run_are_not_listed(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        async def default() -> str:
            shown = (await profile.extensions.ui())[0].omnibox
            assert shown is not None
            return shown.default_suggestion

        await extension.evaluate("browser.omnibox.setDefaultSuggestion({description: 'Choose'})")
        assert await default() == "Choose"
        await profile.extensions.stop(extension)
        await profile.extensions.start(tmp_path / "made")
        assert await default() == ""

    run_made(tmp_path, use, omnibox={"keyword": "hat"})


def test_text_is_not_entered_without_a_keyword(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        await tab_at(profile)
        assert await error_message(profile, "omnibox:x") == "made has no omnibox keyword in its manifest."
        assert await extension.evaluate("typeof browser.omnibox") == "undefined"

    run_made(tmp_path, use)
