"""Every method of the protocol, sent by a client that wants data of another identity, and of pages withheld from it."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from pathlib import Path
from typing import Any

import hatbox
from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization, authorize_token
from hatbox.engines.chromium.endpoint.method_rules import SessionKind, action_of
from hatbox.ui.server import ManagerServer
from tests.engines.chromium.endpoint.filtered_client import with_page
from tests.engines.chromium.endpoint.protocol_description import arguments, description, methods
from tests.engines.chromium.endpoint.raw_client import RawClient, target_of
from tests.engines.chromium.real import cookie, running, with_browser
from tests.extensions.content_scripts.content_lab import content_lab, script
from tests.site import Site
from tests.waiting import until

TOKEN = "a-token"
WINDOW = 64  # commands without a reply

# These end the connection or the page, or stop what the test itself does in it.
SKIPPED = {
    "Browser.close",
    "Emulation.setScriptExecutionDisabled",
    "Fetch.enable",
    "Page.close",
    "Page.navigate",
    "Page.reload",
    "Page.setDocumentContent",
    "Target.setAutoAttach",
}


@with_browser
async def test_no_method_reveals_or_changes_another_identity(browser: str, path: Path, site: Site) -> None:
    described = description(browser)
    marker = f"secret{secrets.token_hex(8)}"
    secret_url = site.url("/storage", host="localhost", write=marker, set=f"m=Personal-{marker}; Path=/; Max-Age=3600")
    async with (
        hatbox.open(path) as profile,
        ManagerServer(profile) as server,
        profile.chromium(headless=True, browser=browser) as runner,
    ):
        manager = await runner.new_page("Work", server.create_link())
        await manager.wait_for_url(f"{server.url}**")
        hidden = await runner.new_page("Work", "about:blank")
        await hidden.set_content(f"<title>{marker}</title>{marker}")
        withheld = [await target_of(each) for each in (manager, hidden)]
        runner.engine.endpoint_pages.withhold(withheld[1], "person")
        other = await runner.new_page("Personal", secret_url)
        infos = (await running(runner).env.session.send("Target.getTargets"))["targetInfos"]
        assert marker in json.dumps(infos)  # what an unfiltered client would see
        foreign = next(each for each in infos if marker in each["url"])
        window = await running(runner).env.session.send("Browser.getWindowForTarget", {"targetId": foreign["targetId"]})
        ids = {
            "targetId": foreign["targetId"],
            "browserContextId": foreign["browserContextId"],
            "windowId": window["windowId"],
            "frameId": foreign["targetId"],
            "sessionId": "0" * 32,
            "origin": site.url("/", host="localhost").rstrip("/"),
            "securityOrigin": site.url("/", host="localhost").rstrip("/"),
            "storageKey": site.url("/", host="localhost"),
            "url": site.url("/page/1", host="localhost"),
            "urls": [site.url("/", host="localhost")],
        }
        markers = [marker, foreign["targetId"], foreign["browserContextId"], server.keys.prefix, *withheld]
        endpoint = await runner.open_endpoint("Work", authorize_token(TOKEN, TokenAuthorization()))
        async with RawClient(endpoint.url(TOKEN)) as client, RawClient(endpoint.url(TOKEN)) as silent:
            for each in (client, silent):
                await each.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
                await each.result(
                    "Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
                )
            _, page = await client.open_page(site.url("/page/1"))
            await client.result("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False}, page)
            await client.evaluate("globalThis.worker = new Worker('data:text/javascript,1'); 1", page)
            worker = (
                await client.event("Target.attachedToTarget", lambda each: each["targetInfo"]["type"] == "worker")
            )["sessionId"]
            await client.evaluate("globalThis.shared = new SharedWorker('data:text/javascript,1'); 1", page)
            shared = (
                await client.event(
                    "Target.attachedToTarget", lambda each: each["targetInfo"]["type"] == "shared_worker"
                )
            )["sessionId"]
            frame = json.dumps(site.url("/page/3", host="localhost"))
            add = f"document.body.append(Object.assign(document.createElement('iframe'), {{src: {frame}}}))"
            await client.evaluate(add, page)
            iframe = (
                await client.event("Target.attachedToTarget", lambda each: each["targetInfo"]["type"] == "iframe")
            )["sessionId"]
            tab_id = (await client.event("Target.targetCreated", lambda each: each["targetInfo"]["type"] == "tab"))[
                "targetInfo"
            ]["targetId"]
            tab = (await client.result("Target.attachToTarget", {"targetId": tab_id}))["sessionId"]
            opening = asyncio.ensure_future(_use_other_identity(other, site, marker))
            sessions: dict[str, SessionKind] = {"": "root", page: "page", iframe: "page", worker: "worker", tab: "tab"}
            window = Window(client)
            for session, kind in (sessions | {shared: "worker"}).items():
                for method, command in methods(described):
                    if method in SKIPPED or action_of(kind, method) == "refuse":
                        continue  # see test_refused_methods_do_not_reach_chromium
                    await client.start(method, arguments(described, method, command, ids), session)
                    await window.wait()
            await opening

            def answered() -> set[str]:
                replies = client.replies.values()
                return {each["sessionId"] for each in replies if "result" in each and "sessionId" in each}

            await until(lambda: {page, iframe, worker, shared, tab} <= answered())  # the last ones take long
            assert not client.closed.is_set()
            assert not silent.closed.is_set()
            version = await silent.result("Browser.getVersion")  # all events before it have arrived
            assert version["product"]
            results = [each for each in client.received if '"error"' not in each[:120]]
            assert [text for text in results if any(each in text for each in markers)] == []
            hidden_markers = [marker, server.keys.prefix, "hatbox_page"]
            assert [text for text in client.received if any(each in text for each in hidden_markers)] == []
            worlds = [each["params"]["context"] for each in client.events if each["method"].endswith("ContextCreated")]
            assert {each["name"] for each in worlds} <= {"", "1"}  # none of Hatbox
            assert [text for text in silent.received if any(each in text for each in markers)] == []
            assert sum("result" in each for each in client.replies.values()) > 100
        assert marker in await hidden.title()
        assert manager.url.startswith(server.url)
        assert await other.evaluate("localStorage.kept") == marker
        assert other.url == secret_url
        await runner.wait_until_synced()
        found = await cookie(profile, "Personal", "m")
        assert found is not None
        assert marker in found.value
        assert await cookie(profile, "Work", "m") is None


async def _use_other_identity(page: Any, site: Site, marker: str) -> None:
    """A popup, a navigation and a download, while the client listens."""
    async with page.expect_popup() as popup:
        await page.evaluate("url => { window.open(url) }", site.url("/page/2", host="localhost", secret=marker))
    await (await popup.value).close()
    async with page.expect_download():
        await page.evaluate("url => { location = url }", site.url("/download", host="localhost", secret=marker))


CONTENT_SCRIPT = """
  if (location.pathname === "/bank") browser.storage.local.set({balance: "secret of Personal"});
  document.addEventListener("DOMContentLoaded", () => console.log("loaded", document, {of: browser}));
  document.addEventListener("click", () => { setTimeout(() => console.log(document), 0); throw new Error("thrown"); });
