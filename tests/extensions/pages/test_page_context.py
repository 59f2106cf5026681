"""The browser context of an extension, in a real Chromium: what its pages load, and what they do not reach."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from hatbox.engines.chromium.launch import launch
from hatbox.errors import NetworkError
from hatbox.extensions.package.manifest import read_manifest
from hatbox.extensions.package.package_files import open_package
from hatbox.extensions.pages.page_context import PageContext
from hatbox.extensions.pages.page_files import PageFiles
from hatbox.extensions.pages.page_requests import PageRequests
from hatbox.extensions.runtime.host import FetchRequest, FetchResponse
from tests.engines.chromium.conftest import browser as browser
from tests.engines.chromium.real import with_browser
from tests.extensions.made import make

pytestmark = pytest.mark.browser

LOADS = (Path(__file__).parent / "loads.js").read_text("utf-8")
FILES = {
    "page.html": "<!doctype html><title>Page</title><body><script src=page.js></script>",
    "page.js": """
        const moz = "moz-extension://" + location.host.split(".")[0];
        window.getURL = path => moz + "/" + path;
        window.importByUrl = async () => (await import(getURL("module.js"))).answer;
        window.first = typeof RTCPeerConnection;
    """,
    "pixel.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
    "classic.js": "window.classic = 'ran'",
    "module.js": "export const answer = 42; window.module = 'ran'",
    "module2.js": "window.module2 = 'ran'",
    "style.css": "body { color: rgb(1, 2, 3) } body::before { content: '__MSG_title__' }",
    "frame.html": "framed",
    "data.json": '{"a": 1}',
    "worker.js": "postMessage('worked')",
    "_locales/en/messages.json": '{"title": {"message": "Localized"}}',
}


class Observed:
    """What a context reports."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.reloaded = asyncio.Event()
        self.left: asyncio.Queue[str] = asyncio.Queue()

    async def page_opened(self, page: Page) -> None:
        self.opened.append(await page.content())
        await page.reload()
        self.reloaded.set()

    def left_extension(self, page: Page, url: str) -> None:
        self.left.put_nowait(url)


async def refuse(request: FetchRequest) -> FetchResponse:
    raise NetworkError(f"missing host permission for {request.url}")


@asynccontextmanager
async def open_context(
    browser: str,
    folder: Path,
    fetch: Callable[[FetchRequest], Awaitable[FetchResponse]] = refuse,
    **manifest: Any,
) -> AsyncIterator[tuple[PageContext, Observed]]:
    package = open_package(make(folder, files={**FILES, **manifest.pop("files", {})}, default_locale="en", **manifest))
    files = PageFiles(package, read_manifest(package))
    launched = await launch(browser, headless=True)
    observed = Observed()
    try:
        context = await PageContext.open(launched, PageRequests(files, fetch, "Agent"), observed, headless=True)
        yield context, observed
        await context.close()
    finally:
        await launched.stop()


@with_browser
async def test_every_loader_of_a_page_loads_urls_of_get_url(browser: str, tmp_path: Path) -> None:
    async with open_context(browser, tmp_path) as (context, _):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        assert await page.evaluate(LOADS, context.urls.extension_origin) == {
            "image": "loaded",
            "icon": "loaded",
            "script": "ran",
            "module": "ran",
            "attribute": "ran",
            "style": "rgb(1, 2, 3)",
            "message": '"Localized"',
            "frame": "framed",
            "parsed": "framed",
            "fetch": {"a": 1},
            "request": {"a": 1},
            "missing": "TypeError",
            "xhr": '{"a": 1}',
            "worker": "worked",
            "imported": 42,
        }


