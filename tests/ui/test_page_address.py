"""The URL of the manager page has two secrets, the token of a link and the path. Only its tab has them."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError

from hatbox.engines.base import PageState
from hatbox.errors import ApiError
from hatbox.history.visits import storable_url
from tests.engines.fake import FakeEngine, run
from tests.ui.manager import Manager
from tests.ui.page_client import hello, open_link

PERMISSIONS = ["tabs", "webNavigation", "<all_urls>"]


async def test_neither_extensions_nor_the_profile_see_the_address(manager: Manager) -> None:
    profile, link = manager.profile, manager.server.create_link()
    received: list[Any] = []
    browser = profile.browser(PERMISSIONS)
    for event in (browser.tabs.onCreated, browser.tabs.onUpdated, browser.webNavigation.onBeforeNavigate):
        event.addListener(lambda *arguments: received.append(arguments))
    engine = FakeEngine()
    async with run(engine, profile):
        tab = await profile.tabs.open("Work", link)
        assert (await engine.until_told("open"))[1] == link, "the browser gets the whole address"
        page = PageState(manager.url, "Hatbox", f"{manager.url}favicon.svg")
        await engine.reports.page_updated(tab.id, page, navigation=tab.navigation_id)
        shown = f"http://127.0.0.1:{manager.server.port}/hatbox-withheld"
        assert (await profile.tabs.get(tab.id)).url == shown
        assert [each["url"] for each in await browser.tabs.query({"cookieStoreId": tab.cookie_store_id})] == [shown]
        assert await browser.tabs.query({"url": f"{manager.url}*"}) == []
        with pytest.raises(ApiError, match="Illegal URL"):
            await browser.tabs.create({"url": f"http://127.0.0.1:1/{manager.server.keys.prefix}/"})
        assert storable_url(manager.url) is None, "no visit is recorded"
    assert "withheld" in str(received)
    for secret in (manager.server.keys.prefix, link.rpartition("/")[2]):
        assert secret not in str(received)


async def test_the_cookie_of_the_page_without_the_key_of_its_tab_opens_nothing(manager: Manager) -> None:
    """Browsers send the cookie to each port of 127.0.0.1, if the path is known there."""
    url, cookie, key = await open_link(manager.server.create_link())
    headers = {"Cookie": cookie, "Origin": url[: url.index("/", 8)]}
    for wrong in ("", "\u00fc", key[:-1]):
        async with connect(url.replace("http", "ws", 1) + "bridge", additional_headers=headers, proxy=None) as socket:
            await socket.send(hello(wrong))
            assert "challenge" in await socket.recv()
            await socket.send(json.dumps({"answer": "0" * 64}))
            with pytest.raises(ConnectionClosedError, match="4403"):
                await socket.recv()
    async with httpx.AsyncClient(trust_env=False) as client:
        page = await client.get(url, headers={"Cookie": cookie})
        assert page.status_code == 200 and key not in page.text
