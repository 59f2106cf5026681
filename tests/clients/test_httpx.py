from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

import hatbox
from hatbox import CookiesNotAllowed, IdentityNotFound, SyncProfile
from tests.clients.server import Site


@pytest.fixture
def profile(path: Path) -> Iterator[SyncProfile]:
    with hatbox.open_sync(path) as profile:
        yield profile


def test_it_is_an_httpx_client_with_all_its_options(profile: SyncProfile, site: Site) -> None:
    with profile.httpx("Work", base_url=site.url(), headers={"X-Identity": "work"}, verify=False) as client:
        assert isinstance(client, httpx.Client)
        client.get("/login", params={"set": "sid=work-1"})
        assert client.get("/me").text == "sid=work-1"
    assert not site.mixed


@pytest.mark.parametrize("options", [{"cookies": {"a": "1"}}, {"cookies": {}}])
def test_cookies_are_refused_when_it_is_made(profile: SyncProfile, options: dict[str, dict[str, str]]) -> None:
    with pytest.raises(CookiesNotAllowed, match="cookies= was given"):
        profile.httpx("Work", **options)


def test_its_own_jar_takes_nothing(profile: SyncProfile, site: Site) -> None:
    with profile.httpx("Work", verify=False) as client:
        with pytest.raises(CookiesNotAllowed, match='"a" was put'):
            client.cookies.set("a", "1")
        with pytest.raises(CookiesNotAllowed):
            client.cookies.update({"a": "1"})
        with pytest.raises(CookiesNotAllowed):
            client.cookies = httpx.Cookies({"a": "1"})
        with pytest.raises(CookiesNotAllowed), pytest.warns(DeprecationWarning, match="cookies"):
            client.get(site.url(), cookies={"a": "1"})
        assert not site.seen


def test_cookies_in_the_clients_headers_and_in_a_hook_are_refused(profile: SyncProfile, site: Site) -> None:
    def add_cookie(request: httpx.Request) -> None:
        request.headers["Cookie"] = "a=1"

    with (
        profile.httpx("Work", headers={"Cookie": "a=1"}, verify=False) as one,
        profile.httpx("Work", event_hooks={"request": [add_cookie]}, verify=False) as other,
    ):
        for client in (one, other):
            with pytest.raises(CookiesNotAllowed):
                client.get(site.url())
    assert not site.seen


def test_one_request_can_be_sent_with_several_identities(profile: SyncProfile, site: Site) -> None:
    request = httpx.Request("GET", site.url())
    for name in ("Work", "Personal"):
        with profile.httpx(name, verify=False) as client:
            client.get(site.url(set=f"sid={name}"))
            assert client.send(request).text == f"sid={name}"
            assert client.send(request).text == f"sid={name}"
    assert "Cookie" not in request.headers


def test_transports_of_your_own_wear_the_identity_too(profile: SyncProfile) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text=request.headers.get("Cookie", ""), headers={"Set-Cookie": "a=1"})

    default, mounted = httpx.MockTransport(answer), httpx.MockTransport(answer)
    with profile.httpx("Work", transport=default, mounts={"https://mounted.example": mounted}) as client:
        for url in ("https://default.example", "https://mounted.example"):
            assert client.get(url).text == ""
            assert client.get(url).text == "a=1"
        assert not client.cookies


def test_a_request_through_a_proxy_has_the_cookies_of_where_it_goes(profile: SyncProfile, site: Site) -> None:
    with profile.httpx("Work", proxy=site.url(), verify=False) as client:
        client.get("http://site.example/", params={"set": "a=1"})
        assert client.get("http://site.example/").text == "a=1"
        assert client.get("http://other.example/").text == ""
        assert {seen.host for seen in site.seen} <= {"site.example", "other.example", ""}


def test_digest_authentication_works_although_httpx_adds_the_cookies_of_the_challenge(
    profile: SyncProfile, site: Site
) -> None:
    with profile.httpx("Work", auth=httpx.DigestAuth("user", "password"), verify=False) as client:
        client.get(site.url(set="o=0"))
        response = client.get(site.url("/digest", set=["a=1", "b=2; Path=/elsewhere"]))
        assert response.status_code == 200
        assert response.text == "o=0; a=1"
    assert [seen.cookie for seen in site.seen] == [b"", b"o=0", b"o=0; a=1"]


def test_cookies_of_a_stream_are_taken_before_its_body(profile: SyncProfile, site: Site) -> None:
    with (
        profile.httpx("Work", verify=False) as client,
        client.stream("GET", site.url("/stream", set="a=1; Path=/")) as response,
    ):
        assert client.get(site.url()).text == "a=1"
        assert response.read() == b"one,two,three"


def test_bytes_that_are_no_text_come_back_as_they_were(profile: SyncProfile, site: Site) -> None:
    with profile.httpx("Work", verify=False) as client:
        client.get(site.url(set="a=\xe9\xff"))
        client.get(site.url())
    assert site.seen[-1].cookie == b"a=\xe9\xff"


def test_threads_can_share_it(profile: SyncProfile, site: Site) -> None:
    with profile.httpx("Work", verify=False) as client, ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: client.get(site.url(set=f"c{n}={n}")), range(64)))
        assert len(client.get(site.url()).text.split("; ")) == 64


def test_tasks_can_share_the_asynchronous_one(path: Path, site: Site) -> None:
    async def main() -> int:
        async with hatbox.open(path) as profile, profile.httpx("Work", verify=False, timeout=60) as client:
            assert isinstance(client, httpx.AsyncClient)
            await asyncio.gather(*(client.get(site.url(set=f"c{n}={n}")) for n in range(64)))
            return len((await client.get(site.url())).text.split("; "))

    assert asyncio.run(main()) == 64


def test_the_asynchronous_one_looks_its_identity_up_when_it_is_entered(path: Path, site: Site) -> None:
    async def main() -> None:
        async with hatbox.open(path) as profile:
            with pytest.raises(IdentityNotFound, match='Did you mean "Work"'):
                async with profile.httpx("Wrok", verify=False):
                    pass
            async with profile.httpx("Work", verify=False) as client:
                with pytest.raises(CookiesNotAllowed):
                    client.cookies = httpx.Cookies()
                async with client.stream("GET", site.url("/stream", set="a=1; Path=/")) as response:
                    assert (await client.get(site.url())).text == "a=1"
                    assert await response.aread() == b"one,two,three"

    asyncio.run(main())
