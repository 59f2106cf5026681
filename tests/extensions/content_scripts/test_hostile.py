"""Hostile pages and hostile content scripts: they forge no message, reach no binding, and delay no other page."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engines.chromium.real import with_browser, with_own_driver
from tests.extensions.content_scripts.content_lab import B, content_lab, eventually, script
from tests.extensions.made import make

pytestmark = pytest.mark.browser

ECHO = """
  browser.runtime.onMessage.addListener((message, sender) => {
    if (message.tell) browser.test.sendMessage("told", [message.tell, sender.url, sender.frameId, sender.tab.id]);
    return Promise.resolve("echo");
  });
"""


@with_own_driver
async def test_a_page_that_never_yields_delays_no_other_page(tmp_path: Path, browser: str) -> None:
    async with content_lab(
        tmp_path, browser, [script("browser.runtime.sendMessage({tell: 1})")], background=ECHO
    ) as lab:
        hung = await lab.open(lab.page("/hung"))
        await lab.message("told")
        looping = asyncio.ensure_future(hung.evaluate("setTimeout(() => { for (;;); }, 0); 0"))
        await looping
        # Another page on another site loads, with its scripts, and scripts can be registered.
        page = await lab.open(lab.site.url("/fine", B))
        assert (await lab.message("told"))[1] == lab.site.url("/fine", B)
        await lab.set_scripts(script("browser.runtime.sendMessage({tell: 2})"))
        await page.reload()
        assert (await lab.message("told"))[0] == 2
        pending = asyncio.ensure_future(lab.execute(hung, "1"))
        assert await lab.value(page, "1 + 1") == 2
        assert not pending.done()
        await hung.close()
        assert await pending == []


@with_browser
async def test_a_frame_of_another_site_is_the_sender_of_its_own_messages_only(tmp_path: Path, browser: str) -> None:
    code = "browser.runtime.sendMessage({tell: 'I am the main frame', url: 'http://forged/', frameId: 0, tab: {id: 1}})"
    async with content_lab(tmp_path, browser, [script(code, all_frames=True)], background=ECHO) as lab:
        lab.page("/inner")
        page = await lab.open(lab.page("/", f"<iframe src='{lab.site.url('/inner', B)}'></iframe>"))
        found = {url: (frame, tab) for _, url, frame, tab in [await lab.message("told"), await lab.message("told")]}
        tab = lab.tab_of(page)
        assert found[lab.site.url("/", "a.localhost")] == (0, tab)
        assert found[lab.site.url("/inner", B)][0] > 0
        assert found[lab.site.url("/inner", B)][1] == tab


@with_browser
async def test_a_content_script_has_no_more_than_its_part_of_the_api(tmp_path: Path, browser: str) -> None:
    # The native binding, with messages as the bridge sends them: as if the page had taken over its process.
    forge = """
      const name = Reflect.ownKeys(globalThis).find(each => /^hatboxPost/.test(each));
      const post = globalThis[name];
      browser.runtime.sendMessage({tell: typeof post});
      post('[["c", 90001, "tabs.query", [{}]], ["c", 90002, "cookies.getAll", [{}]]]');
      post('[["l", "tabs.onCreated", 90003, true, []]]');
    """
    permissions = ["<all_urls>", "storage", "tabs", "cookies"]
    async with content_lab(tmp_path, browser, [script(forge)], background=ECHO, permissions=permissions) as lab:
        page = await lab.open(lab.page("/"))
        assert (await lab.message("told"))[0] == "function"
        assert await lab.value(page, "browser.runtime.sendMessage({})") == "echo"
        namespaces = ["tabs", "cookies", "windows", "permissions", "scripting"]
        assert await lab.value(page, f"{namespaces!r}.map(each => typeof browser[each])") == ["undefined"] * 5
        services = lab.host(page)
        (bridge,) = services._bridges.values()  # type: ignore[attr-defined]
        assert bridge.runtime.listeners.count("tabs.onCreated") == 0


@with_own_driver
async def test_a_script_that_floods_delays_only_itself(tmp_path: Path, browser: str) -> None:
    flood = "for (let i = 0; i < 20000; i++) browser.runtime.sendMessage({number: i}); 0"
    async with content_lab(tmp_path, browser, background=ECHO) as lab:
        flooding = await lab.open(lab.page("/"))
        quiet = await lab.open(lab.site.url("/quiet", B), "Personal")
        assert await lab.value(quiet, "browser.runtime.sendMessage({})") == "echo"
        await lab.execute(flooding, flood)
        longest = 0.0
        for _ in range(30):
            start = time.perf_counter()
            await asyncio.sleep(0)
            await lab.profile.identities.query()
            longest = max(longest, time.perf_counter() - start)
            assert await lab.value(quiet, "browser.runtime.sendMessage({})") == "echo"
        assert longest < 2  # benchmarks measure the delay


@with_own_driver
async def test_scripts_run_again_after_the_browser_has_crashed(tmp_path: Path, browser: str) -> None:
    code = "browser.runtime.sendMessage({tell: location.pathname})"
    async with content_lab(tmp_path, browser, [script(code)], background=ECHO) as lab:
        await lab.chrome.new_page("Work", lab.page("/first"), keep=True)
        assert (await lab.message("told"))[0] == "/first"
        before = lab.chrome.engine.running
        assert before is not None
        await before.env.launched.browser.close()
        await eventually(lambda: lab.chrome.engine.running not in (None, before))
        assert (await lab.message("told"))[0] == "/first"  # the tab is loaded again


@with_browser
async def test_ports_end_with_their_document_and_with_the_extension(tmp_path: Path, browser: str) -> None:
    background = """
      browser.runtime.onConnect.addListener(port => {
        browser.test.sendMessage("connected", [port.name, port.sender.frameId, port.sender.url]);
        port.onMessage.addListener(message => { port.postMessage([message, "back"]); });
        port.onDisconnect.addListener(() => { browser.test.sendMessage("disconnected", port.name); });
      });
    """
    code = """
      const port = browser.runtime.connect({name: location.pathname});
      port.onMessage.addListener(message => { browser.test.sendMessage("answer", message); });
      port.postMessage({text: "hello"});
    """
    async with content_lab(tmp_path, browser, [script(code, all_frames=True)], background=background) as lab:
        lab.page("/inner")
        page = await lab.open(lab.page("/", f"<iframe src='{lab.site.url('/inner', B)}'></iframe>"))
        names = sorted([(await lab.message("connected"))[0] for _ in range(2)])
        assert names == ["/", "/inner"]
        assert await lab.message("answer") == [{"text": "hello"}, "back"]
        await page.evaluate("document.querySelector('iframe').remove()")
        assert await lab.message("disconnected") == "/inner"
        await page.goto(lab.site.url("/other", B))
        assert await lab.message("disconnected") == "/"
        assert (await lab.message("connected"))[0] == "/other"
        services = lab.host(page)
        await lab.profile.extensions.stop(lab.extension)
        assert services._bridges == {}  # type: ignore[attr-defined]
        assert services._hub is None  # type: ignore[attr-defined]


@with_browser
async def test_calls_of_the_binding_of_a_reloaded_extension_are_not_received_any_more(
    tmp_path: Path, browser: str
) -> None:
    code = """
      const name = Reflect.ownKeys(globalThis).find(each => /^hatboxPost/.test(each));
      const post = globalThis[name];
      browser.runtime.sendMessage({tell: name});
      document.addEventListener("poke", () => { post("[]"); });
    """
    scripts = [{"matches": ["<all_urls>"], "js": ["content.js"]}]
    files = {"content.js": code}
    async with content_lab(tmp_path, browser, background=ECHO, files=files, content_scripts=scripts) as lab:
        page = await lab.open(lab.page("/"))
        old = (await lab.message("told"))[0]
        services = lab.host(page)
        called: list[str] = []
        receive = services._on_binding_called  # type: ignore[attr-defined]

        def note(session: Any, event: Any) -> None:
            called.append(event["name"])
            receive(session, event)

        services._on_binding_called = note  # type: ignore[attr-defined]
        await page.evaluate("document.dispatchEvent(new Event('poke'))")
        await eventually(lambda: old in called)
        await lab.profile.extensions.reload(lab.extension.id)
        new = (await lab.message("told"))[0]  # the script runs again in the open page
        assert new != old
        called.clear()
        await page.evaluate("document.dispatchEvent(new Event('poke'))")
        await eventually(lambda: new in called)
        assert old not in called


POLLUTE = """
  for (const name of ["then", "get", "set", "value", "message", "url", "frameId", "toJSON", "0"]) {
    const get = () => { globalThis.seen = name; return "polluted"; };
    Object.defineProperty(Object.prototype, name, {__proto__: null, configurable: true, get, set() {}});
  }
  const fail = () => { throw new Error("polluted"); };
  for (const name of ["push", "map", "join"]) Array.prototype[name] = fail;
  Array.prototype[Symbol.iterator] = fail;
  JSON.stringify = JSON.parse = Reflect.apply = () => "polluted";
  Promise.prototype.then = Function.prototype.call = () => "polluted";
"""


@with_browser
async def test_polluted_prototypes_of_a_page_and_of_another_extension_change_no_message(
    tmp_path: Path, browser: str
) -> None:
    code = "globalThis.ask = () => browser.runtime.sendMessage({tell: [1, {url: 'x', frameId: 7}]});"
    async with content_lab(tmp_path, browser, [script(code)], background=ECHO) as lab:
        hostile = make(
            tmp_path,
            name="hostile",
            permissions=["<all_urls>"],
            content_scripts=[{"matches": ["<all_urls>"], "js": ["pollute.js"], "run_at": "document_start"}],
            files={"pollute.js": POLLUTE},
        )
        await lab.profile.extensions.start(hostile, on_log=lambda _: None)
        url = lab.page("/", f"<a id=browser name=chrome></a><form id=document></form><script>{POLLUTE}</script>")
        page = await lab.open(url)
        assert await lab.value(page, "ask()") == "echo"
        told, sender, frame, tab = await lab.message("told")
        assert (told, sender, frame, tab) == ([1, {"url": "x", "frameId": 7}], url, 0, lab.tab_of(page))
        assert await lab.value(page, "typeof globalThis.seen") == "undefined"
