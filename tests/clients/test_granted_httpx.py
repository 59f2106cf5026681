"""An httpx client with a grant reaches the hosts of the grant only, and never shows Set-Cookie without cookieValues."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

import hatbox
from hatbox import Grant, PermissionDenied, Profile
from tests.site import Site
from tests.store.in_loop import in_loop


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
async def test_cookie_values_are_shown_if_the_grant_includes_them(tmp_path: Path) -> None:
    async with granted(tmp_path, ["fetch", "cookieValues"]) as (_, _, client, site):
        response = await client.get(site.url("/redirect/1"))
        assert "hop1=1" in response.history[0].headers["Set-Cookie"]


@in_loop
async def test_each_redirect_is_checked_before_anything_is_sent(tmp_path: Path) -> None:
    async with granted(tmp_path) as (profile, grant, client, site):
        outside = site.url("/me", host="localhost")
        for url in (outside, site.url("/go", to=outside)):
            with pytest.raises(PermissionDenied, match="does not include the host"):
                await client.get(url)
        assert site.requests("/me") == []
        rows = await profile.activity_log.query(grant=grant.id)
        assert ("localhost", "refused") in {(each.host, each.outcome) for each in rows}


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
        _, token = await profile.grants.create(identities="Work")
        with pytest.raises(PermissionDenied, match="does not include"):
            await profile.granted_httpx(token, personal)
        for option in ("proxy", "transport", "mounts", "verify", "trust_env"):
            with pytest.raises(PermissionDenied, match=f"cannot have {option}"):
                await profile.granted_httpx(token, **{option: None})
