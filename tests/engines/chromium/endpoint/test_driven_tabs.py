"""Tabs that a client of an endpoint controls are marked in the profile, also while no rule exists."""

from __future__ import annotations

from pathlib import Path

import hatbox
from hatbox.tabs.bound_tabs import is_bound
from tests.engines.chromium.endpoint.raw_client import RawClient, target_of
from tests.engines.chromium.endpoint.test_endpoint import TOKEN, endpoint_of
from tests.engines.chromium.real import with_browser
from tests.site import Site
from tests.waiting import until_awaited


@with_browser
async def test_a_tab_is_marked_when_a_client_starts_to_control_it(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        tabs = [await profile.tabs.open("Work", site.url(f"/page/{number}")) for number in (1, 2)]
        other = await profile.tabs.open("Personal", site.url("/page/3"))
        pages = [await runner.page(tab.id) for tab in tabs]

        async def marked() -> set[int]:
            listed = await profile.tabs.query()
            return await profile.store.read(lambda each: {tab.id for tab in listed if is_bound(each, tab.id)})

        async def are_marked(expected: set[int]) -> bool:
            return await marked() == expected

        endpoint, _ = await endpoint_of(runner)
        async with RawClient(endpoint.url(TOKEN)) as client:
            await client.result("Target.setDiscoverTargets", {"discover": True})
            assert await marked() == set()  # it sees them, and controls none
            target_id = await target_of(pages[0])
            attached = await client.result("Target.attachToTarget", {"targetId": target_id, "flatten": True})
            await until_awaited(lambda: are_marked({tabs[0].id}))
            popup = {"expression": "window.open('/page/4'); 1", "userGesture": True}
            await client.result("Runtime.evaluate", popup, attached["sessionId"])
            await client.open_page(site.url("/page/5"))
            await until_awaited(lambda: are_three_marked(profile, {tabs[1].id, other.id}))
        assert not {tabs[1].id, other.id} & await marked()


async def are_three_marked(profile: hatbox.Profile, unmarked: set[int]) -> bool:
    """The tab, its pop-up, and the page that the client has opened."""
    tabs = {tab.id for tab in await profile.tabs.query()} - unmarked
    return len(tabs) == 3 and await profile.store.read(lambda each: all(is_bound(each, tab) for tab in tabs))
