"""`profile.hide_and_wait`: without an engine, and with one that leaves hidden pages open."""

from __future__ import annotations

from pathlib import Path

import hatbox
from hatbox.engines.hiding import HideReport
from tests.site import Site
from tests.store.in_loop import in_loop


@in_loop
async def test_without_an_engine_identities_are_hidden_at_once(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await profile.tabs.open("Work", "https://site.example/")
        assert await profile.hide_and_wait(["Work", "firefox-container-1"]) == HideReport([], [])
        assert [(await profile.identities.find(name)).hidden for name in ("Work", "Personal")] == [True, True]


@in_loop
async def test_with_an_engine_the_pages_are_hidden_when_it_returns(tmp_path: Path) -> None:
    with Site() as site:
        async with hatbox.open(tmp_path / "profile.db") as profile, profile.http_engine() as runner:
            tab = await profile.tabs.open("Work", site.url("/page/1"))
            await runner.wait_until_loaded(tab.id)
            hidden: list[int] = []
            profile.tabs.on_hidden.add_listener(lambda each: hidden.append(each.tab_id))
            assert await profile.hide_and_wait(["Work"]) == HideReport([], [])
            assert hidden == [tab.id]
