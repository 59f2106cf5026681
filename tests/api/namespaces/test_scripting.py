"""scripting, tabs.executeScript and contentScripts without a browser: permissions, errors, and what is stored."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ApiError, Profile
from hatbox.api.browser import Browser
from hatbox.api.caller import ExtensionCaller
from hatbox.api.content_script_host import FrameResult, InjectionError
from hatbox.api.content_script_registry import MAX_SCRIPTS
from hatbox.api.namespaces.tabs.tab_access import grant_active_tab
from hatbox.extension_data.content_script import ScriptSource
from hatbox.extension_data.content_script_matching import FrameDocument
from hatbox.extension_data.extension_permissions import ExtensionPermissions
from hatbox.extension_data.registered_scripts import load_all
from tests.api.caller import UUID, split
from tests.api.script_host import FakeScriptHost
from tests.api.ui_actions import go, tab_at
from tests.store.in_loop import in_loop

ID = "injects@example.org"
HOST = "https://site.example/*"
SCRIPT = {"id": "one", "matches": [HOST], "js": ["a.js"]}


def caller_of(*permissions: str, version: int = 2) -> ExtensionCaller:
    grants = ExtensionPermissions(split(permissions), split(()))
    return ExtensionCaller(ID, UUID, {"manifest_version": version}, grants)


def browser_of(profile: Profile, *permissions: str, version: int = 2) -> Any:
    """`browser` of an extension. Its types are those of Python scripts, which have no content scripts."""
    return Browser(profile._dispatcher, caller_of(*permissions, version=version))


async def attached(profile: Profile) -> FakeScriptHost:
    host = FakeScriptHost()
    await profile._content_scripts.attach(host)
    return host


@in_loop
async def test_without_chromium_the_error_says_what_to_do(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        tab = await tab_at(profile)
        browser = browser_of(profile, "scripting", HOST)
        with pytest.raises(ApiError, match=r"Content scripts need .* Chromium .* --engine chromium"):
            await browser.tabs.executeScript(tab.id, {"code": "1"})
        with pytest.raises(ApiError, match=r"--engine chromium"):
            await browser.scripting.insertCSS({"target": {"tabId": tab.id}, "css": "p {}"})


@in_loop
async def test_registered_scripts_wait_for_an_engine_that_starts_later(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = browser_of(profile, "scripting", HOST)
        await browser.scripting.registerContentScripts([SCRIPT])
        await browser.contentScripts.register({"matches": [HOST], "css": [{"code": "p {}"}]})
        host = await attached(profile)
        assert [script.js or script.css for script in host.scripts[ID]] == [
            (ScriptSource(file="a.js"),),
            (ScriptSource(code="p {}"),),
        ]


@in_loop
async def test_a_tab_of_another_site_is_not_injected_into(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        tab = await tab_at(profile)
        await attached(profile)
        browser = browser_of(profile, "scripting", "https://other.example/*")
        with pytest.raises(ApiError, match=r"^Missing host permission for the tab$"):
            await browser.tabs.executeScript(tab.id, {"code": "1"})
        with pytest.raises(ApiError, match=r"^Missing host permission for the tab or frames$"):
            await browser.tabs.insertCSS(tab.id, {"code": "p {}", "allFrames": True})


@in_loop
async def test_active_tab_gives_access_until_the_tab_navigates(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        tab = await tab_at(profile, "https://site.example/")
        await attached(profile)
        caller = caller_of("activeTab")
        browser: Any = Browser(profile._dispatcher, caller)
        with pytest.raises(ApiError, match=r"^Missing host permission"):
            await browser.tabs.executeScript(tab.id, {"code": "1"})
        grant_active_tab(caller, tab)
        assert await browser.tabs.executeScript(tab.id, {"code": "1"}) == ["1"]
        await go(profile, tab, "https://site.example/")
        with pytest.raises(ApiError, match=r"^Missing host permission"):
            await browser.tabs.executeScript(tab.id, {"code": "1"})


@in_loop
async def test_a_page_that_navigates_during_the_call_is_not_reached_by_active_tab(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        tab = await tab_at(profile, "https://site.example/")
        host = await attached(profile)
        other = "https://other.example/"
        host.documents[0] = FrameDocument(url=other, top_url=other, is_top=True, cookie_store_id="firefox-default")
        caller = caller_of("activeTab")
        grant_active_tab(caller, tab)
        with pytest.raises(ApiError, match=r"^Missing host permission"):
            browser: Any = Browser(profile._dispatcher, caller)
            await browser.tabs.executeScript(tab.id, {"code": "1"})


@in_loop
async def test_a_new_tab_is_waited_for(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await attached(profile)
        tab = await profile.tabs.open("firefox-default", "https://site.example/")
        call = asyncio.ensure_future(browser_of(profile, HOST).tabs.executeScript(tab.id, {"code": "1"}))
        await profile.tabs.get(tab.id)
        assert not call.done()
        await go(profile, tab, "https://site.example/")
        assert await call == ["1"]


@in_loop
async def test_a_new_tab_that_is_closed_ends_the_call(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await attached(profile)
        tab = await profile.tabs.open("firefox-default", "https://site.example/")
        call = asyncio.ensure_future(browser_of(profile, HOST).tabs.executeScript(tab.id, {"code": "1"}))
        await profile.tabs.get(tab.id)
        await profile.tabs.close(tab.id)
        with pytest.raises(ApiError, match=r"^Invalid tab ID: \d+$"):
            await call


@in_loop
async def test_errors_of_a_script_reject_or_are_in_the_results(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        tab = await tab_at(profile)
        host = await attached(profile)
        browser = browser_of(profile, "scripting", HOST)
        host.results = [
            FrameResult(frame_id=0, document_id="a", value=1),
            FrameResult(frame_id=7, document_id="b", error=InjectionError("no", {"message": "no"})),
        ]
        with pytest.raises(ApiError, match=r"^no$"):
            await browser.tabs.executeScript(tab.id, {"file": "/a.js"})
        assert await browser.scripting.executeScript({"target": {"tabId": tab.id}, "files": ["a.js"]}) == [
            {"frameId": 0, "documentId": "a", "result": 1},
            {"frameId": 7, "documentId": "b", "error": {"message": "no"}},
        ]
        host.results = [FrameResult(frame_id=0, document_id="a", error=InjectionError(None, "text"))]
        with pytest.raises(ApiError, match=r"^An unexpected error occurred$"):
            await browser.tabs.executeScript(tab.id, {"file": "/a.js"})
        host.results = [FrameResult(frame_id=0, document_id="a", is_clonable=False)]
        with pytest.raises(ApiError, match=rf"^Script 'moz-extension://{UUID}/a.js' result is non-structured-clon"):
            await browser.tabs.executeScript(tab.id, {"file": "/a.js"})


@in_loop
async def test_files_outside_the_extension_are_refused(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        tab = await tab_at(profile)
        host = await attached(profile)
        browser = browser_of(profile, HOST)
        for file in (
            "https://site.example/a.js",
            "//site.example/a.js",
            "data:text/javascript,1",
            "file:///etc/passwd",
        ):
            with pytest.raises(ApiError, match=r"^Files to be injected must be within the extension$"):
                await browser.tabs.executeScript(tab.id, {"file": file})
        assert not host.injections


@in_loop
async def test_version_3_has_no_execute_script_in_tabs_and_no_content_scripts(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = browser_of(profile, "scripting", HOST, version=3)
        assert not hasattr(browser.tabs, "executeScript")
        assert not hasattr(browser, "contentScripts")
        assert hasattr(browser, "scripting")
        assert not hasattr(browser_of(profile, HOST), "scripting")
        assert not hasattr(profile.browser(["tabs", HOST]).tabs, "executeScript")


@in_loop
async def test_an_error_in_one_script_registers_none(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        host = await attached(profile)
        scripting = browser_of(profile, "scripting", HOST).scripting
        await scripting.registerContentScripts([SCRIPT])
        before = await scripting.getRegisteredContentScripts()
        for bad in ({**SCRIPT, "id": "_x"}, {**SCRIPT, "id": "x", "matches": ["frob"]}, {"id": "x", "matches": [HOST]}):
            with pytest.raises(ApiError):
                await scripting.registerContentScripts([{**SCRIPT, "id": "good"}, bad])
        with pytest.raises(ApiError):
            await scripting.updateContentScripts([{"id": "one", "allFrames": True}, {"id": "none"}])
        with pytest.raises(ApiError):
            await scripting.unregisterContentScripts({"ids": ["one", "none"]})
        assert await scripting.getRegisteredContentScripts() == before
        assert len(host.scripts[ID]) == 1


@in_loop
async def test_registered_scripts_are_on_disk_unless_they_are_for_the_session(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        scripting = browser_of(profile, "scripting", HOST).scripting
        await scripting.registerContentScripts([SCRIPT, {**SCRIPT, "id": "two", "persistAcrossSessions": False}])
    async with hatbox.open(tmp_path / "profile.db") as profile:
        stored = await profile.store.read(lambda transaction: load_all(transaction, ID))
        assert [script.id for script in stored] == ["one"]
        assert stored[0].js == (ScriptSource(file="a.js"),)
        assert stored[0].check_permissions


@in_loop
async def test_concurrent_registrations_are_all_kept(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        host = await attached(profile)
        scripting = browser_of(profile, "scripting", HOST).scripting
        ids = [f"script {number}" for number in range(20)]
        await asyncio.gather(*(scripting.registerContentScripts([{**SCRIPT, "id": each}]) for each in ids))
        assert [each["id"] for each in await scripting.getRegisteredContentScripts()] == ids
        assert [script.id for script in host.scripts[ID]] == ids
        stored = await profile.store.read(lambda transaction: load_all(transaction, ID))
        assert [script.id for script in stored] == ids


@in_loop
async def test_an_extension_cannot_register_scripts_without_end(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        scripting = browser_of(profile, "scripting", HOST).scripting
        many: list[dict[str, Any]] = [{**SCRIPT, "id": str(number)} for number in range(MAX_SCRIPTS + 1)]
        with pytest.raises(ApiError, match=r"^Too many content scripts: 1001\. An extension can have 1000$"):
            await scripting.registerContentScripts(many)
        assert await scripting.getRegisteredContentScripts() == []


@in_loop
async def test_content_scripts_end_with_the_page_that_registered_them(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        host = await attached(profile)
        caller = caller_of(HOST)
        profile._messages.add_context(caller.context)
        browser: Any = Browser(profile._dispatcher, caller)
        script = await browser.contentScripts.register({"matches": [HOST], "js": [{"file": "a.js"}]})
        await browser.contentScripts.register({"matches": [HOST], "js": [{"file": "b.js"}]})
        await script.unregister()
        assert [each.js[0].file for each in host.scripts[ID]] == ["b.js"]
        with pytest.raises(ApiError, match=r"^Content script already unregistered$"):
            await script.unregister()
        profile._messages.remove_context(caller.context)
        await asyncio.sleep(0)
        async with profile._content_scripts.changing(ID):
            assert host.scripts[ID] == []


@in_loop
async def test_another_extension_cannot_unregister_a_script(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        host = await attached(profile)
        await browser_of(profile, HOST).contentScripts.register({"matches": [HOST], "js": [{"file": "a.js"}]})
        dispatcher = profile._dispatcher
        other = ExtensionCaller("other@example.org", UUID, {"manifest_version": 2}, caller_of(HOST).grants)
        for number in range(1, 200):
            reply = dispatcher.call(other, "scriptCalls", "unregister", [number])
            assert reply is not None
            await reply
        assert len(host.scripts[ID]) == 1


@in_loop
async def test_a_hidden_call_needs_the_permission_too(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await attached(profile)
        injection = {"target": {"tabId": 1}, "func": "1"}
        with pytest.raises(ApiError, match="needs the permission scripting"):
            profile._dispatcher.call(caller_of(HOST), "scriptCalls", "execute", [injection])
