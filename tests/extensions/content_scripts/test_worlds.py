"""The worlds of content scripts: what scripts share, what the page cannot reach, and the main world."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.extension_data.content_script import ScriptSource
from tests.engines.chromium.real import with_browser
from tests.extensions.content_scripts.content_lab import content_lab, eventually, script
from tests.extensions.made import make

pytestmark = pytest.mark.browser

FILES = {
    "one.js": '"use strict";\nconst ONE = 1; let two = 2; class Three {} function four() { return 4; } var five = 5;',
    "sloppy.js": "const SIX = 6; let seven = 7; function eight() { return seven; } var nine = 9;",
    "uses.js": """
      two++; seven++;
      let failure = null;
      try { ONE = 0; } catch (error) { failure = error.name; }
      browser.test.sendMessage("shared", [ONE, two, typeof Three, four(), five, SIX, eight(), nine, failure]);
    """,
    "again.js": "const ONE = 'again';",
    "broken.js": "this is no script",
    "shadows.js": "const browser = globalThis.browser ?? chrome; const name = 'mine'; let extra = browser.runtime.id;",
    "shadowed.js": "browser.test.sendMessage('shadowed', [name, extra, browser === chrome]);",
}


def files(*names: str) -> tuple[ScriptSource, ...]:
    return tuple(ScriptSource(file=name) for name in names)


@with_browser
async def test_scripts_of_an_extension_share_their_declarations(tmp_path: Path, browser: str) -> None:
    names = ("one.js", "broken.js", "sloppy.js", "again.js")
    scripts = [script("", js=files(*names)), script("", js=files("uses.js"), run_at="document_end")]
    async with content_lab(tmp_path, browser, scripts, files=FILES) as lab:
        page = await lab.open(lab.page("/"))
        assert await lab.message("shared") == [1, 3, "function", 4, 5, 6, 8, 9, "TypeError"]
        await eventually(lambda: len(lab.log) >= 2)
        assert [entry.text for entry in lab.log] == [
            "SyntaxError: Unexpected identifier 'is'",
            "SyntaxError: Identifier 'ONE' has already been declared",
        ]
        # Scripts that are executed later see them too.
        assert await lab.value(page, "[ONE, two, four(), new Three() instanceof Three, eight()]") == [1, 3, 4, True, 8]
        assert (
            await page.evaluate("[typeof ONE, typeof four, typeof five, typeof nine, typeof browser]")
            == ["undefined"] * 5
        )


@with_browser
async def test_a_script_can_declare_a_name_of_a_global(tmp_path: Path, browser: str) -> None:
    scripts = [script("", js=files("shadows.js", "shadowed.js"))]
    async with content_lab(tmp_path, browser, scripts, files=FILES) as lab:
        await lab.open(lab.page("/"))
        assert await lab.message("shadowed") == ["mine", "made@example.org", True]
        assert lab.log == []


@with_browser
async def test_scripts_of_the_main_world_run_in_the_scope_of_the_page_in_spite_of_its_policy(
    tmp_path: Path, browser: str
) -> None:
    names = ("sloppy.js", "broken.js", "one.js")
    scripts = [script("", js=files(*names), world="MAIN"), script("window.isolated = typeof eight")]
    async with content_lab(tmp_path, browser, scripts, files=FILES) as lab:
        policy = [("Content-Security-Policy", "default-src 'none'; script-src 'nonce-x'")]
        values = "[SIX, eight(), nine, ONE, four(), five, typeof browser, typeof isolated]"
        body = f"<script nonce=x>window.seen = {values}</script>"
        page = await lab.open(lab.page("/", body, headers=policy))
        assert await page.evaluate("seen") == [6, 7, 9, 1, 4, 5, "undefined", "undefined"]
        assert await lab.value(page, "isolated") == "undefined"


@with_browser
async def test_a_page_reaches_nothing_of_content_scripts(tmp_path: Path, browser: str) -> None:
    code = """
      const secret = "of the extension";
      window.mine = secret;
      browser.runtime.sendMessage({hello: secret});
      document.addEventListener("DOMContentLoaded", () => {
        const values = [typeof browser.runtime.sendMessage, JSON.stringify({a: 1}), document.title, `${browser}`];
        browser.test.sendMessage("values", values);
      });
    """
    hostile = """<a id=browser></a><a id=chrome></a><form id=secret></form><script>
      window.caught = [];
      JSON.stringify = () => '["hacked"]';
      Object.defineProperty(Document.prototype, "title", {get: () => "forged"});
      Promise.prototype.then = function (...args) { caught.push("then"); };
      for (const name of ["message", "runtime", "sendMessage", "receive", "encodeResult"]) {
        Object.defineProperty(Object.prototype, name, {set() { caught.push(name); }, get() {}, configurable: true});
      }
      window.onerror = window.onunhandledrejection = () => { caught.push("error"); };
      window.names = [];
      for (let view = window; view !== null; view = Object.getPrototypeOf(view)) {
        names.push(...Object.getOwnPropertyNames(view));
      }
    </script>"""
    background = """
      browser.runtime.onMessage.addListener((message, sender) => {
        browser.test.sendMessage("message", [message, sender.tab.id, sender.frameId]);
      });
    """
    async with content_lab(tmp_path, browser, [script(code)], background=background) as lab:
        page = await lab.open(lab.page("/", hostile, title="real"))
        assert await lab.message("message") == [{"hello": "of the extension"}, lab.tab_of(page), 0]
        assert await lab.message("values") == ["function", '{"a":1}', "real", "[object Object]"]
        assert await page.evaluate("caught") == []
        names = await page.evaluate("names")
        assert not [name for name in names if "hatbox" in name.lower()]
        assert await page.evaluate("[typeof mine, browser instanceof HTMLAnchorElement]") == ["undefined", True]


@with_browser
async def test_two_extensions_do_not_see_each_other(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script("window.mine = browser.runtime.id")]) as lab:
        other = {"matches": ["<all_urls>"], "js": ["c.js"], "run_at": "document_start"}
        code = "browser.runtime.sendMessage([typeof mine, browser.runtime.id])"
        background = (
            "browser.runtime.onMessage.addListener(message => { browser.test.sendMessage('other', message); });"
        )
        folder = make(tmp_path, background, name="other", files={"c.js": code}, content_scripts=[other])
        await lab.profile.extensions.start(folder, on_test_report=lab.reports.receive)
        page = await lab.open(lab.page("/"))
        assert await lab.message("other") == ["undefined", "other@example.org"]
        assert await lab.value(page, "mine") == "made@example.org"