@with_browser
async def test_a_script_navigates_to_a_url_of_get_url(browser: str, tmp_path: Path) -> None:
    async with open_context(browser, tmp_path) as (context, _):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        async with page.expect_navigation():
            await page.evaluate("void (location.href = getURL('frame.html?a#b'))")
        assert context.urls.extension_url(page.url) == f"{context.urls.extension_origin}/frame.html?a#b"
        await page.goto(f"{context.urls.origin}/page.html")
        await page.evaluate("document.body.innerHTML = `<a href='${getURL('frame.html')}'>go</a>`")
        async with page.expect_navigation():
            await page.click("a")
        assert page.url == f"{context.urls.origin}/frame.html"


@with_browser
async def test_the_policy_of_the_manifest_holds(browser: str, tmp_path: Path) -> None:
    files = {
        "page.html": "<body onclick='window.attribute = 1'><script>window.inline = 1</script><script src=page.js>"
        "</script>",
        "page.js": "try { window.evaluated = eval('1') } catch (error) { window.evaluated = error.name }",
    }
    async with open_context(browser, tmp_path, files=files) as (context, _):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        await page.click("body")
        state = "[window.inline, window.attribute, window.evaluated]"
        assert await page.evaluate(state) == [None, None, "EvalError"]


@with_browser
async def test_an_inline_script_runs_if_the_policy_has_its_hash(browser: str, tmp_path: Path) -> None:
    digest = base64.b64encode(hashlib.sha256(b"window.inline = 'ran'").digest()).decode()
    policy = f"script-src 'self' 'sha256-{digest}'; object-src 'self'"
    files = {"page.html": "<script>window.inline = 'ran'</script><script>window.other = 'ran'</script>"}
    async with open_context(browser, tmp_path, files=files, content_security_policy=policy) as (context, _):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        assert await page.evaluate("[window.inline, window.other]") == ["ran", None]


@with_browser
async def test_a_page_may_evaluate_text_if_the_manifest_says_so(browser: str, tmp_path: Path) -> None:
    files = {"page.js": "window.evaluated = eval('1 + 1')"}
    policy = "script-src 'self' 'unsafe-eval'; object-src 'self'"
    async with open_context(browser, tmp_path, files=files, content_security_policy=policy) as (context, _):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        assert await page.evaluate("window.evaluated") == 2


@with_browser
async def test_the_network_is_reached_by_host_permissions_only(browser: str, tmp_path: Path) -> None:
    requested: list[FetchRequest] = []

    async def fetch(request: FetchRequest) -> FetchResponse:
        requested.append(request)
        if "allowed" not in request.url:
            raise NetworkError("missing host permission")
        return FetchResponse(request.url, 201, "Created", [("x-answer", "42")], False, b"body")

    async with open_context(browser, tmp_path, fetch) as (context, _):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        script = """async url => {
            try {
                const init = {method: "POST", body: "text", headers: {"x-own": "1"}, credentials: "include"};
                const response = await fetch(url, init);
                return [response.status, response.headers.get("x-answer"), await response.text()];
            } catch (error) { return error.name; }
        }"""
        assert await page.evaluate(script, "https://allowed.example/") == [201, "42", "body"]
        assert await page.evaluate(script, "https://denied.example/") == "TypeError"
        sent = next(each for each in requested if "allowed" in each.url)
        assert (sent.method, sent.body) == ("POST", b"text")
        names = {name.lower(): value for name, value in sent.headers}
        assert names["x-own"] == "1"
        assert names["user-agent"] == "Agent"
        assert "cookie" not in names
        assert "origin" not in names


@with_browser
async def test_nothing_goes_to_the_network_without_the_host(browser: str, tmp_path: Path) -> None:
    reached: list[str] = []

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append("connection")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, open_context(browser, tmp_path) as (context, _):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        script = """async port => {
            const host = `127.0.0.1:${port}`;
            const ended = [];
            ended.push(new Promise(resolve => { new WebSocket(`ws://${host}/`).onclose = resolve; }));
            ended.push(fetch(`http://${host}/`).catch(() => {}));
            navigator.sendBeacon(`http://${host}/`, "x");
            const preconnect = Object.assign(document.createElement("link"), {rel: "preconnect", href: `http://${host}`});
            document.head.append(preconnect);
            const image = new Image();
            ended.push(new Promise(resolve => { image.onerror = resolve; }));
            image.src = `http://${host}/`;
            await Promise.all(ended);
        }"""
        await page.evaluate(script, port)
        await page.evaluate(script.replace("127.0.0.1", "localhost"), port)
        assert not reached


