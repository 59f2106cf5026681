"""Pages that a client must not reach, in a real browser: the manager page, withheld and internal pages, extensions."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError

import hatbox
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization, authorize_token
from hatbox.engines.chromium.endpoint.method_rules import action_of
from hatbox.engines.chromium.endpoint.page_commands import guarded_script
from hatbox.ui.server import ManagerServer
from tests.engines.chromium.endpoint.protocol_description import arguments, description, methods
from tests.engines.chromium.endpoint.raw_client import RawClient, target_of
from tests.engines.chromium.real import cookie, running, with_browser
from tests.extensions.content_scripts.content_lab import content_lab, script
from tests.site import Site
from tests.ui.page_client import open_link
from tests.waiting import until, until_awaited

TOKEN = "a-token"
AUTO_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
TRY = """async (base) => {
    const failed = () => "failed";
    const read = await fetch(base, {credentials: "include"}).then((response) => response.status, failed);
    const socket = await new Promise((resolve) => {
        const socket = new WebSocket(base.replace("http", "ws") + "bridge");
        socket.onopen = () => resolve("opened");
        socket.onerror = () => resolve("failed");
    });
    const frame = document.createElement("iframe");
    const loaded = new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 500); });
    frame.src = base;
    document.body.append(frame);
    await loaded;
    const inner = frame.contentDocument?.documentElement.outerHTML ?? "";
    return {read, socket, hasPage: inner.includes("<main") || inner.includes("script")};
}"""


async def client_of(runner: ChromiumRunner) -> RawClient:
    endpoint = await runner.open_endpoint("Work", authorize_token(TOKEN, TokenAuthorization()))
    return RawClient(endpoint.url(TOKEN))


async def attach(client: RawClient, target_id: str, *, discover: bool = False) -> str:
    if discover:
        await client.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
    await client.event("Target.targetCreated", lambda each: each["targetInfo"]["targetId"] == target_id)
    return str((await client.result("Target.attachToTarget", {"targetId": target_id}))["sessionId"])


@with_browser
async def test_a_program_cannot_use_the_manager_page_that_is_open_in_its_identity(
    browser: str, path: Path, site: Site
) -> None:
    async with (
        hatbox.open(path) as profile,
        ManagerServer(profile) as server,
        profile.chromium(headless=True, browser=browser) as runner,
    ):
        manager = await runner.new_page("Work", server.create_link())
        await manager.wait_for_url(f"{server.url}**")
        await until(lambda: server.sockets.connected == 1)
        await until_awaited(lambda: cookie(profile, "Work", "hatbox_page"))
        other = await runner.new_page("Work", site.url("/page/1"))
        async with await client_of(runner) as client:
            await client.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
            await client.result("Target.setAutoAttach", AUTO_ATTACH)
            session = await attach(client, other_id := await target_of(other))
            for domain in ("Page", "Network", "Runtime", "DOM"):
                await client.result(f"{domain}.enable", {}, session)

            # The session is gone from the identity: from the browser, and from the profile.
            context = next(each for each in running(runner).contexts if each.pages)
            params = {"browserContextId": context.context_id}
            found = await running(runner).env.session.send("Storage.getCookies", params)
            assert "hatbox_page" not in json.dumps(found)
            await runner.wait_until_synced()
            assert await cookie(profile, "Work", "hatbox_page") is None

            # The user opens a link where the program listens: nothing is loaded, and the program does not see the link.
            client.events.clear()
            link = server.create_link()
            with pytest.raises(PlaywrightError, match="ERR_ABORTED"):
                await other.goto(link)
            assert other.url == site.url("/page/1")
            popup = f"window.open({json.dumps(server.create_link())}, '_blank', 'noopener')"
            await other.evaluate(popup)

            # The program makes a document with the origin of the manager page, and knows its address.
            session = (
                await client.event("Target.attachedToTarget", lambda each: each["targetInfo"]["targetId"] == other_id)
            )["sessionId"]
            await client.result("Fetch.enable", {}, session)
            await client.start("Page.navigate", {"url": f"http://127.0.0.1:{server.port}/x"}, session)
            paused = await client.event("Fetch.requestPaused", lambda each: each["request"]["url"].endswith("/x"))
            body = base64.b64encode(b"<!doctype html><body>mine").decode()
            html = [{"name": "Content-Type", "value": "text/html"}]
            answer = {"requestId": paused["requestId"], "responseCode": 200, "body": body, "responseHeaders": html}
            await client.result("Fetch.fulfillRequest", answer, session)
            await client.result("Fetch.disable", {}, session)
            await until_awaited(lambda: client.evaluate("document.body?.textContent === 'mine'", session))
            tried = await client.evaluate(f"({TRY})({json.dumps(server.url)})", session)
            assert tried == {"read": "failed", "socket": "failed", "hasPage": False}
            assert "hatbox_page" not in json.dumps(await client.result("Storage.getCookies"))

            seen = "\n".join(client.received)
            assert link.rpartition("/")[2] not in seen
            assert server.keys.prefix not in seen.replace(json.dumps(server.url), "")
            assert await target_of(manager) not in seen
        await open_link(link)  # it was not used
        personal = await runner.new_page("Personal", server.create_link())  # no program is there
        await personal.wait_for_url(f"{server.url}**")
        await until(lambda: server.sockets.connected == 2)
        with pytest.raises(PlaywrightError, match="ERR_ABORTED"):  # scripts of the program may have stayed
            await other.goto(server.create_link())


@with_browser
async def test_withheld_and_internal_pages_are_not_read_from_other_pages_or_in_the_moment_of_navigation(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await profile.rules.add("localhost", "Banking")
        tab = await profile.tabs.open("Work", site.url("/page/1"))
        await runner.wait_until_settled()
        person = runner.engine.page_of(tab.id)
        assert person is not None
        await person.wait_for_url(site.url("/page/1"))
        async with person.expect_popup() as opening:  # same process
            await person.evaluate("url => { window.open(url) }", site.url("/page/2"))
        popup = await opening.value
        await popup.evaluate("document.body.textContent = 'the password'; new Worker('data:text/javascript,1'); 1")
        pages = runner.engine.endpoint_pages
        async with await client_of(runner) as client:
            await client.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
            session = await attach(client, await target_of(person))
            own = await client.result("DOM.getDocument", {"depth": 1}, session)
            node = {"backendNodeId": own["root"]["backendNodeId"]}
            assert "Page 1" in (await client.result("DOM.getOuterHTML", node, session))["outerHTML"]
            popup_id = await target_of(popup)
            pages.withhold(popup_id, "person")
            await client.event("Target.targetDestroyed", lambda each: each["targetId"] == popup_id)
            for number in range(1, 60):
                await client.call("DOM.getOuterHTML", {"backendNodeId": number}, session)
            await client.call("DOM.pushNodesByBackendIdsToFrontend", {"backendNodeIds": list(range(1, 60))}, session)
            assert "the password" not in "\n".join(client.received)
            pages.release(popup_id, "person")

            # A page that the program does not control is navigated by one that it does: it is refused, not reopened.
            other_tab = await profile.tabs.open("Work", site.url("/popup"))
            await runner.wait_until_settled()
            other = runner.engine.page_of(other_tab.id)
            assert other is not None
            await other.wait_for_url(site.url("/popup"))
            async with other.expect_popup() as opening:
                await other.evaluate("url => { window.open(url) }", site.url("/page/4"))
            attached = await attach(client, await target_of(await opening.value))
            await client.evaluate(f"opener.location = {json.dumps(site.url('/', host='localhost'))}; 1", attached)
            await until_awaited(lambda: _is_blocked(profile, other_tab.id))
            assert {each.cookie_store_id for each in await profile.tabs.query()} == {"firefox-container-2"}

            # The user opens an internal page while the program floods its session.
            flood = asyncio.ensure_future(_flood(client, session))
            await until(lambda: len(client.replies) > 150)
            await person.goto("chrome://version/")
            assert await person.title() == "About Version"
            await person.wait_for_timeout(200)
            flood.cancel()
            assert await person.title() == "About Version"
            assert "chrome://version" not in "\n".join(client.received)
            assert "About Version" not in "\n".join(client.received)


async def _is_blocked(profile: hatbox.Profile, tab_id: int) -> bool:
    return "assigns" in next(each for each in await profile.tabs.query() if each.id == tab_id).error


async def _flood(client: RawClient, session: str) -> None:
    while True:
        for method, params in (
            ("Runtime.evaluate", {"expression": "document.title = 'seen ' + location.href"}),
            ("DOM.getDocument", {"depth": -1}),
            ("Page.getFrameTree", {}),
        ):
            await client.start(method, params, session)
        await asyncio.sleep(0.005)


READING = re.compile(r"[A-Za-z]+\.(get|capture|collect|describe|perform|print|push|query|request|resolve|search|take)")
"""The methods that answer with something of a page."""
FILES = {
    "frame.html": "<!doctype html><script src=frame.js></script>the extension",
    "frame.js": "parent.postMessage(1, '*')",
}
SHOW = """
  globalThis.show = () => new Promise(resolve => {
    const frame = document.createElement("iframe");
    addEventListener("message", () => resolve(1));
    frame.src = browser.runtime.getURL("frame.html");
    document.body.append(frame);
  });
