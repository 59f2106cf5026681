"""The engine with a real Chromium: identities side by side, hide and show, restart and crash."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

import hatbox
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.cookie_sync import CookieSync
from hatbox.errors import EngineAlreadyRunning, EngineError
from hatbox.tabs import Tab
from tests.engines.chromium.real import (
    browser_process,
    command_line,
    cookie,
    parent_of,
    running,
    value,
    with_browser,
    with_own_driver,
)
from tests.site import Site
from tests.waiting import until_awaited

WORK = "firefox-container-2"


async def the_tab(profile: hatbox.Profile, identity: str = "Work") -> Tab:
    (tab,) = await profile.tabs.query(identity)
    return tab


@with_browser
async def test_two_identities_are_signed_in_side_by_side(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        names = ["Work", "Personal"]
        pages = await asyncio.gather(*(runner.new_page(name, site.url("/login", user=name)) for name in names))
        assert [await page.title() for page in pages] == ["Signed in as Work", "Signed in as Personal"]
        tabs = await profile.tabs.query()
        assert {tab.title for tab in tabs} == {"Signed in as Work", "Signed in as Personal"}
        assert {(tab.url, tab.http_status, tab.content_type) for tab in tabs} == {(site.url("/me"), 200, "text/html")}
        default = await runner.new_page("firefox-default", site.url("/me"))
        assert await default.title() == "Nobody is signed in"
    assert not site.mixed


@with_browser
async def test_a_session_goes_from_the_browser_to_httpx_and_back(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/login", user="Work"))
        first = await until_awaited(lambda: value(profile, "Work", "session"))
        async with profile.httpx("Work") as client:
            for _ in range(3):  # each request invalidates the session cookie of the other side
                answer = await client.get(site.url("/rotate"))
                assert "Still Work" in answer.text
                now = await value(profile, "Work", "session")
                await until_awaited(lambda now=now: _has(runner, "session", now))  # type: ignore[misc]
                await page.goto(site.url("/rotate"))
                assert await page.title() == "Still Work"
                await until_awaited(lambda now=now: _differs(profile, now))  # type: ignore[misc]
        assert first != await value(profile, "Work", "session")
    assert not site.stale
    assert not site.mixed


async def _has(runner: ChromiumRunner, name: str, wanted: str | None) -> bool:
    context = await runner.context("Work")
    return wanted in [each["value"] for each in await context.cookies() if each["name"] == name]


async def _differs(profile: hatbox.Profile, old: str | None) -> bool:
    return await value(profile, "Work", "session") != old


@with_browser
async def test_hidden_pages_are_closed_and_restored_when_shown(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        other = await runner.new_page("Personal", site.url("/page/9"))
        page = await runner.new_page("Work", site.url("/login", user="Work"))
        await page.goto(site.url("/storage", write="V"))
        await page.wait_for_function("document.title.includes('indexed V')")
        await page.goto(site.url("/long"))
        await page.evaluate("scrollTo(0, 3000)")
        await page.goto(site.url("/page/1"))
        await page.go_back()
        await page.evaluate("scrollTo(0, 4000)")

        await profile.identities.hide(WORK)
        await runner.wait_until_settled()
        assert page.is_closed()
        assert not other.is_closed()
        tab = await the_tab(profile)
        assert (tab.hidden, tab.url, tab.title) == (True, site.url("/long"), "Long")
        with pytest.raises(EngineError, match="hidden"):
            await runner.page(tab.id)

        await profile.identities.show(WORK)
        page = await runner.page(tab.id)
        assert page.url == site.url("/long")
        await until_awaited(lambda: page.evaluate("scrollY === 4000"))
        await page.go_back()
        await page.wait_for_function("document.title === 'local V, indexed V'")
        await page.go_back()
        await page.wait_for_function("document.title === 'Signed in as Work'")
        for title in ("local V, indexed V", "Long", "Page 1"):
            await page.go_forward()
            await page.wait_for_function("title => document.title === title", arg=title)


@with_browser
async def test_the_restored_history_has_fragments_and_pages_of_other_sites(
    browser: str, path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    urls = [
        site.url("/page/1"),
        site.url("/long") + "#p50",
        site.url("/form", host="localhost"),
        site.url("/long") + "#end",
        site.url("/page/3"),
    ]
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", urls[0])
        for url in urls[1:]:
            await page.goto(url)
        await page.go_back()
        await profile.identities.hide(WORK)
        await profile.tabs.navigate((await the_tab(profile)).id, site.url("/page/9"))  # while it is hidden
        await profile.identities.show(WORK)
        page = await runner.page((await the_tab(profile)).id)
        assert page.url == site.url("/page/9")
        await profile.identities.hide(WORK)
        await runner.wait_until_settled()
        await profile.identities.show(WORK)
        page = await runner.page((await the_tab(profile)).id)
        assert page.url == site.url("/page/9")
        for url in reversed(urls[:4]):
            await page.go_back()
            assert page.url == url
        await page.wait_for_function("document.title === 'Page 1'")
    assert "is lost" not in caplog.text


@with_browser
async def test_a_restarted_engine_opens_visible_tabs_and_hidden_tabs_stay_hidden(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/login", user="Work"), keep=True)
        await page.goto(site.url("/long"))
        await page.evaluate("scrollTo(0, 2000)")
        await runner.new_page("Personal", site.url("/login", user="Personal"), keep=True)
        await profile.identities.hide("firefox-container-1")
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        tab = await the_tab(profile)
        page = await runner.page(tab.id)
        assert page.url == site.url("/long")
        await until_awaited(lambda: page.evaluate("scrollY === 2000"))
        await page.go_back()
        await page.wait_for_function("document.title === 'Signed in as Work'")
        hidden = await the_tab(profile, "Personal")
        assert runner.engine.page_of(hidden.id) is None
        await profile.identities.show("firefox-container-1")
        shown = await runner.page(hidden.id)
        await shown.wait_for_function("document.title === 'Signed in as Personal'")
    assert not site.mixed


@with_browser
async def test_a_login_survives_when_the_browser_is_killed_a_second_later(
    browser: str, path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        process = await browser_process(runner)
        page = await runner.new_page("Work", site.url("/login", user="Work"))
        await until_awaited(lambda: value(profile, "Work", "session"))
        os.kill(process, signal.SIGKILL)
        await until_awaited(lambda: _is(page.is_closed()))

        async def is_back() -> bool:
            found = runner.engine.page_of(tab.id)
            return found is not None and found is not page

        tab = await the_tab(profile)
        await until_awaited(is_back)
        page = await runner.page(tab.id)
        assert await page.title() == "Signed in as Work"
        assert await browser_process(runner) != process
    assert "engine crashed" in caplog.text


@with_own_driver
async def test_a_login_survives_the_end_of_the_driver(
    browser: str, path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """A message of the browser of more than 512 MB ends the driver of Playwright, and with it the browser."""
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/login", user="Work"))
        await until_awaited(lambda: value(profile, "Work", "session"))
        tab = await the_tab(profile)
        driver = parent_of(await browser_process(runner))
        assert "run-driver" in command_line(driver)
        os.kill(driver, signal.SIGKILL)

        async def is_back() -> bool:
            found = runner.engine.page_of(tab.id)
            return found is not None and found is not page

        await until_awaited(is_back)
        page = await runner.page(tab.id)
        assert await page.title() == "Signed in as Work"
    assert "engine crashed" in caplog.text


async def _is(truth: bool) -> bool:
    return truth


@with_browser
async def test_a_command_in_another_process_acts_on_the_browser(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/login", user="Work"))
        async with hatbox.open(path) as elsewhere:
            closed = asyncio.ensure_future(page.wait_for_event("close"))
            await elsewhere.identities.hide(WORK)
            await closed
            await elsewhere.identities.show(WORK)
            tab = await the_tab(elsewhere)
            await until_awaited(lambda: _is(runner.engine.page_of(tab.id) is not None))
            page = await runner.page(tab.id)
            assert await page.title() == "Signed in as Work"
            await elsewhere.tabs.navigate(tab.id, site.url("/page/5"))
            await until_awaited(lambda: _is(page.url == site.url("/page/5")))
            store = await elsewhere.cookie_store("Work")
            await store.set(site.url("/"), name="elsewhere", value="Work-1")
            await until_awaited(lambda: _has(runner, "elsewhere", "Work-1"))
            await store.clear()
            await until_awaited(lambda: _has_none(runner))


async def _has_none(runner: ChromiumRunner) -> bool:
    return not await (await runner.context("Work")).cookies()


@with_browser
async def test_removing_an_identity_closes_its_pages(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/login", user="Work"))
        await page.goto(site.url("/storage", write="V"))
        await page.wait_for_function("document.title.includes('indexed V')")
        context = page.context
        other = await runner.new_page("Personal", site.url("/login", user="Personal"))
        await profile.identities.remove(WORK)
        await runner.wait_until_settled()
        assert page.is_closed()
        assert context not in other.context.browser.contexts  # type: ignore[union-attr]
        assert [tab.title for tab in await profile.tabs.query()] == ["Signed in as Personal"]
        again = await profile.identities.create("Work", color="blue", icon="briefcase")
        page = await runner.new_page(again, site.url("/me"))
        assert await page.title() == "Nobody is signed in"
        assert await page.evaluate("localStorage.length") == 0
    assert not site.mixed


@with_browser
async def test_a_context_is_closed_with_its_last_page(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        one = await runner.new_page("Work", site.url("/page/1"))
        two = await runner.new_page("Work", site.url("/page/2"))
        assert one.context is two.context is await runner.context("Work")
        chromium = one.context.browser
        assert chromium is not None
        await profile.tabs.close([tab.id for tab in await profile.tabs.query() if tab.title == "Page 1"])
        await runner.wait_until_settled()
        assert chromium.contexts == [two.context]
        await two.close()
        await until_awaited(lambda: _is(chromium.contexts == []))
        assert await profile.tabs.query() == []


@with_browser
async def test_a_page_that_the_user_closes_is_closed_in_the_profile(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await runner.new_page("Work", site.url("/page/2"))
        await page.close()

        async def is_reported() -> bool:
            return [tab.title for tab in await profile.tabs.query()] == ["Page 2"]

        await until_awaited(is_reported)


@with_browser
async def test_pages_opened_with_playwright_become_tabs(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        store = await profile.cookie_store("Work")
        await store.set(site.url("/"), name="session", value=site.sign_in("Work"))
        context = await runner.context("Work")
        page = await context.new_page()
        await page.goto(site.url("/me"))
        assert await page.title() == "Signed in as Work"

        async def is_reported() -> bool:
            return [(tab.title, tab.cookie_store_id) for tab in await profile.tabs.query()] == [
                ("Signed in as Work", WORK)
            ]

        await until_awaited(is_reported)
        assert await runner.page((await the_tab(profile)).id) is page


@with_browser
async def test_a_profile_has_one_engine_at_a_time(browser: str, path: Path) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser):
        with pytest.raises(EngineAlreadyRunning):
            async with profile.chromium(headless=True, browser=browser, attach=False):
                pass


@with_browser
async def test_the_user_agent_does_not_say_headless(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        agent = await page.evaluate("navigator.userAgent")
        assert "Chrome/" in agent
        assert "Headless" not in agent
        assert site.requests("/page/1")[0].headers["user-agent"] == agent
        assert "Headless" not in site.requests("/page/1")[0].headers.get("sec-ch-ua", "")


@with_browser
async def test_cookies_are_stored_as_the_server_has_set_them(browser: str, path: Path, site: Site) -> None:
    lines = [
        "plain=1",
        "all=2; Path=/page; HttpOnly; SameSite=Strict; Max-Age=5000",
        "secure=3; Secure; SameSite=None; Path=/",
        "own=4; Secure; SameSite=None; Partitioned; Path=/",
    ]
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await runner.new_page("Work", site.url("/page/1", host="localhost", set=lines))
        await until_awaited(lambda: value(profile, "Work", "own"))
        async with profile.httpx("Personal") as client:  # the jar has parsed the same Set-Cookie headers
            await client.get(site.url("/page/1", host="localhost", set=lines))
        for name in ("plain", "all", "secure", "own"):
            ours, theirs = await cookie(profile, "Personal", name), await cookie(profile, "Work", name)
            assert ours is not None
            assert theirs is not None
            assert (theirs.key, theirs.value, theirs.secure, theirs.http_only, theirs.same_site) == (
                ours.key,
                ours.value,
                ours.secure,
                ours.http_only,
                ours.same_site,
            )
            assert theirs.expires == pytest.approx(ours.expires, abs=30) if ours.expires else theirs.expires is None


@with_browser
async def test_quitting_the_browser_closes_no_tab(browser: str, path: Path, site: Site) -> None:
    """A quitting browser closes its pages one by one and responds until it ends. The user has closed no tab."""
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        for name in ("Work", "Work", "Personal", "Personal"):
            await runner.new_page(name, site.url("/page/1"))
        before = [tab.id for tab in await profile.tabs.query()]
        before_quit = running(runner)
        with contextlib.suppress(PlaywrightError):
            await before_quit.env.launched.session.send("Browser.close")
        await until_awaited(lambda: _is(runner.engine.running not in (None, before_quit)))
        await until_awaited(lambda: _is(runner.engine.tabs == set(before)))
        assert [tab.id for tab in await profile.tabs.query()] == before


@with_browser
async def test_a_page_that_a_script_closes_last_is_closed_in_the_profile(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            await (await runner.new_page("Work", site.url("/page/1"))).close()
        assert await profile.tabs.query() == []


@with_browser
async def test_closing_an_unresponsive_context_times_out(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.context_registry._CONTEXT_SAVE_TIMEOUT", 0.1)
    monkeypatch.setattr(CookieSync, "finish", lambda _: asyncio.Event().wait())
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await runner.new_page("Work", site.url("/page/1"))
    assert [each.message for each in caplog.records if each.levelname == "WARNING"] == [
        "closing context of firefox-container-2 timed out; data may be incomplete"
    ]


@with_browser
async def test_a_page_that_hangs_can_be_hidden(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.isolated_world._EVALUATE_TIMEOUT", 0.5)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await page.evaluate("setTimeout(() => { while (true); })")
        await profile.identities.hide("firefox-container-2")
        await runner.wait_until_settled()
        assert runner.engine.tabs == set()
        (tab,) = await profile.tabs.query()
        assert (tab.hidden, tab.url) == (True, site.url("/page/1"))


@with_browser
async def test_site_data_removed_from_the_profile_is_cleared_in_the_browser(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/storage", write="V"))
            elsewhere = await runner.new_page("Work", site.url("/storage", host="localhost", write="L"))
            other = await runner.new_page("Personal", site.url("/storage", write="P"))
            for each in (page, elsewhere, other):
                await each.wait_for_function("document.title.includes('indexed')")
            await elsewhere.goto(site.url("/page/1"))  # so that no page of the origin is open
            script = profile.browser(["browsingData"])
            here = site.url("").removeprefix("http://")

            async def site_data(page: Page, host: str = "127.0.0.1") -> str:
                await page.goto(site.url("/storage", host=host))
                await page.wait_for_function("document.title.includes('indexed')")
                return await page.title()

            await script.browsingData.remove({"cookieStoreId": WORK, "hostnames": [here]}, {"localStorage": True})
            await runner.wait_until_synced()
            assert await page.evaluate("localStorage.length") == 0  # in the document that stayed open
            assert await site_data(page) == "local nothing, indexed V"
            assert await site_data(page, "localhost") == "local L, indexed L"
            await script.browsingData.remove({"cookieStoreId": WORK}, {"localStorage": True, "indexedDB": True})
            await runner.wait_until_synced()
            assert [await site_data(page), await site_data(page, "localhost")] == ["local nothing, indexed nothing"] * 2
            assert await site_data(other) == "local P, indexed P"
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/storage", host="localhost"))
            await page.wait_for_function("document.title === 'local nothing, indexed nothing'")


@with_browser
async def test_caches_and_service_workers_can_be_removed(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await page.evaluate("caches.open('kept').then(cache => cache.put('/a', new Response('a')))")
        script = profile.browser(["browsingData"])
        await script.browsingData.remove({}, {"cache": True, "serviceWorkers": True})
        await runner.wait_until_synced()
        assert await page.evaluate("caches.keys()") == []
