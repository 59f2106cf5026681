"""Connections that are lost at each point of a call: it happens once, or fails with an error that tells the truth."""

from __future__ import annotations

import asyncio
import contextlib
import struct
import time
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

import hatbox
from hatbox.errors import HatboxError, InvalidIdentity, ProfileError, ProfileUnavailable
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.store.postgres import store as postgres_store
from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import PostgresConnection, Statement
from hatbox.store.postgres.failures import ConnectionLost
from hatbox.store.postgres.store import PostgresStore
from hatbox.store.postgres.worker import ReconnectLimit
from hatbox.store.registry import store_at
from tests.marks import starts
from tests.postgres import running_cluster, shared_cluster
from tests.store.in_loop import in_loop
from tests.store.postgres.cutting_proxy import CuttingProxy
from tests.waiting import until

pytestmark = pytest.mark.server


@pytest.fixture
@starts("server")
def proxy() -> Iterator[CuttingProxy]:
    with CuttingProxy(shared_cluster()) as proxy:
        yield proxy


@contextlib.asynccontextmanager
async def opened(address: str) -> AsyncIterator[PostgresStore]:
    store = store_at(address)
    assert isinstance(store, PostgresStore)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def add(name: str) -> Callable[[Transaction], int]:
    def work(transaction: Transaction) -> int:
        number = transaction.identities.insert(name, "circle", "red")
        transaction.changes.append("added", f'"{name}"'.encode())
        return number

    return work


async def names(store: Store) -> list[str]:
    return [row[1] for row in await store.read(lambda transaction: transaction.identities.find())][4:]


def recorded(store: Store) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []

    def record(change: ChangeRecord) -> None:
        found.append((change.topic, change.payload))

    store.subscribe(record)
    return found


FIELDS = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"
TERMINATED = b"E" + struct.pack(">i", len(FIELDS) + 4) + FIELDS
READY = b"Z\0\0\0\5"  # the message with which an answer of the server ends

