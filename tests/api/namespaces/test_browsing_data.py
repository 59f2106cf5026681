"""browsingData. What is expected was recorded in Firefox 153, where docs/differences.md says nothing else."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ApiError, ArgumentError, Profile
from hatbox.history.visits import add_visit
from hatbox.store.base import ChangeRecord, Transaction
from hatbox.tabs.closed_tabs import get_sessions
from hatbox.tabs.site_data import SITE_DATA_CLEARED
from tests.store.in_loop import in_loop

ALL = ("browsingData", "cookies", "<all_urls>")
DEFAULT, ONE, TWO = "firefox-default", "firefox-container-1", "firefox-container-2"
COOKIES = [
    (DEFAULT, "http://a.example/", "n1"),
    (DEFAULT, "http://b.a.example/", "n2"),
    (ONE, "http://a.example/", "n3"),
    (TWO, "http://b.example/", "n4"),
]
NOTHING_OF = ["cache", "downloads", "formData", "history", "passwords", "pluginData"]


async def fill(profile: Profile) -> Any:
    browser = profile.browser(ALL)
    for store, url, name in COOKIES:
        await browser.cookies.set({"url": url, "name": name, "value": "v", "storeId": store})
    await browser.cookies.set({"url": "http://a.example/", "name": "dom", "value": "v", "domain": "a.example"})
    return browser


async def left(browser: Any) -> set[str]:
    found = [await browser.cookies.getAll({"storeId": store}) for store in (DEFAULT, ONE, TWO)]
    return {cookie["name"] for cookies in found for cookie in cookies}


EVERY = {"n1", "n2", "n3", "n4", "dom"}


# --------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (({},), "Incorrect argument types for browsingData.remove."),
        ((None, {}), "Incorrect argument types for browsingData.remove."),
        (
            ({"nonsense": 1}, {}),
            'Type error for parameter options (Unexpected property "nonsense") for browsingData.remove.',
        ),
        (
            ({}, {"nonsense": True}),
            'Type error for parameter dataToRemove (Unexpected property "nonsense") for browsingData.remove.',
        ),
        (
            ({"since": "nonsense"}, {}),
            'Type error for parameter options (Error processing since: Value "nonsense" must either: match the format '
            '"date", be an integer value, or be an object value) for browsingData.remove.',
        ),
        (
            ({"since": {}}, {}),
            "Type error for parameter options (Error processing since: Value must either: be a string value, be an "
            "integer value, or be an instance of Date) for browsingData.remove.",
        ),
        (
            ({"since": -5}, {}),
            "Type error for parameter options (Error processing since: Value -5 must either: be a string value, be at "
            "least 0, or be an object value) for browsingData.remove.",
        ),
        *(
            (
                ({"hostnames": ["good.example", host]}, {"cookies": True}),
                f"Type error for parameter options (Error processing hostnames.1: Error: Invalid hostname {host}) "
                "for browsingData.remove.",
            )
            for host in ("A.EXAMPLE", "http://a.example", "a.example:80", "ex ample", "", "Bücher.example", "a/b")
        ),
    ],
)
@in_loop
async def test_wrong_arguments_are_thrown_in_firefoxs_words(tmp_path: Path, arguments: Any, problem: str) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = await fill(profile)
        with pytest.raises(ArgumentError) as error:
            browser.browsingData.remove(*arguments)
        assert str(error.value) == problem
        assert await left(browser) == EVERY


@pytest.mark.parametrize(
    ("options", "kinds", "problem"),
    [
        ({"cookieStoreId": "nonsense"}, ["cookies"], "Invalid cookieStoreId: nonsense"),
        ({"cookieStoreId": "firefox-container-99"}, ["cookies"], "Invalid cookieStoreId: firefox-container-99"),
        ({"cookieStoreId": "firefox-container-01"}, ["cookies"], "Invalid cookieStoreId: firefox-container-01"),
        *(
            (
                {"cookieStoreId": ONE},
                ["cookies", kind],
                f"Firefox does not support clearing {kind} with 'cookieStoreId'.",
            )
            for kind in (*NOTHING_OF, "serviceWorkers", "serverBoundCertificates")
        ),
        ({"since": 5}, ["cookies", "localStorage"], "Firefox does not support clearing localStorage with 'since'."),
        (
            {"originTypes": {"protectedWeb": True}},
            ["cookies"],
            "Firefox does not support protectedWeb or extension as originTypes.",
        ),
        (
            {"originTypes": {"extension": True}},
            ["cookies"],
            "Firefox does not support protectedWeb or extension as originTypes.",
        ),
    ],
)
@in_loop
async def test_what_cannot_be_done_rejects_and_changes_nothing(
    tmp_path: Path, options: Any, kinds: Iterable[str], problem: str
) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = await fill(profile)
        with pytest.raises(ApiError) as error:
            await browser.browsingData.remove(options, dict.fromkeys(kinds, True))
        assert str(error.value) == problem
        assert await left(browser) == EVERY


@in_loop
async def test_the_namespace_needs_the_permission(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        assert not hasattr(profile.browser(["<all_urls>"]), "browsingData")
        assert not hasattr(profile.browser(ALL).browsingData, "removeIndexedDB")


# ----------------------------------------------------------------------------------------------------------- cookies


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, set()),
        ({"cookieStoreId": ONE}, EVERY - {"n3"}),
        ({"cookieStoreId": DEFAULT}, {"n3", "n4"}),
        ({"cookieStoreId": "firefox-private"}, EVERY),
        ({"cookieStoreId": ""}, set()),
        ({"cookieStoreId": None}, set()),
        ({"hostnames": ["a.example"]}, {"n2", "n4"}),
        ({"hostnames": ["a.example"], "cookieStoreId": ONE}, EVERY - {"n3"}),
        ({"hostnames": []}, EVERY),
        ({"hostnames": [".a.example", "[::1]", "127.0.0.1", "a.example:8080"]}, EVERY),
        ({"since": 0}, set()),
        ({"since": 10**14}, EVERY),
        ({"since": "1970-01-01"}, set()),
        ({"since": "2970-01-01T00:00:00.000Z"}, EVERY),
        ({"since": datetime.datetime(2970, 1, 1, tzinfo=datetime.UTC)}, EVERY),
        ({"since": datetime.datetime(1970, 1, 2, tzinfo=datetime.UTC)}, set()),
        ({"originTypes": {"unprotectedWeb": False}}, set()),
    ],
)
@in_loop
async def test_cookies_are_removed_by_identity_host_and_time(tmp_path: Path, options: Any, expected: set[str]) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = await fill(profile)
        assert await browser.browsingData.remove(options, {"cookies": True, "cache": False}) is None
        assert await left(browser) == expected
        await fill(profile)
        assert await browser.browsingData.removeCookies(options) is None
        assert await left(browser) == expected


@in_loop
async def test_cookies_that_came_later_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        now = [2_000_000_000.0]
        monkeypatch.setattr(profile.store, "time", lambda: now[0])
        store = await profile.cookie_store("Work")
        await store.set("http://a.example/", name="early", value="1")
        now[0] += 60
        await store.set("http://a.example/", name="late", value="1")
        await profile.browser(ALL).browsingData.removeCookies({"since": 2_000_000_060_000})
        assert [cookie.name for cookie in await store.cookies()] == ["early"]


@in_loop
async def test_open_jars_and_listeners_receive_the_removal(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = await fill(profile)
        store = await profile.cookie_store(ONE)
        received: list[Any] = []
        browser.cookies.onChanged.addListener(received.append)
        await browser.browsingData.removeCookies({"cookieStoreId": ONE})
        assert await store.header("http://a.example/") == ""
        assert [(each["removed"], each["cause"], each["cookie"]["name"]) for each in received] == [
            (True, "explicit", "n3")
        ]


# -------------------------------------------------------------------------------------------------------- site data


def data(**parts: Any) -> bytes:
    return json.dumps({"local": [], "databases": []} | parts).encode()


LOCAL, DATABASE = [["k", "v"]], [{"name": "d", "version": 1, "stores": []}]


async def store_site_data(profile: Profile) -> None:
    def put(transaction: Any) -> None:
        for number in (0, 1, 2):
            for origin in ("https://a.example", "https://a.example:8443", "https://b.example"):
                transaction.site_data.put(number, origin, data(local=LOCAL, databases=DATABASE))

    await profile.store.write(put)


async def stored_site_data(profile: Profile) -> dict[tuple[int, str], set[str]]:
    def load(transaction: Any) -> dict[tuple[int, str], set[str]]:
        return {
            (number, origin): {part for part, value in json.loads(text).items() if value}
            for number in (0, 1, 2)
            for origin, text in transaction.site_data.load(number)
        }

    return await profile.store.read(load)


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        ({}, lambda number, origin: True),
        ({"cookieStoreId": ONE}, lambda number, origin: number == 1),
        ({"hostnames": ["a.example"]}, lambda number, origin: origin == "https://a.example"),
        ({"hostnames": ["a.example:8443"]}, lambda number, origin: origin == "https://a.example:8443"),
        (
            {"hostnames": ["b.example"], "cookieStoreId": DEFAULT},
            lambda number, origin: number == 0 and "//b" in origin,
        ),
        ({"hostnames": []}, lambda number, origin: False),
        ({"since": 0}, lambda number, origin: True),
    ],
)
@in_loop
async def test_site_data_is_removed_by_identity_and_host(tmp_path: Path, options: Any, gone: Any) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser: Any = profile.browser(ALL)
        await store_site_data(profile)
        before = await stored_site_data(profile)
        await browser.browsingData.removeLocalStorage(options)
        without_local = {key: {"databases"} if gone(*key) else {"local", "databases"} for key in before}
        assert await stored_site_data(profile) == without_local
        await browser.browsingData.remove(options, {"indexedDB": True})
        assert await stored_site_data(profile) == {key: {"local", "databases"} for key in before if not gone(*key)}


@in_loop
async def test_engines_receive_what_to_clear(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        cleared: list[Any] = []

        def on_change(change: ChangeRecord) -> None:
            if change.topic == SITE_DATA_CLEARED:
                cleared.append(json.loads(change.payload))

        profile.store.subscribe(on_change)
        await profile.browser(ALL).browsingData.remove(
            {"cookieStoreId": ONE, "hostnames": ["b.example", "a.example"]}, {"localStorage": True, "indexedDB": True}
        )
        assert cleared == [{"number": 1, "parts": ["local", "databases"], "hosts": ["a.example", "b.example"]}]


# ---------------------------------------------------------------------------------------------- what there is none of


@pytest.mark.parametrize("kind", NOTHING_OF)
@in_loop
async def test_removing_unsupported_data_does_nothing(tmp_path: Path, kind: str) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = await fill(profile)
        await store_site_data(profile)
        for options in ({}, {"since": 5}, {"hostnames": ["a.example"]}):
            name = f"remove{kind[0].upper()}{kind[1:]}"
            assert await getattr(browser.browsingData, name)(options) is None
            assert await browser.browsingData.remove(options, {kind: True, "serviceWorkers": True}) is None
        assert await left(browser) == EVERY
        assert len(await stored_site_data(profile)) == 9


@in_loop
async def test_settings_say_that_all_would_go(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        every = dict.fromkeys(["cache", "cookies", "history", "formData", "downloads"], True)
        assert await profile.browser(ALL).browsingData.settings() == {
            "options": {"since": 0},
            "dataToRemove": every,
            "dataRemovalPermitted": every,
        }


@in_loop
async def test_remove_history_removes_visited_pages_and_closed_tabs(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser = await fill(profile)
        await profile.set_settings(closed_tabs=25)
        await profile.tabs.open("Work", "https://stay.example/")
        await profile.tabs.close((await profile.tabs.open("Work", "https://closed.example/")).id)

        def visits(transaction: Transaction) -> None:
            for store, host, time in ((0, "a.example", 5.0), (2, "b.example", 50.0), (2, "a.example", 60.0)):
                add_visit(transaction, store, f"https://{host}/", time=time)

        await profile.store.write(visits)
        await browser.browsingData.removeHistory({"hostnames": ["a.example"], "since": 6_000})
        assert [page.url for page in await profile.history.search()] == ["https://b.example/", "https://a.example/"]
        with pytest.raises(ApiError, match="clearing history with 'cookieStoreId'"):
            await browser.browsingData.remove({"cookieStoreId": ONE}, {"history": True})
        assert len(await profile.history.search()) == 2
        assert len(await profile.store.read(get_sessions)) == 1
        await browser.browsingData.remove({"since": 40_000}, {"history": True})
        assert [page.url for page in await profile.history.search()] == ["https://a.example/"]
        assert await profile.store.read(get_sessions) == []
        await browser.browsingData.removeHistory({})
        assert await profile.history.search() == []
        assert len(await left(browser)) == 5
