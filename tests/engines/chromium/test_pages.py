"""Navigations of a page are reported to its tab. A page cannot detect the observer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import async_playwright

import hatbox
from hatbox.engines.chromium.blank_documents import BlankDocuments
from hatbox.tabs import Tab
from tests.engines.chromium.real import with_browser
from tests.site import Site
from tests.waiting import until_awaited

WORK = "firefox-container-2"


async def tab_when(profile: hatbox.Profile, **wanted: Any) -> Tab:
    """Wait for a tab with these attributes."""

    async def found() -> Tab | None:
        tabs = await profile.tabs.query()
        return next((tab for tab in tabs if all(getattr(tab, name) == each for name, each in wanted.items())), None)

    tab = await until_awaited(found)
    assert tab is not None
    return tab


@with_browser
async def test_navigations_that_a_page_starts_are_reported(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        assert await page.evaluate("history.length") <= 2
        await page.click("#next")
        await tab_when(profile, url=site.url("/page/2"), title="Page 2", loading=False, http_status=200)
        await page.click("#push")
        await tab_when(profile, url=site.url("/page/102"), title="Pushed 102", loading=False)
        await page.go_back()
        await tab_when(profile, url=site.url("/page/2"), loading=False)
        await page.goto(site.url("/form"))
        await page.fill("#text", "x")
        await page.click("button")
        await tab_when(profile, url=site.url("/page/1"), title="Page 1", loading=False)
        await page.goto(site.url("/redirect/3"))
        await tab_when(profile, url=site.url("/redirect/0"), title="The end", loading=False)
        await page.goto(site.url("/status/404"))
        await tab_when(profile, http_status=404, error="", title="404 Not Found", loading=False)
        await page.goto(site.url("/icon"))
        await tab_when(profile, icon=site.url("/icon.png"), loading=False)
        await page.evaluate("document.querySelector('link').href = '/other.png'; document.title = 'Other'")
        await tab_when(profile, icon=site.url("/other.png"), title="Other")
        await page.goto(site.url("/long") + "#end")
        await tab_when(profile, url=site.url("/long") + "#end", loading=False)
        await page.evaluate("location.hash = 'p7'")
        await tab_when(profile, url=site.url("/long") + "#p7", loading=False)


@with_browser
async def test_a_tab_is_loading_while_it_loads(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        tab = await tab_when(profile, url=site.url("/page/1"))
        await page.evaluate(f"setTimeout(() => location.href = '{site.url('/slow')}')")
        await tab_when(profile, pending_url=site.url("/slow"), url=site.url("/page/1"), loading=True)
        await profile.tabs.navigate(tab.id, site.url("/page/7"))  # replaces the load
        await runner.wait_until_settled()
        await tab_when(profile, url=site.url("/page/7"), title="Page 7", loading=False)
        await profile.tabs.navigate(tab.id, site.url("/drip"))
        await runner.wait_until_settled()
        await tab_when(profile, url=site.url("/drip"), title="Drip", loading=True)
        site.released.set()
        await tab_when(profile, url=site.url("/drip"), loading=False)


@with_browser
async def test_a_failed_load_has_an_error_in_plain_words(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        refused = site.url("/").replace(site.url("/").rpartition(":")[2], "9/")  # a port without a server
        page = await runner.new_page("Work", refused)
        tab = await tab_when(profile, url=refused, loading=False)
        assert tab.error
        assert "ERR_" not in tab.error
        assert tab.http_status is None
        for url, words in {
            "http://no-such-host.invalid/": "host not found: no-such-host.invalid",
            "nonsense": "invalid URL: nonsense",
            "javascript:document.title='x'": "invalid URL: javascript:document.title='x'",
            site.url("/redirect/loop"): "too many redirects",
        }.items():
            await profile.tabs.navigate(tab.id, url)
            await runner.wait_until_settled()
            await tab_when(profile, error=words, loading=False)
        await page.goto(site.url("/page/1"))
        await tab_when(profile, error="", title="Page 1", http_status=200)
        await page.evaluate("setTimeout(() => location.href = 'http://no-such-host.invalid/')")
        await tab_when(profile, error="host not found: no-such-host.invalid", loading=False)


@with_browser
async def test_popups_stay_in_the_identity_and_become_tabs(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await runner.new_page("Personal", site.url("/login", user="Personal"))
        page = await runner.new_page("Work", site.url("/login", user="Work"))
        await page.goto(site.url("/popup"))
        opener = await tab_when(profile, url=site.url("/popup"))
        for count, button in enumerate(["#blank", "#noopener", "#rel-opener", "#open", "#small"], 1):
            await page.click(button)

            async def are_reported(count: int = count) -> bool:
                tabs = await profile.tabs.query("Work")
                mine = [tab for tab in tabs if tab.id != opener.id]
                return len(mine) == count and all(
                    (tab.title, tab.url, tab.opener_id, tab.loading)
                    == ("Signed in as Work", site.url("/me"), opener.id, False)
                    for tab in mine
                )

            await until_awaited(are_reported)
        assert all(each.context is page.context for each in page.context.pages)
        await page.click("#empty")
        await page.evaluate(f"other.location = '{site.url('/page/4')}'")
        await tab_when(profile, url=site.url("/page/4"), title="Page 4", loading=False)
        await page.evaluate("other.close()")

        async def is_closed() -> bool:
            return not [tab for tab in await profile.tabs.query() if tab.title == "Page 4"]

        await until_awaited(is_closed)
    assert not site.mixed


@with_browser
async def test_popups_without_a_user_gesture_are_blocked(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/popup"))
        session = await page.context.new_cdp_session(page)
        response = await session.send("Runtime.evaluate", {"expression": "window.open('/me')", "userGesture": False})
        assert response["result"].get("subtype") == "null"


@with_browser
async def test_downloads_go_to_the_folder_and_leave_the_page_where_it_is(
    browser: str, path: Path, site: Site, tmp_path: Path
) -> None:
    folder = tmp_path / "downloads"
    async with (
        hatbox.open(path) as profile,
        profile.chromium(headless=True, browser=browser, downloads=folder) as runner,
    ):
        page = await runner.new_page("Work", site.url("/page/1"))
        for name in ("file.bin", "file(1).bin"):
            await page.evaluate("location.href = '/download'")
            await until_awaited(lambda name=name: asyncio.to_thread(_is_complete, folder / name))  # type: ignore[misc]
        tab = await tab_when(profile, url=site.url("/page/1"), title="Page 1", loading=False)
        assert tab.error == ""
    assert (folder / "file(1).bin").read_bytes() == b"some bytes"


def _is_complete(file: Path) -> bool:
    return file.exists() and file.stat().st_size == 10


@with_browser
async def test_in_headless_mode_playwright_gets_the_download(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        async with page.expect_download() as awaited:
            await page.evaluate("location.href = '/download'")
        file = await (await awaited.value).path()
        assert file.read_bytes() == b"some bytes"
    assert not file.exists()


@with_browser
async def test_a_page_that_crashes_is_reported_and_can_be_reloaded(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/login", user="Work"))
        tab = await tab_when(profile, title="Signed in as Work", loading=False)
        session = await page.context.new_cdp_session(page)
        crashed = asyncio.ensure_future(page.wait_for_event("crash"))
        sent = asyncio.ensure_future(session.send("Page.crash"))
        await crashed
        await tab_when(profile, error="the page has crashed", loading=False)
        await profile.tabs.reload(tab.id)
        page = await runner.page(tab.id)
        assert await page.title() == "Signed in as Work"
        sent.cancel()
        await asyncio.gather(sent, return_exceptions=True)


SEEN = """() => ({
  window: Object.getOwnPropertyNames(window).sort(),
  document: Object.getOwnPropertyNames(document).sort(),
  head: document.head.innerHTML,
  root: document.documentElement.getAttributeNames(),
  title: document.title,
  frames: frames.length,
  webdriver: navigator.webdriver,
  timer: setTimeout(() => 0),
  cookie: document.cookie,
  local: Object.keys(localStorage),
  session: Object.keys(sessionStorage),
  native: Function.prototype.toString.call(MutationObserver) + Function.prototype.toString.call(history.pushState),
  state: history.state,
})"""


@pytest.mark.parametrize("indicator", [False, True])
@with_browser
async def test_a_page_sees_nothing_of_hatbox(browser: str, path: Path, site: Site, indicator: bool) -> None:
    async with async_playwright() as playwright:
        plain = await playwright.chromium.launch(executable_path=browser, headless=True)
        bare = await (await plain.new_context()).new_page()
        await bare.goto(site.url("/icon"))
        expected = await bare.evaluate(SEEN)
        await plain.close()
    async with (
        hatbox.open(path) as profile,
        profile.chromium(headless=True, browser=browser, indicator=indicator) as runner,
    ):
        page = await runner.new_page("Work", site.url("/icon"))
        seen = await page.evaluate(SEEN)
        tab = await tab_when(profile, title="Icon")  # the page's own
        assert tab.icon == site.url("/icon.png")
    assert seen == expected


@with_browser
async def test_the_active_tab_is_brought_to_the_front(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        one = await runner.new_page("Work", site.url("/page/1"))
        await runner.new_page("Work", site.url("/page/2"))
        tab = await tab_when(profile, title="Page 1")
        assert not tab.active
        fronted: list[str] = []
        original = one.bring_to_front

        async def bring() -> None:
            fronted.append(one.url)
            await original()

        one.bring_to_front = bring  # type: ignore[method-assign]
        await profile.tabs.activate(tab.id)
        await runner.wait_until_settled()
        assert fronted == [site.url("/page/1")]


@with_browser
async def test_the_first_page_of_a_tab_stays_in_its_history(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blank document before it is removed from the history, and the load ends after that."""
    original, begins, may_end = BlankDocuments.reset_history, asyncio.Event(), asyncio.Event()

    async def slow(page: BlankDocuments) -> None:
        begins.set()
        await may_end.wait()
        await original(page)

    monkeypatch.setattr(BlankDocuments, "reset_history", slow)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        opening = asyncio.ensure_future(runner.new_page("Work", site.url("/page/1")))
        await begins.wait()
        await tab_when(profile, url=site.url("/page/1"), status="loading")
        assert not opening.done()
        may_end.set()
        page = await opening
        await page.goto(site.url("/page/2"))
        assert await page.evaluate("history.length") == 2


