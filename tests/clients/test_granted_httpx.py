"""An httpx client with a grant reaches the hosts of the grant only, and never shows Set-Cookie without cookieValues."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import hatbox
from hatbox import Grant, GrantRevoked, PermissionDenied, Profile
from hatbox.cookies.request_urls import parse_request_url
from tests.site import Site
from tests.store.in_loop import in_loop
from tests.waiting import until


@asynccontextmanager
async def granted(
    path: Path, actions: Iterable[str] = ("fetch",)
) -> AsyncIterator[tuple[Profile, Grant, httpx.AsyncClient, Site]]:
    with Site() as site:
        async with hatbox.open(path / "profile.db") as profile:
            grant, token = await profile.grants.create(identities="Work", hosts=["127.0.0.1"], actions=actions)
            async with await profile.granted_httpx(token, follow_redirects=True) as client:
                yield profile, grant, client, site


@in_loop
async def test_requests_use_the_cookies_of_the_identity_and_show_none(tmp_path: Path) -> None:
    async with granted(tmp_path) as (profile, grant, client, site):
        traced: list[object] = []

        async def trace(name: str, info: object) -> None:
            traced.append((name, info))

        response = await client.get(site.url("/redirect/3"), extensions={"trace": trace})
        assert len(response.history) == 3 and traced == []
        for each in (*response.history, response):
            assert "Set-Cookie" not in each.headers and "Cookie" not in each.request.headers
            assert "hop" not in str(each.headers.raw)
        work = (await profile.identities.find("Work")).cookie_store_id
        cookies = await profile.browser(["cookies", "<all_urls>"]).cookies.getAll({"storeId": work})
        assert {each["name"] for each in cookies} == {"hop1", "hop2", "hop3"}
        (row,) = await profile.activity_log.query(grant=grant.id)
        assert (row.action, row.host, row.outcome, row.identity) == ("fetch", "127.0.0.1", "ok", work)


@in_loop
async def test_a_request_of_an_identity_whose_activity_is_recorded_has_one_entry(tmp_path: Path) -> None:
    async with granted(tmp_path) as (profile, grant, client, site):
        await profile.activity_log.set_recorded("Work", True)
        await client.get(site.url("/redirect/2"))
        assert len(site.seen) == 3
        rows = await profile.activity_log.query()
        assert [(each.grant, each.action, each.outcome, each.times) for each in rows] == [(grant.id, "fetch", "ok", 3)]


@in_loop
async def test_cookie_values_are_shown_if_the_grant_includes_them(tmp_path: Path) -> None:
    async with granted(tmp_path, ["fetch", "cookieValues"]) as (_, _, client, site):
        response = await client.get(site.url("/redirect/1"))
        assert "hop1=1" in response.history[0].headers["Set-Cookie"]


@in_loop
async def test_each_redirect_is_checked_before_anything_is_sent(tmp_path: Path) -> None:
    async with granted(tmp_path) as (profile, grant, client, site):
        outside = site.url("/me", host="localhost")
        other_reading = "http://127.0.0.1\\.localhost/"  # for a browser, the host ends at the backslash
        for url in (outside, site.url("/go", to=outside), other_reading, site.url("/go", to=other_reading)):
            with pytest.raises(PermissionDenied, match="does not include the host"):
                await client.get(url)
        assert site.requests("/me") == []
        rows = await profile.activity_log.query(grant=grant.id)
        assert ("localhost", "refused") in {(each.host, each.outcome) for each in rows}


@in_loop
async def test_a_token_that_has_ended_is_refused_and_recorded(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        grant, token = await profile.grants.create(identities="Work", hosts=["<all_urls>"])
        with pytest.raises(PermissionDenied):
            await profile.granted_httpx(token, proxy="http://127.0.0.1:1")
        await profile.grants.revoke(grant.id)
        for connect in (profile.granted_httpx(token), profile.browser(grant=token)):
            with pytest.raises(GrantRevoked):
                await connect
        assert await outcomes(profile, grant) == [("connect", "", "refused", 2), ("fetch", "", "refused", 1)]


@in_loop
async def test_a_revoked_grant_sends_nothing(tmp_path: Path) -> None:
    async with granted(tmp_path) as (profile, grant, client, site):
        await profile.grants.revoke(grant.id)
        await profile.store.deliver_pending_changes()
        with pytest.raises(PermissionDenied, match="was revoked"):
            await client.get(site.url("/me"))
        assert site.seen == []


@in_loop
async def test_a_client_needs_fetch_an_identity_of_the_grant_and_no_proxy(tmp_path: Path) -> None:
    async with granted(tmp_path, ["cookies"]) as (profile, _, client, site):
        with pytest.raises(PermissionDenied, match="needs a grant with fetch"):
            await client.get(site.url("/me"))
        personal = (await profile.identities.find("Personal")).cookie_store_id
        _, token = await profile.grants.create(identities="Work", hosts=["<all_urls>"])
        with pytest.raises(PermissionDenied, match="does not include"):
            await profile.granted_httpx(token, personal)
        for option in ("proxy", "transport", "mounts", "verify", "trust_env"):
            with pytest.raises(PermissionDenied, match=f"cannot have {option}"):
                await profile.granted_httpx(token, **{option: None})


async def outcomes(profile: Profile, grant: Grant) -> list[tuple[str, str, str, int]]:
    rows = await profile.activity_log.query(grant=grant.id)
    return [(each.action, each.host, each.outcome, each.times) for each in rows]


@in_loop
async def test_methods_and_headers_that_would_show_cookies_or_reach_another_site_are_refused(tmp_path: Path) -> None:
    async with granted(tmp_path) as (profile, grant, client, site):
        url = site.url("/me")
        for method in ("TRACE", "trace", "TRACK", "CONNECT"):
            with pytest.raises(PermissionDenied, match="method"):
                await client.request(method, url)
        hosts: list[Any] = [
            {"Host": "other.example"},
            {"host": "127.0.0.1"},  # without the port
            [("Host", httpx.URL(url).netloc.decode()), ("Host", "other.example")],
            {"Host": ""},
        ]
        for headers in hosts:
            with pytest.raises(PermissionDenied, match="Host header"):
                await client.get(url, headers=headers)
        with pytest.raises(hatbox.CookiesNotAllowed):
            await client.get(url, headers={"Cookie": "a=b"})
        assert site.seen == []
        assert ("fetch", "127.0.0.1", "refused", 8) in await outcomes(profile, grant)
        await client.get(url, headers={"Host": httpx.URL(url).netloc.decode()})
        assert len(site.seen) == 1


@in_loop
async def test_the_connection_and_other_hosts_cannot_be_reached_by_extensions(tmp_path: Path) -> None:
    async with granted(tmp_path) as (_, _, client, site):
        given = {"target": b"/login?user=Eve", "sni_hostname": "other.example", "network_stream": 1}
        response = await client.get(site.url("/me"), extensions=given)
        assert set(response.extensions) == {"http_version", "reason_phrase"}
        assert [each.path for each in site.seen] == ["/me"]
        assert not list(client.cookies.jar)


@in_loop
async def test_nothing_that_the_program_gets_has_the_value_of_a_cookie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with granted(tmp_path) as (profile, _, client, site):
        store = await profile.cookie_store("Work")
        await client.get(site.url("/me", set="session=SECRET; Path=/"))
        assert "SECRET" in str(await store.header(parse_request_url(site.url("/"))))
        seen: list[object] = []

        async def hook(each: Any) -> None:
            seen.append((each.headers.raw, each.extensions))

        client.event_hooks = {"request": [hook], "response": [hook]}
        authentication = httpx.DigestAuth("user", "password")
        response = await client.get(site.url("/redirect/2", set="other=SECRET"), auth=authentication)
        seen += [
            (each.headers.raw, each.request.headers.raw, each.request.extensions, dict(each.cookies))
            for each in (*response.history, response)
        ]
        assert site.seen[-1].cookies["session"] == "SECRET"
        transport: Any = client._transport
        for error in (
            httpx.LocalProtocolError("Illegal header value b'session=SECRET'"),
            UnicodeEncodeError("latin-1", "session=SECRET", 0, 1, "x"),
        ):

            async def fail(_: object, error: Exception = error) -> httpx.Response:
                raise error

            monkeypatch.setattr(transport._inner, "handle_async_request", fail)
            with pytest.raises(httpx.LocalProtocolError) as failed:
                await client.get(site.url("/me"))
            assert "SECRET" not in f"{failed.value!r} {failed.value.__context__!r} {failed.value.__cause__!r}"
        assert "SECRET" not in str(seen)


@in_loop
async def test_proxies_of_the_environment_do_not_get_the_cookies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with granted(tmp_path) as (_, _, client, site):
        assert (await client.get(site.url("/page/1"))).status_code == 200


@in_loop
async def test_a_request_is_recorded_although_the_program_cancels_it(tmp_path: Path) -> None:
    async with granted(tmp_path) as (profile, grant, client, site):
        sending = asyncio.ensure_future(client.post(site.url("/slow")))
        await until(lambda: site.requests("/slow"))
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert await outcomes(profile, grant) == [("fetch", "127.0.0.1", "sent", 1)]
        site.released.set()


@in_loop
async def test_a_request_that_the_program_changes_later_is_sent_as_it_was_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with granted(tmp_path) as (_, _, client, site):
        request = client.build_request("GET", site.url("/page/1"))
        transport: Any = client._transport
        send = transport._inner.handle_async_request

        async def change(each: httpx.Request) -> httpx.Response:
            request.url = httpx.URL(site.url("/page/2", host="localhost"))
            response: httpx.Response = await send(each)
            return response

        monkeypatch.setattr(transport._inner, "handle_async_request", change)
        await client.send(request)
        assert [(each.host, each.path) for each in site.seen] == [("127.0.0.1", "/page/1")]


@in_loop
async def test_a_revocation_ends_requests_and_bodies_that_are_being_read(tmp_path: Path) -> None:
    async with granted(tmp_path) as (profile, grant, client, site):
        waiting = asyncio.ensure_future(client.get(site.url("/slow"), timeout=None))
        await until(lambda: site.requests("/slow"))

        async def read() -> None:
            async with client.stream("GET", site.url("/drip"), timeout=None) as response:
                async for _ in response.aiter_raw():
                    started.set()

        started = asyncio.Event()
        reading = asyncio.ensure_future(read())
        await started.wait()
        async with client.stream("GET", site.url("/big")) as unread:
            chunks = unread.aiter_raw()
            await anext(chunks)
            await profile.grants.revoke(grant.id)
            for each in (waiting, reading):
                with pytest.raises(PermissionDenied, match="was revoked"):
                    await asyncio.wait_for(each, 20)
            await until(site.closed.is_set)  # also a connection that is not read
            with pytest.raises((PermissionDenied, httpx.StreamError)):
                await anext(chunks)
        site.released.set()
        assert ("fetch", "127.0.0.1", "sent", 1) in await outcomes(profile, grant)
