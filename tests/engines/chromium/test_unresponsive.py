"""A browser that loses commands or does not respond delays nothing without end."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

import hatbox
from tests.engines.chromium.real import browser_process, with_browser
from tests.engines.chromium.test_processes import is_running
from tests.site import Site
from tests.waiting import until_awaited

WORK = "firefox-container-2"


@with_browser
async def test_a_page_whose_close_request_chromium_loses_is_hidden_and_shown_again(
    browser: str, path: Path, site: Site
) -> None:
    """As if a navigation commits at the same time: Playwright's close() never returns."""
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        (tab,) = await profile.tabs.query("Work")
        page.close = lost  # type: ignore[method-assign]
        await profile.identities.hide(WORK)
        await runner.wait_until_settled()
        assert page.is_closed()
        assert runner.engine.tabs == set()
        await profile.identities.show(WORK)
        shown = await runner.page(tab.id)
        assert shown is not page
        assert await shown.title() == "Page 1"


@with_browser
async def test_closing_a_tab_that_chromium_does_not_close_leaves_the_other_tabs_alone(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.closing._ATTEMPTS", 0)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        other = await runner.new_page("Work", site.url("/page/1"), keep=True)
        page = await runner.new_page("Work", site.url("/page/2"), keep=True)
        (_, tab) = await profile.tabs.query("Work")
        page.close = lost  # type: ignore[method-assign]
        await profile.tabs.close([tab.id])
        await runner.wait_until_settled()
        assert "stays open until its context is closed" in caplog.text
        assert not other.is_closed()
        script = profile.browser(["webRequest", "<all_urls>"])
        script.webRequest.onBeforeRequest.addListener(lambda _: None, {"urls": ["<all_urls>"]})
        await runner.wait_until_synced()
        await page.evaluate("url => fetch(url)", site.url("/page/3"))  # by a page without a tab
        assert len(await profile.tabs.query()) == 1
        await profile.identities.hide(WORK)
        await runner.wait_until_settled()
        assert page.is_closed()  # with its context
    assert [tab.title for tab in await _tabs(path)] == ["Page 1"]


@with_browser
async def test_a_frozen_browser_delays_hide_and_stop_no_longer_than_the_limits(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "sessions.COMMAND_TIMEOUT",
        "closing._ATTEMPT_TIMEOUT",
        "closing._CONTEXT_TIMEOUT",
        "isolated_world._EVALUATE_TIMEOUT",
        "page_saving._SNAPSHOT_TIMEOUT",
        "page_saving._SITE_DATA_TIMEOUT",
        "context_registry._CONTEXT_SAVE_TIMEOUT",
    ):
        monkeypatch.setattr(f"hatbox.engines.chromium.{name}", 0.2)
    monkeypatch.setattr("hatbox.engines.chromium.launch._SHUTDOWN_TIMEOUT", 2)
    process = 0
    try:
        async with hatbox.open(path) as profile:
            monkeypatch.setattr("hatbox.engines.chromium.sessions.COMMAND_TIMEOUT", 30)
            async with profile.chromium(headless=True, browser=browser) as runner:
                await runner.new_page("Work", site.url("/page/1"), keep=True)
                await runner.new_page("Personal", site.url("/page/2"), keep=True)
                monkeypatch.setattr("hatbox.engines.chromium.sessions.COMMAND_TIMEOUT", 0.2)
                process = await browser_process(runner)
                os.kill(process, signal.SIGSTOP)
                await profile.identities.hide(WORK)
                await runner.wait_until_settled()
                assert len(runner.engine.tabs) == 1
                tab = await profile.tabs.open("Banking", site.url("/page/3"))
                assert "timed out" in (await runner.wait_until_loaded(tab.id)).error
            assert [tab.title for tab in await profile.tabs.query("Work")] == ["Page 1"]

        async def has_ended() -> bool:
            return not is_running(process)

        await until_awaited(has_ended)
    finally:
        if process and is_running(process):
            os.kill(process, signal.SIGKILL)


async def lost(**_: object) -> None:
    await asyncio.Event().wait()


async def _tabs(path: Path) -> list[hatbox.Tab]:
    async with hatbox.open(path) as profile:
        return await profile.tabs.query()
