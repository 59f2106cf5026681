"""Reads on the event loop's thread (store/postgres/local_reader.py), and the log that a commit reads."""

from __future__ import annotations

import pytest

import hatbox
from hatbox.store.base import RESYNC
from hatbox.store.postgres import transaction as transaction_module
from hatbox.store.postgres.store import PostgresStore
from hatbox.store.server_clock import ServerClock
from tests.postgres import shared_cluster
from tests.store.in_loop import in_loop
from tests.store.postgres.test_lost_connections import recorded
from tests.store.test_contract import LocalReads, add, names, opened
from tests.waiting import until


@pytest.mark.server
@in_loop
async def test_a_read_that_failed_does_not_spoil_the_next_one() -> None:
    cluster = shared_cluster()
    address = cluster.new_address()
    schema = address.rpartition("=")[2]
    async with opened(LocalReads(address)) as store:
        cluster.sql(f"ALTER TABLE {schema}.identities RENAME TO elsewhere")
        with pytest.raises(hatbox.ProfileError):
            await store.read(names)
        cluster.sql(f"ALTER TABLE {schema}.elsewhere RENAME TO identities")
        assert len(await store.read(names)) == 4


@pytest.mark.server
@in_loop
async def test_the_reader_goes_with_the_connection_of_the_worker() -> None:
    cluster = shared_cluster()
    store = LocalReads(cluster.new_address())
    async with opened(store):
        assert isinstance(store, PostgresStore)
        assert store._worker
        cluster.sql(f"SELECT pg_terminate_backend({store._worker.backend_pid})")
        await store.write(add("after"))
        assert store._reader is None  # it may be connected to a server that is no longer the right one
        assert "after" in await store.read(names)


@pytest.mark.server
@in_loop
async def test_a_commit_that_prunes_the_log_loses_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = shared_cluster()
    address = cluster.new_address()
    schema = address.rpartition("=")[2]
    monkeypatch.setattr(PostgresStore, "_poll", lambda _: None)  # as if no notification arrived
    async with opened(PostgresStore(address)) as other, opened(PostgresStore(address)) as store:
        heard = recorded(store)
        for number in range(5):
            await other.write(add(f"n{number}"))
        cluster.sql(f"UPDATE {schema}.changes SET at = 0")
        monkeypatch.setattr(transaction_module, "_PRUNE_EVERY", 1)
        await store.write(add("mine"))
        await until(lambda: len(heard) == 6 or any(topic == RESYNC for topic, _ in heard))
        assert [payload for _, payload in heard] == [*(b'"n%d"' % number for number in range(5)), b'"mine"']


@pytest.mark.server
@in_loop
async def test_changes_that_were_pruned_before_a_commit_lead_to_a_resync(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = shared_cluster()
    address = cluster.new_address()
    schema = address.rpartition("=")[2]
    monkeypatch.setattr(PostgresStore, "_poll", lambda _: None)
    async with opened(PostgresStore(address)) as other, opened(PostgresStore(address)) as store:
        heard = recorded(store)
        for number in range(3):
            await other.write(add(f"n{number}"))
        cluster.sql(f"DELETE FROM {schema}.changes")
        await store.write(add("mine"))
        assert [topic for topic, _ in heard] == [RESYNC, "added"]


@pytest.mark.server
@in_loop
async def test_a_log_row_that_cannot_be_read_is_a_resync_and_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = shared_cluster()
    address = cluster.new_address()
    schema = address.rpartition("=")[2]
    monkeypatch.setattr(PostgresStore, "_poll", lambda _: None)
    async with opened(PostgresStore(address)) as other, opened(PostgresStore(address)) as store:
        heard = recorded(store)
        await other.write(add("one"))
        await other.write(add("two"))
        cluster.sql(f"UPDATE {schema}.changes SET changes = 'x' WHERE sequence = 1")
        await store.write(add("mine"))
        assert [topic for topic, _ in heard] == [RESYNC, "added", "added"]
        assert heard[-1][1] == b'"mine"'


def test_the_time_of_a_server_does_not_follow_the_clock_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ServerClock("a profile")
    clock.read(lambda: 1_000_000.0)
    before = clock.time()
    monkeypatch.setattr("hatbox.store.server_clock.time.time", lambda: 9e9)
    assert 0 <= clock.time() - before < 3600
    assert abs(before - 1_000_000.0) < 3600


@pytest.mark.server
@in_loop
async def test_a_function_of_another_role_does_not_replace_a_built_in_one() -> None:
    cluster = shared_cluster()
    address = cluster.new_address()
    schema = address.rpartition("=")[2]
    async with opened(PostgresStore(address)):
        pass
    cluster.sql(
        f"CREATE FUNCTION {schema}.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql "
        "AS 'BEGIN RAISE EXCEPTION ''replaced''; END'"
    )
    async with opened(PostgresStore(address)) as store:
        await store.write(add("after"))
