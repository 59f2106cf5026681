"""The settings of an identity in Chromium: pages see them, and a change makes the context anew with its state."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.engines.chromium import identity_context
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.identity_context import IdentityContext
from hatbox.engines.settings_change import change_settings
from hatbox.errors import InputWouldBeLost
from tests.engines.chromium.real import browser_process, run_timers, running, value, with_browser
from tests.engines.chromium.recording_proxy import HANGS, RecordingProxy
from tests.site import Site
from tests.waiting import until, until_awaited

WORK = "firefox-container-2"
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0 Safari/537.36"
SEEN = """() => ({
  agent: navigator.userAgent, language: navigator.language, languages: [...navigator.languages],
  format: Intl.NumberFormat().resolvedOptions().locale, zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  hour: new Date(0).getHours(),
})"""


def port_of(site: Site) -> int:
    return int(site.url("").rpartition(":")[2].strip("/"))


async def page_of(profile: hatbox.Profile, runner: ChromiumRunner) -> Any:
    """The current page of the only tab of Work."""
    await runner.wait_until_synced()
    await runner.wait_until_settled()
    (tab,) = await profile.tabs.query("Work")
    return await runner.page(tab.id)


async def changed(profile: hatbox.Profile, runner: ChromiumRunner, **settings: str | None) -> Any:
    """Change settings of Work, and return its page in the new context."""
    before = await page_of(profile, runner)
    await profile.identities.set_settings("Work", **settings)
    await until(before.is_closed)
    return await page_of(profile, runner)


@with_browser
async def test_pages_see_the_settings_of_their_identity_and_of_no_other(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile:
        given = {"user_agent": AGENT, "locale": "de-DE", "timezone": "Europe/Berlin"}
        async with profile.chromium(headless=True, browser=browser) as runner:
            before = await (await runner.new_page("Personal", site.url("/page/1"))).evaluate(SEEN)
            await profile.identities.set_settings("Work", **given)
            page = await runner.new_page("Work", site.url("/page/2"))
            assert await page.evaluate(SEEN) == {
                "agent": AGENT,
                "language": "de-DE",
                "languages": ["de-DE"],
                "format": "de-DE",
                "zone": "Europe/Berlin",
                "hour": 1,
            }
            assert await (await runner.new_page("Personal", site.url("/page/3"))).evaluate(SEEN) == before
        headers = {each.path: {name.lower(): text for name, text in each.headers.items()} for each in site.seen}
        assert headers["/page/2"]["user-agent"] == AGENT
        assert headers["/page/2"]["accept-language"].startswith("de-DE")
        assert '"Chromium";v="149"' in headers["/page/2"]["sec-ch-ua"]
        assert headers["/page/3"]["user-agent"] == headers["/page/1"]["user-agent"] != AGENT


HINTS = """async () => {
  const data = navigator.userAgentData ?? { brands: [] };
  return { platform: navigator.platform, brands: data.brands.map((each) => each.version), os: data.platform ?? "",
    shared: typeof SharedWorker, service: await navigator.serviceWorker.register("/sw").then(() => "", String) };
}"""


@pytest.mark.parametrize(
    ("agent", "platform", "versions", "system"),
    [
        (AGENT.replace("X11; Linux x86_64", "Windows NT 10.0; Win64; x64"), "Win32", ["8", "149"], "Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 14.0; rv:140.0) Gecko/20100101 Firefox/140.0", "MacIntel", [], ""),
    ],
)
@with_browser
async def test_client_hints_agree_with_the_user_agent(
    browser: str, path: Path, site: Site, agent: str, platform: str, versions: list[str], system: str
) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.set_settings("Work", user_agent=agent)
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/page/1"))
            seen = await page.evaluate(HINTS)
            assert (seen["platform"], seen["brands"], seen["os"]) == (platform, versions, system)
            assert seen["shared"] == "undefined"  # the real User-Agent would be visible in both
            assert "Error" in seen["service"] or seen["service"] == ""
            await page.evaluate("open('/page/2') && 0")
            await until(lambda: any(each.path == "/page/2" for each in site.seen))
        for request in site.seen:
            headers = {name.lower(): text for name, text in request.headers.items()}
            assert headers["user-agent"] == agent
            if versions:
                assert '"Chromium";v="149"' in headers["sec-ch-ua"]
            elif request.path == "/page/1":
                assert "sec-ch-ua" not in headers
        assert not any(each.path == "/sw" for each in site.seen)


@with_browser
async def test_direct_uses_no_proxy_where_the_environment_has_one(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RecordingProxy(port_of(site)) as proxy:
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        async with hatbox.open(path) as profile:
            await profile.identities.set_settings("Work", proxy="direct")
            async with profile.chromium(headless=True, browser=browser) as runner:
                page = await runner.new_page("Work", site.url("/page/1"))
                assert await page.title() == "Page 1"
                assert "/page/1" not in proxy.paths()  # the browser itself may ask for updates
                (tab,) = await profile.tabs.query("Work")
                await profile.tabs.navigate(tab.id, "http://name.test/page/1")
                await runner.page(tab.id)
                assert not any(each.host == "name.test" for each in proxy.asked)
                await runner.new_page("Personal", "http://name.test/page/2")  # as today
                assert "/page/2" in proxy.paths()


@with_browser
async def test_a_context_is_made_anew_with_its_state(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/login", user="Work"))
        await page.goto(site.url("/storage", write="Work-1"))
        await page.wait_for_function("document.title.includes('Work-1')")
        await page.goto(site.url("/long"))
        await page.evaluate("window.scrollTo(0, 700)")
        other = await runner.new_page("Personal", site.url("/page/1"))

        page = await changed(profile, runner, timezone="Asia/Tokyo")
        assert (await page.evaluate(SEEN))["zone"] == "Asia/Tokyo"
        assert page.url == site.url("/long")
        await page.wait_for_function("scrollY > 650")
        assert await page.evaluate("history.length") >= 3
        assert await value(profile, "Work", "session")
        await page.goto(site.url("/me"))
        assert "Work" in await page.inner_text("body")
        await page.goto(site.url("/storage"))
        await page.wait_for_function("document.title.includes('Work-1')")
        assert not other.is_closed()  # another identity


@with_browser
async def test_a_new_proxy_is_used_and_the_old_one_gets_nothing_more(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity_context, "_OFFLINE_TIMEOUT", 30.0)  # a busy machine is no page that does not answer
    async with RecordingProxy(port_of(site)) as one, RecordingProxy(port_of(site)) as two, hatbox.open(path) as profile:
        await profile.identities.set_settings("Work", proxy=one.url)
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", "http://name.test/page/1")
            await page.evaluate(
                """() => { setInterval(() => fetch("/tick"), 5); addEventListener("pagehide", () => {
                  navigator.sendBeacon("/bye"); fetch("/bye", { keepalive: true }); }); }"""
            )
            await until(lambda: "/tick" in one.paths())
            page = await changed(profile, runner, proxy=two.url)
            count = len(one.asked)
            assert "/page/1" in two.paths()
            assert await page.title() == "Page 1"
            await page.evaluate("fetch('/again').then(() => 0)")
            assert "/again" in two.paths()
            assert len(one.asked) == count
            assert "/bye" not in one.paths() | two.paths()
            assert "/tick" not in two.paths()
            assert {each.path for each in site.seen} >= {"/page/1", "/tick", "/again"}


SHARED_WORKER = """async () => {
  const code = `setInterval(() => fetch("${location.origin}/worker").catch(() => 0), 5)`;
  window.worker = new SharedWorker(URL.createObjectURL(new Blob([code])));
}"""


@with_browser
async def test_a_shared_worker_sends_nothing_while_its_pages_are_saved(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    was_quiet: list[bool] = []
    async with RecordingProxy(port_of(site)) as one, RecordingProxy(port_of(site)) as two, hatbox.open(path) as profile:
        await profile.identities.set_settings("Work", proxy=one.url)

        async def save(_: object, __: IdentityContext) -> None:
            for _ in range(100):  # what was sent before arrives; then the page takes long to be saved
                count = len(one.asked)
                await run_timers(other, 20, 5)
                if len(one.asked) == count:
                    break
            was_quiet.append(len(one.asked) == count)

        monkeypatch.setattr("hatbox.engines.chromium.context_renewal.ContextRenewal._save", save)
        async with profile.chromium(headless=True, browser=browser) as runner:
            other = await runner.new_page("Personal", site.url("/page/2"))
            page = await runner.new_page("Work", "http://name.test/page/1")
            await page.evaluate(SHARED_WORKER)
            await until(lambda: "/worker" in one.paths())
            await changed(profile, runner, proxy=two.url)
            assert was_quiet == [True]


@with_browser
async def test_a_proxy_set_while_a_page_loads_stops_the_load(browser: str, path: Path, site: Site) -> None:
    async with (
        RecordingProxy(port_of(site), HANGS) as hanging,
        RecordingProxy(port_of(site)) as proxy,
        hatbox.open(path) as profile,
    ):
        await profile.identities.set_settings("Work", proxy=hanging.url)
        async with profile.chromium(headless=True, browser=browser) as runner:
            tab = await profile.tabs.open("Work", "http://name.test/page/1")
            await until(lambda: bool(hanging.asked))
            await profile.identities.set_settings("Work", proxy=proxy.url)

            async def loaded() -> bool:
                return (await profile.tabs.get(tab.id)).title == "Page 1"

            await until_awaited(loaded)
            assert runner.engine.tabs == {tab.id}


@with_browser
async def test_the_first_proxy_of_a_profile_starts_the_browser_again(browser: str, path: Path, site: Site) -> None:
    async with (
        RecordingProxy(port_of(site)) as proxy,
        hatbox.open(path) as profile,
        profile.chromium(headless=True, browser=browser) as runner,
    ):
        first = running(runner)
        process = await browser_process(runner)
        await runner.new_page("Personal", site.url("/page/1"))
        await runner.new_page("Work", site.url("/page/2"))
        assert proxy.asked == []
        await profile.identities.set_settings("Work", proxy=proxy.url)
        await until(lambda: runner.engine.running not in (None, first))
        assert await browser_process(runner) != process
        page = await page_of(profile, runner)
        assert await page.title() == "Page 2"
        assert await page.evaluate("typeof RTCPeerConnection") == "undefined"
        assert "/page/2" in proxy.paths()
        (personal,) = await profile.tabs.query("Personal")
        assert await (await runner.page(personal.id)).title() == "Page 1"
        process = await browser_process(runner)
        await profile.identities.set_settings("Personal", proxy=proxy.url)
        await runner.wait_until_synced()
        await runner.page(personal.id)
        assert await browser_process(runner) == process


@with_browser
async def test_a_change_that_would_drop_typed_input_is_refused(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/fields"))
        work = await profile.identities.get("Work")
        await page.locator("input[type=password]").first.press_sequentially("secret")
        for live in running(runner).pages.values():
            await live.world.evaluate_in_main_frame("0")  # what the page has sent before is received
        with pytest.raises(InputWouldBeLost, match="1 password"):
            await change_settings(profile.store, profile.identities, work, {"locale": "de-DE"}, force=False)
        assert not page.is_closed()
        assert (await profile.identities.settings("Work")).locale is None
        await change_settings(profile.store, profile.identities, work, {"locale": "de-DE"}, force=True)
        await until(page.is_closed)


@with_browser
async def test_the_first_proxy_is_refused_while_another_identity_would_lose_input(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Personal", site.url("/fields"))
        await page.locator("input[type=password]").first.press_sequentially("secret")
        for live in running(runner).pages.values():
            await live.world.evaluate_in_main_frame("0")
        work = await profile.identities.get("Work")
        for proxy in ("direct", None):  # the browser goes on
            await change_settings(profile.store, profile.identities, work, {"proxy": proxy}, force=False)
        with pytest.raises(InputWouldBeLost, match="1 password"):
            await change_settings(profile.store, profile.identities, work, {"proxy": "http://p:1"}, force=False)


@with_browser
async def test_text_that_can_be_filled_in_again_does_not_prevent_a_change(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/fields"))
        field = "input:not([type]), input[type=text]"
        await page.locator(field).first.press_sequentially("hello")
        for live in running(runner).pages.values():
            await live.world.evaluate_in_main_frame("0")
        work = await profile.identities.get("Work")
        await change_settings(profile.store, profile.identities, work, {"locale": "de-DE"}, force=False)
        await until(page.is_closed)
        page = await page_of(profile, runner)

        async def filled() -> bool:
            return bool(await page.locator(field).first.input_value() == "hello")

        await until_awaited(filled)
        assert await page.evaluate("navigator.language") == "de-DE"


@with_browser
async def test_settings_that_this_version_cannot_use_open_no_page(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await profile.store.write(lambda each: each.settings.put(2, "settings", b'{"proxy":"gopher://x:1"}'))
        tab = await profile.tabs.open("Work", site.url("/page/1"))
        tab = await runner.wait_until_loaded(tab.id)
        assert "gopher" in tab.error
        assert site.seen == []


@with_browser
async def test_settings_that_change_many_times_end_with_the_last(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await runner.new_page("Work", site.url("/page/1"))
        zones = ["Asia/Tokyo", "Europe/Berlin", "Africa/Cairo", "America/Lima", "Asia/Dubai"]
        await asyncio.gather(*(profile.identities.set_settings("Work", timezone=zone) for zone in zones))

        async def is_last() -> bool:
            page = await page_of(profile, runner)
            wanted = (await profile.identities.settings("Work")).timezone
            return bool(not page.is_closed() and (await page.evaluate(SEEN))["zone"] == wanted)

        await until_awaited(is_last)
        assert len(await profile.tabs.query("Work")) == 1
        assert len(running(runner).pages) == 1
