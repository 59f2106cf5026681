"""Profiles in PostgreSQL: created once by several processes, any names and keys, ids that are never given out twice."""

from __future__ import annotations

import asyncio
import contextlib
import random
import subprocess
import sys
from functools import partial
from typing import Any

import pytest

import hatbox
from hatbox.errors import InvalidIdentity
from hatbox.store.base import RESYNC, Transaction
from hatbox.store.postgres import transaction as transaction_module
from tests.marks import starts
from tests.postgres import Cluster, shared_cluster
from tests.store.in_loop import in_loop
from tests.store.kill_count import kill_count
from tests.store.postgres.cutting_proxy import CuttingProxy
from tests.store.postgres.test_lost_connections import add, names, opened, recorded

OPENER = """
import sys, hatbox
sys.stdin.readline()
with hatbox.open_sync(sys.argv[1]) as profile:
    print(len(profile.identities.query()), flush=True)
"""
KILLS = kill_count(20)


@pytest.fixture
@starts("server")
def cluster() -> Cluster:
    return shared_cluster()


def start(address: str) -> subprocess.Popen[str]:
    """A process that opens the profile when it gets a line."""
    return subprocess.Popen(
        [sys.executable, "-c", OPENER, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )


def test_processes_that_create_a_profile_at_the_same_moment_create_one(cluster: Cluster) -> None:
    address = cluster.new_address()
    schema = address.rpartition("=")[2]
    processes = [start(address) for _ in range(4)]
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate()[0].strip() for process in processes] == ["4"] * 4
    assert cluster.sql(f"SELECT count(*) FROM {schema}.profile") == [(1,)]


def test_a_process_that_is_killed_while_it_creates_a_profile_leaves_a_whole_one_or_none(cluster: Cluster) -> None:
    seed = random.randrange(2**32)
    choose = random.Random(seed)

    async def story() -> None:
        for number in range(KILLS):
            address = cluster.new_address()
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", OPENER.replace("sys.stdin.readline()", "print()"), address, stdout=subprocess.PIPE
            )
            assert process.stdout
            await process.stdout.readline()
            await asyncio.sleep(choose.uniform(0, 0.5))  # the moment of death is what this test is about
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            async with hatbox.open(address) as profile:
                assert len(await profile.identities.query()) == 4, f"in round {number} of seed {seed}"
                created = await profile.identities.create("Next", color="red", icon="circle")
                assert created.cookie_store_id == "firefox-container-6"

    asyncio.run(asyncio.wait_for(story(), 300))


@pytest.mark.parametrize(
    "name",
    ["NUL \0 in it", "\0", "\U0001f642 \u0000 \uffff", "' \" \\ $1 ? ; --", "n" * 10_000_000, "é" * 3_000],
    ids=["nul", "only nul", "planes", "quotes", "10 MB", "long"],
)
@in_loop
async def test_any_name_is_kept(cluster: Cluster, name: str) -> None:
    async with opened(cluster.new_address()) as store:
        number = await store.write(lambda transaction: transaction.identities.insert(name, "circle", "red"))
        row = await store.read(lambda transaction: transaction.identities.get(number))
        assert row
        assert row[1] == name
        found = await store.read(lambda transaction: transaction.identities.find(name))
        assert [each[0] for each in found] == [number]


def test_a_name_with_a_lone_surrogate_is_the_same_on_both_stores(cluster: Cluster, tmp_path: Any) -> None:
    def outcome(address: str) -> object:
        with hatbox.open_sync(address) as profile:
            try:
                created = profile.identities.create("lone \ud800 surrogate", color="red", icon="circle")
            except Exception as error:  # noqa: BLE001 - it is compared
                return type(error), str(error)
            return created.name, profile.identities.query()[-1].name

    assert outcome(cluster.new_address()) == outcome(str(tmp_path / "profile.db"))


