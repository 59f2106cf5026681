from __future__ import annotations

from pathlib import Path
from typing import Any

import hatbox
from tests.store.in_loop import in_loop

WORK = "firefox-container-2"


@in_loop
async def test_a_tab_that_comes_back_from_the_trash_is_in_no_group_and_still_discarded(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser: Any = profile.browser({"tabs", "tabGroups", "cookies"})
        await profile.tabs.open("firefox-default")
        details = {"url": "https://site.example/", "discarded": True, "title": "Later", "cookieStoreId": WORK}
        tab = await browser.tabs.create(details)
        await browser.tabs.group({"tabIds": tab["id"]})
        await profile.identities.remove(WORK)
        assert await browser.tabGroups.query({}) == []
        (removed,) = await profile.trash.list()
        await profile.trash.restore(removed)
        (found,) = await profile.tabs.query("Work")
        assert (found.title, found.discarded, found.group_id) == ("Later", True, -1)