"""
READ = """async function() {
  return typeof browser === "object" ? JSON.stringify(await browser.storage.local.get()) : "the page"
}"""


@with_browser
async def test_guessed_objects_of_a_content_script_are_refused(browser: str, tmp_path: Path) -> None:
    """Its world has the storage of the extension, which is one for all identities."""
    async with content_lab(tmp_path, browser, [script(CONTENT_SCRIPT)]) as lab:
        await lab.open(lab.page("/bank"), "Personal")
        page = await lab.open(lab.page("/"), "Work")
        endpoint = await lab.chrome.open_endpoint("Work", authorize_token(TOKEN, TokenAuthorization()))
        async with RawClient(endpoint.url(TOKEN)) as client:
            await client.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
            target_id = await target_of(page)
            await client.event("Target.targetCreated", lambda each: each["targetInfo"]["targetId"] == target_id)
            attached = await client.result("Target.attachToTarget", {"targetId": target_id, "flatten": True})
            session = attached["sessionId"]
            await client.result("Runtime.enable", {}, session)
            assert "error" in await client.call("Runtime.addBinding", {"name": "setTimeout"}, session)
            await client.result("Runtime.addBinding", {"name": "own_binding"}, session)
            await client.evaluate("document.body.click(); own_binding('1'); 1", session)
            await client.event("Runtime.bindingCalled", lambda each: each["payload"] == "1")
            own = await client.result("Runtime.evaluate", {"expression": "({a: {}})"}, session)
            call = {"functionDeclaration": READ, "returnByValue": True, "awaitPromise": True}
            isolate, own_context, _ = own["result"]["objectId"].split(".")
            worked = []
            for context in range(1, 16):
                for each in range(1, 8):
                    object_id = f"{isolate}.{context}.{each}"
                    reply = await client.call("Runtime.callFunctionOn", call | {"objectId": object_id}, session)
                    worked += [(context, reply["result"]["result"]["value"])] if "result" in reply else []
            assert set(worked) == {(int(own_context), "the page")}
            named = await client.result("Runtime.getProperties", {"objectId": own["result"]["objectId"]}, session)
            inner = next(each["value"] for each in named["result"] if each["name"] == "a")
            assert inner["objectId"].startswith(f"{isolate}.{own_context}.")
            await client.result("Runtime.getProperties", {"objectId": inner["objectId"]}, session)
            assert not [each for each in client.received if "secret of Personal" in each]


@with_browser
async def test_a_client_without_runtime_uses_its_own_worlds_and_no_content_script(browser: str, tmp_path: Path) -> None:
    """Patchright takes the numbers of worlds from results."""
    async with content_lab(tmp_path, browser, [script(CONTENT_SCRIPT)]) as lab:
        await lab.open(lab.page("/bank"), "Personal")
        endpoint = await lab.chrome.open_endpoint("Work", authorize_token(TOKEN, TokenAuthorization()))
        async with RawClient(endpoint.url(TOKEN)) as client:
            page_id, session = await client.open_page(lab.page("/"))
            await client.result("Page.enable", {}, session)
            evaluate = {"expression": f"({READ})()", "returnByValue": True, "awaitPromise": True}
            for url in (lab.page("/"), lab.page("/bank")):
                loads = sum(each["method"] == "Page.loadEventFired" for each in client.events)
                await client.result("Page.navigate", {"url": url}, session)
                await until(lambda: sum(each["method"] == "Page.loadEventFired" for each in client.events) > loads)  # noqa: B023
                found = await client.result("Runtime.evaluate", {"expression": "globalThis"}, session)
                own = {"frameId": page_id, "worldName": "__client__"}
                created = await client.result("Page.createIsolatedWorld", own, session)
                numbers = {created["executionContextId"], int(found["result"]["objectId"].split(".")[1])}
                worked = {}
                for number in range(1, 40):
                    reply = await client.call("Runtime.evaluate", evaluate | {"contextId": number}, session)
                    if "result" in reply:
                        worked[number] = reply["result"]["result"]["value"]
                assert worked == dict.fromkeys(numbers, "the page")
            assert not [each for each in client.events if each["method"].startswith("Runtime.")]
            assert not [each for each in client.received if "secret of Personal" in each]


class Window:
    """Limits the commands without a reply. Some never get one: after a second without any, they do not count."""

    def __init__(self, client: RawClient) -> None:
        self._client = client
        self._sent = self._lost = 0

    async def wait(self) -> None:
        self._sent += 1
        deadline = time.monotonic() + 1
        while self._sent - self._lost - len(self._client.replies) > WINDOW and not self._client.closed.is_set():
            await asyncio.sleep(0.005)
            if time.monotonic() > deadline:
                self._lost = self._sent - len(self._client.replies)


def test_refused_methods_do_not_reach_chromium(browser: str) -> None:
    described = description(browser)
    client = with_page()
    for target_id, kind in (("F", "iframe"), ("W", "worker"), ("V", "service_worker"), ("T", "tab")):
        client.attach(target_id, f"S{target_id}", kind=kind)
    kinds: dict[str, SessionKind] = {"": "root", "S": "page", "SF": "page", "SW": "worker", "SV": "worker", "ST": "tab"}
    refused = 0
    for session, kind in kinds.items():
        for method, command in methods(described):
            if action_of(kind, method) == "refuse":
                client.refused(method, arguments(described, method, command, {}), session)
                refused += 1
    assert refused > 3000