@pytest.mark.parametrize("size", [0, 1, 3_000, 100_000, 2_000_000])
@in_loop
async def test_keys_of_any_length(cluster: Cluster, size: int) -> None:
    key, other = "k" * size, "k" * size + "!"
    async with opened(cluster.new_address()) as store:
        for value in (b"1", b"2"):
            await store.write(partial(put, key=key, value=value))
            await store.write(partial(put, key=other, value=b"3"))
        assert await store.read(lambda transaction: transaction.extensions.get("e", "kind", key)) == b"2"
        assert await store.read(lambda transaction: transaction.site_data.load(1)) == [(key, b"2"), (other, b"3")]
        rows = await store.read(lambda transaction: transaction.cookies.load(1))
        assert sorted(row[5] for row in rows) == ["2", "3"]


def put(transaction: Transaction, key: str, value: bytes) -> None:
    transaction.extensions.put("e", "kind", key, value)
    transaction.site_data.put(1, key, value)
    transaction.cookies.put(1, [cookie(key, value.decode())])


def cookie(name: str, value: str) -> Any:
    return ("site.example", 1, "/" + name, name, "", value, 0, 0, "lax", None, 1, 1.0, 1.0)


@in_loop
async def test_ids_are_neither_lost_nor_given_out_twice(cluster: Cluster) -> None:
    """Also not by transactions that are rolled back, or repeated because another process was first."""

    def undone(transaction: Transaction) -> None:
        transaction.identities.insert("undone", "circle", "red")
        transaction.identities.find("undone")
        raise InvalidIdentity("firefox-container-99")

    address = cluster.new_address()
    async with opened(address) as one, opened(address) as other:
        taken = []
        for number in range(20):
            results = await asyncio.gather(
                one.write(add(f"one {number}")),
                one.write(undone),
                other.write(add(f"other {number}")),
                other.write(add(f"other too {number}")),
                return_exceptions=True,
            )
            taken += [each for each in results if isinstance(each, int)]
            assert [type(each) for each in results if not isinstance(each, int)] == [InvalidIdentity]
        assert sorted(taken) == list(range(6, 66))
        await one.write(lambda transaction: transaction.identities.delete(65))
        assert await other.write(add("last")) == 66
        assert len(await names(one)) == 60


@in_loop
async def test_the_log_is_pruned_and_a_late_subscriber_reloads(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many rows as a busy hour has, most of them old."""
    rows = 100_000
    schema = cluster.new_address().rpartition("=")[2]
    with CuttingProxy(cluster) as proxy:
        await prune(cluster, schema, rows, proxy, monkeypatch)


async def prune(cluster: Cluster, schema: str, rows: int, proxy: CuttingProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(cluster.address(schema=schema)) as store, opened(proxy.address(schema)) as late:
        await late.write(add("before"))
        heard = recorded(late)
        proxy.refuses = True
        proxy.cut_all()
        await asyncio.to_thread(
            cluster.sql,
            f"INSERT INTO {schema}.changes (sequence, token, at, logged, changes, program, process, machine) "
            f"SELECT n + 1, decode(md5(n::text), 'hex'), 0, n, '[]', '', 1, '' FROM generate_series(1, {rows}) AS n",
        )
        await asyncio.to_thread(cluster.sql, f"UPDATE {schema}.head SET changes = {rows} + 1")
        for _ in range(3 * transaction_module._PRUNE_EVERY):
            await store.write(lambda transaction: transaction.extensions.put("e", "k", "key", b"1"))
        ((left,),) = await asyncio.to_thread(cluster.sql, f"SELECT count(*) FROM {schema}.changes")
        assert left == rows + 1 + 3 * transaction_module._PRUNE_EVERY - 3 * 2000
        monkeypatch.setattr(transaction_module, "_PRUNE_EVERY", 1)
        await asyncio.to_thread(
            cluster.sql, f"DELETE FROM {schema}.changes WHERE sequence < {rows} - 1000"
        )  # what 500 more rounds would do
        for _ in range(3):
            await store.write(add("after"))
        ((left,),) = await asyncio.to_thread(cluster.sql, f"SELECT count(*) FROM {schema}.changes WHERE at = 0")
        assert left == 0
        proxy.refuses = False
        await late.deliver_pending_changes()
        assert heard[0] == (RESYNC, b"")
        assert heard[-1] == ("added", b'"after"')
