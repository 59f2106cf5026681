"""Pages that a script opens are closed and forgotten with it. `keep` makes them the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from tests.engines.chromium.real import with_browser
from tests.engines.chromium.test_processes import start
from tests.site import Site
from tests.waiting import until_awaited


async def has_tabs(profile: hatbox.Profile, count: int) -> bool:
    return len(await profile.tabs.query()) == count


@with_browser
async def test_a_headless_run_leaves_no_tab_behind(browser: str, path: Path, site: Site) -> None:
    removed: list[int] = []
    async with hatbox.open(path) as profile:
        mine = await profile.tabs.open("Work", site.url("/page/9"))
        profile.tabs.on_removed.add_listener(lambda removal: removed.append(removal.tab.id))
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/login", user="Work"))
            async with page.expect_popup() as popup:
                await page.evaluate("url => { window.open(url) }", site.url("/page/2"))
            await (await popup.value).wait_for_load_state()
            direct = await (await runner.context("Personal")).new_page()
            await direct.goto(site.url("/page/3"))
            await until_awaited(lambda: has_tabs(profile, 4))
            opened = {tab.id for tab in await profile.tabs.query()}
        assert [tab.id for tab in await profile.tabs.query()] == [mine.id]
        assert set(removed) == opened - {mine.id}  # extensions observe it as of any closed tab
        assert await profile.store.read(lambda each: each.extensions.find("programs")) == []
        async with profile.httpx("Work") as client:  # what the pages did is saved
            assert "Work" in (await client.get(site.url("/me"))).text


@with_browser
async def test_a_kept_page_and_what_it_opens_stay(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/page/1"), keep=True)
            async with page.expect_popup() as popup:
                await page.evaluate("url => { window.open(url) }", site.url("/page/2"))
            await (await popup.value).wait_for_load_state()
            await until_awaited(lambda: has_tabs(profile, 2))
        assert len(await profile.tabs.query("Work")) == 2


@with_browser
async def test_a_script_that_fails_leaves_no_tab_either(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile:
        with pytest.raises(ZeroDivisionError):
            async with profile.chromium(headless=True, browser=browser) as runner:
                await runner.new_page("Work", site.url("/page/1"))
                raise ZeroDivisionError
        assert await profile.tabs.query() == []


@with_browser
async def test_the_page_of_a_killed_script_does_not_come_back(browser: str, path: Path, site: Site) -> None:
    with start(path, browser, "", site.url("/page/1")) as host:
        assert host.stdout
        host.stdout.readline()
        host.kill()
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await runner.wait_until_settled()
        assert runner.engine.tabs == set()
        assert await profile.tabs.query() == []
