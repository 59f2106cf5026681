"""Programs that attach to the engine of another process: their pages, their tabs, and the end of either side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError

import hatbox
from hatbox.store.processes import current_process
from tests.engines.chromium.attached_program import AttachedProgram
from tests.engines.chromium.real import with_browser
from tests.site import Site
from tests.waiting import until_awaited

WORK = "firefox-container-2"


async def urls(profile: hatbox.Profile) -> list[str]:
    return sorted(tab.url.rpartition("127.0.0.1")[2].partition("/")[2] for tab in await profile.tabs.query())


def has_urls(profile: hatbox.Profile, *expected: str) -> Callable[[], Awaitable[bool]]:
    async def check() -> bool:
        return await urls(profile) == sorted(expected)

    return check


@with_browser
async def test_programs_work_in_the_browser_of_another_one_and_close_their_tabs(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        person = await runner.new_page("Work", site.url("/page/1"))
        own = {tab.id for tab in await profile.tabs.query()}
        first, second = await asyncio.gather(
            AttachedProgram.start(path, headless=True, browser=browser, identities="Work"),
            AttachedProgram.start(path, headless=True),
        )
        login, other = site.url("/login", user="Work"), site.url("/login", user="Personal")
        page = f"pages.append(await engine.new_page('Work', {login!r}))\nreturn await pages[-1].title()"
        assert await first.run(page) == "Signed in as Work"
        assert await second.run(page.replace("'Work'", "'Personal'").replace(login, other)) == "Signed in as Personal"
        assert await second.run(page) == "Signed in as Work"
        assert await first.run("return engine.attached_to.pid") == current_process().pid

        # Each has its own pages; the dialogs of a page are those of the program that opened it.
        answer = "pages[0].on('dialog', lambda each: each.accept())\nreturn await pages[0].evaluate('confirm()')"
        assert await first.run(answer)
        assert not await person.evaluate("confirm()")
        assert "again" in await first.run("return await pages[0].aria_snapshot(mode='ai')")
        opened = f"return (await engine.page({min(own)})).url"
        assert await first.run(opened) == site.url("/page/1")
        with pytest.raises(AssertionError, match="does not serve firefox-container-1"):
            await first.run("await engine.new_page('Personal')")
        assert await second.run("await engine.new_page('Work', 'http://127.0.0.1:1/')\nreturn 1")
        failed = [tab for tab in await profile.tabs.query() if tab.url == "http://127.0.0.1:1/"]
        assert failed[0].error
        await second.run(f"await profile.tabs.close({failed[0].id})\nawait engine.wait_until_settled()")

        # A killed program leaves none of its tabs: neither popups nor those opened with Playwright.
        popup = f"async with pages[0].expect_popup():\n await pages[0].evaluate(\"open('{site.url('/page/2')}')\")"
        await first.run(popup)
        await first.run(f"await (await (await engine.context('Work')).new_page()).goto('{site.url('/page/3')}')")
        await first.run(f"await engine.new_page('Work', '{site.url('/page/4')}', keep=True)")
        await until_awaited(has_urls(profile, "page/1", "page/2", "page/3", "page/4", "me", "me", "me"))
        first.kill()
        await until_awaited(has_urls(profile, "page/1", "page/4", "me", "me"))

        # So does one that stops. What its pages did is saved, and other pages are not touched.
        await second.run(f"await (await (await engine.context('Work')).new_page()).goto('{site.url('/page/5')}')")
        await second.run("await pages[0].evaluate('document.cookie = \"done=1\"')\nawait engine.wait_until_synced()")
        store = await profile.cookie_store("Personal")
        assert "done" in {each.name for each in await store.cookies()}
        await second.stop()
        await until_awaited(has_urls(profile, "page/1", "page/4"))
        assert await person.title() == "Page 1"
        assert not [key for _, key, _ in await profile.store.read(_records) if key != f"run:{runner._run}"]


def _records(transaction: hatbox.store.base.Transaction) -> list[tuple[str, str, bytes]]:
    return list(transaction.extensions.find("programs", ""))


@with_browser
async def test_programs_that_start_at_the_same_time_share_one_browser(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, hatbox.open(path) as elsewhere:
        runners = [each.chromium(headless=True, browser=browser) for each in (profile, elsewhere)]
        await asyncio.gather(*(each.__aenter__() for each in runners))
        engine, attached = sorted(runners, key=lambda each: each.attached_to is not None)
        assert engine.attached_to is None
        assert attached.attached_to is not None
        page = await attached.new_page("Work", site.url("/page/1"))
        assert await (await engine.new_page("Work", site.url("/page/2"))).title() == "Page 2"

        secret = await attached.new_page("Personal", site.url("/basic").replace("//", "//me:secret@"))
        assert await secret.title() == "Hello me"
        assert "secret" not in str(await profile.tabs.query())

        # An engine that takes the identity over ends the connection.
        async with elsewhere.chromium(headless=True, browser=browser, identities="Work", attach=False):
            with pytest.raises(hatbox.EngineError, match=f"does not serve {WORK}"):
                await attached.new_page("Work")
        with pytest.raises(PlaywrightError):
            await page.title()
        again = await attached.new_page("Work", site.url("/page/3"))
        assert await again.title() == "Page 3"

        # A program without an event loop.
        def synchronous() -> str:
            with hatbox.open_sync(path) as opened, opened.chromium(headless=True) as chromium:
                return str(chromium.new_page("Personal", site.url("/page/6")).title())

        assert await asyncio.to_thread(synchronous) == "Page 6"

        # When the engine stops, the attached program gets an error, and starts its own.
        loading = asyncio.ensure_future(attached.new_page("Work", site.url("/slow")))
        await asyncio.to_thread(site.wait_for, "/slow")
        await engine.stop()
        with pytest.raises(hatbox.EngineError, match=r"Chromium engine \(pid \d+\) has ended"):
            await loading
        with pytest.raises(hatbox.EngineError, match="has ended"):
            await attached.wait_until_stopped()
        with pytest.raises(hatbox.EngineError, match="has ended"):
            await attached.new_page("Work")
        await attached.stop()
        site.released.set()
        assert await profile.tabs.query() == []


@with_browser
async def test_a_killed_engine_is_reported_and_the_program_starts_its_own(browser: str, path: Path, site: Site) -> None:
    program = await AttachedProgram.start(path, headless=True, browser=browser)
    async with hatbox.open(path) as profile:
        runner = profile.chromium(headless=True, browser=browser)
        async with runner:
            assert runner.attached_to is not None
            page = await runner.new_page("Work", site.url("/page/1"))
            waiting = asyncio.ensure_future(runner.wait_until_stopped())
            program.kill()
            with pytest.raises(hatbox.EngineError, match="has ended"):
                await waiting
            with pytest.raises(hatbox.EngineError, match="has ended"):
                await runner.page(1)
            with pytest.raises(PlaywrightError):
                await page.title()
        async with runner:
            assert runner.attached_to is None
            assert await (await runner.new_page("Work", site.url("/page/2"))).title() == "Page 2"
        assert await profile.tabs.query() == []


@with_browser
async def test_a_script_without_windows_works_beside_a_person(
    browser: str, path: Path, site: Site, display: None
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(browser=browser) as runner:
        tab = await profile.tabs.open("Work", site.url("/page/1"))
        person = await runner.page(tab.id)
        async with (
            hatbox.open(path) as elsewhere,
            elsewhere.chromium(headless=True, identities="Work") as attached,
        ):
            assert attached.attached_to is not None
            page = await attached.new_page("Work", site.url("/page/2"))
            await page.click("#next")
            assert await page.title() == "Page 3"
            await until_awaited(has_urls(profile, "page/1", "page/3"))
        assert [each.id for each in await profile.tabs.query()] == [tab.id]
        assert await person.title() == "Page 1"