CUTS: dict[str, Callable[[CuttingProxy], None]] = {
    "before": CuttingProxy.cut_before_commit,
    "after": CuttingProxy.cut_after_commit,
    "in the answer": lambda proxy: proxy.cut_after_commit(keep=lambda answer: answer[: len(answer) // 2]),
    "before the end of the answer": lambda proxy: proxy.cut_after_commit(
        keep=lambda answer: answer.partition(READY)[0]
    ),
    "by pg_terminate_backend, after the commit": lambda proxy: proxy.cut_after_commit(
        keep=lambda answer: answer.partition(READY)[0] + TERMINATED
    ),
    "in its last byte": lambda proxy: proxy.cut_after_commit(keep=lambda answer: answer.partition(READY)[0] + READY),
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@in_loop
async def test_a_commit_during_which_the_connection_is_lost_happens_once(
    proxy: CuttingProxy, cut: Callable[[CuttingProxy], None]
) -> None:
    address = proxy.address()
    async with opened(address) as store, opened(address) as other:
        heard, heard_there = recorded(store), recorded(other)
        await other.write(add("there before"))
        cut(proxy)
        ids = await asyncio.gather(*(store.write(add(name)) for name in "ab"))
        assert proxy.cuts == 1
        assert ids == [7, 8]
        await other.write(add("there after"))
        expected = ["there before", "a", "b", "there after"]
        assert await names(store) == expected
        changes = [("added", f'"{name}"'.encode()) for name in expected]
        for each, found in ((store, heard), (other, heard_there)):
            await each.deliver_pending_changes()
            assert found == changes


def test_a_connection_that_is_cut_after_any_byte_of_an_answer_is_lost(proxy: CuttingProxy) -> None:
    """Never another error, and never a part of the answer."""
    address = PostgresAddress.parse(proxy.address())
    statements = [Statement("SELECT 1::int8 AS a"), Statement("SELECT 2::int8 AS b")]
    for size in range(200):
        connection = PostgresConnection(address)
        proxy.cut_answer(size)
        try:
            assert connection.run(statements) == [[(1,)], [(2,)]]
            break  # the answer was complete
        except ConnectionLost:
            connection.close()
    connection.close()
    assert 50 < size < 199


@in_loop
async def test_a_commit_that_the_server_receives_when_the_client_has_given_up_on_it_happens_once(
    proxy: CuttingProxy,
) -> None:
    """The first server process is still at it while a second one repeats the call."""
    address = proxy.address()
    async with opened(address) as store, opened(shared_cluster().address(schema=address.split("schema=")[1])) as other:
        heard = recorded(other)
        await store.write(add("first"))
        for number in range(5):
            go_on = proxy.delay_commit()
            call = store.write(add(f"{number}"))
            await until(lambda expected=number + 1: proxy.cuts == expected)  # type: ignore[misc]
            if number % 2:
                assert await call == 7 + number
            await asyncio.to_thread(go_on)
            assert await call == 7 + number
        await other.deliver_pending_changes()
        assert await names(other) == ["first", "0", "1", "2", "3", "4"]
        assert len(heard) == 6


@in_loop
async def test_calls_whose_commit_cannot_be_checked_report_that_and_are_not_made_again(proxy: CuttingProxy) -> None:
    """All calls that share the commit: making them again one by one would repeat what was committed."""
    async with opened(proxy.address(reconnect_seconds="0.3")) as store:
        await store.write(add("first"))
        proxy.cut_after_commit(refuse=True)
        results = await asyncio.gather(*(store.write(add(f"{n}")) for n in range(5)), return_exceptions=True)
        for each in results:
            assert isinstance(each, ProfileUnavailable)
            assert "may or may not have been saved" in str(each)
            assert "Nothing was changed" not in str(each)
        proxy.refuses = False
        await store.write(add("last"))
        assert await names(store) == ["first", "0", "1", "2", "3", "4", "last"]


@in_loop
async def test_a_call_that_fails_without_a_commit_says_that_nothing_was_changed(proxy: CuttingProxy) -> None:
    async with opened(proxy.address(reconnect_seconds="0.3")) as store:
        proxy.refuses = True
        proxy.cut_all()
        with pytest.raises(
            ProfileUnavailable, match=r"postgresql://.*/postgres\S*: no connection .* Nothing was changed"
        ):
            await store.write(add("lost"))
        with pytest.raises(ProfileUnavailable, match="Nothing was changed"):
            await names(store)
        proxy.refuses = False
        assert await names(store) == []


@in_loop
async def test_a_notification_that_cannot_be_sent_does_not_fail_the_commit(proxy: CuttingProxy) -> None:
    async with opened(proxy.address()) as store:
        assert store._worker
        store._worker._notify = Statement("SELECT 1 / 0")
        results = await asyncio.gather(*(store.write(add(name)) for name in "ab"))
        assert results == [6, 7]
        assert await names(store) == ["a", "b"]


@in_loop
async def test_a_transaction_that_has_failed_is_not_reported_as_committed(proxy: CuttingProxy) -> None:
    """The server answers COMMIT with ROLLBACK then, which is not an error."""

    def work(transaction: Transaction) -> int:
        with contextlib.suppress(Exception):
            transaction.ask(Statement("SELECT 1 / (SELECT changes - changes FROM head)"))  # type: ignore[attr-defined]
        return transaction.identities.insert("lost", "circle", "red")

    async with opened(proxy.address()) as store:
        with pytest.raises(ProfileError, match="division by zero"):
            await store.write(work)
        assert await names(store) == []
        await store.write(add("next"))


@in_loop
async def test_an_error_of_a_call_is_reported_although_the_connection_is_lost_at_the_same_time(
    proxy: CuttingProxy,
) -> None:
    def work(transaction: Transaction) -> None:
        transaction.identities.insert("undone", "circle", "red")
        transaction.identities.get(1)
        proxy.cut_all()
        raise InvalidIdentity("firefox-container-99")

    async with opened(proxy.address()) as store:
        with pytest.raises(InvalidIdentity):
            await store.write(work)
        assert await store.write(add("next")) == 6
        assert await names(store) == ["next"]


@in_loop
async def test_an_id_that_another_process_has_taken_meanwhile_is_not_an_error(proxy: CuttingProxy) -> None:
    """The row is inserted, because a query follows, before the commit shows that another process was first."""
    address = proxy.address()
    async with opened(address) as store, opened(address) as other:
        runs = 0

        def work(transaction: Transaction) -> int:
            nonlocal runs
            runs += 1
            transaction.identities.get(1)  # the transaction starts
            if runs == 1:
                asyncio.run_coroutine_threadsafe(write(other), loop).result(20)
            number = transaction.identities.insert("here", "circle", "red")
            transaction.identities.find("here")
            return number

        async def write(store: Store) -> int:
            return await store.write(add("there"))

        loop = asyncio.get_running_loop()
        assert await store.write(work) == 7
        assert runs == 2
        assert await names(store) == ["there", "here"]


@in_loop
async def test_a_value_that_cannot_be_encoded_fails_alone(proxy: CuttingProxy) -> None:
    async with opened(proxy.address()) as store:
        bad = store.write(lambda transaction: transaction.extensions.put("e", "k", "\ud800", b"1"))
        good = store.write(add("good"))
        with pytest.raises(UnicodeEncodeError):
            await bad
        await good
        assert await names(store) == ["good"]


@in_loop
async def test_pending_changes_are_delivered_also_with_a_call_that_fails(proxy: CuttingProxy) -> None:
    def fail(transaction: Transaction) -> None:
        raise InvalidIdentity("firefox-container-99")

    address = proxy.address()
    async with opened(address) as store, opened(address) as other:
        heard = recorded(store)
        await other.write(add("there"))
        failing, delivered = store.write(fail), store.deliver_pending_changes()
        await delivered
        assert heard == [("added", b'"there"')]
        with contextlib.suppress(HatboxError):
            await failing


@in_loop
async def test_a_subscriber_that_is_added_while_the_server_is_down_reloads_and_then_receives_changes(
    proxy: CuttingProxy,
) -> None:
    address = proxy.address()
    direct = shared_cluster().address(schema=address.split("schema=")[1])
    async with opened(address) as store, opened(direct) as other:
        await store.write(add("before"))
        proxy.refuses = True
        proxy.cut_all()
        heard = recorded(store)
        await other.write(add("meanwhile"))
        proxy.refuses = False
        await store.deliver_pending_changes()
        assert heard == [(RESYNC, b"")]
        await other.write(add("after"))
        await store.deliver_pending_changes()
        assert heard[1:] == [("added", b'"after"')]


@in_loop
async def test_a_subscriber_receives_every_change_once_although_its_connections_are_cut(proxy: CuttingProxy) -> None:
    address = proxy.address()
    async with opened(address) as store, opened(shared_cluster().address(schema=address.split("schema=")[1])) as other:
        heard = recorded(store)
        for number in range(20):
            await other.write(add(f"{number}"))
            proxy.cut_all()
        await until(lambda: len(heard) == 20)
        await store.deliver_pending_changes()
        assert heard == [("added", f'"{number}"'.encode()) for number in range(20)]


@in_loop
async def test_closing_does_not_wait_for_a_server_that_is_down(
    proxy: CuttingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only calls wait for it: the next poll of a subscriber is no call."""
    monkeypatch.setattr(postgres_store, "_POLL_SECONDS", 0.01)
    store = store_at(proxy.address())
    await store.open()
    recorded(store)
    proxy.refuses = True
    proxy.cut_all()
    started = time.monotonic()
    await until(lambda: proxy.refusals > 5)  # a poll has tried it again and again
    await store.close()
    assert time.monotonic() - started < 15  # the limit is 30 s


def test_calls_wait_for_a_server_that_is_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[ConnectionLost] = []
    wait = ReconnectLimit.wait

    def noting(limit: ReconnectLimit, error: ConnectionLost, **options: bool) -> None:
        attempts.append(error)
        wait(limit, error, **options)

    monkeypatch.setattr(ReconnectLimit, "wait", noting)
    with running_cluster({"fsync": "off"}) as cluster:

        async def story() -> None:
            address = cluster.new_address()
            async with opened(address) as store:
                heard = recorded(store)
                await store.write(add("before"))
                await asyncio.to_thread(cluster.stop, "immediate")
                calls = [store.write(add("meanwhile")), store.write(add("too"))]
                reading = store.read(lambda transaction: transaction.identities.count())
                await until(lambda: len(attempts) > 4)
                assert not any(call.done() for call in calls)
                await asyncio.to_thread(cluster.start)
                assert [await call for call in calls] == [7, 8]
                assert await reading == 7
                assert [payload for _, payload in heard] == [b'"before"', b'"meanwhile"', b'"too"']
            async with opened(address + "&reconnect_seconds=0.5") as store:
                await asyncio.to_thread(cluster.stop, "immediate")
                started = time.monotonic()
                with pytest.raises(ProfileUnavailable, match="Nothing was changed"):
                    await store.write(add("never"))
                assert time.monotonic() - started < 20
                await asyncio.to_thread(cluster.start)
                assert await names(store) == ["before", "meanwhile", "too"]

        asyncio.run(asyncio.wait_for(story(), 120))


@in_loop
async def test_a_profile_reports_a_lost_connection_as_one_of_its_errors(proxy: CuttingProxy) -> None:
    async with hatbox.open(proxy.address(reconnect_seconds="0.2")) as profile:
        proxy.refuses = True
        proxy.cut_all()
        with pytest.raises(hatbox.ProfileUnavailable):
            await profile.identities.create("Work", color="red", icon="circle")
        proxy.refuses = False
        assert (await profile.identities.create("Work", color="red", icon="circle")).name == "Work"
