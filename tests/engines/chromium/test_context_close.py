"""A user of Playwright may close the browser context of an identity. Its tabs stay open."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import hatbox
from hatbox.engines.chromium import identity_context, isolated_world, page_saving
from tests.engines.chromium.real import value, with_browser
from tests.site import Site
from tests.waiting import until_awaited

WORK = "firefox-container-2"


@with_browser
async def test_closing_a_context_leaves_the_tabs_in_the_profile_and_shows_them_again(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await runner.new_page("Personal", site.url("/page/9"))
        one = await runner.new_page("Work", site.url("/login", user="Work"))
        await runner.new_page("Work", site.url("/page/2"))
        before = [(tab.id, tab.url, tab.index) for tab in await profile.tabs.query()]
        await runner.wait_until_synced()
        await one.context.close()

        async def are_open() -> bool:
            pages = [runner.engine.page_of(tab_id) for tab_id, _, _ in before]
            return all(page is not None and not page.is_closed() for page in pages)

        await until_awaited(are_open)
        assert [(tab.id, tab.url, tab.index) for tab in await profile.tabs.query()] == before
        again = await runner.page(before[1][0])
        assert await again.title() == "Signed in as Work"
        assert await runner.context("Work") is again.context
        await again.close()  # closing a page closes its tab

        async def is_closed() -> bool:
            return len(await profile.tabs.query()) == len(before) - 1

        await until_awaited(is_closed)
    assert not site.mixed


@with_browser
async def test_a_script_that_ends_with_closing_its_context_finds_the_tabs_the_next_time(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/page/1"), keep=True)
            await (await runner.new_page("Work", site.url("/page/2"), keep=True)).close()  # this tab is closed
            await page.context.close()
        assert [tab.url for tab in await profile.tabs.query()] == [site.url("/page/1")]
        async with profile.chromium(headless=True, browser=browser) as runner:
            (tab,) = await profile.tabs.query()
            assert await (await runner.page(tab.id)).title() == "Page 1"


@with_browser
async def test_a_context_without_tabs_can_be_closed_and_opened_again(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        context = await runner.context("Work")
        await context.close()
        again = await runner.context("Work")
        assert again is not context
        page = await again.new_page()
        await page.goto(site.url("/page/1"))
        await until_awaited(lambda: _is_reported(profile))


@with_browser
async def test_crashed_and_frozen_pages_do_not_delay_the_close(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(isolated_world, "_EVALUATE_TIMEOUT", 1000.0)
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/page/1"))
            crashed = await runner.new_page("Work", site.url("/page/2", host="localhost"))
            frozen = await runner.new_page("Work", site.url("/page/3", host="localhost"))
            await runner.wait_until_settled()
            session = await crashed.context.new_cdp_session(crashed)
            gone = asyncio.ensure_future(crashed.wait_for_event("crash"))
            sent = [asyncio.ensure_future(session.send("Page.crash"))]
            await gone
            monkeypatch.setattr(identity_context, "_SAVE_TIMEOUT", 0.2)
            monkeypatch.setattr(page_saving, "_SNAPSHOT_TIMEOUT", 0.2)
            monkeypatch.setattr(page_saving, "_SITE_DATA_TIMEOUT", 0.2)
            sent.append(asyncio.ensure_future(frozen.evaluate("for (;;);")))
            await page.context.add_cookies([{"name": "last", "value": "Work-1", "url": site.url("/")}])
        await asyncio.gather(*sent, return_exceptions=True)
        assert "data may be incomplete" not in caplog.text
        assert await value(profile, "Work", "last") == "Work-1"


async def _is_reported(profile: hatbox.Profile) -> bool:
    return [tab.title for tab in await profile.tabs.query()] == ["Page 1"]
