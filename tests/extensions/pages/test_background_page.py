"""Backgrounds in a hidden document of Chromium."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ExtensionError, Profile
from hatbox.errors import ExtensionTerminated, SandboxUnavailable
from hatbox.extensions.background_place import BackgroundPlace, runs_in_chromium
from hatbox.extensions.extension import Extension
from hatbox.extensions.package.background import Background, Script
from hatbox.extensions.package.package_files import open_package
from hatbox.extensions.pages.background_page import BackgroundPage
from hatbox.extensions.runtime import Exit, LogEntry, RuntimeLimits
from tests.engines.chromium import shared_driver

browser = pytest.mark.browser

HTML = "<!doctype html><title>Background</title><script src=page.js></script><script type=module src=late.js></script>"


def write_extension(folder: Path, files: Mapping[str, str], **manifest: Any) -> Path:
    """The folder of an extension with a background page."""
    keys = {
        "manifest_version": 2,
        "name": "made",
        "version": "1",
        "browser_specific_settings": {"gecko": {"id": "made@example.org"}},
        "background": {"page": "page.html", "persistent": True},
        **manifest,
    }
    every = {"manifest.json": json.dumps(keys), "page.html": HTML, "page.js": "", "late.js": "", **files}
    for path, text in every.items():
        (folder / "made" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "made" / path).write_text(text, "utf-8")
    return folder / "made"


_COUNTS = "localStorage.loads = +(localStorage.loads ?? 0) + 1; if (localStorage.loads > 1) console.log('second');"


@asynccontextmanager
async def running(
    folder: Path,
    script: str = "",
    *,
    files: Mapping[str, str] | None = None,
    place: BackgroundPlace | None = None,
    limits: RuntimeLimits | None = None,
    **manifest: Any,
) -> AsyncIterator[tuple[Profile, Extension, _Log]]:
    """An extension with a background page, and the Chromium engine, which is started first."""
    made = write_extension(folder, {"page.js": script, **(files or {})}, **manifest)
    log = _Log()
    async with asyncio.timeout(180), hatbox.open(folder / "profile.db") as profile, profile.chromium(headless=True):
        extension = await profile.extensions.start(
            made, background_place=place, limits=limits, on_log=log.add, on_exit=log.add_exit
        )
        yield profile, extension, log


class _Log:
    def __init__(self) -> None:
        self.entries: list[LogEntry] = []
        self.exits: list[tuple[Exit, float | None]] = []
        self._changed = asyncio.Event()

    def add(self, entry: LogEntry) -> None:
        self.entries.append(entry)
        self._changed.set()

    def add_exit(self, ended: Exit, delay: float | None) -> None:
        self.exits.append((ended, delay))
        self._changed.set()

    async def exit(self) -> Exit:
        async with asyncio.timeout(60):
            while not self.exits:
                self._changed.clear()
                await self._changed.wait()
        return self.exits[0][0]

    async def entry(self, text: str) -> LogEntry:
        async with asyncio.timeout(60):
            while not (found := [each for each in self.entries if text in each.text]):
                self._changed.clear()
                await self._changed.wait()
        return found[0]


@browser
def test_a_background_page_has_a_real_document_and_the_api(tmp_path: Path) -> None:
    script = """
        globalThis.parsed = new DOMParser().parseFromString("<p>a<p>b", "text/html").body.innerHTML;
        globalThis.image = document.createElement("canvas").toDataURL().length > 100;
        browser.runtime.onInstalled.addListener(({reason}) => { globalThis.installed = reason; });
        browser.storage.local.set({from: document.title});
    """

    async def main() -> None:
        late = {
            "late.js": "import {word} from './word.js'; globalThis.word = word;",
            "word.js": "export const word = 5;",
        }
        async with running(tmp_path, script, files=late, permissions=["storage"]) as (_, extension, log):
            assert isinstance(extension.runtime, BackgroundPage)
            assert await extension.evaluate("[parsed, image, word]") == ["<p>a</p><p>b</p>", True, 5]
            assert await extension.evaluate("await browser.storage.local.get()") == {"from": "Background"}
            assert await extension.evaluate("installed") == "install"
            assert await extension.evaluate(
                "[typeof RTCPeerConnection, browser.extension.getBackgroundPage() === window]"
            ) == [
                "undefined",
                True,
            ]
            assert await extension.evaluate("browser.runtime.getURL('x')") == f"{extension.manifest.base_url}x"
            assert not [each for each in log.entries if each.level == "error"]

    shared_driver.run(main())


@browser
def test_console_messages_and_errors_of_a_background_page_name_their_file(tmp_path: Path) -> None:
    script = """console.log("here", {a: 1});
        setTimeout(() => { throw new TypeError("thrown"); });
        Promise.reject(new Error("rejected"));
    """

    async def main() -> None:
        async with running(tmp_path, script) as (_, extension, log):
            file = f"{extension.manifest.base_url}page.js"
            here, thrown, rejected = [await log.entry(each) for each in ("here", "thrown", "rejected")]
            assert (here.kind, here.text, here.file, here.line) == ("console", 'here {"a":1}', file, 1)
            assert (thrown.kind, thrown.text, thrown.file, thrown.line) == ("error", "TypeError: thrown", file, 2)
            assert (rejected.kind, rejected.file, rejected.line) == ("rejection", file, 3)
            with pytest.raises(hatbox.ScriptError, match="missing is not defined"):
                await extension.evaluate("missing.value")

    shared_driver.run(main())


@browser
def test_a_popup_and_the_background_page_share_messages_and_storage(tmp_path: Path) -> None:
    script = """
        localStorage.setItem("from", "background");
        globalThis.changed = new Promise(resolve => addEventListener("storage", event => resolve(event.newValue)));
        browser.runtime.onMessage.addListener(async message => ({message, stored: localStorage.getItem("popup")}));
    """
    files = {"popup.html": "<!doctype html><script src=popup.js></script>", "popup.js": ""}

    async def main() -> None:
        async with running(tmp_path, script, files=files) as (profile, extension, _):
            window = await extension.open_page("popup.html", kind="POPUP")
            asked = "localStorage.setItem('popup', 'x'), browser.runtime.sendMessage([localStorage.getItem('from')])"
            assert await window.page.evaluate(asked) == {"message": ["background"], "stored": "x"}
            assert await extension.evaluate("await changed") == "x"
            await profile.extensions.stop(extension)
        async with running(tmp_path, "") as (_, extension, _):
            assert await extension.evaluate("({...localStorage})") == {"from": "background", "popup": "x"}

    shared_driver.run(main())


@browser
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()));", "crashed: out of memory"),
        ("const all = []; setInterval(() => all.push(new Uint8Array(3e7).fill(1)), 5);", "crashed: out of memory"),
        ("for (;;);", "unresponsive"),
        ("location.reload();", "exited"),
    ],
    ids=["heap", "buffers", "loop", "reload"],
)
def test_a_background_page_that_breaks_a_limit_is_closed_and_started_again(
    tmp_path: Path, script: str, reason: str
) -> None:
    async def main() -> None:
        limits = RuntimeLimits(ping_timeout=3)
        async with running(tmp_path, _COUNTS, limits=limits) as (_, extension, log):
            first = extension.runtime
            await extension.evaluate(f"void setTimeout(() => {{ {script} }}, 10)")
            assert (await log.exit()).reason == reason
            await log.entry("second")
            assert extension.runtime is not first

    shared_driver.run(main())


@browser
def test_a_crash_of_the_renderer_restarts_the_background_page(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(tmp_path, _COUNTS) as (_, extension, log):
            assert isinstance(extension.runtime, BackgroundPage)
            extension.runtime.session.send("Page.crash")
            assert (await log.exit()).reason.startswith("crashed")
            await log.entry("second")

    shared_driver.run(main())


@browser
def test_a_background_page_has_no_threads_that_the_memory_limit_does_not_cover(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(tmp_path) as (_, extension, _):
            names = "[typeof Worker, typeof SharedWorker, typeof navigator.serviceWorker, typeof CSS.paintWorklet]"
            assert await extension.evaluate(names) == ["undefined"] * 4
            inside = "document.body.appendChild(document.createElement('iframe')).contentWindow"
            assert await extension.evaluate(f"(inside => [typeof inside.Worker, typeof inside.browser])({inside})") == [
                "undefined",
                "undefined",
            ]
            assert await extension.evaluate("'audioWorklet' in BaseAudioContext.prototype") is False

    shared_driver.run(main())


@browser
@pytest.mark.parametrize("frame", ["src='frame.html'", "srcdoc='<script src=\"frame.js\"></script>'"])
def test_a_sandboxed_frame_of_a_background_page_has_neither_webrtc_nor_threads(tmp_path: Path, frame: str) -> None:
    files = {
        "frame.html": "<!doctype html><script src=frame.js></script>",
        "frame.js": "parent.postMessage([origin, typeof RTCPeerConnection, typeof Worker, typeof SharedWorker], '*');",
    }
    add = f"document.body.insertAdjacentHTML('beforeend', `<iframe sandbox=allow-scripts {frame}></iframe>`)"

    async def main() -> None:
        async with running(tmp_path, files=files) as (_, extension, _):
            posted = "new Promise(resolve => addEventListener('message', event => resolve(event.data)))"
            await extension.evaluate(f"globalThis.posted = {posted}; {add}")
            assert await extension.evaluate("await posted") == ["null", "undefined", "undefined", "undefined"]

    shared_driver.run(main())


@browser
def test_a_background_page_opens_neither_windows_nor_dialogs_and_stays_where_it_is(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(tmp_path) as (profile, extension, _):
            assert await extension.evaluate("[window.open('https://site.example/'), typeof alert('x')]") == [
                None,
                "undefined",
            ]
            await extension.evaluate("void (location.href = 'https://site.example/')")
            frame = """new Promise(resolve => {
                const frame = document.createElement("iframe");
                frame.src = "https://site.example/";
                frame.onload = () => resolve(frame.contentDocument === null ? "other" : "blank");
                document.body.append(frame);
                setTimeout(() => resolve("nothing"), 1000);
            })"""
            assert await extension.evaluate(frame) != "other"
            assert await extension.evaluate("document.title") == "Background"
            assert [tab.url for tab in await profile.tabs.query() if "site.example" in tab.url] == []

    shared_driver.run(main())


@browser
def test_a_background_reaches_the_network_only_with_the_permission(tmp_path: Path) -> None:
    async def main() -> None:
        async with running(tmp_path) as (_, extension, log):
            outcome = "await fetch('https://site.example/').then(() => 'response', error => error.name)"
            assert await extension.evaluate(outcome) == "TypeError"
            await log.entry("site.example")
            socket = """await new Promise(resolve => {
                const socket = new WebSocket("wss://site.example/");
                socket.onerror = () => resolve("refused");
                socket.onopen = () => resolve("open");
            })"""
            assert await extension.evaluate(socket) == "refused"

    shared_driver.run(main())


@browser
def test_background_scripts_run_in_chromium_if_the_user_wants_it(tmp_path: Path) -> None:
    async def main() -> None:
        scripts = {"scripts": ["one.js", "folder/two.js"], "persistent": False}
        files = {"one.js": "const one = 1;", "folder/two.js": "globalThis.sum = one + 1;"}
        async with running(tmp_path, files=files, place="chromium", background=scripts) as (_, extension, log):
            assert isinstance(extension.runtime, BackgroundPage)
            where = "[sum, document.scripts.length, location.pathname]"
            assert await extension.evaluate(where) == [2, 2, "/_generated_background_page.html"]
            assert await extension.suspend()
            assert extension.runtime is None
            assert await extension.evaluate("sum") == 2
            assert log.exits == []

    shared_driver.run(main())


@browser
def test_when_the_browser_stops_the_background_page_waits_for_its_events(tmp_path: Path) -> None:
    async def main() -> None:
        script = "browser.storage.onChanged.addListener(({a}) => console.log(`${typeof document} ${a.newValue}`));"
        made = write_extension(tmp_path, {"page.js": script}, permissions=["storage"])
        log = _Log()
        async with asyncio.timeout(120), hatbox.open(tmp_path / "profile.db") as profile:
            async with profile.chromium(headless=True):
                extension = await profile.extensions.start(made, on_log=log.add, on_exit=log.add_exit)
                await extension.browser.storage.local.set({"a": 1})
                await log.entry("object 1")
            assert extension.runtime is None
            await extension.browser.storage.local.set({"a": 2})
            await log.entry("undefined 2")  # in Deno
            await log.entry("--engine chromium")
            assert log.exits == []

    shared_driver.run(main())


def test_without_the_browser_a_background_in_chromium_is_an_error(tmp_path: Path) -> None:
    async def main() -> None:
        made = write_extension(tmp_path, {})
        async with hatbox.open(tmp_path / "profile.db") as profile:
            with pytest.raises(ExtensionTerminated, match="need the Chromium engine"):
                await profile.extensions.start(made, background_place="chromium")

    asyncio.run(main())


@browser
def test_a_background_without_a_page_shares_its_databases_with_the_pages_of_its_extension(tmp_path: Path) -> None:
    open_database = """globalThis.openDatabase = () => new Promise(resolve => {
        const opening = indexedDB.open("db", 1);
        opening.onupgradeneeded = () => { opening.result.createObjectStore("items").put("from the background", 1); };
        opening.onsuccess = () => resolve(opening.result);
    });"""
    files = {"database.js": open_database, "popup.html": "<script src=database.js></script>"}
    scripts = {"scripts": ["database.js"], "persistent": True}

    async def main() -> None:
        async with running(tmp_path, files=files, background=scripts) as (_, extension, __):
            assert await extension.evaluate("(await openDatabase()).name") == "db"
            window = await extension.open_page("popup.html")
            found = await window.page.evaluate("""async () => {
                const reading = (await openDatabase()).transaction("items").objectStore("items").get(1);
                return await new Promise(resolve => { reading.onsuccess = () => resolve(reading.result); });
            }""")
            assert found == "from the background"

    shared_driver.run(main())


def test_only_pages_run_in_chromium_unless_the_user_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HATBOX_SANDBOX", raising=False)
    page, scripts = Background((), "page.html"), Background((Script("a.js"),))
    worker = Background((Script("a.js"),), service_worker=True)
    limits, package = RuntimeLimits(), open_package(write_extension(tmp_path, {}))
    by_default = [runs_in_chromium(package, each, None, limits, has_browser=True) for each in (page, scripts, worker)]
    assert by_default == [True, False, False]
    assert not runs_in_chromium(package, page, None, limits, has_browser=False)
    assert not runs_in_chromium(package, page, "deno", limits, has_browser=True)
    assert runs_in_chromium(package, scripts, "chromium", limits, has_browser=True)
    with pytest.raises(ExtensionError, match="service_worker has no document"):
        runs_in_chromium(package, worker, "chromium", limits, has_browser=True)


def test_where_the_sandbox_is_required_no_background_runs_in_chromium(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, package = Background((), "page.html"), open_package(write_extension(tmp_path, {}))
    assert not runs_in_chromium(package, page, None, RuntimeLimits(require_sandbox=True), has_browser=True)
    monkeypatch.setenv("HATBOX_SANDBOX", "required")
    assert not runs_in_chromium(package, page, None, RuntimeLimits(), has_browser=True)
    with pytest.raises(SandboxUnavailable, match="does not run in it"):
        runs_in_chromium(package, page, "chromium", RuntimeLimits(), has_browser=True)
