"""Grants for endpoints: which tokens connect, when they stop, and what is recorded. No browser."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import hatbox
from hatbox import GrantRefused, Profile
from hatbox.engines.endpoint_grants import EndpointGrants, GrantedClients
from tests.store.in_loop import in_loop
from tests.waiting import until

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"
BOTH = ["pages", "cookieValues"]
ALL = ["<all_urls>"]


def grants_of(profile: Profile) -> EndpointGrants:
    return EndpointGrants(lambda: profile.grants, lambda: profile.activity_log)


async def authorized(grants: EndpointGrants, token: str) -> GrantedClients:
    clients = await grants.for_identity(WORK)(token)
    assert clients is not None
    return clients


@in_loop
async def test_only_the_token_of_a_valid_grant_connects(path: Path) -> None:
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        grants = grants_of(profile)
        grant, token = await profile.grants.create("report", identities="Work", actions=BOTH, hosts=ALL)
        clients = await authorized(grants, token)
        assert (clients.program, clients.grant_id) == ("report", grant.id)
        for guessed in ("", "x", grant.id, token[:-1], token + "x", "hatbox_" + "A" * 43, token.upper()):
            assert await grants.for_identity(WORK)(guessed) is None
        await other.grants.revoke(grant.id)  # by another process
        await asyncio.wait_for(clients.ended, 10)
        assert await grants.for_identity(WORK)(token) is None  # replayed

        grant, token = await profile.grants.create(identities="Work", actions=BOTH, hosts=ALL, duration=0.5)
        clients = await authorized(grants, token)
        assert clients.program == f"grant {grant.id}"
        await asyncio.wait_for(clients.ended, 10)
        assert await grants.for_identity(WORK)(token) is None


@in_loop
async def test_an_endpoint_of_one_program_accepts_its_grant_only(path: Path) -> None:
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        grants = grants_of(profile)
        own, token = await other.grants.create(identities="Work", actions=BOTH, hosts=ALL)
        _, another = await profile.grants.create(identities="Work", actions=BOTH, hosts=ALL)
        authorize = grants.for_identity(WORK, own.id)
        assert await authorize(another) is None
        for given in (token, ""):  # the endpoint passes no empty token, except for clients that need none
            clients = await authorize(given)
            assert clients is not None
            assert clients.grant_id == own.id
        await other.grants.revoke(own.id)
        await profile.grants.ended(own.id)
        assert [await authorize(given) for given in (token, "")] == [None, None]


@in_loop
async def test_a_grant_that_allows_less_than_the_protocol_can_do_is_refused(path: Path) -> None:
    async with hatbox.open(path) as profile:
        grants = grants_of(profile)
        for identity, actions, hosts in (
            ("Work", ["pages"], ALL),
            ("Work", ["cookieValues", "tabs", "fetch"], ALL),
            ("Work", BOTH, ["site.example"]),
            ("Work", BOTH, None),
            ("Personal", BOTH, ALL),
        ):
            grant, token = await profile.grants.create(identities=identity, actions=actions, hosts=hosts)
            with pytest.raises(GrantRefused, match=grant.id):
                await grants.for_identity(WORK)(token)
            (entry,) = await profile.activity_log.query(grant=grant.id)
            assert (entry.action, entry.outcome) == ("endpoint.connect", "refused")
        assert await grants.for_identity(PERSONAL)(token)


@in_loop
async def test_many_requests_of_a_client_add_no_listeners(path: Path) -> None:
    async with hatbox.open(path) as profile:
        grants = grants_of(profile)
        grant, token = await profile.grants.create(identities="Work", actions=BOTH, hosts=ALL)
        several = [await authorized(grants, token) for _ in range(50)]
        assert len(set(map(id, several))) == 1
        assert len(profile.grants._cache._watchers[grant.id]) == 1
        await profile.grants.revoke(grant.id)
        await until(several[0].ended.done)
        assert profile.grants._cache._watchers == {}


@in_loop
async def test_only_hosts_are_recorded_and_a_flood_of_them_is_bounded(path: Path) -> None:
    async with hatbox.open(path) as profile:
        _, token = await profile.grants.create(identities="Work", actions=BOTH, hosts=ALL)
        clients = await authorized(grants_of(profile), token)
        clients.record("endpoint.load", "https://user:secret@site.example/private?token=1#part")
        clients.record("endpoint.load", "https://site.example/other")
        for number in range(1000):
            clients.record("endpoint.load", f"https://host-{number}.example/")
        entries = await profile.activity_log.query()
        assert sum(each.times for each in entries) == 1002
        assert len(entries) < 150
        assert next(each.times for each in entries if each.host == "site.example") == 2
        assert {each.grant for each in entries} == {clients.grant_id}
        assert not {"secret", "private", "token"} & set(str(entries).replace("/", " ").split())