INLINE = "parent.postMessage(['inline', Object.getOwnPropertyNames(self).filter(name => /RTC/.test(name))], '*')"
RTC = "window => [...Object.getOwnPropertyNames(window)].filter(name => /RTC|WebTransport/.test(name))"


@with_browser
async def test_no_document_of_the_context_has_web_rtc(browser: str, tmp_path: Path) -> None:
    files = {
        "page.js": f"""
            const rtc = {RTC};
            window.open_all = async popup => {{
                const found = {{page: rtc(window), popup: rtc(window.open(popup))}};
                const add = (name, properties) => {{
                    const frame = Object.assign(document.createElement("iframe"), properties);
                    document.body.append(frame);
                    found[name] = rtc(frame.contentWindow);
                }};
                add("blank", {{}});
                add("srcdoc", {{srcdoc: "<p>x"}});
                add("own", {{src: "frame.html"}});
                onmessage = event => {{ found[event.data[0]] = event.data[1]; }};
                for (const sandbox of ["allow-scripts", "allow-scripts allow-same-origin"]) {{
                    const frame = document.createElement("iframe");
                    frame.sandbox = sandbox;
                    const script = "<script src='" + location.origin + "/sandboxed.js'></scr" + "ipt>";
                    frame.srcdoc = "<script>{INLINE}</scr" + "ipt>" + script;
                    document.body.append(frame);
                    await new Promise(resolve => {{ frame.onload = resolve; }});
                }}
                return found;
            }};
        """,
        "sandboxed.js": f"parent.postMessage(['script', ({RTC})(window)], '*')",
    }
    digest = base64.b64encode(hashlib.sha256(INLINE.encode()).digest()).decode()
    policy = f"script-src 'self' 'sha256-{digest}'; object-src 'self'"
    async with open_context(browser, tmp_path, files=files, content_security_policy=policy) as (context, _):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        for popup in ("about:blank", "frame.html"):
            found = await page.evaluate("popup => window.open_all(popup)", popup)
            assert not [name for name, names in found.items() if names], found


@with_browser
async def test_an_opened_page_is_reported_before_its_first_script_runs(browser: str, tmp_path: Path) -> None:
    async with open_context(browser, tmp_path) as (context, observed):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        assert not observed.opened
        await page.evaluate("document.body.innerHTML = '<a target=_blank href=frame.html>open</a>'")
        async with page.context.expect_page() as opening:
            await page.click("a")
        opened = await opening.value
        await observed.reloaded.wait()
        assert observed.opened == ["<!DOCTYPE html><html><head></head><body></body></html>"]
        assert await opened.inner_text("body") == "framed"


@with_browser
async def test_a_page_does_not_leave_the_extension(browser: str, tmp_path: Path) -> None:
    async with open_context(browser, tmp_path) as (context, observed):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        await page.evaluate("void (location.href = 'https://site.example/')")
        assert await observed.left.get() == "https://site.example/"
        assert page.url == f"{context.urls.origin}/page.html"


@with_browser
async def test_a_page_has_no_cookies_and_no_files_of_another_extension(browser: str, tmp_path: Path) -> None:
    async with open_context(browser, tmp_path) as (context, _):
        page = await context.new_page()
        await page.goto(f"{context.urls.origin}/page.html")
        assert await page.context.cookies() == []
        other = "moz-extension://00000000-0000-4000-8000-000000000000/page.js"
        script = """url => new Promise(resolve => {
            const script = Object.assign(document.createElement("script"), {src: url});
            script.onload = () => resolve("loaded");
            script.onerror = () => resolve("failed");
            document.body.append(script);
        })"""
        assert await page.evaluate(script, other) == "failed"
