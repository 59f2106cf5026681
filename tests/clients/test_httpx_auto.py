"""profile.httpx_auto(): each request in the identity of its URL, redirects in theirs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import hatbox
from hatbox import CookiesNotAllowed, IdentityNotChosen, NoSiteRule, SyncProfile, UrlBlocked
from tests.clients.server import Site
from tests.store.in_loop import in_loop


@pytest.fixture
def profile(path: Path) -> Iterator[SyncProfile]:
    with hatbox.open_sync(path) as profile:
        for name, host in (("Work", "127.0.0.1"), ("Personal", "localhost")):
            profile.rules.add(host, name)
            profile.cookie_store(name).set(f"http://{host}/", name="sid", value=name)
        profile.cookie_store("Work").set("http://localhost/", name="sid", value="Work at localhost")
        yield profile


def test_each_request_has_the_cookies_of_the_identity_of_its_url(profile: SyncProfile, site: Site) -> None:
    with profile.httpx_auto() as client:
        assert isinstance(client, httpx.Client)
        assert client.get(site.url()).text == "sid=Work"
        assert client.get(site.url(host="localhost")).text == "sid=Personal"
        assert client.get(site.url(set="new=1")).text == "sid=Work"
        assert client.get(site.url()).text == "sid=Work; new=1"
        assert client.get(site.url(host="localhost")).text == "sid=Personal"
    assert "the identity of each URL" in repr(client)
    with pytest.raises(RuntimeError, match="closed"):
        client.get(site.url())


def test_redirects_stay_in_the_identity_in_which_they_started(profile: SyncProfile, site: Site) -> None:
    to_localhost = site.url(status=302, to=site.url(host="localhost"))
    with profile.httpx_auto(follow_redirects=True) as client:
        assert client.get(to_localhost).text == "sid=Work at localhost"
        assert client.get(site.url(host="localhost")).text == "sid=Personal"
    with profile.httpx_auto() as client:
        response = client.get(to_localhost)
        assert response.next_request is not None
        assert client.send(response.next_request).text == "sid=Work at localhost"
        again = client.build_request("GET", site.url())
        assert client.send(again).text == "sid=Work"
        profile.rules.add("127.0.0.1", "Personal", replace=True)
        assert client.send(again).text == "", "a request that is sent again is decided again"


def test_a_request_with_the_extensions_of_another_is_decided_by_its_own_url(profile: SyncProfile, site: Site) -> None:
    to_localhost = site.url(status=302, to=site.url(host="localhost"))
    with profile.httpx_auto() as client:
        first = client.build_request("GET", to_localhost)
        response = client.send(first)
        following = response.next_request
        assert following is not None
        for each in (first, response.request, following):
            copied = client.build_request(
                "GET", site.url(host="localhost"), extensions=each.extensions, headers=each.headers
            )
            assert client.send(copied).text == "sid=Personal"
        assert client.send(following).text == "sid=Work at localhost"
        following.extensions.clear()
        assert client.send(following).text == "sid=Work at localhost"
    with profile.httpx_auto() as other:
        following = httpx.Request("GET", following.url)
        assert other.send(following).text == "sid=Personal"


def test_a_url_without_a_rule_is_refused_or_uses_the_default(profile: SyncProfile, site: Site) -> None:
    profile.rules.remove("localhost")
    with profile.httpx_auto() as client, pytest.raises(NoSiteRule, match=r"hatbox rules add 'localhost' NAME"):
        client.get(site.url(host="localhost").replace("http://", "http://user:secret@"))
    assert not site.seen
    with profile.httpx_auto(default="firefox-default") as client:
        assert client.get(site.url(host="localhost")).text == ""
        assert client.get(site.url()).text == "sid=Work"
    with profile.httpx_auto(default="Work") as client:
        assert client.get(site.url(host="localhost")).text == "sid=Work at localhost"


def test_a_rule_that_asks_and_a_limited_default_are_refused_before_anything_is_sent(
    profile: SyncProfile, site: Site
) -> None:
    profile.rules.add("localhost", ["Work", "Personal"], ask=True, replace=True)
    profile.rules.add("127.0.0.1/only/*", "Banking", limit=True)
    profile.rules.remove("127.0.0.1")
    with profile.httpx_auto(default="Banking") as client:
        with pytest.raises(IdentityNotChosen, match="Work or Personal"):
            client.get(site.url(host="localhost"))
        with pytest.raises(UrlBlocked, match='"Banking" is limited'):
            client.get(site.url("/other"))
        assert not site.seen
        assert client.get(site.url("/only/x")).status_code == 200


def test_options_headers_and_base_url_are_those_of_httpx(profile: SyncProfile, site: Site) -> None:
    seen: list[httpx.Request] = []
    with profile.httpx_auto(
        base_url=site.url(), headers={"X-Own": "1"}, event_hooks={"request": [seen.append]}
    ) as client:
        client.get("/path")
        client.post("/post", content=b"body", headers={"User-Agent": "mine"})
    assert [(each.method, each.path, each.body) for each in site.seen] == [
        ("GET", "/path", b""),
        ("POST", "/post", b"body"),
    ]
    first, second = site.headers
    assert first["X-Own"] == second["X-Own"] == "1"
    assert first["User-Agent"].startswith("python-httpx/")
    assert first["Accept-Encoding"]
    assert second["User-Agent"] == "mine"
    assert len(seen) == 2


def test_cookies_of_the_caller_are_refused(profile: SyncProfile, site: Site) -> None:
    with pytest.raises(CookiesNotAllowed):
        profile.httpx_auto(cookies={"a": "1"})
    with profile.httpx_auto() as client, pytest.raises(CookiesNotAllowed):
        client.get(site.url(), headers={"Cookie": "a=1"})
    assert not site.seen


@in_loop
async def test_the_same_without_threads(path: Path) -> None:
    site = Site()
    try:
        async with hatbox.open(path) as profile:
            await profile.rules.add("127.0.0.1", "Work")
            await profile.rules.add("localhost", "Personal")
            async with profile.httpx_auto(follow_redirects=True) as client:
                assert "the identity of each URL" in repr(client)
                await client.get(site.url(set="sid=work"))
                await client.get(site.url(host="localhost", set="sid=personal"))
                assert (await client.get(site.url())).text == "sid=work"
                back = site.url(host="localhost", status=302, to=site.url())
                assert (await client.get(back)).text == "", "the redirect stays in Personal"
                await profile.identities.remove("Work")
                with pytest.raises(NoSiteRule):
                    await client.get(site.url())
            with pytest.raises(RuntimeError, match="closed"):
                await client.get(site.url())
    finally:
        site.stop()
