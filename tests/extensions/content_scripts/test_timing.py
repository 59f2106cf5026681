"""When content scripts run: before the first script of each document, at its end, and in windows that are reused."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Route

from tests.engines.chromium.real import with_browser
from tests.extensions.content_scripts.content_lab import FIRST, WATCH, B, content_lab, script

pytestmark = pytest.mark.browser

EVERYWHERE = {"all_frames": True, "match_origin_as_fallback": True}


@with_browser
async def test_scripts_run_before_the_first_script_of_every_document(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script(WATCH, **EVERYWHERE)]) as lab:
        lab.page("/inner", f"{FIRST}<iframe src='{lab.site.url('/innermost', 'a.localhost')}'></iframe>")
        for path in ("/same", "/innermost"):
            lab.page(path, FIRST)
        srcdoc = FIRST.replace('"', "&quot;")
        body = (
            f"{FIRST}<iframe src='/same'></iframe><iframe src='{lab.site.url('/inner', B)}'></iframe>"
            f'<iframe srcdoc="{srcdoc}"></iframe><iframe sandbox="allow-scripts" srcdoc="{srcdoc}"></iframe>'
            f'<iframe src="data:text/html,{FIRST}"></iframe>'
        )
        await lab.open(lab.page("/", body))
        found = [await lab.message("document") for _ in range(7)]
        # Chromium attaches to a sandboxed srcdoc frame, which has a process of its own, too late.
        early = [each for each in found if (each["href"], each["origin"]) != ("about:srcdoc", "null")]
        assert len(early) == 6
        assert all(each.get("first") and each["root"] and each["state"] == "loading" for each in early), found
        kinds = sorted(each["href"].partition("?")[0] for each in found)
        assert kinds[:2] == ["about:srcdoc", "about:srcdoc"]
        assert kinds[2].startswith("data:text/html")
        assert kinds[3:] == [
            "http://a.localhost/",
            "http://a.localhost/innermost",
            "http://a.localhost/same",
            "http://b.localhost/inner",
        ]


@with_browser
async def test_scripts_run_before_the_first_script_of_popups_and_of_frames_that_the_page_touches_early(
    tmp_path: Path, browser: str
) -> None:
    async with content_lab(tmp_path, browser, [script(WATCH, all_frames=True)]) as lab:
        for path in ("/popup", "/noopener", "/touched"):
            lab.page(path, FIRST)
        page = await lab.open(lab.page("/", FIRST))
        await lab.documents(1)
        found: dict[str, Any] = {}
        for opened in (
            "window.open('/popup')",
            f"window.open('{lab.site.url('/popup', B)}')",
            "window.open('/noopener', '_blank', 'noopener')",
        ):
            await page.evaluate(f"{opened}; 0")
            found |= await lab.documents(1)  # the events of a page are lost while another one of its process is opened
        await page.evaluate(
            """() => {
              const frame = document.createElement("iframe");
              frame.src = "/touched";
              document.body.append(frame);
              frame.contentWindow.mine = 1;
            }"""
        )
        found |= await lab.documents(1)
        assert sorted(found) == [
            "http://a.localhost/noopener",
            "http://a.localhost/popup",
            "http://a.localhost/touched",
            "http://b.localhost/popup",
        ]
        assert all(each.get("first") for each in found.values()), found


@with_browser
async def test_scripts_run_first_in_a_popup_that_loads_while_another_page_of_its_process_is_paused(
    tmp_path: Path, browser: str
) -> None:
    """Chromium pauses pages while a window is being opened. Events in them are lost then, as at a breakpoint."""
    async with content_lab(tmp_path, browser, [script(WATCH)]) as lab:
        requested, released = asyncio.Event(), asyncio.Event()

        async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                if b" /popup " in await reader.readuntil(b"\r\n\r\n"):
                    requested.set()
                    await released.wait()
                head = f"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(FIRST)}\r\n\r\n"
                writer.write((head + FIRST).encode())
                await writer.drain()
            writer.close()

        server = await asyncio.start_server(respond, "127.0.0.1", 0)
        page = await lab.open(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        await lab.documents(1)
        await page.evaluate("window.open('/popup'); 0")
        await requested.wait()
        debugger = await page.context.new_cdp_session(page)
        await debugger.send("Debugger.enable")
        paused, committed = asyncio.Event(), asyncio.Event()
        debugger.on("Debugger.paused", lambda _: paused.set())
        stopped = asyncio.ensure_future(page.evaluate("() => { debugger; }"))
        await paused.wait()
        assert page.context.browser is not None
        targets = await page.context.browser.new_browser_cdp_session()
        targets.on(
            "Target.targetInfoChanged",
            lambda event: committed.set() if event["targetInfo"]["url"].endswith("/popup") else None,
        )
        await targets.send("Target.setDiscoverTargets", {"discover": True})
        released.set()
        await committed.wait()
        await debugger.send("Debugger.resume")
        await stopped
        [found] = (await lab.documents(1)).values()
        server.close()
        assert found.get("first"), found


@with_browser
async def test_scripts_for_the_end_of_a_popup_run_before_it_is_complete(tmp_path: Path, browser: str) -> None:
    code = "browser.test.sendMessage('state', document.readyState);"
    async with content_lab(tmp_path, browser, [script(code, run_at="document_end")]) as lab:
        lab.page("/popup")
        page = await lab.open(lab.page("/"))
        assert await lab.message("state") == "interactive"
        for _ in range(5):
            await page.evaluate("window.open('/popup'); 0")
            assert await lab.message("state") == "interactive"


@with_browser
async def test_scripts_run_in_blank_frames(tmp_path: Path, browser: str) -> None:
    code = "if (window !== top) window.name = 'marked';"
    async with content_lab(tmp_path, browser, [script(code, all_frames=True, match_about_blank=True)]) as lab:
        page = await lab.open(lab.page("/"))
        add = """() => {
          const frame = document.createElement("iframe");
          document.body.append(frame);
          return new Promise(resolve => { setTimeout(() => resolve(frame.contentWindow.name), 0); });
        }"""
        assert await page.evaluate(add) == "marked"


@with_browser
async def test_scripts_do_not_run_in_the_empty_document_of_a_frame_that_is_loading(
    tmp_path: Path, browser: str
) -> None:
    code = "if (window !== top) browser.test.sendMessage('frame', location.pathname);"
    async with content_lab(tmp_path, browser, [script(code, all_frames=True, match_about_blank=True)]) as lab:
        lab.page("/inner")
        page = await lab.open(lab.page("/"))
        released = asyncio.Event()

        async def hold(route: Route) -> None:
            await released.wait()
            await route.continue_()

        await page.route("**/inner", hold)
        add = """() => {
          const frame = document.createElement("iframe");
          frame.src = "/inner";
          document.body.append(frame);
          return frame.contentWindow.location.href;
        }"""
        assert await page.evaluate(add) == "about:blank"
        released.set()
        assert await lab.message("frame") == "/inner"


@with_browser
async def test_scripts_run_at_the_end_of_the_document_and_when_it_is_idle(tmp_path: Path, browser: str) -> None:
    report = "browser.test.sendMessage('at', ['%s', document.readyState, document.querySelector('#last') !== null]);"
    times = ("document_start", "document_end", "document_idle")
    scripts = [script(report % at, run_at=at) for at in reversed(times)]
    async with content_lab(tmp_path, browser, scripts) as lab:
        await lab.open(lab.page("/", "<script></script><p id=last></p>"))
        found = [await lab.message("at") for _ in times]
        assert found[:2] == [["document_start", "loading", False], ["document_end", "interactive", True]]
        assert found[2] in [["document_idle", "interactive", True], ["document_idle", "complete", True]]


@with_browser
async def test_scripts_of_a_started_extension_run_in_pages_that_are_open(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser) as lab:
        page = await lab.open(lab.page("/", FIRST))
        lab.page("/frame")
        await page.evaluate(f"document.body.innerHTML = '<iframe src=\"{lab.site.url('/frame', B)}\">'; 0")
        await page.frame_locator("iframe").locator("html").wait_for()
        await lab.set_scripts(script("browser.test.sendMessage('now', location.pathname)", all_frames=True))
        assert sorted([await lab.message("now"), await lab.message("now")]) == ["/", "/frame"]
        # Scripts that are registered later run in new documents only.
        await lab.set_scripts(script("browser.test.sendMessage('later', location.pathname)"))
        await page.goto(lab.page("/next"))
        assert await lab.message("later") == "/next"


@with_browser
async def test_scripts_run_in_pages_that_playwright_opens(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script(WATCH)]) as lab:
        context = await lab.chrome.context("Work")  # no page is open yet
        page = await context.new_page()
        await page.goto(lab.page("/", FIRST))
        assert (await lab.message("document"))["first"]
