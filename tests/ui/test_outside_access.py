"""Pages of other origins, extensions and their content scripts: none of them reaches the API of the manager page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from websockets.asyncio.client import connect

from hatbox.errors import PermissionDenied
from hatbox.testing.site import LoopbackSite
from hatbox.ui.server import ManagerServer
from tests.engines.chromium.real import with_browser
from tests.extensions.content_scripts.content_lab import ContentLab, content_lab, script
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.ui.manager import Manager
from tests.ui.page_client import PageClient, hello, open_link
from tests.waiting import until, until_awaited

if TYPE_CHECKING:
    from playwright.async_api import Page

TRY = """async (base) => {
    const status = (url, options) => fetch(url, options).then((each) => each.status, () => "failed");
    const socket = new Promise((resolve) => {
        const opened = new WebSocket(base.replace("http", "ws") + "bridge");
        opened.onopen = () => resolve("open");
        opened.onerror = () => resolve("failed");
    });
    return {
        read: await status(base, {credentials: "include"}),
        blind: await status(base, {credentials: "include", mode: "no-cors"}).then((each) => each || "opaque"),
        post: await status(base, {method: "POST", credentials: "include"}),
        socket: await socket,
    };
}"""
NOTHING = {"read": "failed", "post": "failed", "socket": "failed"}
TRY_IN_DOCUMENT = """(base) => {
    const frame = document.createElement("iframe");
    const framed = new Promise((resolve) => { frame.onload = resolve; });
    frame.src = base;
    const image = document.createElement("img");
    const shown = new Promise((resolve) => {
        image.onload = () => resolve("shown");
        image.onerror = () => resolve("failed");
    });
    image.src = base + "icons.svg";
    const script = document.createElement("script");
    const ran = new Promise((resolve) => {
        script.onload = () => resolve("ran");
        script.onerror = () => resolve("failed");
    });
    script.src = base + "wire_values.js";
    document.body.append(frame, image, script);
    return Promise.all([framed, shown, ran]).then(([, ...results]) => results);
}"""


async def test_a_page_of_another_origin_gets_nothing_in_the_browser_that_has_the_cookie(
    manager: Manager, manager_page: Page
) -> None:
    with LoopbackSite() as site:
        other = await manager_page.context.new_page()
        responses: list[int] = []
        other.on("response", lambda response: responses.append(response.status))
        # 127.0.0.1 is the same site as the manager page, so that even strict cookies are sent; localhost is another one
        for host in ("127.0.0.1", "localhost"):
            await other.goto(site.url("/attack", host))
            responses.clear()
            tried = await other.evaluate(TRY, manager.url)
            assert {key: tried[key] for key in NOTHING} == NOTHING, host
            assert await other.evaluate(TRY_IN_DOCUMENT, manager.url) == ["failed", "failed"], host
            assert not [frame for frame in other.frames if frame.url.startswith(manager.url)], host
            assert 200 not in responses
        connected = manager.server.sockets.connected
        await other.set_content(f'<form method="post" action="{manager.url}"><button>Send</button></form>')
        async with other.expect_response(manager.url) as posted:
            await other.click("button", no_wait_after=True)
        assert (await posted.value).status == 403
        other = await manager_page.context.new_page()
        await other.goto(site.url("/attack"))
        await other.evaluate("(url) => { location.href = url; }", manager.url)  # opened by a page of the same site
        await other.wait_for_url(f"{manager.url}**")
        assert "hatbox ui" in await other.inner_text("body")
        assert manager.server.sockets.connected == connected == 1


async def test_a_link_that_is_opened_twice_says_what_to_do(manager: Manager, manager_page: Page) -> None:
    link = manager.server.create_link()
    for expected in (manager.url, link):
        page = await manager_page.context.new_page()
        await page.goto(link)
        await page.wait_for_url(f"{expected}**")
    assert "Run hatbox ui again, with the same profile" in await page.inner_text("body")


async def test_links_of_the_page_open_in_tabs_that_are_connected_and_reach_no_other_tab(
    manager: Manager, manager_page: Page
) -> None:
    ways: list[dict[str, Any]] = [{"modifiers": ["ControlOrMeta"]}, {"modifiers": ["Shift"]}, {"button": "middle"}]
    for options in ways:
        async with manager_page.context.expect_page() as opened:
            await manager_page.click("nav a[href='#/sites']:visible", **options)
        page = await opened.value
        await page.wait_for_selector("main h1:has-text('Sites')")
        await page.wait_for_selector("text=Live")
        assert await page.evaluate("opener === null && name === ''")
    page = await manager_page.context.new_page()
    await page.goto(manager.url)
    assert "Duplicate the tab" in await page.inner_text(".banner")
    await page.get_by_role("button", name="Connection: No access").wait_for()


READ_KEY = """() => {
    try {
        return opened.sessionStorage.getItem("hatbox.key");
    } catch {
        return "refused";
    }
}"""


async def test_the_cookie_at_another_port_and_an_earlier_document_of_this_one_give_nothing(
    manager: Manager, manager_page: Page
) -> None:
    context, path = manager_page.context, f"/{manager.server.keys.prefix}/"
    origin = f"http://127.0.0.1:{manager.server.port}"
    other = await context.new_page()
    with LoopbackSite() as site:
        await other.goto(site.url("/attack", "127.0.0.1"))
        await other.evaluate("(path) => { location.href = path; }", path)
        await other.wait_for_url(site.url(path, "127.0.0.1"))
        cookie = site.requests[-1].headers["cookie"]  # cookies know no ports
    headers = {"Cookie": cookie, "Origin": origin}
    async with connect(
        f"{manager.url}bridge".replace("http", "ws", 1), additional_headers=headers, proxy=None
    ) as socket:
        await socket.send(hello(""))
        assert "challenge" in await socket.recv()
    same_group = {"Cross-Origin-Opener-Policy": "same-origin"}
    await context.route(
        f"{origin}/earlier", lambda route: route.fulfill(body="<p>", content_type="text/html", headers=same_group)
    )
    await other.goto(f"{origin}/earlier")
    link = manager.server.create_link()
    for url, found in ((link, "refused"), (manager.url, None)):
        async with other.expect_popup() as opened:
            await other.evaluate("(url) => { globalThis.opened = open(url); }", url)
        await (await opened.value).wait_for_load_state()
        await (await opened.value).wait_for_selector("text=hatbox ui")
        assert await other.evaluate(READ_KEY) == found
    assert manager.server.sockets.connected == 1
    await open_link(link)  # it was not used


BACKGROUND = f"""
globalThis.attack = {TRY};
globalThis.ask = async (name) => {{
    try {{
        return await browser.permissions.request({{permissions: [name]}});
    }} catch (error) {{
        return error.message;
    }}
}};
"""


@needs_deno
async def test_an_extension_gets_nothing_with_access_to_all_sites_and_the_permission_in_its_manifest(
    manager: Manager, tmp_path: Path
) -> None:
    folder = make(
        tmp_path,
        BACKGROUND,
        permissions=["<all_urls>", "cookies", "hatbox"],
        optional_permissions=["hatbox", "tabs"],
    )
    async with PageClient(await open_link(manager.server.create_link())):
        extension = await manager.profile.extensions.start(folder)
        tried = await extension.evaluate(f"return await attack({json.dumps(manager.url)})")
        assert (tried["read"], tried["post"], tried["socket"]) == ("failed", "failed", "failed")
        seen = "[typeof browser.hatbox, 'hatbox' in browser, JSON.stringify(await browser.permissions.getAll())]"
        kind, is_member, granted = await extension.evaluate(f"return {seen}")
        assert (kind, is_member) == ("undefined", False) and "hatbox" not in granted
        extension.caller.is_handling_user_input = True
        unknown = await extension.evaluate("return await ask('nonsense')")
        extension.caller.is_handling_user_input = True
        assert await extension.evaluate("return await ask('hatbox')") == unknown.replace("nonsense", "hatbox")
        extension.caller.permissions.add("hatbox")  # even then
        with pytest.raises(PermissionDenied):
            manager.profile._dispatcher.call(extension.caller, "hatbox", "getProfile", [])
        assert manager.server.sockets.connected == 1


PERMISSIONS = ["<all_urls>", "cookies", "tabs", "hatbox", "webRequest", "webRequestBlocking"]
LISTEN = """
globalThis.seen = [];
const note = ({url}) => { if (url.startsWith("http://127.0.0.1")) seen.push(url); };
browser.webRequest.onBeforeRequest.addListener(note, {urls: ["<all_urls>"]}, ["blocking"]);
"""
ATTACK = """
const message = (promise) => promise.then(() => "allowed", (error) => error.message);
const storeId = %(store)s, url = "http://127.0.0.1/";
await browser.cookies.set({storeId, url, name: "other", value: "1"});
return {
    cookies: (await browser.cookies.getAll({storeId, domain: "127.0.0.1"})).map(({name}) => name),
    script: await message(browser.tabs.executeScript(%(tab)d, {code: "1"})),
    picture: await message(browser.tabs.captureTab(%(tab)d)),
};
"""


@pytest.mark.browser
@with_browser
async def test_pages_and_content_scripts_in_a_browser_of_hatbox_get_nothing(tmp_path: Path, browser: str) -> None:
    async with (
        content_lab(tmp_path, browser, permissions=PERMISSIONS) as lab,
        ManagerServer(lab.profile) as server,
        PageClient(await open_link(server.create_link())),
    ):
        page = await lab.open(lab.page("/"))
        tried = await page.evaluate(TRY, server.url)
        assert {key: tried[key] for key in NOTHING} == NOTHING
        kinds = "[typeof browser.hatbox, typeof browser.contextualIdentities]"
        assert await lab.value(page, kinds) == ["undefined", "undefined"]
        tried = await lab.value(page, f"({TRY})({json.dumps(server.url)})")
        assert tried["read"] in (403, "failed") and tried["post"] in (403, "failed")
        assert tried["socket"] == "failed"
        await until(lambda: server.sockets.connected == 1)
        await _check_that_the_page_is_protected(lab, server)


async def _check_that_the_page_is_protected(lab: ContentLab, server: ManagerServer) -> None:
    """The manager page in a window in which an extension runs that has every permission, and knows its address."""
    await lab.set_scripts(script("browser.test.sendMessage('ran', location.pathname)"))
    await lab.extension.evaluate(LISTEN)
    page = await lab.open(server.create_link())
    await page.wait_for_url(f"{server.url}**")
    await until(lambda: server.sockets.connected == 2)
    stored = (await lab.profile.identities.query(name="Work"))[0].cookie_store_id
    cookies = await lab.profile.cookies.open(stored)

    async def has_cookie() -> bool:
        return "hatbox_page=" in await cookies.header(server.url)

    await until_awaited(has_cookie)
    tab = lab.tab_of(page)
    tried = await lab.extension.evaluate(ATTACK % {"tab": tab, "store": json.dumps(stored)})
    assert tried["cookies"] == ["other"]
    assert "host permission" in tried["script"] and "manager page" in tried["picture"]
    origin = f"http://127.0.0.1:{server.port}"
    await page.goto(f"{origin}/other")  # what the server sends there is no page of Hatbox, and has no origin
    assert await lab.message("ran") == "/other"
    assert await lab.value(page, "self.origin") == "null"
    tried = await lab.value(page, f"({TRY})({json.dumps(server.url)})")
    assert {key: tried[key] for key in NOTHING} == NOTHING
    seen = await lab.extension.evaluate("return seen")
    assert f"{origin}/other" in seen and not [url for url in seen if "/hatbox-" in url]
