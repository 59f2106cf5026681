"""The namespace hatbox.sites: who is signed in where, and the cookies of each identity."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.cookies import Cookie, Partition
from hatbox.engines.chromium import site_data_sync
from hatbox.errors import ArgumentError, InvalidIdentity
from hatbox.store.base import CookieRow, Transaction
from hatbox.store.keys import Key
from tests.manager_api.page_errors import refused
from tests.store.in_loop import in_loop

KEY = Key(bytes(range(32))).text
SITE = "https://accounts.site.example/"
DEFAULT = "firefox-default"


@pytest.fixture(params=[None, KEY], ids=["plain", "encrypted"])
def key(request: pytest.FixtureRequest) -> str | None:
    given: str | None = request.param
    return given


def sites_of(profile: hatbox.Profile) -> Any:
    return profile.browser(["hatbox"]).hatbox.sites


async def rows_of(profile: hatbox.Profile) -> list[CookieRow]:
    return await profile.store.read(lambda each: sorted(each.cookies.load(2)))  # of Work


async def put(profile: hatbox.Profile, identity: str, *headers: str, url: str = SITE) -> str:
    store = await profile.cookie_store(identity)
    await store.receive(headers, url)
    return store.cookie_store_id


@in_loop
async def test_the_sites_of_all_identities_are_listed_with_who_is_signed_in(tmp_path: Path, key: str | None) -> None:
    async with hatbox.open(tmp_path / "profile.db", key=key) as profile:
        work = await put(profile, "Work", "sid=1; Domain=site.example; HttpOnly; Secure", "lang=de")
        personal = await put(profile, "Personal", "lang=de")
        await put(profile, DEFAULT, "sid=2; HttpOnly", url="http://127.0.0.1/")
        await put(profile, DEFAULT, "sid=2; HttpOnly", url="http://localhost/")
        await put(profile, "Work", "gone=1; Max-Age=0", url="https://gone.example/")
        now = profile.store.time() * 1000
        found = await sites_of(profile).list()
        assert [each["host"] for each in found] == ["127.0.0.1", "localhost", "site.example"]
        signed_in, cookies_only = found[2]["identities"]
        assert (signed_in["cookieStoreId"], signed_in["cookies"]) == (work, 2)
        assert 0 <= now - signed_in["signedInSince"] < 60_000
        assert 0 <= now - signed_in["lastUsed"] < 60_000
        assert (cookies_only["cookieStoreId"], cookies_only["signedInSince"]) == (personal, None)
        assert [each["cookieStoreId"] for each in found[0]["identities"]] == [DEFAULT]
        (only,) = await sites_of(profile).list({"cookieStoreIds": [personal, "firefox-container-99"]})
        assert [each["cookieStoreId"] for each in only["identities"]] == [personal]


@in_loop
async def test_cookies_are_listed_without_values_and_one_value_on_request(tmp_path: Path, key: str | None) -> None:
    async with hatbox.open(tmp_path / "profile.db", key=key) as profile:
        work = await put(
            profile,
            "Work",
            "sid=secret-caf\xc3\xa9; Domain=site.example; HttpOnly; Secure; SameSite=Strict; Max-Age=1000; Path=/a",
            "\xff=secret-bytes",
        )
        await put(profile, "Work", "other=secret", url="https://other.example/")
        sites = sites_of(profile)
        cookies = await sites.cookies(work, "site.example")
        assert "secret" not in str(cookies)
        assert "secret" not in str(await sites.list())
        first, second = cookies
        assert {name: first[name] for name in ("name", "domain", "hostOnly", "path", "secure", "httpOnly")} == {
            "name": "sid",
            "domain": "site.example",
            "hostOnly": False,
            "path": "/a",
            "secure": True,
            "httpOnly": True,
        }
        assert (first["sameSite"], first["signIn"], first["partitionKey"]) == ("strict", True, None)
        assert 999_000 <= first["expires"] - first["created"] <= 1_001_000
        assert (second["expires"], second["hostOnly"], second["domain"]) == (None, True, "accounts.site.example")
        assert len(await sites.cookies(work)) == 3
        assert await sites.value(work, first["id"]) == "secret-café"
        assert await sites.value(work, second["id"]) == "secret-bytes"  # its name is no text


@in_loop
async def test_what_does_not_exist_is_named_in_the_error(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        sites = sites_of(profile)
        work = await put(profile, "Work", "sid=1")
        (cookie,) = await sites.cookies(work)
        await sites.remove(work, {"cookie": cookie["id"]})
        with refused("This cookie is gone"):
            await sites.value(work, cookie["id"])
        assert await sites.remove(work, {"cookie": cookie["id"]}) == {
            "removed": 0,
            "undo": None,
            "origins": 0,
            "siteData": 0,
        }
        for id_ in ("x", "!", "e30", "W10"):
            with refused("Invalid cookie id"):
                await sites.value(work, id_)
        for missing in ("firefox-container-99", "Work"):
            with pytest.raises(InvalidIdentity):
                await sites.cookies(missing)
            with pytest.raises(InvalidIdentity):
                await sites.remove(missing, {"all": True})
        for wrong in ({}, {"all": True, "host": "site.example"}, {"all": False}):
            with refused("exactly one of"):
                await sites.remove(work, wrong)
        with pytest.raises(ArgumentError):
            await sites.list({"cookieStoreIds": ["firefox-container-1"] * 1001})


@in_loop
async def test_a_removed_site_does_not_take_the_sites_below_it_along(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", "a=1", url="https://github.io/")
        await put(profile, "Work", "a=1; Domain=me.github.io", "b=1", url="https://me.github.io/")
        await put(profile, "Work", "a=1", url="https://deep.me.github.io/")
        sites = sites_of(profile)
        assert (await sites.remove(work, {"host": "github.io"}))["removed"] == 1
        assert [each["host"] for each in await sites.list()] == ["me.github.io"]
        assert (await sites.remove(work, {"host": "me.github.io"}))["removed"] == 3
        assert await sites.list() == []


@in_loop
async def test_an_undo_restores_cookies_exactly(tmp_path: Path, key: str | None) -> None:
    async with hatbox.open(tmp_path / "profile.db", key=key) as profile:
        work = await put(profile, "Work", "sid=1; HttpOnly; Max-Age=1000", "\xff=2", "theme=dark")
        store = await profile.cookie_store("Work")
        partition = Partition("https://top.example", True)
        await store.put(
            [Cookie(name="chips", value="3", domain="site.example", secure=True, partition=partition, created=5.5)]
        )
        await store.put([Cookie(name="old", value="3", domain="site.example", expires=10.0)])
        before = [row for row in await rows_of(profile) if row[3] != "old"]
        assert await store.header(SITE)  # also the jar in memory
        sites = sites_of(profile)
        for what, count in (({"all": True}, 4), ({"host": "site.example"}, 4)):
            removed = await sites.remove(work, what)
            assert removed["removed"] == count
            assert await rows_of(profile) == []
            assert await store.header(SITE) == ""
            assert await sites.undo(removed["undo"]) == {"restored": count, "superseded": 0}
            assert await rows_of(profile) == before
        with refused("can no longer be restored"):
            await sites.undo(removed["undo"])


@in_loop
async def test_a_cookie_that_was_set_since_its_removal_stays(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", "sid=old", "theme=dark")
        sites = sites_of(profile)
        removed = await sites.remove(work, {"all": True})
        await put(profile, "Work", "sid=new")
        assert await sites.undo(removed["undo"]) == {"restored": 1, "superseded": 1}
        assert sorted((await (await profile.cookie_store("Work")).header(SITE)).split("; ")) == [
            "sid=new",
            "theme=dark",
        ]


@in_loop
async def test_forgotten_cookies_cannot_be_restored(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", "sid=1")
        sites = sites_of(profile)
        removed = await sites.remove(work, {"all": True})
        assert await sites.forget(removed["undo"]) is None
        await sites.forget("unknown")
        with refused("can no longer be restored"):
            await sites.undo(removed["undo"])


@in_loop
async def test_an_undo_for_an_identity_that_is_gone_says_so(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", "sid=1")
        removed = await sites_of(profile).remove(work, {"all": True})
        await profile.identities.remove("Work")
        with pytest.raises(InvalidIdentity):
            await sites_of(profile).undo(removed["undo"])


@in_loop
async def test_changes_of_any_program_name_the_identities(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile, hatbox.open(tmp_path / "profile.db") as other:
        changes: asyncio.Queue[Any] = asyncio.Queue()
        sites_of(profile).onChanged.addListener(changes.put_nowait)
        await profile.store.deliver_pending_changes()
        work = await put(other, "Work", "sid=1", "theme=dark")
        assert await asyncio.wait_for(changes.get(), 30) == {"cookieStoreIds": [work], "all": False}
        saved = site_data_sync._write  # as a browser saves what a page has stored
        await other.store.write(lambda each: saved(each, 2, "https://site.example", b'{"local":[["a","b"]]}'))
        assert await asyncio.wait_for(changes.get(), 30) == {"cookieStoreIds": [work], "all": False}
        (site,) = await sites_of(profile).list({"cookieStoreIds": [work]})
        assert site["identities"][0]["siteData"] > 0
        await other.identities.remove("Work")
        found: set[str] = set()
        while work not in found:
            found |= set((await asyncio.wait_for(changes.get(), 30))["cookieStoreIds"])


async def put_site_data(profile: hatbox.Profile, number: int, *origins: str) -> None:
    def put_all(transaction: Transaction) -> None:
        for origin in origins:
            transaction.site_data.put(number, origin, b'{"local":[["token","secret"]],"databases":[]}')

    await profile.store.write(put_all)


@in_loop
async def test_site_data_is_listed_and_deleted_with_its_site_only(tmp_path: Path, key: str | None) -> None:
    async with hatbox.open(tmp_path / "profile.db", key=key) as profile:
        work = await put(profile, "Work", "sid=1; HttpOnly")
        origins = ["https://accounts.site.example", "http://site.example:8080", "https://other.example"]
        await put_site_data(profile, 2, *origins)
        await put_site_data(profile, 1, *origins)  # of Personal
        changes: asyncio.Queue[Any] = asyncio.Queue()
        sites = sites_of(profile)
        sites.onChanged.addListener(changes.put_nowait)
        await profile.store.deliver_pending_changes()
        other, site = await sites.list({"cookieStoreIds": [work]})
        assert (site["host"], site["identities"][0]["origins"]) == ("site.example", 2)
        assert site["identities"][0]["siteData"] >= 90
        (alone,) = other["identities"]
        assert (alone["cookies"], alone["origins"], alone["signedInSince"]) == (0, 1, None)

        kept = await sites.remove(work, {"host": "site.example"})  # without site data
        assert (kept["removed"], kept["origins"], kept["siteData"]) == (1, 0, 0)
        await sites.undo(kept["undo"])
        removed = await sites.remove(work, {"host": "site.example", "siteData": True})
        assert (removed["removed"], removed["origins"], removed["undo"]) == (1, 2, None)
        assert removed["siteData"] >= 90
        assert await profile.store.read(lambda each: each.site_data.origins(2)) == ["https://other.example"]
        assert len(await profile.store.read(lambda each: each.site_data.origins(1))) == 3
        assert await asyncio.wait_for(changes.get(), 30) == {"cookieStoreIds": [work], "all": False}

        removed = await sites.remove(work, {"all": True, "siteData": True})
        assert (removed["removed"], removed["origins"]) == (0, 1)
        assert await profile.store.read(lambda each: each.site_data.origins(2)) == []


@in_loop
async def test_site_data_goes_with_no_single_cookie(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = await put(profile, "Work", "sid=1")
        await put_site_data(profile, 2, SITE.rstrip("/"))
        (cookie,) = await sites_of(profile).cookies(work)
        with refused("siteData needs host or all"):
            await sites_of(profile).remove(work, {"cookie": cookie["id"], "siteData": True})
        assert len(await rows_of(profile)) == 1
        assert await profile.store.read(lambda each: each.site_data.origins(2)) == [SITE.rstrip("/")]


@in_loop
async def test_sites_of_many_identities_are_listed_without_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(tmp_path / "profile.db", key=KEY) as profile:

        def fill(transaction: Any) -> None:
            for number in range(200):
                row = (f"s{number % 7}.example", 1, "/", "sid", "", "v", 1, 1, "lax", None, number, 5.0, 6.0)
                store = transaction.identities.insert(f"Identity {number}", "circle", "red")
                transaction.cookies.put(store, [row])

        await profile.store.write(fill)
        monkeypatch.setattr("hatbox.store.tables.row_cipher.RowCipher.decrypted", _unexpected)
        found = await sites_of(profile).list()
        assert sum(len(each["identities"]) for each in found) == 200
        assert len(found) == 7


def _unexpected(*_: object) -> None:
    raise AssertionError("a value was decrypted")