"""


@with_browser
async def test_a_frame_of_an_extension_is_never_attached(browser: str, tmp_path: Path) -> None:
    async with content_lab(tmp_path, browser, [script(SHOW)], files=FILES) as lab:
        page = await lab.open(lab.page("/"))
        async with await client_of(lab.chrome) as client:
            await client.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
            session = await attach(client, await target_of(page))
            await client.result("Target.setAutoAttach", AUTO_ATTACH | {"waitForDebuggerOnStart": True}, session)
            spy = {"source": "globalThis.spied = true"}
            await client.result("Page.enable", {}, session)
            await client.result("Page.addScriptToEvaluateOnNewDocument", spy, session)
            assert await lab.value(page, "show()") == 1
            await client.result("Browser.getVersion")
            frames = [
                each
                for each in client.events
                if each["method"] in ("Target.attachedToTarget", "Target.targetCreated")
                and each["params"]["targetInfo"]["type"] == "iframe"
            ]
            assert frames == []
            assert not await page.frames[1].evaluate("globalThis.spied")
            # A blank page that it opens has its origin.
            await page.frames[1].click("body")
            assert await page.frames[1].evaluate("(window.opened = window.open('about:blank')) !== null")
            assert await page.frames[1].evaluate("opened.origin === origin")
            found: list[str] = []

            async def is_open() -> bool:
                infos = (await running(lab.chrome).env.session.send("Target.getTargets"))["targetInfos"]
                found[:] = [each["targetId"] for each in infos if each.get("openerFrameId")]
                return bool(found)

            await until_awaited(is_open)
            await client.result("Browser.getVersion")
            assert "error" in await client.call("Target.attachToTarget", {"targetId": found[0], "flatten": True})
            assert not [each for each in client.received if found[0] in each and '"error"' not in each]
            opened = await page.context.new_cdp_session(page.context.pages[-1])
            ran = await opened.send("Runtime.evaluate", {"expression": guarded_script("1")})
            assert ran["result"]["type"] == "undefined"
            assert (await opened.send("Runtime.evaluate", {"expression": "origin"}))["result"]["value"].count("-") == 4
            # A frame of a web site is attached.
            lab.site.page("/inner")
            inner = json.dumps(lab.site.url("/inner", "localhost"))
            await page.evaluate(
                f"document.querySelector('iframe').remove(); document.body.append(Object.assign("
                f"document.createElement('iframe'), {{src: {inner}}}))"
            )
            await client.event("Target.attachedToTarget", lambda each: each["targetInfo"]["type"] == "iframe")


@with_browser
async def test_no_method_answers_with_a_document_of_an_extension(browser: str, tmp_path: Path) -> None:
    async with content_lab(tmp_path, browser, [script(SHOW)], files=FILES) as lab:
        page = await lab.open(lab.page("/"))
        async with await client_of(lab.chrome) as client:
            session = await attach(client, await target_of(page), discover=True)
            for domain in ("Page", "Network", "DOM", "CSS", "Runtime", "Accessibility", "DOMStorage", "IndexedDB"):
                await client.result(f"{domain}.enable", {}, session)
            assert await lab.value(page, "show()") == 1
            url = page.frames[1].url
            infos = (await running(lab.chrome).env.session.send("Target.getTargets"))["targetInfos"]
            frame_id = next(each["targetId"] for each in infos if each["url"] == url)
            called = 0
            for method, command in methods(described := description(browser)):
                if READING.match(method) and action_of("page", method) in ("pass", "check"):
                    given = arguments(described, method, command, {"frameId": frame_id, "url": url})
                    await client.call(method, given, session)
                    await client.call(method, {key: given[key] for key in given if key != "frameId"}, session)
                    called += 1
            assert called > 60
            assert "the extension" not in "\n".join(client.received)
