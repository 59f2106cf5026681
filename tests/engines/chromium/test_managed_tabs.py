"""hatbox.tabs with a real Chromium: tabs open, come to the front, move to another identity, close and come back."""

from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from hatbox.engines.chromium.focus import FocusTracker
from tests.engines.chromium.real import with_browser
from tests.site import Site
from tests.waiting import until_awaited

WORK, BANKING = "firefox-container-2", "firefox-container-3"


@with_browser
async def test_tabs_of_the_manager_page_are_pages_of_chromium(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    fronts: list[int] = []
    activate = FocusTracker.activate

    async def recorded(self: FocusTracker, tab_id: int, page: object) -> None:
        fronts.append(tab_id)
        await activate(self, tab_id, page)  # type: ignore[arg-type]

    monkeypatch.setattr(FocusTracker, "activate", recorded)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        tabs = profile.browser(["hatbox"]).hatbox.tabs
        for identity, user in ((WORK, "Work"), (BANKING, "Banking")):
            opened = await tabs.open(identity, site.url("/login", user=user))
            assert opened["engine"] == "running"
            await runner.wait_until_loaded(opened["tab"]["id"])
        first, second = await tabs.list()
        assert (first["title"], second["title"]) == ("Signed in as Work", "Signed in as Banking")

        for tab in (first, first):  # the second time it is active already
            fronts.clear()
            await tabs.activate(tab["id"])
            await runner.wait_until_settled()
            await until_awaited(lambda: _is_last(fronts, first["id"]))

        moved = await tabs.moveTo(first["id"], BANKING)
        assert (await runner.wait_until_loaded(moved["tab"]["id"])).title == "Signed in as Banking"
        back = await tabs.reopen(moved["undo"])
        assert (await runner.wait_until_loaded(back["id"])).title == "Signed in as Work"

        closed = await tabs.close(back["id"])
        await runner.wait_until_settled()
        assert runner.engine.tabs == {second["id"]}
        again = await tabs.reopen(closed["undo"])
        assert (await runner.wait_until_loaded(again["id"])).title == "Signed in as Work"
        engine = (await profile.browser(["hatbox"]).hatbox.engines.list())[0]
        assert (engine["title"], engine["hasWindows"], engine["tabs"]) == ("Chromium", False, 2)
    assert not site.mixed


async def _is_last(fronts: list[int], tab_id: int) -> bool:
    return fronts[-1:] == [tab_id]
