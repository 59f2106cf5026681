"""What no case of the conformance suite can show: several callers, limits, clocks, other processes, clients."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ApiError, PermissionDenied, Profile
from hatbox.api.browser import Browser
from hatbox.api.caller import Caller
from hatbox.cookies import Cookie, Partition

URL = "https://site.example/"
EVERYTHING = ["cookies", "contextualIdentities", "<all_urls>"]


def with_profile(tmp_path: Path, use: Callable[[Profile], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db", **options) as profile:
            await use(profile)

    asyncio.run(main())


async def names(browser: Browser, **filters: Any) -> list[str]:
    details: Any = filters
    return [cookie["name"] for cookie in await browser.cookies.getAll(details)]


# ------------------------------------------------------------------------------------------- clients and processes


def test_a_client_sends_what_a_script_has_set_and_a_script_sees_what_a_site_has_set(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        work = await profile.cookie_store("Work")
        browser = profile.browser(EVERYTHING)
        await browser.cookies.set({"url": URL, "name": "a", "value": "é", "storeId": "firefox-container-2"})
        assert await work.header(URL) == "a=é".encode().decode("latin-1")
        await work.receive([b"b=\xc3\xbc; Path=/"], URL)
        found = await browser.cookies.get({"url": URL, "name": "b", "storeId": "firefox-container-2"})
        assert found is not None
        assert found["value"] == "ü"
        await browser.cookies.remove({"url": URL, "name": "b", "storeId": "firefox-container-2"})
        assert await work.header(URL) == "a=é".encode().decode("latin-1")
        assert await browser.cookies.getAll({}) == []

    with_profile(tmp_path, use)


def test_calls_of_a_script_and_of_a_client_take_effect_in_the_order_in_which_they_were_made(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        store = await profile.cookie_store("firefox-default")
        browser = profile.browser(EVERYTHING)
        for number in range(20):
            first = asyncio.ensure_future(store.set(URL, name="a", value=f"client {number}"))
            await asyncio.sleep(0)
            second = browser.cookies.set({"url": URL, "name": "a", "value": f"script {number}"})
            third = browser.cookies.get({"url": URL, "name": "a"})
            await first
            assert await second == await third
            assert await store.header(URL) == f"a=script {number}"

    with_profile(tmp_path, use)


def test_another_process_sees_a_cookie_at_once_and_receives_the_change(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "profile.db"
        async with hatbox.open(path) as here, hatbox.open(path) as there:
            received: asyncio.Queue[Any] = asyncio.Queue()
            listening = there.browser(EVERYTHING)
            listening.cookies.onChanged.addListener(received.put_nowait)
            made = await here.browser(EVERYTHING).cookies.set({"url": URL, "name": "a", "value": "1"})
            assert await listening.cookies.get({"url": URL, "name": "a"}) == made
            async with asyncio.timeout(60):
                assert await received.get() == {"removed": False, "cookie": made, "cause": "explicit"}

    asyncio.run(main())


def test_a_cookie_survives_reopening(tmp_path: Path) -> None:
    async def first(profile: Profile) -> None:
        await profile.browser(EVERYTHING).cookies.set({"url": URL, "name": "a", "value": "1"})

    async def second(profile: Profile) -> None:
        assert await names(profile.browser(EVERYTHING)) == ["a"]

    with_profile(tmp_path, first)
    with_profile(tmp_path, second)


@pytest.mark.parametrize("client_first", [False, True])
def test_session_cookies_of_earlier_sessions_are_removed_unless_persisted(tmp_path: Path, client_first: bool) -> None:
    async def first(profile: Profile) -> None:
        browser = profile.browser(EVERYTHING)
        await browser.cookies.set({"url": URL, "name": "session"})
        await browser.cookies.set({"url": URL, "name": "lasting", "expirationDate": 4e9})
        assert await names(browser) == ["session", "lasting"]

    async def second(profile: Profile) -> None:
        browser = profile.browser(EVERYTHING)
        if client_first:
            await profile.cookie_store("firefox-default")
        assert await names(browser) == ["lasting"]
        await browser.cookies.set({"url": URL, "name": "new"})
        assert await (await profile.cookie_store("firefox-default")).header(URL) == "lasting=; new="
        assert await names(browser) == ["lasting", "new"]
        assert await names(browser, storeId="firefox-container-1") == []

    with_profile(tmp_path, first)
    with_profile(tmp_path, second, keep_session_cookies=False)


# ------------------------------------------------------------------------------------------------------ permissions


def test_a_listener_receives_changes_only_with_host_permission(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        received: list[Any] = []
        caller = Caller("test", ["cookies", "https://site.example/*"])
        limited = Browser(profile._dispatcher, caller)
        limited.cookies.onChanged.addListener(lambda info: received.append(info["cookie"]["domain"]))
        browser = profile.browser(EVERYTHING)
        for host in ("site.example", "sub.site.example", "other.example"):
            await browser.cookies.set({"url": f"https://{host}/", "name": "a"})
        await browser.cookies.set({"url": "https://sub.site.example/", "name": "b", "domain": "site.example"})
        assert received == ["site.example", ".site.example"]
        caller.permissions.add("https://other.example/*")
        await browser.cookies.remove({"url": "https://other.example/", "name": "a"})
        assert received[2:] == ["other.example"]
        caller.permissions.discard("cookies")
        await browser.cookies.remove({"url": URL, "name": "a"})
        assert len(received) == 3

    with_profile(tmp_path, use)


def test_each_listener_gets_an_object_of_its_own(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        received: list[Any] = []
        one, two = profile.browser(EVERYTHING), profile.browser(EVERYTHING)
        one.cookies.onChanged.addListener(received.append)
        two.cookies.onChanged.addListener(received.append)
        await one.cookies.set({"url": URL, "name": "a"})
        assert received[0] == received[1]
        assert received[0] is not received[1]
        assert received[0]["cookie"] is not received[1]["cookie"]

    with_profile(tmp_path, use)


def test_without_a_host_nothing_is_seen_set_or_removed(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser, blind = profile.browser(EVERYTHING), profile.browser(["cookies"])
        await browser.cookies.set({"url": URL, "name": "a"})
        with pytest.raises(PermissionDenied, match=r"^Permission denied to set cookie \{"):
            await blind.cookies.set({"url": URL, "name": "b"})
        assert await blind.cookies.getAll({}) == []
        assert await blind.cookies.get({"url": URL, "name": "a"}) is None
        assert await blind.cookies.remove({"url": URL, "name": "a"}) is None
        assert await names(browser) == ["a"]

    with_profile(tmp_path, use)


# ------------------------------------------------------------------------------------------------- limits and clocks


def test_evictions_above_the_limit_of_a_site_are_emitted(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = profile.browser(EVERYTHING)
        gone: list[Any] = []
        browser.cookies.onChanged.addListener(lambda info: gone.append(info) if info["removed"] else None)
        await browser.cookies.set({"url": "https://other.example/", "name": "other"})
        await asyncio.gather(
            *(browser.cookies.set({"url": f"https://h{n % 3}.site.example/", "name": f"n{n}"}) for n in range(180))
        )
        assert gone == []
        await browser.cookies.set({"url": URL, "name": "one too many"})
        left = await names(browser)
        assert len(left) == 151
        assert {"other", "one too many", "n179"} <= set(left)
        assert {info["cause"] for info in gone} == {"evicted"}
        assert {info["cookie"]["name"] for info in gone}.isdisjoint(left)
        assert await names(browser, domain="site.example") == left[1:]
        await browser.cookies.set({"url": URL, "name": "one too many", "value": "replaced"})
        assert len(await names(browser)) == 151

    with_profile(tmp_path, use)


def test_the_limit_of_a_store_holds(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = profile.browser(EVERYTHING)
        store = await profile.cookie_store("firefox-default")
        await store.put(
            Cookie(name=f"n{n}", value="", domain=f"h{n % 100}.example", sequence=n, last_access=n) for n in range(3300)
        )
        await browser.cookies.set({"url": URL, "name": "one too many"})
        left = await names(browser)
        assert len(left) == 3000
        assert "n0" not in left
        assert left[-1] == "one too many"
        assert len(await names(browser, storeId="firefox-container-1")) == 0

    with_profile(tmp_path, use)


def test_a_cookie_is_not_seen_after_its_time(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        now = 1_800_000_000.0
        profile.store.time = lambda: now  # type: ignore[method-assign]
        browser = profile.browser(EVERYTHING)
        await browser.cookies.set({"url": URL, "name": "a", "expirationDate": now + 60.0625})
        found = await browser.cookies.get({"url": URL, "name": "a"})
        assert found is not None
        assert found["expirationDate"] == now + 60.062
        now += 61
        assert await browser.cookies.get({"url": URL, "name": "a"}) is None
        assert await browser.cookies.getAll({}) == []
        assert await browser.cookies.remove({"url": URL, "name": "a"}) is None
        causes: list[Any] = []
        browser.cookies.onChanged.addListener(lambda info: causes.append((info["removed"], info["cause"])))
        await browser.cookies.set({"url": URL, "name": "a"})
        assert causes == [(True, "expired"), (False, "explicit")]

    with_profile(tmp_path, use)


def test_cookies_of_one_instant_keep_their_order(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        profile.store.time = lambda: 1_800_000_000.0  # type: ignore[method-assign]
        browser = profile.browser(EVERYTHING)
        hosts = [f"{letter}.example" for letter in "zyxwv"]
        await asyncio.gather(*(browser.cookies.set({"url": f"https://{host}/", "name": "a"}) for host in hosts))
        assert [cookie["domain"] for cookie in await browser.cookies.getAll({})] == hosts

    with_profile(tmp_path, use)


# ------------------------------------------------------------------------------------------------------- calls


def test_a_call_runs_even_if_it_is_not_awaited(tmp_path: Path) -> None:
    async def first(profile: Profile) -> None:
        for number in range(50):
            profile.browser(EVERYTHING).cookies.set({"url": URL, "name": f"n{number}"})

    async def second(profile: Profile) -> None:
        assert len(await names(profile.browser(EVERYTHING))) == 50

    with_profile(tmp_path, first)
    with_profile(tmp_path, second)


def test_an_event_comes_before_its_call_resolves_and_after_the_one_before(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = profile.browser(EVERYTHING)
        log: list[str] = []
        browser.cookies.onChanged.addListener(lambda info: log.append(f"changed {info['cookie']['name']}"))

        async def one(name: str) -> None:
            await browser.cookies.set({"url": URL, "name": name})
            log.append(f"done {name}")

        await asyncio.gather(*(one(name) for name in "abc"))
        assert log == ["changed a", "done a", "changed b", "done b", "changed c", "done c"]

    with_profile(tmp_path, use)


def test_a_callback_of_a_failed_call_gets_nothing_and_the_reason_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(profile: Profile) -> None:
        called: asyncio.Queue[tuple[Any, ...]] = asyncio.Queue()
        browser = profile.browser(EVERYTHING)
        browser.cookies.set({"url": URL, "storeId": "foobar"}, lambda *arguments: called.put_nowait(arguments))
        assert await called.get() == ()

    with_profile(tmp_path, use)
    assert 'Invalid cookie store id: "foobar"' in caplog.text


def test_a_rejection_is_an_api_error(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = profile.browser(EVERYTHING)
        with pytest.raises(ApiError, match=r'^Invalid cookie store id: "firefox-container-9"$'):
            await browser.cookies.set({"url": URL, "name": "a", "storeId": "firefox-container-9"})
        with pytest.raises(ApiError, match=r"invalid characters in the name\.$"):
            await browser.cookies.set({"url": URL, "name": "{a;b}"})

    with_profile(tmp_path, use)


def test_the_values_of_enumerations_are_there(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        cookies = profile.browser(EVERYTHING).cookies
        assert cookies.SameSiteStatus.NO_RESTRICTION == "no_restriction"
        assert cookies.OnChangedCause.EXPIRED_OVERWRITE == "expired_overwrite"

    with_profile(tmp_path, use)


def test_both_spellings_of_a_foreign_partition_are_one(tmp_path: Path) -> None:
    """Chromium writes down that a partition has a cross-site ancestor, Firefox leaves it to be seen from the sites."""

    async def use(profile: Profile) -> None:
        browser = profile.browser(EVERYTHING)
        store = await profile.cookie_store("firefox-default")
        partition = Partition("https://top.example", cross_site_ancestor=False)
        await store.put([Cookie(name="a", value="old", domain="site.example", secure=True, partition=partition)])
        key: Any = {"topLevelSite": "https://top.example"}
        found = await browser.cookies.get({"url": URL, "name": "a", "partitionKey": key})
        assert found is not None
        assert found["partitionKey"] == {"topLevelSite": "https://top.example", "hasCrossSiteAncestor": True}
        await browser.cookies.set({"url": URL, "name": "a", "value": "new", "secure": True, "partitionKey": key})
        everything = await browser.cookies.getAll({"partitionKey": {}})
        assert [cookie["value"] for cookie in everything] == ["new"]

    with_profile(tmp_path, use)
