"""Cookie sync between store and browser: no change is lost, and none is written back to its origin."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.async_api import Error as PlaywrightError

import hatbox
from hatbox.cookies import ChangeCause, Cookie, Partition, SameSite
from hatbox.cookies.cookie_stores import CookieChange
from hatbox.engines.chromium import cookie_polling
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.cookie_sync import CookieSync, from_browser, to_browser
from hatbox.engines.chromium.live_page import LivePage
from hatbox.store.base import RESYNC, ChangeRecord
from hatbox.store.sqlite import SqliteStore
from tests.cookies.strategies import timeless
from tests.engines.chromium.real import cookie, running, value, with_browser
from tests.site import Site
from tests.waiting import until_awaited

_octets = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=8) | st.sampled_from(
    ["é".encode().decode("latin-1")]
)
_cookies = st.builds(
    Cookie,
    name=_octets,
    value=_octets,
    domain=st.sampled_from(["site.example", "localhost", "10.0.0.1", "[::1]"]),
    path=st.sampled_from(["/", "/a/b"]),
    secure=st.booleans(),
    http_only=st.booleans(),
    same_site=st.sampled_from(SameSite),
    expires=st.none() | st.floats(2e9, 3e9),
    partition=st.none() | st.builds(Partition, st.just("https://top.example"), st.booleans()),
)


@given(_cookies)
def test_a_cookie_survives_the_conversion_both_ways(given_cookie: Cookie) -> None:
    """Chromium adds fields, and returns -1 for a session cookie."""
    said = to_browser(given_cookie)
    assert said is not None
    said |= {"session": "expires" not in said, "expires": said.get("expires", -1), "size": 1, "priority": "Medium"}
    back = from_browser(said)
    assert (back.key, back.pair, back.secure, back.http_only, back.same_site, back.expires) == (
        given_cookie.key,
        given_cookie.pair,
        given_cookie.secure,
        given_cookie.http_only,
        given_cookie.same_site,
        given_cookie.expires,
    )


def test_a_domain_cookie_has_a_dot_and_a_host_only_cookie_has_none() -> None:
    shared = Cookie(name="a", value="1", domain="site.example", host_only=False)
    said = to_browser(shared)
    assert said is not None
    assert said["domain"] == ".site.example"
    assert from_browser({**said, "session": True, "expires": -1}).key == shared.key


def test_a_cookie_that_is_not_utf8_stays_in_the_store() -> None:
    assert to_browser(Cookie(name="a", value="\xff", domain="site.example")) is None


class Writes:
    """Counts the writes to a store and to the browser."""

    def __init__(self, profile: hatbox.Profile, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store: list[CookieChange] = []
        self.browser: list[str] = []
        profile.cookies.on_changed.add_listener(self.store.append)
        original = CookieSync._set

        async def counted(sync: CookieSync, params: list[dict[str, Any] | None]) -> None:
            self.browser += [each["name"] for each in params if each]
            await original(sync, params)

        monkeypatch.setattr(CookieSync, "_set", counted)


async def pull(runner: ChromiumRunner, identity: str = "firefox-container-2") -> None:
    """Read the cookies of the browser as often as the sync would in the next seconds."""
    for _ in range(3):
        for context in running(runner).contexts:
            if context.cookie_store_id == identity:
                await context.cookies.pull_from_browser()


@with_browser
async def test_nothing_is_written_twice_in_either_direction(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        writes = Writes(profile, monkeypatch)
        page = await runner.new_page("Work", site.url("/login", user="Work"))
        await until_awaited(lambda: value(profile, "Work", "session"))
        await pull(runner)
        assert [(each.cookie.name, each.removed) for each in writes.store] == [("session", False)]
        assert writes.browser == []

        store = await profile.cookie_store("Work")
        await store.set(
            site.url("/"), name="ours", value="Work-1", expires=time.time() + 1e9
        )  # later than Chromium stores
        await until_awaited(lambda: in_browser(runner, "ours", "Work-1"))
        await pull(runner)
        assert writes.browser == ["ours"]
        assert [each.cookie.name for each in writes.store] == ["session", "ours"]

        await page.goto(site.url("/page/1", set="ours=Work-2; Path=/"))
        await until_awaited(lambda: is_value(profile, "ours", "Work-2"))
        await pull(runner)
        assert writes.browser == ["ours"]
        assert [(each.cookie.value, each.cause) for each in writes.store[2:]] == [
            ("Work-1", ChangeCause.OVERWRITE),
            ("Work-2", ChangeCause.EXPLICIT),
        ]

        await page.goto(site.url("/page/2", set="ours=Work-2; Path=/"))  # the same value is no change
        await pull(runner)
        assert len(writes.store) == 4
    assert writes.browser == ["ours"]


async def in_browser(runner: ChromiumRunner, name: str, wanted: str | None) -> bool:
    cookies = await (await runner.context("Work")).cookies()
    return next((each["value"] for each in cookies if each["name"] == name), None) == wanted


async def is_value(profile: hatbox.Profile, name: str, wanted: str | None) -> bool:
    return await value(profile, "Work", name) == wanted


@with_browser
async def test_removals_go_both_ways(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page(
            "Work", site.url("/login", user="Work", set=["a=Work-1", "__Host-b=Work-2; Secure; Path=/"])
        )
        await until_awaited(lambda: value(profile, "Work", "session"))
        await page.goto(site.url("/logout"))  # Max-Age=0
        await until_awaited(lambda: is_value(profile, "session", None))

        lines = ["__Host-c=Work-3; Secure; HttpOnly; Path=/", "d=Work-4; Secure", "e=Work-5; Secure; Partitioned"]
        other = await runner.new_page("Work", site.url("/", host="localhost", set=lines))
        store = await profile.cookie_store("Work")
        for name in ("__Host-c", "d", "e"):
            kept = await until_awaited(lambda name=name: cookie(profile, "Work", name))  # type: ignore[misc]
            assert kept is not None
            await store.remove(kept.key)
            await until_awaited(lambda name=name: in_browser(runner, name, None))  # type: ignore[misc]
        await other.goto(site.url("/cookies", host="localhost"))
        assert await other.inner_text("body") == ""


@with_browser
async def test_cookies_set_by_scripts_are_stored_within_a_second(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/script", user="Work"))
        await until_awaited(lambda: value(profile, "Work", "script"))
        await page.evaluate("document.cookie = 'later=Work-1; path=/'")
        await until_awaited(lambda: is_value(profile, "later", "Work-1"))
        await page.evaluate("cookieStore.delete('later')")
        await until_awaited(lambda: is_value(profile, "later", None))

        # An insecure page and a cross-site frame have no cookieStore that fires change events.
        await page.context.route("http://plain.example/*", lambda route: route.fulfill(body="<p>plain"))
        plain = await runner.new_page("Work", "http://plain.example/")
        await plain.evaluate("document.cookie = 'plain=Work-2'")
        await until_awaited(lambda: is_value(profile, "plain", "Work-2"))
        await plain.close()
        frame = site.url("/page/1", host="localhost")
        await page.evaluate(
            f"document.body.append(Object.assign(document.createElement('iframe'), {{src: '{frame}'}}))"
        )
        inner = await until_awaited(lambda: frame_of(page, frame))
        await inner.wait_for_load_state()
        await inner.evaluate("document.cookie = 'framed=Work-3; SameSite=None; Secure; Partitioned'")
        await until_awaited(lambda: is_value(profile, "framed", "Work-3"))
        framed = await cookie(profile, "Work", "framed")
        assert framed is not None
        assert framed.partition == Partition("http://127.0.0.1", True)


@with_browser
async def test_the_last_cookie_of_a_page_that_is_closed_at_once_is_stored(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cookie_polling, "_IDLE_COOKIE_POLL_SECONDS", 1000.0)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await runner.wait_until_synced()
        session = await page.context.new_cdp_session(page)
        script = {"expression": "document.cookie = 'last=Work-1; max-age=1000'"}
        await asyncio.gather(
            session.send("Runtime.evaluate", script), session.send("Page.close"), return_exceptions=True
        )
        await until_awaited(lambda: is_value(profile, "last", "Work-1"))


async def frame_of(page: Any, url: str) -> Any:
    return next((frame for frame in page.frames if frame.url == url), None)


@with_browser
async def test_cookies_that_chromium_rejects_stay_in_the_store_and_the_others_are_set(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile:
        store = await profile.cookie_store("Work")
        host = "127.0.0.1"
        good = [Cookie(name=f"good{number}", value="Work-1", domain=host, sequence=number) for number in range(20)]
        bad = [
            Cookie(name="tab", value="a\tb", domain=host, sequence=50),
            Cookie(name="bytes", value="\xff\xfe", domain=host, sequence=51),
            Cookie(name="none", value="1", domain=host, same_site=SameSite.NONE, sequence=52),
        ]
        await store.put([*good[:7], bad[0], *good[7:15], *bad[1:], *good[15:]])
        before = {each.key: each for each in await store.cookies()}
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/cookies"))
            text = await page.inner_text("body")
            assert all(each.pair in text for each in good)
            assert "tab" not in text
            await page.goto(site.url("/page/1", set="new=Work-2"))
            await until_awaited(lambda: value(profile, "Work", "new"))
        after = {each.key: each for each in await store.cookies() if each.name != "new"}
        assert after == before


class RejectingSession:
    """A session with a browser that rejects some cookies, and fails on demand."""

    def __init__(self) -> None:
        self.cookies: dict[str, dict[str, Any]] = {}

    async def send(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        if method == "Storage.getCookies":
            return {"cookies": list(self.cookies.values())}
        if any(each["value"] == "bad" for each in given["cookies"]):
            raise PlaywrightError("Protocol error (Storage.setCookies): Invalid cookie fields")
        for each in given["cookies"]:
            expires = each.get("expires", -1)
            self.cookies[each["name"]] = {**each, "session": expires == -1, "expires": expires}
            if expires == 1:
                del self.cookies[each["name"]]
        return {}


def sync_of(session: RejectingSession, store: Any) -> CookieSync:
    given: Any = session
    return CookieSync(given, "context", store)


def test_a_change_that_the_browser_rejects_is_not_reverted_in_the_store(path: Path) -> None:
    async def run() -> None:
        session = RejectingSession()
        async with hatbox.open(path) as profile:
            store = await profile.cookie_store("Work")
            await store.set("http://site.example/", name="a", value="1")
            sync = sync_of(session, store)
            await sync.load()
            profile.cookies.on_changed.add_listener(sync.on_store_change)
            await store.set("http://site.example/", name="a", value="bad")
            await sync.push_to_browser()
            await sync.finish()
            assert session.cookies["a"]["value"] == "1"
            assert await value(profile, "Work", "a") == "bad"

    asyncio.run(run())


def test_the_cookie_of_the_manager_page_is_removed_and_never_set_again(path: Path) -> None:
    async def run() -> None:
        session = RejectingSession()
        async with hatbox.open(path) as profile:
            store = await profile.cookie_store("Work")
            for name in ("hatbox_page", "other"):
                await store.set("http://127.0.0.1/", name=name, value="1")
            sync = sync_of(session, store)
            await sync.load()
            profile.cookies.on_changed.add_listener(sync.on_store_change)
            assert session.cookies.keys() == {"hatbox_page", "other"}
            await sync.exclude_protected()
            assert session.cookies.keys() == {"other"}
            assert await value(profile, "Work", "hatbox_page") is None
            await store.set("http://127.0.0.1/", name="hatbox_page", value="2")
            await sync.push_to_browser()
            sync.schedule_full_sync()
            await sync.wait_until_synced()
            assert session.cookies.keys() == {"other"}
            sync.stop()

    asyncio.run(run())


def test_of_concurrent_changes_one_wins_on_both_sides(path: Path) -> None:
    async def run() -> None:
        session = RejectingSession()
        async with hatbox.open(path) as profile:
            store = await profile.cookie_store("Work")
            await store.set("http://site.example/", name="a", value="1")
            sync = sync_of(session, store)
            await sync.load()
            profile.cookies.on_changed.add_listener(sync.on_store_change)
            session.cookies["a"] = {**session.cookies["a"], "value": "theirs"}
            session.cookies["b"] = {**session.cookies["a"], "name": "b"}
            await store.set("http://site.example/", name="a", value="ours")
            await sync.push_to_browser()
            await sync.pull_from_browser()
            assert session.cookies["a"]["value"] == await value(profile, "Work", "a") == "ours"
            assert await value(profile, "Work", "b") == "theirs"

    asyncio.run(run())


@pytest.mark.slow
def test_after_any_changes_both_sides_are_equal(path: Path) -> None:
    @timeless
    @given(st.lists(st.tuples(st.sampled_from("sbSB"), st.sampled_from("xyz"), st.sampled_from(["1", "2", None]))))
    def check(steps: list[tuple[str, str, str | None]]) -> None:
        asyncio.run(run(steps))

    async def run(steps: list[tuple[str, str, str | None]]) -> None:
        session = RejectingSession()
        async with hatbox.open(path) as profile:
            store = await profile.cookie_store("Work")
            await store.clear()
            sync = sync_of(session, store)
            await sync.load()
            profile.cookies.on_changed.add_listener(sync.on_store_change)
            for where, name, text in steps:
                if where in "sS":
                    key = Cookie(name=name, value="", domain="site.example").key
                    if text:
                        await store.set("http://site.example/", name=name, value=text)
                    else:
                        await store.remove(key)
                elif text:
                    same = {"name": name, "value": text, "domain": "site.example", "path": "/", "session": True}
                    session.cookies[name] = {**same, "expires": -1, "secure": False, "httpOnly": False}
                else:
                    session.cookies.pop(name, None)
                if where in "SB":
                    await sync.push_to_browser()
                    await sync.pull_from_browser()
            await sync.push_to_browser()
            await sync.pull_from_browser()
            sync.stop()
            profile.cookies.on_changed.remove_listener(sync.on_store_change)
            ours = {each.name: each.value for each in await store.cookies()}
            assert ours == {name: each["value"] for name, each in session.cookies.items()}

    check()


def test_a_full_sync_pushes_changes_without_change_records(path: Path) -> None:
    async def run() -> None:
        session = RejectingSession()
        async with hatbox.open(path) as profile:
            store = await profile.cookie_store("Work")
            for name in ("changed", "gone", "same"):
                await store.set("http://site.example/", name=name, value="1")
            sync = sync_of(session, store)
            await sync.load()
            await store.set("http://site.example/", name="changed", value="2")  # without a change event
            await store.set("http://site.example/", name="new", value="3")
            await store.remove(Cookie(name="gone", value="", domain="site.example").key)
            session.cookies["theirs"] = {**session.cookies["same"], "name": "theirs", "value": "4"}
            sync.schedule_full_sync()

            async def is_set() -> bool:
                return "new" in session.cookies

            await until_awaited(is_set)
            await sync.wait_until_synced()
            expected = {"changed": "2", "new": "3", "same": "1", "theirs": "4"}
            assert {name: each["value"] for name, each in session.cookies.items()} == expected
            assert {each.name: each.value for each in await store.cookies()} == expected

    asyncio.run(run())


@with_browser
async def test_a_resync_pushes_cookies_to_the_running_browser(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await runner.new_page("Work", site.url("/page/1"))
        profile.cookies.on_changed.remove_listener(running(runner).contexts.on_cookie_changed)
        await (await profile.cookie_store("Work")).set(site.url("/"), name="missed", value="Work-1")
        assert isinstance(profile.store, SqliteStore)
        profile.store._subscribers.deliver(ChangeRecord(RESYNC, b"", None))  # as if its log had been cut
        await until_awaited(lambda: in_browser(runner, "missed", "Work-1"))


@with_browser
async def test_a_page_that_changes_cookies_in_a_loop_does_not_slow_down_the_engine(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    original = LivePage._on_message

    def record(page: LivePage, word: str, rest: list[Any]) -> None:
        messages.append(word)
        original(page, word, rest)

    monkeypatch.setattr(LivePage, "_on_message", record)
    monkeypatch.setattr("hatbox.engines.chromium.cookie_polling._IDLE_COOKIE_POLL_SECONDS", 3600)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        await page.evaluate(
            """async () => {
              for (let each = 0; each < 2000; each++) {
                document.cookie = `c${each % 50}=Work-${each}`;
                if (each % 10 === 0) await new Promise((resolve) => setTimeout(resolve));
              }
            }"""
        )
        await page.evaluate("document.cookie = 'last=Work-1; path=/'")
        await until_awaited(lambda: is_value(profile, "last", "Work-1"))
        assert 0 < sum(word in ("cookies", "cookiesUnobservable") for word in messages) < 100
        await page.goto(site.url("/page/2"))  # where cookie changes are observed again
        await page.evaluate("document.cookie = 'next=Work-1; path=/'")
        await until_awaited(lambda: is_value(profile, "next", "Work-1"))


@with_browser
async def test_cookies_changed_while_a_context_is_created_reach_the_browser(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = CookieSync.load
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        store = await profile.cookie_store("Work")

        async def load(sync: CookieSync) -> None:
            await original(sync)
            await store.set(site.url("/"), name="meanwhile", value="Work-1")

        monkeypatch.setattr(CookieSync, "load", load)
        await runner.new_page("Work", site.url("/page/1"))
        await until_awaited(lambda: in_browser(runner, "meanwhile", "Work-1"))


def test_changes_that_could_not_be_stored_are_stored_at_the_next_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        session = RejectingSession()
        async with hatbox.open(path) as profile:
            store = await profile.cookie_store("Work")
            await store.set("http://site.example/", name="gone", value="1")
            sync = sync_of(session, store)
            await sync.load()
            session.cookies["new"] = {**session.cookies.pop("gone"), "name": "new", "value": "2"}

            async def merge(*_: object) -> None:
                raise hatbox.ProfileError(path, "the disk is full", "Make room.")

            with monkeypatch.context() as full:
                full.setattr(store, "merge", merge)
                with pytest.raises(hatbox.ProfileError):
                    await sync.pull_from_browser()
            await sync.pull_from_browser()
            assert [(each.name, each.value) for each in await store.cookies()] == [("new", "2")]

    asyncio.run(run())
