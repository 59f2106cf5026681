"""Grants that end with their process, also if it is killed and cannot revoke them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import hatbox
from hatbox import Grant, GrantRevoked, Profile
from hatbox.grants import grant_cache
from hatbox.grants.grant_cache import GrantCache
from hatbox.grants.grant_rows import put_grant
from hatbox.grants.grant_service import digest_of, new_token
from hatbox.store.processes import ProcessId, current_process
from tests.marks import starts
from tests.postgres import address_of
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess
from tests.waiting import until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture
@starts("process")
def other(path: Path) -> Iterator[OtherProcess]:
    with OtherProcess(path) as process:
        yield process


def granted(process: OtherProcess, **options: int | None) -> tuple[str, str]:
    """The id and the token of a grant that ends with this process."""
    grant, token = process.call("grants", "create", identities="Work", for_process=True, **options)
    return str(grant["id"]), str(token)


async def states(profile: Profile) -> dict[str, bool]:
    """Whether each grant is revoked, as it is stored."""
    return {each.id: each.revoked is not None for each in await profile.grants.list()}


@in_loop
async def test_the_token_of_a_killed_process_is_refused_and_its_grant_revoked(path: Path, other: OtherProcess) -> None:
    async with hatbox.open(address_of(path)) as profile:
        grant_id, token = await asyncio.to_thread(granted, other)
        assert (await profile.grants.verify(token)).id == grant_id
        assert await states(profile) == {grant_id: False}
        ended = profile.grants.ended(grant_id)
        await asyncio.to_thread(other.kill)
        with pytest.raises(GrantRevoked):
            await profile.grants.verify(token)
        await ended
        assert await states(profile) == {grant_id: True}


@pytest.mark.process
@in_loop
async def test_listing_grants_and_creating_such_a_grant_revoke_those_of_killed_processes(path: Path) -> None:
    async with hatbox.open(address_of(path)) as profile:
        plain, _ = await profile.grants.create(identities="Work")
        own, own_token = await profile.grants.create(identities="Work", for_process=True)
        assert own.process == current_process()
        with OtherProcess(path) as first:
            listed, _ = await asyncio.to_thread(granted, first)
            await asyncio.to_thread(first.kill)
        assert await states(profile) == {plain.id: False, own.id: False, listed: True}
        with OtherProcess(path) as second:
            killed, _ = await asyncio.to_thread(granted, second)
            await asyncio.to_thread(second.kill)
        await profile.grants.create(identities="Work", for_process=True)
        row = await profile.store.read(lambda transaction: transaction.grants.get(killed))
        assert row is not None
        assert row.revoked is not None
        assert (await profile.grants.verify(own_token)).id == own.id


@in_loop
async def test_connections_with_the_token_of_a_killed_process_end(
    path: Path, other: OtherProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grant_cache, "_MAX_TIMER", 0.01)
    looked_at: list[str] = []
    on_time = GrantCache._on_time

    def noting(cache: GrantCache, grant_id: str) -> None:
        looked_at.append(grant_id)
        on_time(cache, grant_id)

    monkeypatch.setattr(GrantCache, "_on_time", noting)
    async with hatbox.open(address_of(path)) as profile:
        expiring, first = await asyncio.to_thread(granted, other)
        endless, second = await asyncio.to_thread(granted, other, duration=None)
        assert (await profile.grants.verify(first)).expires is not None
        assert (await profile.grants.verify(second)).expires is None
        ended = [profile.grants.ended(each) for each in (expiring, endless)]
        await until(lambda: min(looked_at.count(each) for each in (expiring, endless)) > 2)
        assert not any(each.done() for each in ended)
        await asyncio.to_thread(other.kill)
        await asyncio.wait_for(asyncio.gather(*ended), 30)
        for grant_id in (expiring, endless):
            with pytest.raises(GrantRevoked):
                profile.grants.check(grant_id)


@in_loop
async def test_a_process_of_another_machine_or_before_a_restart_has_ended_if_it_is_not_registered(path: Path) -> None:
    async with hatbox.open(address_of(path)) as profile:
        template, _ = await profile.grants.create(identities="Work")
        token = new_token()
        gone = ProcessId("elsewhere/boot/1", 7, "8")
        grant: Grant = msgspec.structs.replace(template, id="another", process=gone)
        await profile.store.write(lambda transaction: put_grant(transaction, grant, digest_of(token) or b""))
        with pytest.raises(GrantRevoked):
            await profile.grants.verify(token)
