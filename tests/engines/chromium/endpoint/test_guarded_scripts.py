"""Scripts of a client in the documents of a real browser: which of them run, and what they leave in others."""

from __future__ import annotations

import json
from pathlib import Path

import hatbox
from hatbox.engines.chromium.endpoint.page_commands import guarded_script
from tests.engines.chromium.endpoint.raw_client import target_of
from tests.engines.chromium.endpoint.test_hidden_pages import attach, client_of
from tests.engines.chromium.real import with_browser
from tests.site import Site

HOSTILE = (
    "function addEventListener() { spied = 1; }",
    "function origin() {}",
    "async function fetch() {}",
    "let fetch = 1",
    "const origin = 'http://a.test'",
    "class addEventListener {}",
    "var origin = 'x', fetch = 1",
    "'use strict'; function fetch() {}",
    "{ function fetch() {} }",
)
USED = "[String(addEventListener), String(fetch), origin, typeof spied]"
ADD = "Page.addScriptToEvaluateOnNewDocument"


@with_browser
async def test_a_script_leaves_what_a_local_file_calls(browser: str, path: Path, site: Site, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text("<title>report</title>")
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await page.goto(file.as_uri())
        before = await page.evaluate(USED)
        for source in HOSTILE:
            assert await page.evaluate("text => (0, eval)(text)", guarded_script(source)) is None
            session = await page.context.new_cdp_session(page)
            await session.send("Runtime.evaluate", {"expression": guarded_script(source)})
            assert await page.evaluate(USED) == before, source


NAMES = """() => {
    const names = [];
    for (let each = globalThis; each; each = Object.getPrototypeOf(each)) {
        names.push(...Object.getOwnPropertyNames(each));
    }
    return [...new Set(names)].filter((name) => /^[A-Za-z_$][\\w$]*$/.test(name));
}"""
READ = """(names) => {
    const read = (name) => { try { return globalThis[name]; } catch (error) { return error.message; } };
    const before = globalThis[Symbol.for("before")];
    const now = globalThis[Symbol.for("before")] = new Map(names.map((name) => [name, read(name)]));
    return before && names.filter((name) => !Object.is(before.get(name), now.get(name)));
}"""


@with_browser
async def test_no_name_of_a_page_of_the_browser_has_another_value(browser: str, path: Path) -> None:
    """Chromium cannot pause a navigation to such a page. A name that did not exist is undefined there."""
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work")
        await page.goto("chrome://version/")
        names = await page.evaluate(NAMES)
        assert {"addEventListener", "chrome", "isSecureContext", "toString", "__proto__"} <= set(names)
        await page.evaluate(READ, names)
        session = await page.context.new_cdp_session(page)
        for declare in ("var {} = 1;", "function {}() {{}}"):
            source = "".join(declare.format(name) for name in [*names, "unknownName"])
            done = await session.send("Runtime.evaluate", {"expression": guarded_script(source)})
            assert "exceptionDetails" not in done
            assert await page.evaluate(READ, names) == []
        assert await page.evaluate("[typeof unknownName, 'unknownName' in globalThis]") == ["undefined", True]


@with_browser
async def test_scripts_of_a_client_run_in_web_pages_and_are_gone_before_a_local_file_loads(
    browser: str, path: Path, site: Site, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    file.write_text("<title>report</title>")
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        target = await target_of(page)
        async with await client_of(runner) as client:
            await client.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
            session = await attach(client, target)
            await client.result("Page.enable", {}, session)
            await client.start(ADD, {"source": "function double(n) { return n * 2; } var added = 1;"}, session)
            await client.start(ADD, {"source": "}\ndouble = 7; {"}, session)
            await client.start(ADD, {"source": "#!double = 7"}, session)
            await client.result("Page.navigate", {"url": site.url("/page/2")}, session)  # after them, in this order
            await page.wait_for_url(site.url("/page/2"))
            assert await client.evaluate("let two = 2; double(two) // comment", session) == 4
            pure = {"expression": "document.title; double(3)", "throwOnSideEffect": True}
            assert (await client.result("Runtime.evaluate", pure, session))["result"]["value"] == 6
            wrong = await client.result("Runtime.evaluate", {"expression": "double(2) }"}, session)
            assert wrong["exceptionDetails"]["exception"]["className"] == "SyntaxError"
            for _ in range(5):
                await page.goto(file.as_uri())
                assert await page.evaluate("['added' in window, 'double' in window, document.title]") == [
                    False,
                    False,
                    "report",
                ]
                client.events.clear()
                await page.goto(site.url("/page/3"))
                attached = await client.event(
                    "Target.attachedToTarget", lambda each: each["targetInfo"]["targetId"] == target
                )
                session = attached["sessionId"]
                await client.result("Page.enable", {}, session)
                await client.result(ADD, {"source": "var added = 1; function double() {}"}, session)
            assert file.as_uri() not in json.dumps(client.received)
