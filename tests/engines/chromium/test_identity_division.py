"""Two browsers for one profile: an identity moves from one to the other with its cookies, site data and pages."""

from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from tests.engines.chromium.real import running, with_browser
from tests.engines.losable_lease import LosableLease, lose_leases_of
from tests.site import Site
from tests.waiting import until_awaited

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"


@with_browser
async def test_an_identity_moves_between_browsers_with_its_login_and_site_data(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as rest:
        page = await rest.new_page("Work", site.url("/login", user="Work", as_="Work"))
        await page.goto(site.url("/page/1"))
        await page.evaluate("localStorage.setItem('kept', 'yes')")
        await rest.new_page("Personal", site.url("/page/2"))
        (tab,) = await profile.tabs.query("Work")
        async with (
            hatbox.open(path) as elsewhere,
            elsewhere.chromium(headless=True, browser=browser, identities="Work", attach=False) as work,
        ):
            assert page.is_closed()
            moved = await work.page(tab.id)
            assert moved.url == site.url("/page/1")
            assert await moved.evaluate("localStorage.getItem('kept')") == "yes"
            await moved.evaluate("localStorage.setItem('kept', 'moved')")
            await moved.goto(site.url("/me", as_="Work"))
            assert await moved.title() == "Signed in as Work"
            assert {context.cookie_store_id for context in running(work).contexts} == {WORK}
            assert {context.cookie_store_id for context in running(rest).contexts} == {PERSONAL}
            with pytest.raises(hatbox.EngineError, match=f"this engine does not serve {WORK}"):
                await rest.context("Work")
            with pytest.raises(hatbox.EngineError, match=f"this engine does not serve {PERSONAL}"):
                await work.new_page("Personal", site.url("/page/1"))
            with pytest.raises(hatbox.EngineError, match=f"this engine does not serve {WORK}"):
                await rest.page(tab.id)
            assert len(await profile.tabs.query()) == 2
        await until_awaited(lambda: _has_page(rest, tab.id))
        back = await rest.page(tab.id)
        assert back.url == site.url("/me", as_="Work")
        assert await back.evaluate("localStorage.getItem('kept')") == "moved"
    assert not site.mixed


async def _has_page(runner: hatbox.ChromiumRunner, tab_id: int) -> bool:
    await runner.wait_until_settled()
    return runner.engine.page_of(tab_id) is not None


@with_browser
async def test_a_browser_that_loses_its_lease_is_closed_and_saves_nothing(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile:
        lose_leases_of(profile.store, monkeypatch)
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/page/1"), keep=True)
            await runner.wait_until_synced()
            await page.evaluate("document.cookie = 'late=1'; localStorage.setItem('late', '1')")
            await page.goto(site.url("/page/2"), wait_until="commit")
            await LosableLease.acquired[0].lose()
            before = await _saved(profile)
            with pytest.raises(hatbox.EngineLeaseLost):
                await runner.wait_until_stopped()
            assert page.is_closed()
            assert runner.engine.running is None
            with pytest.raises(hatbox.EngineLeaseLost):
                await runner.page(1)
        assert await _saved(profile) == before


async def _saved(profile: hatbox.Profile) -> tuple[object, ...]:
    return await profile.store.read(
        lambda each: (each.tabs.find(), each.cookies.load(2), each.site_data.load(2), each.tabs.page_snapshot(1))
    )
