"""Hostile extensions: their pages reach no data of others, and do not delay other pages."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hatbox import ScriptError
from tests.engines.chromium.conftest import browser as browser
from tests.engines.chromium.real import with_browser, with_own_driver
from tests.extensions.made import make
from tests.extensions.pages.test_browser_pages import run
from tests.waiting import until

FLOODS = {
    "console": "setInterval(() => { for (let i = 0; i < 5000; i++) console.log(i); }, 0);",
    "errors": """
        const target = new EventTarget();
        target.addEventListener("x", () => { throw new Error("x"); });
        setInterval(() => { for (let i = 0; i < 500; i++) target.dispatchEvent(new Event("x")); }, 0);
    """,
    "rejections": "setInterval(() => { for (let i = 0; i < 5000; i++) Promise.reject(i); }, 0);",
    "calls": "setInterval(() => { for (let i = 0; i < 500; i++) browser.tabs.query({}); }, 0);",
    "messages": """
        const send = i => { browser.runtime.sendMessage(i).catch(() => {}); };
        setInterval(() => { for (let i = 0; i < 500; i++) send(i); }, 0);
    """,
    "sizes": "setInterval(() => { document.body.style.width = `${Math.random() * 500}px`; }, 0);",
    "storage": "setInterval(() => { for (let i = 0; i < 100; i++) localStorage.setItem('x', Math.random()); }, 0);",
    "events": "setInterval(() => { for (let i = 0; i < 500; i++) dispatchEvent(new MouseEvent('click')); }, 0);",
    "loop": "setTimeout(() => { for (;;); }, 100);",
}


@pytest.mark.parametrize("kind", FLOODS)
@with_own_driver
async def test_a_flood_of_one_page_does_not_stop_others(browser: str, tmp_path: Path, kind: str) -> None:
    start = {"on_log": lambda _: None}
    async with run(tmp_path, files={"popup.js": FLOODS[kind]}, start=start) as (profile, runner, extension):
        page = await runner.new_page("Work")
        other = await profile.extensions.start(make(tmp_path, name="other", files={"page.html": "<p>calm"}))
        calm = await other.open_page("page.html")
        flooding = await extension.open_page("popup.html", kind="POPUP")
        for _ in range(3):
            assert await page.evaluate("1 + 1") == 2
            assert (
                await calm.page.evaluate("browser.runtime.getPlatformInfo().then(info => typeof info.os)") == "string"
            )
        await flooding.close()
        assert flooding.is_closed


@with_browser
async def test_a_page_finds_neither_the_binding_nor_the_receiver(browser: str, tmp_path: Path) -> None:
    files = {
        "popup.js": """
            const isOurs = name => typeof name === "string" && /hatbox/i.test(name);
            window.find = () => Reflect.ownKeys(window).filter(isOurs);
        """
    }
    async with run(tmp_path, files=files) as (_, __, extension):
        window = await extension.open_page("popup.html")
        assert await window.page.evaluate("find()") == []


@with_browser
async def test_an_event_that_a_script_makes_is_no_user_input(browser: str, tmp_path: Path) -> None:
    files = {
        "popup.js": """
            const wanted = {permissions: ["bookmarks"]};
            const request = () => browser.permissions.request(wanted).then(String, error => error.message);
            Object.defineProperty(Event.prototype, "isTrusted", {get: () => true});
            Object.defineProperty(UserActivation.prototype, "isActive", {get: () => true});
            Object.defineProperty(navigator, "userActivation", {value: {isActive: true}});
            addEventListener("click", () => { window.answer = request(); });
            document.dispatchEvent(new MouseEvent("click", {bubbles: true}));
        """
    }
    asked: list[object] = []

    async def decide(permissions: object) -> bool:
        asked.append(permissions)
        return True

    optional = ["bookmarks"]
    async with run(tmp_path, files=files, start={"decide": decide}, optional_permissions=optional) as (*_, extension):
        window = await extension.open_page("popup.html")
        message = await window.page.evaluate("window.answer")
        assert message == "permissions.request may only be called from a user input handler"
        assert not asked


@with_browser
async def test_a_page_that_breaks_globals_breaks_only_itself(browser: str, tmp_path: Path) -> None:
    files = {
        "popup.js": """
            const names = ["JSON", "Promise", "Map", "Array", "Object", "Symbol", "fetch"];
            for (const name of names) window[name] = undefined;
            delete window.browser;
        """,
        "calm.html": "<!doctype html>",
    }
    async with run(tmp_path, files=files) as (_, __, extension):
        await extension.open_page("popup.html", kind="POPUP")
        calm = await extension.open_page("calm.html")
        assert len(await calm.page.evaluate("browser.contextualIdentities.query({})")) == 4


@with_browser
async def test_a_frame_of_another_origin_has_no_api(browser: str, tmp_path: Path) -> None:
    files = {
        "popup.js": """
            window.seen = [];
            const add = properties => new Promise(resolve => {
                const frame = Object.assign(document.createElement("iframe"), properties);
                frame.onload = resolve;
                document.body.append(frame);
            });
            onmessage = event => { seen.push(event.data); };
            const script = `<script src="${location.origin}/framed.js"></scr` + "ipt>";
            window.done = Promise.all([
                add({src: "data:text/html," + encodeURIComponent(script)}),
                add({srcdoc: script, sandbox: "allow-scripts"}),
                add({src: "https://site.example/"}),
            ]);
        """,
        "framed.js": "parent.postMessage([typeof browser, typeof chrome?.runtime], '*');",
    }
    async with run(tmp_path, files=files) as (_, __, extension):
        window = await extension.open_page("popup.html")
        seen = await window.page.evaluate(
            "Promise.race([done, new Promise(r => setTimeout(r, 3000))]).then(() => seen)"
        )
        assert all(each == ["undefined", "undefined"] for each in seen)


@with_browser
async def test_a_page_that_never_answers_delays_no_message(browser: str, tmp_path: Path) -> None:
    files = {"popup.js": "browser.runtime.onMessage.addListener(() => new Promise(() => {}));"}
    background = "browser.runtime.onMessage.addListener(async message => `answer ${message}`);"
    async with run(tmp_path, background, files=files) as (_, __, extension):
        silent = await extension.open_page("popup.html", kind="POPUP")
        calm = await extension.open_page("options.html")
        assert await calm.page.evaluate("browser.runtime.sendMessage('x')") == "answer x"
        waiting = asyncio.ensure_future(extension.evaluate("browser.runtime.sendMessage('y')"))
        await until(lambda: silent.documents.runtimes)
        await silent.close()
        with pytest.raises(ScriptError):
            await waiting
