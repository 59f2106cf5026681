"""webNavigation.onCreatedNavigationTarget for tabs that pages open in a real Chromium."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import hatbox
from hatbox.testing.site import LoopbackSite
from tests.engines.chromium.real import with_browser


@with_browser
async def test_a_tab_that_a_page_opens_is_announced_before_it_navigates(browser: str, tmp_path: Path) -> None:
    received: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()
    with LoopbackSite() as site:
        site.page("/opener", f'<a target="_blank" href="{site.url("/opened")}">Open</a>')
        async with (
            hatbox.open(tmp_path / "profile.db") as profile,
            profile.chromium(headless=True, browser=browser) as runner,
        ):
            caller = profile.browser(["webNavigation", "tabs"])
            page = await runner.new_page("Work", site.url("/opener"), keep=True)
            source = (await profile.tabs.query())[0]
            for name in ("onCreatedNavigationTarget", "onBeforeNavigate"):
                event = getattr(caller.webNavigation, name)
                event.addListener(lambda details, name=name: received.put_nowait((name, details)))
            await caller.tabs.create({"url": site.url("/created"), "openerTabId": source.id})
            name, created = await received.get()
            assert (name, created["url"]) == ("onBeforeNavigate", site.url("/created"))

            await page.get_by_text("Open").click()
            name, target = await received.get()
            _, started = await received.get()
    assert name == "onCreatedNavigationTarget"
    assert target.pop("timeStamp") > 0
    assert target == {
        "url": site.url("/opened"),
        "sourceTabId": source.id,
        "sourceFrameId": 0,
        "tabId": started["tabId"],
        "windowId": source.window_id,
    }
    assert started["url"] == site.url("/opened")
