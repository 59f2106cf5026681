"""Pages of extensions in a real Chromium, opened as the user opens them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import EngineError, ExtensionError, Profile, TriggerError
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.extension_data.action_values import SIDEBAR_ACTION, ActionScope, set_value
from hatbox.extension_data.sidebars import close_sidebar, open_sidebar
from hatbox.extensions.extension import Extension
from hatbox.extensions.pages.extension_window import ExtensionWindow
from hatbox.extensions.runtime import LogEntry
from hatbox.testing.site import LoopbackSite
from tests.engines.chromium.conftest import browser as browser
from tests.engines.chromium.real import with_browser
from tests.extensions.made import make
from tests.waiting import until, until_awaited

pytestmark = pytest.mark.deno

POPUP = "<!doctype html><title>Popup</title><body><script src=popup.js></script>"


@asynccontextmanager
async def run(
    folder: Path,
    background: str = "",
    *,
    files: Mapping[str, str] | None = None,
    start: Mapping[str, Any] | None = None,
    **manifest: Any,
) -> AsyncIterator[tuple[Profile, ChromiumRunner, Extension]]:
    """An extension with a popup, in a profile whose tabs are shown in Chromium."""
    keys = {
        "browser_action": {"default_popup": "popup.html"},
        "options_ui": {"page": "options.html"},
        "sidebar_action": {"default_panel": "sidebar.html"},
        "permissions": ["tabs", "storage", "cookies", "contextualIdentities"],
        **manifest,
    }
    pages = {
        "popup.html": POPUP,
        "popup.js": "",
        "options.html": "<!doctype html><title>Options</title><p>options",
        "sidebar.html": "<!doctype html><title>Sidebar</title><p>sidebar",
        **(files or {}),
    }
    made = make(folder, background, files=pages, **keys)
    async with hatbox.open(folder / "profile.db") as profile, profile.chromium(headless=True) as runner:
        yield profile, runner, await profile.extensions.start(made, **(start or {}))


async def title_of(profile: Profile, tab_id: int) -> str:
    return (await profile.tabs.get(tab_id)).title


async def url_of(profile: Profile, tab_id: int) -> str:
    return (await profile.tabs.get(tab_id)).url


async def eventually(read: Callable[[], Awaitable[Any]], expected: Any) -> None:
    """Wait until a value is the expected one."""

    async def is_expected() -> bool:
        return bool(await read() == expected)

    await until_awaited(is_expected)


@with_browser
async def test_the_popup_of_a_page_action_opens_where_the_extension_has_no_other_action(tmp_path: Path) -> None:
    page_action = {"default_popup": "popup.html", "show_matches": ["<all_urls>"]}
    with LoopbackSite() as site:
        async with run(tmp_path, browser_action=None, page_action=page_action) as (_, runner, extension):
            await runner.new_page("firefox-default", site.url("/"), keep=True)
            window = await extension.browser_pages.popup()
            assert await window.page.title() == "Popup"


@with_browser
async def test_a_popup_calls_the_api_and_talks_to_the_background(browser: str, tmp_path: Path) -> None:
    background = (
        """browser.runtime.onMessage.addListener(async (message, sender) => [message, sender.url, sender.id]);"""
    )
    popup = """(async () => {
        const identities = await browser.contextualIdentities.query({});
        const answer = await browser.runtime.sendMessage({from: location.href});
        const list = document.createElement("ul");
        for (const {name} of identities) list.append(Object.assign(document.createElement("li"), {textContent: name}));
        document.body.append(list);
        window.answer = answer;
        document.title = "done";
    })();"""
    async with run(tmp_path, background, files={"popup.js": popup}) as (_, runner, extension):
        await runner.new_page("firefox-default")
        window = await extension.browser_pages.popup()
        await window.page.get_by_text("Banking").wait_for()
        url = f"{extension.manifest.base_url}popup.html"
        assert window.url == url
        assert await window.page.evaluate("answer") == [{"from": url}, url, extension.id]
        assert await window.page.evaluate("[typeof browser.extension.getViews, browser.runtime.getURL('x')]") == [
            "undefined",
            f"{extension.manifest.base_url}x",
        ]
        await window.close()
        assert window.is_closed
        assert extension.browser_pages.open_windows == []


@with_browser
async def test_options_and_sidebar_are_pages_of_their_kind(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (_, __, extension):
        options = await extension.browser_pages.options()
        sidebar = await extension.browser_pages.sidebar()
        kinds = "async () => (await browser.runtime.getContexts({})).map(each => [each.contextType, each.documentUrl])"
        found = await options.page.evaluate(kinds)
        base = extension.manifest.base_url
        assert ["TAB", f"{base}options.html"] in found
        assert ["SIDE_PANEL", f"{base}sidebar.html"] in found
        assert sidebar.page.viewport_size == {"width": 320, "height": 800}


@with_browser
async def test_a_page_that_does_not_exist_is_named(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path, options_ui=None) as (_, __, extension):
        with pytest.raises(ExtensionError, match="the package has no file missing"):
            await extension.open_page("missing.html")
        with pytest.raises(ExtensionError, match="made has no options page"):
            await extension.browser_pages.options()
        with pytest.raises(ExtensionError, match="is not a page of the extension"):
            await extension.open_page("moz-extension://other/popup.html")


def test_without_chromium_the_error_says_what_to_do(tmp_path: Path) -> None:
    async def main() -> None:
        folder = make(tmp_path, files={"popup.html": POPUP})
        async with hatbox.open(tmp_path / "profile.db") as profile:
            extension = await profile.extensions.start(folder)
            with pytest.raises(EngineError, match="hatbox run EXTENSION --engine chromium"):
                await extension.open_page("popup.html")

    asyncio.run(main())


@with_browser
async def test_window_close_closes_a_popup(browser: str, tmp_path: Path) -> None:
    files = {"popup.js": "addEventListener('click', () => { window.close(); });"}
    async with run(tmp_path, files=files) as (_, __, extension):
        window = await extension.open_page("popup.html", kind="POPUP")
        await window.page.mouse.click(5, 5)
        await window.wait_until_closed()
        assert not extension.messages.contexts[1:]


@with_browser
async def test_a_popup_has_the_size_of_its_content(browser: str, tmp_path: Path) -> None:
    files = {
        "popup.html": POPUP + "<style>body { margin: 0 } div { width: 352px; height: 500px }</style><div></div>",
        "popup.js": "addEventListener('click', () => { document.querySelector('div').style.width = '2000px'; });",
    }
    async with run(tmp_path, files=files) as (_, __, extension):
        window = await extension.open_page("popup.html", kind="POPUP")
        await until(lambda: window.page.viewport_size == {"width": 352, "height": 500})
        await window.page.mouse.click(5, 5)
        await until(lambda: window.page.viewport_size == {"width": 800, "height": 500})


@with_browser
async def test_a_click_may_request_permissions_and_a_script_may_not(browser: str, tmp_path: Path) -> None:
    popup = """
        const wanted = {permissions: ["bookmarks"]};
        const request = () => browser.permissions.request(wanted).then(String, error => error.message);
        document.body.append(Object.assign(document.createElement("button"), {textContent: "Grant"}));
        document.querySelector("button").onclick = request;
        window.first = request();
    """
    asked: list[Any] = []

    async def decide(permissions: Any) -> bool:
        asked.append(permissions)
        return True

    optional = ["bookmarks"]
    files = {"popup.js": popup}
    async with run(tmp_path, files=files, start={"decide": decide}, optional_permissions=optional) as (*_, extension):
        window = await extension.open_page("popup.html", kind="POPUP")
        assert await window.page.evaluate("first") == "permissions.request may only be called from a user input handler"
        await window.page.evaluate("document.querySelector('button').click()")
        assert not asked
        await window.page.get_by_text("Grant").click()
        await until(lambda: asked)


@with_browser
async def test_a_tab_shows_a_page_of_the_extension(browser: str, tmp_path: Path) -> None:
    files = {
        "page.html": "<!doctype html><title>Start</title><body><a href='page.html?second'>next</a>"
        "<script src=page.js></script>",
        "page.js": """
            if (location.search) document.title = "Second";
            browser.tabs.getCurrent().then(tab => { window.tab = tab; });
        """,
    }
    async with run(tmp_path, files=files) as (profile, runner, extension):
        tab = await extension.browser.tabs.create({"url": "page.html"})
        shown = await runner.wait_until_loaded(tab["id"])
        base = extension.manifest.base_url
        assert (shown.url, shown.title, shown.error) == (f"{base}page.html", "Start", "")
        page = await runner.page(tab["id"])
        assert await page.evaluate("browser.tabs.getCurrent().then(tab => tab.id)") == tab["id"]
        await page.click("a")
        await eventually(lambda: title_of(profile, tab["id"]), "Second")
        assert (await profile.tabs.get(tab["id"])).url == f"{base}page.html?second"
        await profile.tabs.close(tab["id"])
        await runner.wait_until_settled()
        assert extension.browser_pages.open_windows == []


@with_browser
async def test_closing_the_profile_keeps_the_tabs_of_pages(browser: str, tmp_path: Path) -> None:
    made = make(tmp_path, files={"page.html": "<!doctype html><title>Page</title>"})
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await profile.chromium(headless=True).__aenter__()  # ended by the profile, after the extensions
        extension = await profile.extensions.start(made)
        url = extension.manifest.base_url + "page.html"
        tab = await profile.tabs.open("Work", url)
        await eventually(lambda: title_of(profile, tab.id), "Page")
    async with hatbox.open(tmp_path / "profile.db") as profile:
        assert await url_of(profile, tab.id) == url


@with_browser
async def test_of_two_engines_the_first_shows_the_pages_and_then_the_second(browser: str, tmp_path: Path) -> None:
    made = make(tmp_path, files={"page.html": "<!doctype html><title>Page</title>"})
    async with hatbox.open(tmp_path / "profile.db") as profile:
        async with profile.chromium(identities=["Work"], headless=True) as first:
            extension = await profile.extensions.start(made)
            tab = await profile.tabs.open("Work", extension.manifest.base_url + "page.html")
            await eventually(lambda: title_of(profile, tab.id), "Page")
            async with profile.chromium(identities=["Personal"], headless=True) as second:
                assert tab.id in first.engine.tabs
                assert tab.id not in second.engine.tabs
            assert tab.id in first.engine.tabs
            window = await extension.open_page("page.html")
            await window.close()
            await profile.chromium(identities=["Personal"], headless=True).__aenter__()  # ended by the profile
        window = await extension.open_page("page.html")
        await window.close()


@with_browser
async def test_a_tab_goes_from_a_page_of_the_extension_to_a_site_and_back(browser: str, tmp_path: Path) -> None:
    files = {"page.html": "<!doctype html><title>Own</title>own"}
    async with run(tmp_path, files=files) as (profile, runner, extension):
        tab = await profile.tabs.open("Work", f"{extension.manifest.base_url}page.html")
        assert (await runner.wait_until_loaded(tab.id)).title == "Own"
        page = await runner.page(tab.id)
        await page.evaluate("void (location.href = 'http://127.0.0.1:1/')")
        await eventually(lambda: url_of(profile, tab.id), "http://127.0.0.1:1/")
        await runner.wait_until_loaded(tab.id)
        assert extension.browser_pages.open_windows == []
        await profile.tabs.navigate(tab.id, f"{extension.manifest.base_url}page.html#again")
        shown = await runner.wait_until_loaded(tab.id)
        assert (shown.url, shown.title) == (f"{extension.manifest.base_url}page.html#again", "Own")
        assert (await runner.page(tab.id)).url.endswith("page.html#again")


@with_browser
async def test_a_link_opens_a_tab_of_the_profile(browser: str, tmp_path: Path) -> None:
    files = {
        "popup.html": "<!doctype html><a target=_blank href=page.html>open</a>",
        "page.html": "<!doctype html><title>Opened</title><script src=page.js></script>",
        "page.js": "browser.tabs.getCurrent().then(tab => { document.title = `tab ${tab.id}`; });",
    }
    async with run(tmp_path, files=files) as (profile, _, extension):
        window = await extension.open_page("popup.html", kind="POPUP")
        await window.page.click("a")
        url = f"{extension.manifest.base_url}page.html"

        async def has_opened() -> bool:
            return any(tab.url == url and tab.title == f"tab {tab.id}" for tab in await profile.tabs.query())

        await eventually(has_opened, True)


@with_browser
async def test_the_storage_of_pages_outlives_the_browser(browser: str, tmp_path: Path) -> None:
    open_database = """
        const opening = indexedDB.open("db", 1);
        opening.onupgradeneeded = () => { opening.result.createObjectStore("items"); };
        const database = await new Promise(resolve => { opening.onsuccess = () => resolve(opening.result); });
    """
    async with run(tmp_path) as (_, __, extension):
        window = await extension.open_page("popup.html")
        await window.page.evaluate(f"""async () => {{
            localStorage.setItem("a", "1");
            {open_database}
            const writing = database.transaction("items", "readwrite");
            writing.objectStore("items").put(new Date(5), "when");
            await new Promise(resolve => {{ writing.oncomplete = resolve; }});
        }}""")
        await window.close()
    async with hatbox.open(tmp_path / "profile.db") as profile, profile.chromium(headless=True):
        extension = await profile.extensions.start(tmp_path / "made")
        assert await extension.evaluate("localStorage.getItem('a')") == "1"
        window = await extension.open_page("popup.html")
        assert await window.page.evaluate("localStorage.getItem('a')") == "1"
        found = await window.page.evaluate(f"""async () => {{
            {open_database}
            const reading = database.transaction("items").objectStore("items").get("when");
            return await new Promise(resolve => {{ reading.onsuccess = () => resolve(reading.result.getTime()); }});
        }}""")
        assert found == 5


@with_browser
async def test_local_storage_is_one_for_pages_and_background(browser: str, tmp_path: Path) -> None:
    listen = """
        var events = [];
        addEventListener("storage", event => { events.push([event.key, event.oldValue, event.newValue]); });
    """
    async with run(tmp_path, listen, files={"popup.js": listen}) as (_, __, extension):
        await extension.evaluate("localStorage.setItem('first', '1')")
        window = await extension.open_page("popup.html", kind="POPUP")
        assert await window.page.evaluate("localStorage.getItem('first')") == "1"

        async def converged(expected: str) -> None:
            read = "JSON.stringify(Object.entries(localStorage).sort())"
            await eventually(lambda: extension.evaluate(read), expected)
            await eventually(lambda: window.page.evaluate(read), expected)

        await window.page.evaluate("localStorage.setItem('second', '2')")
        await converged('[["first","1"],["second","2"]]')
        assert await extension.evaluate("events") == [["second", None, "2"]]
        await extension.evaluate("localStorage.setItem('first', 'x'), localStorage.removeItem('second')")
        await converged('[["first","x"]]')
        assert await window.page.evaluate("events") == [["first", "1", "x"], ["second", "2", None]]
        await window.close()
        await extension.evaluate("localStorage.setItem('third', '3')")
        window = await extension.open_page("popup.html", kind="POPUP")
        await converged('[["first","x"],["third","3"]]')
        await window.page.evaluate("localStorage.clear()")
        await converged("[]")


@with_browser
async def test_errors_and_console_messages_of_pages_are_logged_with_firefoxs_urls(browser: str, tmp_path: Path) -> None:
    entries: list[LogEntry] = []
    files = {"popup.js": "console.warn('careful', {a: 1}.a);\nthrow new Error('broken');"}
    async with run(tmp_path, files=files, start={"on_log": entries.append}) as (_, __, extension):
        await extension.open_page("popup.html", kind="POPUP")
        url = f"{extension.manifest.base_url}popup.js"
        assert ("console", "warn", "careful 1", url, 1) == entries[0][:5]
        assert ("error", "error", "Error: broken", url, 2) == entries[1][:5]


@with_browser
async def test_the_pages_close_with_the_extension(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (profile, _, extension):
        window = await extension.open_page("popup.html", kind="POPUP")
        await profile.extensions.stop(extension)
        assert window.page.is_closed()


@with_browser
async def test_granted_permissions_appear_in_an_open_page(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path, optional_permissions=["webNavigation"]) as (profile, _, extension):
        window = await extension.open_page("popup.html", kind="POPUP")
        assert await window.page.evaluate("typeof browser.webNavigation") == "undefined"
        await profile.extensions.grant(extension.id, (await profile.extensions.permissions(extension.id)).optional)
        await eventually(lambda: window.page.evaluate("typeof browser.webNavigation"), "object")
        await window.page.reload()
        assert await window.page.evaluate("typeof browser.webNavigation") == "object"


@with_browser
async def test_a_triggered_action_shows_its_popup(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (profile, runner, extension):
        await runner.new_page("firefox-default")
        result = await profile.extensions.trigger(extension.id, "action")
        assert result.popup == f"{extension.manifest.base_url}popup.html"
        await until(lambda: [window.url for window in extension.browser_pages.open_windows] == [result.popup])
        assert extension.browser_pages.open_windows[0].kind == "POPUP"


@with_browser
async def test_another_program_opens_a_page(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (_, __, extension), hatbox.open(tmp_path / "profile.db") as other:
        assert (await other.extensions.open_page(extension.id, "options")).shown
        options = f"{extension.manifest.base_url}options.html"
        await until(lambda: [window.url for window in extension.browser_pages.open_windows] == [options])
        with pytest.raises(TriggerError, match="is not running"):
            await other.extensions.open_page("other@example.org", "options")
        window = await extension.browser_pages.show("sidebar.html")
        assert await window.page.inner_text("p") == "sidebar"


def test_a_page_of_an_extension_without_a_browser_is_not_requested(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile, hatbox.open(tmp_path / "profile.db") as other:
            made = make(tmp_path, files={"options.html": ""}, options_ui={"page": "options.html"})
            extension = await profile.extensions.start(made)
            with pytest.raises(TriggerError, match="hatbox run --engine chromium"):
                await other.extensions.open_page(extension.id, "options")

    asyncio.run(main())


@with_browser
async def test_a_new_tab_shows_the_page_of_an_extension(browser: str, tmp_path: Path) -> None:
    files = {"new.html": "<!doctype html><title>Fresh</title>"}
    async with run(tmp_path, files=files, chrome_url_overrides={"newtab": "new.html"}) as (_, runner, extension):
        tab = await extension.browser.tabs.create({})
        shown = await runner.wait_until_loaded(tab["id"])
        assert (shown.url, shown.title) == (f"{extension.manifest.base_url}new.html", "Fresh")


@with_browser
async def test_listeners_of_web_requests_do_not_see_the_files_of_pages(browser: str, tmp_path: Path) -> None:
    background = """
        var seen = [];
        browser.webRequest.onBeforeRequest.addListener(
            details => { seen.push(details.url); return {cancel: true}; }, {urls: ["<all_urls>"]}, ["blocking"]);
    """
    permissions = ["webRequest", "webRequestBlocking", "<all_urls>"]
    async with run(tmp_path, background, permissions=permissions) as (_, runner, extension):
        await runner.wait_until_synced()
        window = await extension.open_page("options.html")
        assert await window.page.inner_text("p") == "options"
        denied = "fetch('http://127.0.0.1:1/x').then(() => 'sent', error => error.name)"
        assert await window.page.evaluate(denied) == "TypeError"
        assert await extension.evaluate("seen") == ["http://127.0.0.1:1/x"]


@with_browser
async def test_a_tab_of_a_page_loads_when_its_extension_starts(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (profile, runner, extension):
        tab = await profile.tabs.open("Work", f"{extension.manifest.base_url}options.html")
        assert (await runner.wait_until_loaded(tab.id)).title == "Options"
    async with hatbox.open(tmp_path / "profile.db") as profile, profile.chromium(headless=True):

        async def is_failed() -> bool:
            return "not running" in (await profile.tabs.get(tab.id)).error

        await eventually(is_failed, True)
        extension = await profile.extensions.start(tmp_path / "made")
        await eventually(is_failed, False)
        await until(lambda: extension.browser_pages.open_windows)


@with_browser
async def test_a_sidebar_that_is_opened_in_the_profile_is_shown(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (profile, runner, extension):
        await runner.new_page("Work")
        window_id = (await profile.tabs.windows())[0].id
        await profile.store.write(lambda each: open_sidebar(each, extension.area, window_id))
        await until(lambda: extension.browser_pages.open_windows)
        (shown,) = extension.browser_pages.open_windows
        assert shown.kind == "SIDE_PANEL"
        await profile.store.write(lambda each: close_sidebar(each, extension.area, window_id))
        await shown.wait_until_closed()


@with_browser
async def test_is_open_agrees_with_the_sidebar_that_the_user_sees(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (profile, runner, extension):
        await runner.new_page("Work")

        async def is_open() -> bool:
            return bool(await extension.evaluate("browser.sidebarAction.isOpen({})"))

        assert not await is_open()
        result = await profile.extensions.open_page(extension.id, "sidebar")
        assert result.popup == f"{extension.manifest.base_url}sidebar.html"
        assert await is_open()
        await until(lambda: extension.browser_pages.open_windows)
        shown = await extension.browser_pages.sidebar()
        assert extension.browser_pages.open_windows == [shown]  # one for each window
        assert await shown.page.evaluate("browser.sidebarAction.isOpen({})")
        await shown.close()  # as the user does
        await eventually(is_open, False)

        shown = await extension.browser_pages.sidebar()
        assert await is_open()
        await shown.page.evaluate("() => { window.onclick = () => browser.sidebarAction.close(); }")
        await shown.page.locator("p").click()
        await shown.wait_until_closed()
        assert not await is_open()


@with_browser
async def test_a_script_opens_the_popup(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (_, runner, extension):
        await runner.new_page("Work")
        await extension.evaluate("browser.browserAction.openPopup()")
        await until(lambda: extension.browser_pages.open_windows)
        (shown,) = extension.browser_pages.open_windows
        await eventually(shown.page.title, "Popup")
        assert shown.kind == "POPUP"
        message = "call => call().then(() => '', error => error.message)"
        for prepare, call, expected in (
            ("browserAction.setPopup({popup: ''})", "browserAction.openPopup()", "No popup URL is set"),
            ("browserAction.disable()", "browserAction.openPopup()", "Popup is disabled"),
            ("windows.getAll()", "browserAction.openPopup({windowId: 99})", "Invalid window ID: 99"),
        ):
            await extension.evaluate(f"browser.{prepare}")
            assert await extension.evaluate(f"({message})(() => browser.{call})") == expected
        other = await extension.evaluate("browser.windows.create({}).then(({id}) => id)")
        first = await extension.evaluate(f"browser.windows.getAll().then(all => all.find(w => w.id !== {other}).id)")
        assert "only for the currently focused window" in await extension.evaluate(
            f"({message})(() => browser.browserAction.openPopup({{windowId: {first}}}))"
        )


@with_browser
async def test_an_extension_has_one_popup_however_often_it_is_opened(browser: str, tmp_path: Path) -> None:
    files = {"popup.js": "document.title = 'Script'"}
    async with run(tmp_path, files=files) as (profile, runner, extension):
        await runner.new_page("Work")
        opened: list[Any] = []
        pages = extension.browser_pages.windows()
        create = pages._create

        async def count(*args: Any, **options: Any) -> Any:
            opened.append(args)
            return await create(*args, **options)

        pages._create = count  # type: ignore[method-assign]
        call = "browser.browserAction.openPopup().catch(() => 0)"
        assert await extension.evaluate(f"Promise.all(Array.from({{length: 50}}, () => {call})).then(() => 1)") == 1
        await until(lambda: extension.browser_pages.open_windows)
        (shown,) = extension.browser_pages.open_windows
        await until_titled(shown.page, "Script")
        again = "browser.browserAction.openPopup().then(() => '', error => error.message)"

        async def is_refused() -> bool:
            return bool(await extension.evaluate(again) == "openPopup() cannot be called while another panel is open")

        await until_awaited(is_refused)
        assert (len(opened), extension.browser_pages.open_windows) == (1, [shown])
        await until(lambda: not extension.browser_pages._tabs._requested._opening_popups)
        await profile.extensions.trigger(extension.id, "action")  # a click replaces it
        await shown.wait_until_closed()
        await until(lambda: extension.browser_pages.open_windows)
        await until_titled(extension.browser_pages.open_windows[0].page, "Script")
        assert len(extension.browser_pages.open_windows) == 1


async def until_titled(page: Any, title: str) -> None:
    """Wait for a title. wait_for_function() calls eval() in the page, which its policy forbids."""

    async def is_titled() -> bool:
        return bool(await page.title() == title)

    await until_awaited(is_titled)


@with_browser
async def test_a_sidebar_that_cannot_be_shown_is_not_open(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path, sidebar_action={"default_panel": "missing.html"}) as (_, runner, extension):
        await runner.new_page("Work")
        with pytest.raises(ExtensionError, match="the package has no file missing"):
            await extension.browser_pages.sidebar()
        assert not await extension.evaluate("browser.sidebarAction.isOpen({})")


@with_browser
async def test_a_sidebar_closes_with_its_window(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (_, runner, extension):
        await runner.new_page("Work")
        other = await extension.evaluate("browser.windows.create({}).then(({id}) => id)")
        shown = await extension.browser_pages.sidebar(other)
        await extension.evaluate(f"browser.windows.remove({other})")
        await shown.wait_until_closed()


@with_browser
async def test_a_sidebar_that_never_loads_delays_no_other(
    browser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, load = asyncio.Event(), ExtensionWindow.load

    async def load_or_hang(window: ExtensionWindow, url: str) -> None:
        await load(window, url)
        if url.endswith("/sidebar.html"):
            loading.set()
            await window.wait_until_closed()

    monkeypatch.setattr(ExtensionWindow, "load", load_or_hang)
    async with run(tmp_path) as (profile, runner, extension):
        await runner.new_page("Work")
        first = (await profile.tabs.windows())[0].id
        second = await extension.evaluate("browser.windows.create({}).then(({id}) => id)")
        panel = {"default_panel": "panel.html"}
        made = make(tmp_path / "2", name="other", files={"panel.html": "panel"}, sidebar_action=panel)
        other = await profile.extensions.start(made)
        opening = asyncio.ensure_future(extension.browser_pages.sidebar(first))
        await loading.wait()
        await other.browser_pages.sidebar(second)
        await extension.evaluate(f"browser.windows.remove({second})")
        await until(lambda: not other.browser_pages.open_windows)
        assert not opening.done()
        shown = await other.browser_pages.sidebar(first)  # replaces the one that still loads
        assert (await opening).is_closed
        await until(lambda: not extension.browser_pages.open_windows)
        assert other.browser_pages.open_windows == [shown]
        assert not await extension.evaluate("browser.sidebarAction.isOpen({})")


@with_browser
async def test_an_open_sidebar_is_shown_by_the_next_browser(browser: str, tmp_path: Path) -> None:
    made = make(tmp_path, "", files={"sidebar.html": "<p>sidebar"}, sidebar_action={"default_panel": "sidebar.html"})
    async with hatbox.open(tmp_path / "profile.db") as profile:
        extension = await profile.extensions.start(made)
        await profile.tabs.open("Work", "about:blank")
        window_id = (await profile.tabs.windows())[0].id
        await profile.store.write(lambda each: open_sidebar(each, extension.area, window_id))
        async with profile.chromium(headless=True):
            await until(lambda: extension.browser_pages.open_windows)
            shown = await extension.browser_pages.sidebar()
            assert extension.browser_pages.open_windows == [shown]
        assert await extension.evaluate("browser.sidebarAction.isOpen({})")


@with_browser
async def test_a_sidebar_shows_the_page_that_the_extension_has_set(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (profile, runner, extension):
        await runner.new_page("Work")
        window_id = (await profile.tabs.windows())[0].id
        panel = f"{extension.manifest.base_url}popup.html"
        await profile.store.write(
            lambda each: set_value(each, extension.area, SIDEBAR_ACTION, ActionScope(window=window_id), "panel", panel)
        )
        ui = await profile.extensions.ui()
        assert [each.sidebar for each in ui] == [panel]
        shown = await extension.browser_pages.sidebar(window_id)
        assert await shown.page.evaluate("location.pathname") == "/popup.html"


@with_browser
async def test_frames_that_are_removed_take_no_memory(browser: str, tmp_path: Path) -> None:
    async with run(tmp_path) as (_, __, extension):
        window = await extension.browser_pages.show("sidebar.html")
        add = """() => new Promise(resolve => {
            const frame = Object.assign(document.createElement("iframe"), {src: "options.html"});
            frame.onload = () => { frame.remove(); resolve(); };
            document.body.append(frame);
        })"""
        for _ in range(3):
            await window.page.evaluate(add)
        documents = window.documents
        await until(lambda: len(documents._worlds) == 1 and len(documents._frame_urls) == 1)
        assert documents._frame_numbers == {}


LINKS = """<!doctype html><title>Start</title><a id=link href=popup.html>x</a>
<a id=blank href=popup.html target=_blank>x</a> <a id=web href="SITE" target=_blank>x</a>"""


@pytest.mark.parametrize(
    ("element", "options"),
    [
        ("#blank", {}),
        ("#link", {"button": "middle"}),
        ("#link", {"modifiers": ["Control"]}),
        ("#link", {"modifiers": ["Shift"]}),
        ("#web", {}),
        ("#web", {"button": "middle"}),
    ],
    ids=["blank", "middle", "ctrl", "shift", "site", "site, middle"],
)
@with_browser
async def test_a_link_in_an_extensions_tab_of_an_identity_opens_in_that_identity(
    element: str, options: dict[str, Any], browser: str, tmp_path: Path
) -> None:
    with LoopbackSite() as site:
        async with run(tmp_path, files={"start.html": LINKS.replace("SITE", site.url("/"))}) as (profile, runner, own):
            url = f"{own.manifest.base_url}start.html"
            opener = await own.browser.tabs.create({"url": url, "cookieStoreId": "firefox-container-2"})
            await runner.wait_until_settled()
            await own.browser_pages.open_windows[0].page.click(element, **options)

            async def are_open() -> bool:
                return len(await profile.tabs.query()) == 2

            await until_awaited(are_open)
            tab = (await profile.tabs.query())[1]
            is_in_background = options.get("button") == "middle" or options.get("modifiers") == ["Control"]
            assert (tab.cookie_store_id, tab.opener_id) == ("firefox-container-2", opener["id"])
            assert tab.active is not is_in_background
            target = site.url("/") if element == "#web" else f"{own.manifest.base_url}popup.html"
            await eventually(lambda: url_of(profile, tab.id), target)


@pytest.mark.parametrize("features", ["", "noopener"])
@pytest.mark.parametrize("target", ["popup.html", "SITE"])
@with_browser
async def test_what_an_extensions_tab_opens_before_it_closes_itself_is_in_its_identity(
    target: str, features: str, browser: str, tmp_path: Path
) -> None:
    with LoopbackSite() as site:
        start = "<!doctype html><title>Start</title><p>start"
        async with run(tmp_path, files={"start.html": start}) as (profile, runner, own):
            url = f"{own.manifest.base_url}start.html"
            await own.browser.tabs.create({"url": url, "cookieStoreId": "firefox-container-2"})
            await runner.wait_until_settled()
            page = own.browser_pages.open_windows[0].page
            await page.get_by_text("start").wait_for()
            opens = f"open('{target.replace('SITE', site.url('/'))}', '', '{features}')"
            await page.evaluate(f"void setTimeout(() => {{ {opens}; close(); }})")

            async def is_replaced() -> bool:
                return url not in [(tab.url or tab.pending_url) for tab in await profile.tabs.query()]

            await until_awaited(is_replaced)

            async def stores() -> list[str]:
                return [tab.cookie_store_id for tab in await profile.tabs.query() if tab.url != "about:blank"]

            await eventually(stores, ["firefox-container-2"])
