"""A restored page, after hide or at the next start, is loading until it has loaded, and loses nothing meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

import hatbox
from hatbox.engines.chromium.blank_documents import BlankDocuments
from hatbox.engines.chromium.isolated_world import IsolatedWorld
from hatbox.engines.chromium.sessions import Session
from tests import site as pages
from tests.engines.chromium.real import with_browser
from tests.site import Answer, Site
from tests.waiting import until_awaited

WORK = "firefox-container-2"


def title_after_script(site: Site, seen: pages.Seen) -> Answer:
    """A page with a script before its title, which /slow delays."""
    icon = '<link rel="icon" href="/icon.png">'
    return Answer(f'<!doctype html><script src="/slow"></script><title>Late</title>{icon}'.encode())


def no_title(site: Site, seen: pages.Seen) -> Answer:
    return Answer(b"<!doctype html><p>it sets its title later")


@pytest.fixture
def late(site: Site, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(pages.PAGES, "/late", title_after_script)
    site.released.set()
    return site.url("/late")


@with_browser
async def test_a_restored_tab_is_loading_until_the_server_has_answered(browser: str, path: Path, site: Site) -> None:
    site.released.set()
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            tab = await profile.tabs.open("Work", site.url("/slow"))
            assert (await runner.wait_until_loaded(tab.id)).title == "At last"
        site.released.clear()
        async with profile.chromium(headless=True, browser=browser) as runner:
            await runner.wait_until_settled()
            tab = await profile.tabs.get(tab.id)
            assert (tab.status, tab.title, tab.url) == ("loading", "At last", site.url("/slow"))
            loaded = asyncio.ensure_future(runner.wait_until_loaded(tab.id))
            await asyncio.to_thread(site.wait_for, "/slow", 2)
            assert not loaded.done()
            site.released.set()
            tab = await loaded
            assert (tab.status, tab.title, tab.url) == ("complete", "At last", site.url("/slow"))


@with_browser
async def test_an_engine_that_is_stopped_while_it_restores_leaves_title_icon_and_history(
    browser: str, path: Path, site: Site, late: str
) -> None:
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/storage", write="V"), keep=True)
            await page.wait_for_function("document.title.includes('indexed V')")
            await page.goto(late)
            await page.goto(site.url("/page/2"))
            await page.go_back()
            (tab,) = await profile.tabs.query("Work")
            await until_awaited(lambda: _when(profile, tab.id, late))
            tab = await profile.tabs.get(tab.id)
            assert (tab.title, tab.icon) == ("Late", site.url("/icon.png"))
        site.released.clear()
        async with profile.chromium(headless=True, browser=browser) as runner:
            await runner.wait_until_settled()
            shown = runner.engine.page_of(tab.id)
            assert shown is not None
            await asyncio.to_thread(site.wait_for, "/slow", 2)
            await until_awaited(lambda: _is_at(shown, late))  # the document is committed, but has no title
        site.released.set()
        left = await profile.tabs.get(tab.id)
        assert (left.title, left.icon, left.url) == ("Late", site.url("/icon.png"), late)
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.page(tab.id)
            assert (await profile.tabs.get(tab.id)).title == "Late"
            await page.go_forward()
            await page.wait_for_function("document.title === 'Page 2'")
            await page.go_back()
            await page.go_back()
            await page.wait_for_function("document.title === 'local V, indexed V'")


@with_browser
async def test_hiding_a_tab_while_it_is_restored_keeps_its_history(browser: str, path: Path, site: Site) -> None:
    site.released.set()
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/storage", write="V"))
        await page.wait_for_function("document.title.includes('indexed V')")
        await page.goto(site.url("/slow"))
        (tab,) = await profile.tabs.query("Work")
        await until_awaited(lambda: _when(profile, tab.id, site.url("/slow")))
        site.released.clear()
        for _ in range(3):
            await profile.identities.hide(WORK)
            await runner.wait_until_settled()
            await profile.identities.show(WORK)
            await runner.wait_until_settled()
            tab = await profile.tabs.get(tab.id)
            assert (tab.status, tab.title, tab.url) == ("loading", "At last", site.url("/slow"))
        site.released.set()
        page = await runner.page(tab.id)
        assert await page.title() == "At last"
        await page.go_back()
        await page.wait_for_function("document.title === 'local V, indexed V'")


@with_browser
async def test_a_tab_whose_history_entry_cannot_be_restored_is_loaded_without_it(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Session.send

    async def refusing(session: Session, method: str, *args: Any, **named: Any) -> Any:
        if method == "Page.navigateToHistoryEntry":
            raise PlaywrightError("No entry with passed id")
        return await send(session, method, *args, **named)

    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await page.goto(site.url("/page/2"))
        (tab,) = await profile.tabs.query("Work")
        await page.go_back()
        await until_awaited(lambda: _when(profile, tab.id, site.url("/page/1")))
        await profile.identities.hide(WORK)
        await runner.wait_until_settled()
        monkeypatch.setattr(Session, "send", refusing)
        await profile.identities.show(WORK)
        async with asyncio.timeout(60):
            page = await runner.page(tab.id)
        assert await page.title() == "Page 1"


@with_browser
async def test_the_title_stays_until_the_page_has_one(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await runner.new_page("Work", site.url("/page/1"))
        (tab,) = await profile.tabs.query("Work")
        monkeypatch.setitem(pages.PAGES, "/page", no_title)
        await profile.identities.hide(WORK)
        await runner.wait_until_settled()
        await profile.identities.show(WORK)
        page = await runner.page(tab.id)
        assert await page.title() == ""
        assert (await profile.tabs.get(tab.id)).title == "Page 1"
        await page.evaluate("document.title = 'One'")
        await until_awaited(lambda: _has_title(profile, tab.id, "One"))
        await page.evaluate("document.title = ''")
        await until_awaited(lambda: _has_title(profile, tab.id, ""))


@with_browser
async def test_a_page_that_cannot_be_restored_keeps_its_title_and_has_an_error(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile:
        with Site() as other:
            async with profile.chromium(headless=True, browser=browser) as runner:
                await runner.new_page("Work", other.url("/page/1"), keep=True)
            url = other.url("/page/1")
        async with profile.chromium(headless=True, browser=browser) as runner:
            (tab,) = await profile.tabs.query("Work")
            await runner.wait_until_settled()
            tab = await runner.wait_until_loaded(tab.id)
            assert (tab.title, tab.url) == ("Page 1", url)
            assert "refused the connection" in tab.error


@pytest.mark.parametrize("with_site_data", [False, True])
@with_browser
async def test_a_restored_page_that_is_a_download_now_is_not_downloaded_at_every_start(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, with_site_data: bool
) -> None:
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            first = site.url("/storage", write="V") if with_site_data else site.url("/page/5")
            page = await runner.new_page("Work", first, keep=True)
            await page.goto(site.url("/page/1"))
            (tab,) = await profile.tabs.query("Work")
            await until_awaited(lambda: _when(profile, tab.id, site.url("/page/1")))
        monkeypatch.setitem(pages.PAGES, "/page", pages.download)
        for _ in range(2):
            async with profile.chromium(headless=True, browser=browser) as runner:
                (tab_id,) = [tab.id for tab in await profile.tabs.query("Work")]
                page = await runner.page(tab_id)
                await until_awaited(lambda tab_id=tab_id: _when(profile, tab_id, "about:blank"))  # type: ignore[misc]
                assert page.url == "about:blank"
        assert len(site.requests("/page/1")) == 2


@with_browser
async def test_a_restored_page_with_an_empty_response_keeps_its_url(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/storage", write="V"))
        await page.wait_for_function("document.title.includes('indexed V')")
        await page.goto(site.url("/page/1"))
        (tab,) = await profile.tabs.query("Work")
        with monkeypatch.context() as patch:
            patch.setitem(pages.PAGES, "/page", lambda *_: Answer(b"", 204))
            await profile.identities.hide(WORK)
            await runner.wait_until_settled()
            await profile.identities.show(WORK)
            page = await runner.page(tab.id)
            assert page.url == "about:blank"
            tab = await profile.tabs.get(tab.id)
            assert (tab.status, tab.url, tab.title) == ("complete", site.url("/page/1"), "Page 1")
        await profile.identities.hide(WORK)
        await runner.wait_until_settled()
        await profile.identities.show(WORK)
        page = await runner.page(tab.id)
        assert await page.title() == "Page 1"


async def _when(profile: hatbox.Profile, tab_id: int, url: str) -> hatbox.Tab | None:
    """The tab, if it is complete at this URL."""
    tab = await profile.tabs.get(tab_id)
    return tab if tab.url == url and not tab.loading else None


async def _has_title(profile: hatbox.Profile, tab_id: int, title: str) -> bool:
    return (await profile.tabs.get(tab_id)).title == title


async def _is_at(page: Page, url: str) -> bool:
    return page.url == url


@pytest.mark.parametrize(
    ("part", "failing"), [(BlankDocuments, "navigate_to_blank"), (IsolatedWorld, "evaluate_in_origin")]
)
@with_browser
async def test_site_data_that_cannot_be_restored_in_time_is_not_overwritten_with_nothing(
    browser: str,
    path: Path,
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    part: type,
    failing: str,
) -> None:
    async def time_out(*_: object) -> None:
        raise TimeoutError

    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/storage", write="V"))
        await page.wait_for_function("document.title === 'local V, indexed V'")
        (tab,) = await profile.tabs.query("Work")
        await profile.tabs.navigate(tab.id, site.url("/storage"))
        await runner.wait_until_loaded(tab.id)
        await profile.identities.hide(WORK)
        await runner.wait_until_settled()
        with monkeypatch.context() as patch:
            patch.setattr(part, failing, time_out)
            await profile.identities.show(WORK)
            page = await runner.page(tab.id)
        await page.wait_for_function("document.title === 'local nothing, indexed nothing'")
        assert "site data: restoring" in caplog.text
        for _ in range(2):
            await profile.identities.hide(WORK)
            await runner.wait_until_settled()
            await profile.identities.show(WORK)
            page = await runner.page(tab.id)
        await page.wait_for_function("document.title === 'local V, indexed V'")


@pytest.mark.parametrize("answer", ["/download", "/status/204"])
@with_browser
async def test_a_hidden_tab_whose_navigation_has_no_document_shows_the_previous_page(
    browser: str, path: Path, site: Site, answer: str
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await page.goto(site.url("/page/2"))
        (tab,) = await profile.tabs.query("Work")
        await until_awaited(lambda: _when(profile, tab.id, site.url("/page/2")))
        await profile.identities.hide(WORK)
        await runner.wait_until_settled()
        await profile.tabs.navigate(tab.id, site.url(answer))
        await profile.identities.show(WORK)
        page = await runner.page(tab.id)
        tab = await profile.tabs.get(tab.id)
        assert (tab.status, tab.url, tab.title) == ("complete", site.url("/page/2"), "Page 2")
        assert (page.url, await page.title()) == (site.url("/page/2"), "Page 2")
        assert len(site.requests(answer)) == 1
        await page.go_back()
        await page.wait_for_function("document.title === 'Page 1'")
