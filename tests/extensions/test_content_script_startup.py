"""Content scripts of running extensions: from the manifest, registered from JavaScript, and stored in the profile."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import hatbox
from hatbox import Profile
from hatbox.api.content_script_host import FrameResult
from hatbox.extension_data.content_script import ScriptSource
from hatbox.extensions.extension import Extension
from tests.api.script_host import FakeScriptHost
from tests.api.ui_actions import tab_at
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno
from tests.store.in_loop import in_loop

pytestmark = needs_deno

ID = "made@example.org"
HOST = "https://site.example/*"
MANIFEST: dict[str, Any] = {
    "permissions": ["scripting", HOST],
    "content_scripts": [{"matches": [HOST], "js": ["a.js"], "css": ["a.css"], "run_at": "document_start"}],
}
FILES = {"a.js": "", "a.css": "", "b.js": ""}
REGISTER = (
    'await browser.scripting.registerContentScripts([{id: "one", matches: ["https://site.example/*"], js: ["b.js"]}])'
)


async def attached(profile: Profile) -> FakeScriptHost:
    host = FakeScriptHost()
    await profile._content_scripts.attach(host)
    return host


def files_of(host: FakeScriptHost) -> list[str]:
    return [script.js[0].file for script in host.scripts.get(ID, [])]


@in_loop
async def test_scripts_of_the_manifest_are_there_before_the_background_runs(tmp_path: Path) -> None:
    async with asyncio.timeout(60), hatbox.open(tmp_path / "profile.db") as profile:
        host = await attached(profile)
        background = "globalThis.seen = browser.runtime.getManifest().content_scripts.length;"
        seen: list[list[str]] = []
        made = make(tmp_path, background, files=FILES, **MANIFEST)
        extension = await profile.extensions.start(made, on_run=lambda: seen.append(files_of(host)))
        assert seen[0] == ["a.js"]
        (script,) = host.scripts[ID]
        assert (script.css, script.run_at) == ((ScriptSource(file="a.css"),), "document_start")
        await profile.extensions.stop(extension)
        assert host.scripts[ID] == []


@in_loop
async def test_a_registered_script_is_there_after_a_restart_and_gone_with_another_version(tmp_path: Path) -> None:
    async with asyncio.timeout(60), hatbox.open(tmp_path / "profile.db") as profile:
        extension = await profile.extensions.start(make(tmp_path, files=FILES, **MANIFEST))
        await extension.evaluate(REGISTER)
    async with asyncio.timeout(60), hatbox.open(tmp_path / "profile.db") as profile:
        host = await attached(profile)
        extension = await profile.extensions.start(tmp_path / "made")
        assert files_of(host) == ["a.js", "b.js"]
        make(tmp_path, files=FILES, version="2", **MANIFEST)
        await profile.extensions.reload(ID)
        assert files_of(host) == ["a.js"]
        assert await extension.evaluate("browser.scripting.getRegisteredContentScripts()") == []


def test_a_function_is_sent_as_text_with_its_arguments(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        host = await attached(profile)
        tab = await tab_at(profile)
        call = f"""browser.scripting.executeScript({{
          target: {{tabId: {tab.id}}}, func: (a, b) => a + b, args: [1, "</script>"], world: "MAIN",
        }})"""
        host.results = [FrameResult(frame_id=0, document_id="d", value={"a": [1]})]
        assert await extension.evaluate(call) == [{"frameId": 0, "documentId": "d", "result": {"a": [1]}}]
        (injection,) = host.injections
        assert injection.sources == (ScriptSource(code='((a, b) => a + b)(1,"</script>");'),)
        assert (injection.world, injection.frame_ids) == ("MAIN", (0,))
        cyclic = f"""(() => {{
          const cycle = {{}};
          cycle.self = cycle;
          return browser.scripting.executeScript({{target: {{tabId: {tab.id}}}, func: () => 1, args: [cycle]}})
            .then(() => "", error => error.message);
        }})()"""
        assert await extension.evaluate(cyclic) == "Unserializable arguments."
        assert len(host.injections) == 1

    run_made(tmp_path, use, files=FILES, **MANIFEST)


def test_a_script_that_replaced_functions_of_javascript_gets_what_it_sends(tmp_path: Path) -> None:
    """The host checks all arguments again: a script can only deceive itself."""

    async def use(profile: Profile, extension: Extension) -> None:
        host = await attached(profile)
        tab = await tab_at(profile)
        await extension.evaluate("Function.prototype.toString = () => 'alert'; JSON.stringify = () => '[5]';")
        call = f"browser.scripting.executeScript({{target: {{tabId: {tab.id}}}, func: () => 1, args: [2]}})"
        await extension.evaluate(f"{call}.then(() => 1)")
        assert host.injections[0].sources == (ScriptSource(code="(() => 1)(2);"),)

    run_made(tmp_path, use, files=FILES, **MANIFEST)


def test_registered_scripts_are_unregistered_once(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        host = await attached(profile)
        options = json.dumps({"matches": [HOST], "js": [{"code": "document.title"}]})
        await extension.evaluate(f"globalThis.script = await browser.contentScripts.register({options})")
        assert [script.js[0] for script in host.scripts[ID]][1:] == [ScriptSource(code="document.title")]
        again = "script.unregister().then(() => script.unregister()).catch(error => error.message)"
        assert await extension.evaluate(again) == "Content script already unregistered"
        assert files_of(host) == ["a.js"]

    run_made(tmp_path, use, files=FILES, **MANIFEST)


def test_a_crash_of_the_background_ends_the_scripts_that_it_registered(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        host = await attached(profile)
        await extension.evaluate(
            f"await browser.contentScripts.register({{matches: [{HOST!r}], js: [{{file: 'b.js'}}]}}); 0"
        )
        assert files_of(host) == ["a.js", "b.js"]
        await extension.suspend()
        await asyncio.sleep(0)
        async with profile._content_scripts.changing(ID):
            assert files_of(host) == ["a.js"]

    run_made(tmp_path, use, files=FILES, **MANIFEST)
