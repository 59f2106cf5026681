"""Endpoints of a real browser: Playwright and a raw client, beside pages of the user and of other identities."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

import hatbox
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization, authorize_token
from hatbox.engines.chromium.endpoint.endpoint import Endpoint
from hatbox.tabs.bound_tabs import is_bound
from hatbox.tabs.site_data import decode_site_data
from tests.engines.chromium import shared_driver
from tests.engines.chromium.endpoint.raw_client import RawClient, target_of
from tests.engines.chromium.real import value, with_browser
from tests.site import Site
from tests.waiting import until, until_awaited

TOKEN = "hatbox_4Jf0c7sT"
AUTO_ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}


async def endpoint_of(runner: ChromiumRunner, identity: str = "Work") -> tuple[Endpoint, TokenAuthorization]:
    authorization = TokenAuthorization()
    return await runner.open_endpoint(identity, authorize_token(TOKEN, authorization)), authorization


async def connect(endpoint: Endpoint) -> Any:
    return await shared_driver.playwright().chromium.connect_over_cdp(endpoint.url(TOKEN))


@with_browser
async def test_programs_sign_in_beside_a_person_and_another_identity(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        person = await runner.new_page("Work", site.url("/page/1"))
        other = await runner.new_page("Personal", site.url("/login", user="Personal"))
        work, _ = await endpoint_of(runner)
        first, second = await connect(work), await connect(work)
        (context,) = first.contexts
        assert [page.url for page in context.pages] == [person.url]
        page = await context.new_page()
        await page.goto(site.url("/login"))
        await page.fill("#user", "Work")
        await page.click("button")
        assert await page.title() == "Signed in as Work"
        assert {each["name"] for each in await context.cookies()} == {"session"}
        with pytest.raises(Exception, match=r"browser\.contexts\[0\]"):
            await first.new_context()

        # A page cannot hide a request or a navigation with the address of the manager page.
        hiding = site.url("/127.0.0.1/hatbox-x", d="1")
        await page.route("**/*?d=*", lambda route: route.abort())
        assert await page.evaluate("url => fetch(url).then(() => 'sent', () => 'aborted')", hiding) == "aborted"
        assert site.requests("/127.0.0.1/hatbox-x") == []
        await page.unroute_all()
        async with page.expect_navigation():
            await page.evaluate("url => { location = url }", hiding)
        assert page.url == site.url("/127.0.0.1/hatbox-withheld", d="1")
        await page.goto(site.url("/me"))
        await page.goto(hiding + "2")
        assert page.url.endswith("?d=12")
        await page.goto(site.url("/me"))

        # Its dialogs are its own, and those of the user's page are not.
        page.on("dialog", lambda dialog: dialog.accept())
        context.pages[0].on("dialog", lambda dialog: dialog.accept())
        assert await until_awaited(lambda: page.evaluate("confirm('Sure?')"))
        assert not await person.evaluate("confirm('Sure?')")  # the engine dismisses it, without a window

        # The second program sees the page of the first, and acts in it too.
        await until(lambda: len(second.contexts[0].pages) == 2)
        again = next(each for each in second.contexts[0].pages if each.url == page.url)
        async with page.expect_navigation():
            await again.click("#again")
        assert await again.title() == "Signed in as Work"

        # What a program changes is stored as what a person does.
        await context.add_cookies([{"name": "added", "value": "Work-1", "url": site.url("/")}])
        await page.goto(site.url("/storage", write="Work-2"))
        await page.wait_for_function("document.title.includes('indexed Work-2')")
        await until_awaited(lambda: value(profile, "Work", "added"))
        assert await value(profile, "Personal", "added") is None
        await first.close()
        await second.close()

        await until(lambda: work.clients == 0)
        assert await person.title() == "Page 1"
        await other.goto(site.url("/me", as_="Personal"))
        assert await other.title() == "Signed in as Personal"
        assert len(await profile.tabs.query("Work")) == 2  # the page that the program opened is a tab
        async with RawClient(work.url(TOKEN)) as third:
            await third.result("Browser.getVersion")
            await work.close()
            await third.closed.wait()
        with pytest.raises(OSError, match="onnect"):
            await RawClient(work.url(TOKEN)).__aenter__()
    assert site.mixed == []
    async with hatbox.open(path) as profile:
        saved = await profile.store.read(lambda each: [each.site_data.load(number) for number in (1, 2)])
        assert ["Work-2" in str([decode_site_data(data) for _, data in each]) for each in saved] == [False, True]


def get(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@with_browser
async def test_only_clients_with_the_token_on_this_machine_connect(
    browser: str, path: Path, site: Site, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.endpoint.endpoint.MAX_CLIENTS", 2)
    caplog.set_level(logging.DEBUG)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await runner.new_page("Work", site.url("/page/1"))
        await runner.new_page("Personal", site.url("/page/2"))
        endpoint, authorization = await endpoint_of(runner)
        base = f"http://127.0.0.1:{endpoint.port}"

        async def fetch(where: str, **headers: str) -> tuple[int, str]:
            return await asyncio.to_thread(get, base + where, **headers)

        status, text = await fetch(f"/{TOKEN}/json/version/")
        assert (status, json.loads(text)["webSocketDebuggerUrl"]) == (200, endpoint.url(TOKEN))
        (page,) = json.loads((await fetch(f"/{TOKEN}/json/list"))[1])
        assert page["url"] == site.url("/page/1")
        for where in ("/", "/json/version", "/json/list", "/wrong/json/version", f"/{TOKEN}/other", f"/{TOKEN[:-1]}"):
            assert (await fetch(where))[0] == 404
        for headers in ({"Host": f"evil.test:{endpoint.port}"}, {"Origin": "http://127.0.0.1"}, {"Origin": "null"}):
            assert (await fetch(f"/{TOKEN}/json/version", **headers))[0] == 403
        for url, options in (
            (endpoint.url("wrong"), {}),
            (endpoint.url(TOKEN), {"origin": "http://evil.test"}),
            (endpoint.url(TOKEN), {"additional_headers": {"Host": "evil.test"}}),
        ):
            with pytest.raises(InvalidStatus):
                await RawClient(url, **options).__aenter__()

        for _ in range(3):  # no handshake: it does not count as a client
            assert (await fetch(f"/{TOKEN}"))[0] == 426
        await until(lambda: endpoint.clients == 0)
        async with RawClient(endpoint.url(TOKEN)) as client:
            async with RawClient(page["webSocketDebuggerUrl"], origin="devtools://devtools") as devtools:
                assert await devtools.evaluate("document.title", "") == "Page 1"
                with pytest.raises(InvalidStatus):
                    await RawClient(endpoint.url(TOKEN)).__aenter__()  # a third one
                started = time.monotonic()
                authorization.end()
                await asyncio.gather(client.closed.wait(), devtools.closed.wait())
                assert time.monotonic() - started < 10  # a quiet machine needs 0.1 s
            assert client.socket.close_code == 1008
        assert (await fetch(f"/{TOKEN}/json/version"))[0] == 404
        assert TOKEN not in repr(endpoint)
    assert [each for each in caplog.records if "client" not in each.name and TOKEN in each.getMessage()] == []


@with_browser
async def test_clients_that_stop_or_die_do_not_stop_the_user(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        endpoint, _ = await endpoint_of(runner)
        async with RawClient(endpoint.url(TOKEN)) as client:
            await client.result("Target.setAutoAttach", AUTO_ATTACH)
            person = await runner.new_page("Work", site.url("/page/1"))  # the client never resumes it
            _, session = await client.open_page("about:blank")
            await client.result("Runtime.runIfWaitingForDebugger", {}, session)
            await client.result("Fetch.enable", {}, session)
            await client.start("Page.navigate", {"url": site.url("/page/2")}, session)
            await client.event("Fetch.requestPaused")
            client.socket.transport.abort()  # killed
        await asyncio.to_thread(site.wait_for, "/page/2")  # the paused request goes on
        await until(lambda: endpoint.clients == 0)
        assert await person.evaluate("document.title") == "Page 1"

        await until_awaited(lambda: _are_loaded(profile, 2))  # Chromium does not close a page while it navigates
        async with RawClient(endpoint.url(TOKEN)) as client:
            await client.result("Target.setDiscoverTargets", {"discover": True})
            for info in [each["params"]["targetInfo"] for each in client.events]:
                await client.result("Target.closeTarget", {"targetId": info["targetId"]})
            await until_awaited(lambda: _has_no_tabs(profile))
            await client.open_page(site.url("/page/3"))  # the identity stays open for its client
            await profile.browser(["contextualIdentities"]).contextualIdentities.remove("firefox-container-2")
            await client.closed.wait()
        with pytest.raises(InvalidStatus):
            async with RawClient(endpoint.url(TOKEN)) as client:
                await client.closed.wait()
                raise InvalidStatus(None)  # type: ignore[arg-type] # closed at once is right too


async def _has_no_tabs(profile: hatbox.Profile) -> bool:
    return not await profile.tabs.query("Work")


async def _are_loaded(profile: hatbox.Profile, count: int) -> bool:
    tabs = await profile.tabs.query("Work")
    return len(tabs) == count and all(tab.title and not tab.loading for tab in tabs)


async def _count(profile: hatbox.Profile, count: int) -> bool:
    return len(await profile.tabs.query()) == count


async def _has_error(profile: hatbox.Profile) -> bool:
    """A rule has blocked the page of the last tab, with a message that names no other identity."""
    error = (await profile.tabs.query())[-1].error
    assert "Banking" not in error
    return "assigns" in error


@with_browser
async def test_pages_of_a_program_stay_in_its_identity_and_see_no_page_of_hatbox(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile:
        await profile.rules.add("localhost", "Banking")
        async with profile.chromium(headless=True, browser=browser, indicator=True) as runner:
            endpoint, _ = await endpoint_of(runner)
            async with RawClient(endpoint.url(TOKEN)) as client:
                await client.result("Target.setDiscoverTargets", {"discover": True})
                # A rule assigns the site to another identity: the page is refused, and opens nowhere.
                target_id, session = await client.open_page(site.url("/page/1", host="localhost"))
                await client.result("Page.enable", {}, session)
                navigation = {"url": site.url("/page/2", host="localhost")}
                assert "BLOCKED" in (await client.result("Page.navigate", navigation, session))["errorText"]
                await client.evaluate("location.href = " + json.dumps(navigation["url"]), session)
                assert "BLOCKED" in (await client.result("Page.navigate", navigation, session))["errorText"]
                await client.result("Page.navigate", {"url": site.url("/page/3")}, session)
                popup = f"window.open({json.dumps(navigation['url'])}, '_blank', 'noopener'); 1"
                await client.result("Runtime.evaluate", {"expression": popup, "userGesture": True}, session)
                await until_awaited(lambda: _count(profile, 2))
                await until_awaited(lambda: _has_error(profile))
                opened = await profile.tabs.query()
                assert {tab.cookie_store_id for tab in opened} == {"firefox-container-2"}
                # Another engine, which loads the tabs later, refuses it too.
                assert await profile.store.read(lambda each: all(is_bound(each, tab.id) for tab in opened))
                assert site.requests("/page/1") == site.requests("/page/2") == []

                # The blank page of the user to which a program is attached at once stays blank too.
                async with RawClient(endpoint.url(TOKEN)) as watching:
                    await watching.result("Target.setAutoAttach", AUTO_ATTACH | {"waitForDebuggerOnStart": False})
                    watched = await profile.tabs.open("Work")
                    await runner.wait_until_settled()
                    page = runner.engine.page_of(watched.id)
                    assert page is not None
                    watched_id = await target_of(page)
                    await watching.event(
                        "Target.attachedToTarget", lambda each: each["targetInfo"]["targetId"] == watched_id
                    )
                    await runner.wait_until_settled()
                    assert runner.engine.endpoint_pages.withheld == []

                # The blank page of a program is blank. That of the user shows the start page, which is withheld.
                blank_id, _ = await client.open_page("about:blank")
                tab = await profile.tabs.open("Work")
                await runner.wait_until_settled()
                await until(lambda: len(runner.engine.endpoint_pages.withheld) == 1)
                (start_id,) = runner.engine.endpoint_pages.withheld
                assert start_id not in (blank_id, target_id)
                client.events.clear()
                assert (
                    "No target"
                    in (await client.call("Target.attachToTarget", {"targetId": start_id}))["error"]["message"]
                )
                await profile.tabs.navigate(tab.id, site.url("/page/4"))
                await client.event("Target.targetCreated", lambda each: each["targetInfo"]["targetId"] == start_id)

                # An internal page that the user opens is withheld, and its document runs no script of the program.
                attached = await client.result("Target.attachToTarget", {"targetId": start_id, "flatten": True})
                spy = {"source": "document.title = 'seen'"}
                await client.result("Page.enable", {}, attached["sessionId"])
                await client.result("Page.addScriptToEvaluateOnNewDocument", spy, attached["sessionId"])
                page = runner.engine.page_of(tab.id)
                assert page is not None
                await page.goto("chrome://version/")
                await client.event("Target.detachedFromTarget", lambda each: each["targetId"] == start_id)
                reply = await client.call("Runtime.evaluate", {"expression": "1"}, attached["sessionId"])
                assert "not found" in reply["error"]["message"]
                assert await page.title() == "About Version"
                shown = await client.result("Target.getTargets")
                assert "chrome://" not in json.dumps(shown)
                client.events.clear()
                await page.goto(site.url("/page/5"))
                await client.event("Target.attachedToTarget", lambda each: each["targetInfo"]["targetId"] == start_id)
