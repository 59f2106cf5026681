"""Programs that attach to the engine of another process: their pages, their tabs, and the end of either side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import ClassVar

import pytest
from playwright.async_api import Error as PlaywrightError

import hatbox
from hatbox.engines.base import EngineOptions
from hatbox.engines.chromium.attachable_engine import WantedOptions, find_serving_engine, why_not_attachable
from hatbox.engines.chromium.attached_browser import AttachedBrowser
from hatbox.engines.running_engines import RunningEngine
from hatbox.store.processes import current_process, current_user
from hatbox.web_requests.request_model import RequestSnapshot
from tests.engines.chromium.attached_program import AttachedProgram
from tests.engines.chromium.real import with_browser
from tests.engines.fake import FakeEngine, run
from tests.site import Site
from tests.store.in_loop import in_loop
from tests.waiting import until_awaited

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"


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

        # An engine that takes the identity over, because it is told to, ends the connection.
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

        # When the engine stops, the attached program is told, and starts its own.
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


# ------------------------------------------------------------------------------------------------- without a browser


class Browser(FakeEngine):
    """An engine without a browser that has the name of one, and answers nothing."""

    name: ClassVar[str] = "Chromium"


HERE = RunningEngine(
    "Chromium",
    current_process(),
    None,
    1.0,
    has_windows=False,
    user=current_user(),
    options=EngineOptions("/opt/chromium", "/downloads"),
)


@pytest.mark.parametrize(
    ("changed", "wanted", "reason"),
    [
        ({}, {}, ""),
        ({"has_windows": True}, {}, ""),
        ({"has_windows": True}, {"headless": False}, ""),
        ({}, {"headless": False}, "no windows"),
        ({"has_windows": None}, {"headless": False}, "no windows"),
        ({}, {"downloads": "/downloads"}, ""),
        ({}, {"downloads": "/elsewhere"}, "downloads go to /downloads"),
        ({"options": EngineOptions()}, {"downloads": "/elsewhere"}, "keeps no downloads"),
        ({}, {"browser": "/bin/sh"}, "another browser: /opt/chromium"),
        ({}, {"indicator": False}, ""),
        ({}, {"indicator": True}, "do not show the identity"),
        ({"options": None}, {}, "options are not known"),
        ({"user": "another"}, {}, "another user"),
        ({"user": ""}, {}, "older version"),
        ({"engine": "HTTP"}, {}, "only Chromium"),
        ({"process": current_process()._replace(host="elsewhere/1/2")}, {}, "another machine"),
        ({"process": None}, {}, "another machine"),
    ],
)
def test_a_program_attaches_to_an_engine_of_its_user_and_machine_whose_options_agree(
    changed: dict[str, object], wanted: dict[str, object], reason: str
) -> None:
    import msgspec

    engine = msgspec.structs.replace(HERE, **changed)
    found = why_not_attachable(engine, WantedOptions(**({"headless": True} | wanted)))  # type: ignore[arg-type]
    assert found == "" if not reason else reason in found


@in_loop
async def test_an_error_of_the_connection_does_not_contain_the_token(path: Path) -> None:
    async with hatbox.open(path) as profile:
        attached = AttachedBrowser(profile.store, HERE, "run", lambda: None)
        with pytest.raises(hatbox.EngineError) as raised, attached.map_errors():
            raise PlaywrightError("connect failed: <ws connecting> ws://127.0.0.1:1/SECRET\nmore of SECRET")
    assert "connect failed" in str(raised.value)
    assert "SECRET" not in str(raised.value) + repr(raised.value.__cause__)


@in_loop
async def test_an_engine_that_does_not_answer_is_busy_after_a_bounded_time(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile, run(Browser(), profile):
        runner = profile.chromium(headless=True)
        monkeypatch.setattr(runner, "_max_time", 0.1)
        with pytest.raises(hatbox.EngineBusy, match=r"Chromium engine of .* \(pid \d+\).*: it does not answer"):
            await runner.__aenter__()
        await runner.stop()
        with pytest.raises(hatbox.EngineAlreadyRunning) as raised:
            await profile.chromium(headless=True, attach=False).__aenter__()
        assert not isinstance(raised.value, hatbox.EngineBusy)


@in_loop
async def test_engines_that_do_not_agree_are_busy_and_nothing_is_started(path: Path) -> None:
    def listener(request: RequestSnapshot) -> None:
        raise AssertionError(request)

    async with hatbox.open(path) as profile:
        async with run(Browser(), profile, "Work"):
            for options, reason in (
                ({"headless": False}, "no windows"),
                ({"identities": ["Personal", "Work"]}, "only some of the identities"),
            ):
                with pytest.raises(hatbox.EngineBusy, match=reason) as busy:
                    await profile.chromium(**({"headless": True, "identities": "Work"} | options)).__aenter__()  # type: ignore[arg-type]
                assert busy.value.identity == WORK
        async with run(Browser(), profile):
            profile.web_requests.on_before_request.add_listener(listener)
            with pytest.raises(hatbox.EngineBusy, match="webRequest listeners"):
                await profile.chromium(headless=True).__aenter__()
        async with run(FakeEngine(), profile):
            with pytest.raises(hatbox.EngineBusy, match="only Chromium has pages"):
                await profile.chromium(headless=True).__aenter__()
        assert await profile.running_engines() == []


@in_loop
async def test_the_engine_that_serves_the_wanted_identities_is_found(path: Path) -> None:
    async with hatbox.open(path) as profile, run(Browser(), profile, ["Work", "Personal"]):
        assert await find_serving_engine(profile.store, None) is None
        assert await find_serving_engine(profile.store, ["firefox-container-3"]) is None
        some = await find_serving_engine(profile.store, ["firefox-container-3", WORK])
        assert some is not None
        assert not some.has_all
        async with run(Browser(), profile):
            own = await find_serving_engine(profile.store, [WORK])
            rest = await find_serving_engine(profile.store, ["firefox-container-3"])
            everything = await find_serving_engine(profile.store, None)
        assert own is not None
        assert own.engine.identities == (WORK, PERSONAL)
        assert (own.has_all, own.releases) == (True, False)
        assert rest is not None
        assert everything is not None
        assert (rest.engine, rest.releases, everything.releases) == (everything.engine, True, False)
