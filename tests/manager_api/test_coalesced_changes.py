"""Events for the manager page: one at once, the rest together, also for changes by another process."""

from __future__ import annotations

import asyncio
from unittest.mock import Mock

import pytest

import hatbox
from hatbox.identities.changes import create
from hatbox.identity.model import CREATED, REMOVED, decode_change
from hatbox.manager_api import coalesced_changes
from hatbox.manager_api.coalesced_changes import MAX_IDS, ChangedIds, CoalescedChanges, CoalescedEvent
from hatbox.store.base import RESYNC, Store
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess
from tests.waiting import until


def identity_changes(store: Store) -> CoalescedChanges:
    def ids(payload: bytes) -> list[str]:
        return [decode_change(payload).cookie_store_id]

    return CoalescedChanges(store, "test.onChanged", {CREATED: ids, REMOVED: lambda _: []})


def listen(event: CoalescedChanges) -> list[ChangedIds]:
    received: list[ChangedIds] = []
    event.add_listener(received.append)
    return received


@in_loop
async def test_the_first_change_is_emitted_at_once_and_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalesced_changes, "INTERVAL_SECONDS", 3600)
    event: CoalescedEvent[str] = CoalescedEvent("test.onChanged", str.__add__)
    received: list[str] = []
    event.add_listener(received.append)
    event.add("a")
    event.add("b")
    await until(lambda: received)
    event.add("c")
    for _ in range(10):
        await asyncio.sleep(0)
    assert received == ["ab"]
    event.remove_listener(received.append)


@in_loop
async def test_changes_that_waited_are_emitted_in_one_payload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalesced_changes, "INTERVAL_SECONDS", 0.01)
    event: CoalescedEvent[str] = CoalescedEvent("test.onChanged", str.__add__)
    received: list[str] = []
    event.add_listener(received.append)
    event.add("a")
    await until(lambda: received)
    event.add("b")
    event.add("c")
    await until(lambda: len(received) > 1)
    assert received == ["a", "bc"]


@in_loop
async def test_a_listener_that_was_removed_gets_nothing_that_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    event: CoalescedEvent[str] = CoalescedEvent("test.onChanged", str.__add__)
    received: list[str] = []
    event.add_listener(received.append)
    event.add("a")
    event.remove_listener(received.append)
    event.add("without listeners")
    event.add_listener(received.append)
    event.add("b")
    await until(lambda: received)
    assert received == ["b"]


@in_loop
async def test_changes_of_one_commit_come_in_one_event(address: str) -> None:
    async with hatbox.open(address) as profile:
        received = listen(identity_changes(profile.store))
        made = await profile.store.write(
            lambda transaction: [create(transaction, str(number), "red", "circle") for number in range(100)]
        )
        await until(lambda: received)
        assert received == [ChangedIds(tuple(each.cookie_store_id for each in made))]


@pytest.mark.process
@in_loop
async def test_a_change_by_another_process_is_emitted(address: str) -> None:
    async with hatbox.open(address) as profile:
        received = listen(identity_changes(profile.store))
        with OtherProcess() as other:
            other.call("open", address)
            created = other.identities("create", "From elsewhere")
            await until(lambda: received)
        assert received == [ChangedIds((created["cookieStoreId"],))]


@in_loop
async def test_changes_that_name_nothing_emit_nothing(address: str) -> None:
    async with hatbox.open(address) as profile:
        received = listen(identity_changes(profile.store))
        await profile.identities.remove("Work")
        created = await profile.identities.create("Last")
        await until(lambda: received)
        assert received == [ChangedIds((created.cookie_store_id,))]


@in_loop
async def test_after_lost_changes_everything_may_have_changed(address: str) -> None:
    async with hatbox.open(address) as profile:
        received = listen(identity_changes(profile.store))
        await profile.store.write(lambda transaction: transaction.changes.append(RESYNC, b"null"))
        await profile.identities.create("Another")
        await until(lambda: received)
        assert received[0] == ChangedIds(all=True)


@in_loop
async def test_the_store_is_subscribed_only_while_the_event_has_listeners(address: str) -> None:
    async with hatbox.open(address) as profile:
        store = Mock(wraps=profile.store)
        event = identity_changes(store)
        first, second = list[ChangedIds](), list[ChangedIds]()
        assert not store.subscribe.called
        event.add_listener(first.append)
        event.add_listener(second.append)
        event.remove_listener(first.append)
        assert store.subscribe.call_count == 1
        assert not store.unsubscribe.called
        event.remove_listener(second.append)
        assert store.unsubscribe.call_count == 1


def test_more_ids_than_a_payload_can_name_become_all() -> None:
    ids = [str(number) for number in range(MAX_IDS)]
    named = ChangedIds.of(ids)
    assert named.merged(ChangedIds.of(ids)) == named
    assert named.merged(ChangedIds(("one more",))) == ChangedIds(all=True)
    assert ChangedIds(all=True).merged(named) == ChangedIds(all=True)