@pytest.mark.parametrize("answer", ["/download", "/status/204"])
@with_browser
async def test_a_tab_whose_first_url_is_no_page_ends_loading_and_is_not_requested_again(
    browser: str, path: Path, site: Site, answer: str
) -> None:
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            tab = await profile.tabs.open("Work", site.url(answer))
            await runner.wait_until_settled()
            await runner.engine.wait_until_loaded(tab.id)
            tab = await runner.wait_until_loaded(tab.id)
            assert (tab.url, tab.pending_url, tab.error, tab.status) == ("about:blank", "", "", "complete")
            page = await runner.page(tab.id)
            await profile.tabs.navigate(tab.id, site.url("/page/1"))
            assert (await runner.wait_until_loaded(tab.id)).title == "Page 1"
            assert await page.evaluate("history.length") == 1  # the blank page is not in the history
            await profile.tabs.navigate(tab.id, site.url(answer))
            tab = await runner.wait_until_loaded(tab.id)
            assert (tab.url, tab.title, tab.error) == (site.url("/page/1"), "Page 1", "")
            empty = await profile.tabs.open("Work", site.url(answer))
            await runner.wait_until_loaded(empty.id)
        requests = len(site.requests(answer))
        async with profile.chromium(headless=True, browser=browser) as runner:
            for each in (tab, empty):
                await runner.page(each.id)
            assert (await profile.tabs.get(tab.id)).title == "Page 1"
        assert len(site.requests(answer)) == requests
