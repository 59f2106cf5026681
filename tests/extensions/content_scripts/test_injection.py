"""executeScript, insertCSS and removeCSS in real pages: results, frames, and documents that end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hatbox.api.namespaces.tabs.tab_injection import InjectionAccess
from hatbox.errors import ApiError
from hatbox.extension_data.content_script import ScriptSource
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.urls.match_patterns import host_permissions
from tests.engines.chromium.real import with_browser
from tests.extensions.content_scripts.content_lab import A, B, content_lab, script
from tests.waiting import until_awaited

pytestmark = pytest.mark.browser

COLOR = "getComputedStyle(document.body).color"


@with_browser
async def test_executed_scripts_return_values_that_can_be_cloned(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser) as lab:
        page = await lab.open(lab.page("/", "<p>text"))
        cases: list[tuple[str, Any]] = [
            ("1 + 1", 2),
            ("document.querySelector('p').textContent.trim()", "text"),
            ("Promise.resolve([1, {a: null}])", [1, {"a": None}]),
            ("undefined", UNDEFINED),
            ("const once = 5; once", 5),
            ("typeof browser.runtime.sendMessage", "function"),
        ]
        for code, expected in cases:
            assert await lab.value(page, code) == expected, code
        (again,) = await lab.execute(page, "const once = 6;")
        assert again.error is not None
        assert again.error.message == "Identifier 'once' has already been declared"
        (thrown,) = await lab.execute(page, "throw new TypeError('no')")
        assert thrown.error is not None
        assert thrown.error.message == "no"
        (rejected,) = await lab.execute(page, "Promise.reject('text')")
        assert rejected.error is not None
        assert (rejected.error.message, rejected.error.value) == (None, "text")
        for code in ("document.body", "() => 1", "window"):
            (result,) = await lab.execute(page, code)
            assert not result.is_clonable, code
        assert (await lab.execute(page, "window.first = 1", "first + 1"))[0].value == 2
        assert await page.evaluate("typeof first") == "undefined"
        assert await lab.value(page, "window.inPage = [1, 2]", world="MAIN") == [1, 2]
        assert await page.evaluate("inPage") == [1, 2]


@with_browser
async def test_a_tab_has_no_frames_of_the_pages_that_it_showed_before(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script("0")]) as lab:
        inner = f"<iframe srcdoc='<iframe></iframe>'></iframe><iframe src='{lab.site.url('/empty', B)}'></iframe>"
        lab.page("/empty")
        page = await lab.open(lab.page("/", inner))
        for host in (B, A, B):
            await page.goto(lab.site.url("/", host))
        await page.goto(lab.site.url("/empty", A))
        assert [each.value for each in await lab.execute(page, "location.pathname", frame_ids=None)] == ["/empty"]
        assert [each.parent_frame_id for each in await lab.host(page).frames(lab.tab_of(page))] == [-1]


@with_browser
async def test_scripts_are_executed_in_the_frames_of_a_tab(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser) as lab:
        lab.page("/inner", "<iframe src='/innermost'></iframe>")
        page = await lab.open(lab.page("/", f"<iframe src='{lab.site.url('/inner', B)}'></iframe><iframe></iframe>"))
        results = await lab.execute(page, "location.pathname", frame_ids=None)
        assert [each.value for each in results] == ["/", "/inner", "/innermost", "blank"]
        assert results[0].frame_id == 0
        numbers = [each.frame_id for each in results[1:]]
        assert all(0 < number < 2**53 for number in numbers)
        assert len(set(numbers)) == 3
        (one,) = await lab.execute(page, "location.pathname", frame_ids=(numbers[1],))
        assert one.value == "/innermost"
        (same,) = await lab.execute(page, "1", frame_ids=None, document_ids=(one.document_id,))
        assert same.frame_id == numbers[1]
        allowed = await lab.execute(page, "1", frame_ids=None, allows=lambda document: B in document.url)
        assert [each.frame_id for each in allowed] == numbers[:2]
        with pytest.raises(ApiError, match=r"Invalid frame IDs: \[7, 9\]\."):
            await lab.execute(page, "1", frame_ids=(0, 7, 9))
        with pytest.raises(ApiError, match="Invalid documentId: x"):
            await lab.execute(page, "1", frame_ids=None, document_ids=("x",))
        # A frame has the same number in another process.
        frame = page.frames[2] if page.frames[2].url.endswith("innermost") else page.frames[1]
        await frame.goto(lab.site.url("/moved", "c.localhost"))
        moved = await lab.execute(page, "location.pathname", frame_ids=None)
        assert "/moved" in [each.value for each in moved]
        assert {each.frame_id for each in moved} <= {0, *numbers}


@with_browser
async def test_a_script_whose_document_ends_has_no_result_and_delays_nobody(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser) as lab:
        page = await lab.open(lab.page("/"))
        pending = asyncio.ensure_future(lab.execute(page, "new Promise(() => {})"))
        assert await lab.value(page, "1") == 1
        await page.goto(lab.site.url("/other", B))
        assert await pending == []


@with_browser
async def test_style_sheets_are_inserted_and_removed_and_the_page_does_not_see_them(
    tmp_path: Path, browser: str
) -> None:
    css = "body { color: rgb(1, 2, 3) }"
    policy = [("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'")]
    async with content_lab(tmp_path, browser) as lab:
        page = await lab.open(lab.page("/", "<body>text", headers=policy))
        host, injection = lab.host(page), lab.injection(page, css)
        before = await page.evaluate(COLOR)
        assert await host.insert_css(injection) == 1
        assert await page.evaluate(COLOR) == "rgb(1, 2, 3)"
        assert await page.evaluate("[document.styleSheets.length, document.adoptedStyleSheets.length]") == [0, 0]
        assert await host.remove_css(lab.injection(page, "p {}")) == 1
        assert await page.evaluate(COLOR) == "rgb(1, 2, 3)"
        assert await host.remove_css(injection) == 1
        assert await page.evaluate(COLOR) == before


@with_browser
async def test_style_sheets_of_content_scripts_apply_before_the_page_is_drawn(tmp_path: Path, browser: str) -> None:
    sheet = script("", js=(), css=(ScriptSource(code="body { color: rgb(4, 5, 6) }"),))
    async with content_lab(tmp_path, browser, [sheet]) as lab:
        body = f"<body><script>window.first = {COLOR}</script>"
        policy = [("Content-Security-Policy", "style-src 'none'")]
        page = await lab.open(lab.page("/", body, headers=policy))
        assert await page.evaluate("first") == "rgb(4, 5, 6)"


@with_browser
async def test_style_sheets_apply_at_the_time_of_their_script(tmp_path: Path, browser: str) -> None:
    def styled(value: str, run_at: str) -> Any:
        css = (ScriptSource(code=f":root {{ --time: {value} }}"),)
        return script("", js=(), css=css, run_at=run_at)

    report = (
        """browser.test.sendMessage("time", getComputedStyle(document.documentElement).getPropertyValue("--time"))"""
    )
    scripts = [styled("idle", "document_idle"), styled("end", "document_end"), styled("start", "document_start")]
    scripts += [script(report, run_at=each) for each in ("document_start", "document_end", "document_idle")]
    async with content_lab(tmp_path, browser, scripts) as lab:
        await lab.open(lab.page("/"))
        assert [await lab.message("time") for _ in range(3)] == ["start", "end", "idle"]


@with_browser
async def test_style_sheets_end_with_their_extension(tmp_path: Path, browser: str) -> None:
    sheet = script("", js=(), css=(ScriptSource(code="body { color: rgb(4, 5, 6) }"),), all_frames=True)
    async with content_lab(tmp_path, browser, [sheet]) as lab:
        lab.page("/inner", "<body>")
        page = await lab.open(lab.page("/", f"<body><iframe src='{lab.site.url('/inner', B)}'></iframe>"))
        await lab.host(page).insert_css(lab.injection(page, "body { width: 42px }"))
        colors = [await frame.evaluate(COLOR) for frame in page.frames]
        assert colors == ["rgb(4, 5, 6)", "rgb(4, 5, 6)"]
        await page.evaluate("{ const own = new CSSStyleSheet(); document.adoptedStyleSheets.push(own) }")
        await lab.profile.extensions.stop(lab.extension)
        assert [await frame.evaluate(COLOR) for frame in page.frames] == ["rgb(0, 0, 0)", "rgb(0, 0, 0)"]
        assert await page.evaluate("getComputedStyle(document.body).width") != "42px"
        assert await page.evaluate("document.adoptedStyleSheets.length") == 1  # that of the page


@with_browser
async def test_active_tab_reaches_no_sandboxed_frame_of_the_page(tmp_path: Path, browser: str) -> None:
    async with content_lab(tmp_path, browser, [script("0")]) as lab:
        lab.page("/own")
        lab.page("/sandboxed")
        frames = "<iframe src=/own></iframe><iframe sandbox=allow-scripts src=/sandboxed></iframe>"
        page = await lab.open(lab.page("/", f"{frames}<iframe sandbox=allow-scripts srcdoc='<p>text'></iframe>"))
        everything = InjectionAccess(host_permissions(frozenset({"<all_urls>"})), "", True, True)

        async def are_attached() -> bool:
            return len(await lab.execute(page, "1", frame_ids=None, allows=everything.allows)) == 4

        await until_awaited(are_attached)
        chosen = everything._replace(hosts=host_permissions(frozenset()), active_url=page.url)
        found = await lab.execute(page, "location.pathname", frame_ids=None, allows=chosen.allows)
        assert [each.value for each in found] == ["/", "/own"]
