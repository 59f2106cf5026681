"""Four processes work on one profile while connections are cut, the server crashes, and another server takes over.

Nothing that was acknowledged is missing, nothing has happened twice, and every subscriber received each change once, in
one order. HATBOX_TEST_CUTS and HATBOX_TEST_CRASHES set the sizes, for longer runs.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import hatbox
from hatbox.store.base import RESYNC
from tests.postgres import Cluster, running_cluster
from tests.store.postgres.cutting_proxy import CuttingProxy
from tests.store.postgres.faults import Figures, check, running_workload
from tests.store.postgres.test_lost_connections import add, names, opened, recorded
from tests.waiting import block_until, until_awaited

pytestmark = pytest.mark.server

CUTS = int(os.environ.get("HATBOX_TEST_CUTS", "300"))
CRASHES = int(os.environ.get("HATBOX_TEST_CRASHES", "20"))

SCHEMA = "faults"
PATIENCE = "600"
"""Seconds to reconnect: no call may fail because the machine is busy."""


@pytest.fixture
def seed() -> int:
    return random.randrange(2**32)


def report(what: str, figures: Figures, seed: int) -> None:
    """The figures, which pytest shows with -s and after a failure."""
    print(  # noqa: T201 - figures for whoever runs it with -s
        f"\n{what}, seed {seed}: {figures.acknowledged} acknowledged, {len(figures.failed)} failed, "
        f"{len(figures.missing)} missing, {len(figures.twice)} twice, {len(figures.wrong_followers)} wrong followers"
    )
    assert figures.missing == []
    assert figures.twice == []
    assert figures.unexplained == []
    assert figures.wrong_followers == []


def test_connections_that_are_cut_at_random_moments(seed: int) -> None:
    choose = random.Random(seed)
    with running_cluster({"fsync": "off"}) as cluster, CuttingProxy(cluster) as proxy:
        address = proxy.address(SCHEMA, reconnect_seconds=PATIENCE)
        with hatbox.open_sync(address):
            pass
        with running_workload(address, seed=seed) as workload:
            workload.start()
            terminated = 0
            while proxy.cuts + terminated < CUTS:
                before = workload.acknowledged
                for _ in range(choose.choice([1, 1, 2, 5])):
                    if choose.random() < 0.2:
                        terminated += terminate_one(cluster, choose)
                    else:
                        proxy.cut_one(choose)
                workload.wait_for(before + choose.choice([1, 3, 10]))
            workload.stop()
            figures = check(cluster, SCHEMA, workload)
        report(f"{proxy.cuts + terminated} cuts", figures, seed)
        assert figures.failed == []


def terminate_one(cluster: Cluster, choose: random.Random) -> int:
    backends = cluster.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'hatbox'")
    if not backends:
        return 0
    cluster.sql(f"SELECT pg_terminate_backend({choose.choice(backends)[0]})")
    return 1


def test_a_server_that_crashes(seed: int) -> None:
    choose = random.Random(seed)
    with running_cluster({"fsync": "off"}) as cluster:
        address = cluster.address(schema=SCHEMA, reconnect_seconds=PATIENCE)
        with hatbox.open_sync(address):
            pass
        with running_workload(address, seed=seed) as workload:
            workload.start()
            for _ in range(CRASHES):
                workload.wait_for(workload.acknowledged + choose.choice([1, 20, 60]))
                cluster.stop("immediate")
                cluster.start()
            workload.wait_for(workload.acknowledged + 20)
            workload.stop()
            figures = check(cluster, SCHEMA, workload)
        report(f"{CRASHES} crashes", figures, seed)
        assert figures.failed == []


@contextmanager
def standby_of(primary: Cluster) -> Iterator[Cluster]:
    """A standby that streams from the primary server; stopped and removed at the end."""
    with running_cluster({"fsync": "off"}) as standby:
        standby.stop("immediate")
        shutil.rmtree(standby.data)
        source = f"host={primary.folder} port={primary.port} user=hatbox application_name=standby"
        standby.run("pg_basebackup", "-D", str(standby.data), "-R", "-X", "stream", "-c", "fast", "-d", source)
        standby.start()
        yield standby


def address_of_both(primary: Cluster, standby: Cluster) -> str:
    options = {
        "host": f"{primary.folder},{standby.folder}",
        "port": f"{primary.port},{standby.port}",
        "target_session_attrs": "read-write",
        "schema": SCHEMA,
        "reconnect_seconds": PATIENCE,
    }
    return f"postgresql://hatbox@/postgres?{urllib.parse.urlencode(options)}"


def test_a_failover_to_a_synchronous_standby_loses_nothing(seed: int) -> None:
    with running_cluster({"fsync": "off"}) as primary, standby_of(primary) as standby:
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        primary.sql("SELECT pg_reload_conf()")
        block_until(
            lambda: primary.sql("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"), "a synchronous standby"
        )
        address = address_of_both(primary, standby)
        with hatbox.open_sync(address):
            pass
        with running_workload(address, seed=seed) as workload:
            workload.start()
            workload.wait_for(300)
            primary.stop("immediate")
            standby.run("pg_ctl", "promote", "-w", "-D", str(standby.data))
            workload.wait_for(workload.acknowledged + 200)
            workload.stop()
            figures = check(standby, SCHEMA, workload)
        primary.start()  # it is stopped at the end
        report("failover", figures, seed)
        assert figures.failed == []


def test_a_commit_that_the_synchronous_standby_has_not_confirmed_is_not_acknowledged() -> None:
    """PostgreSQL reports it as committed, with a warning, if an administrator cancels the wait for the standby."""
    with running_cluster({"fsync": "off"}) as cluster:

        async def story() -> None:
            async with opened(cluster.address(schema=SCHEMA)) as store:
                cluster.sql("ALTER SYSTEM SET synchronous_standby_names = 'nosuch'")
                cluster.sql("SELECT pg_reload_conf()")
                await until_awaited(lambda: asyncio.to_thread(lambda: is_waiting_for_standby(cluster)))
                call = store.write(add("only here"))
                ((pid,),) = await until_awaited(lambda: asyncio.to_thread(lambda: waiting(cluster)))
                cluster.sql(f"SELECT pg_cancel_backend({pid})")
                await until_awaited(lambda: asyncio.to_thread(lambda: waiting(cluster) not in ([], [(pid,)])))
                assert not call.done()
                cluster.sql("ALTER SYSTEM RESET synchronous_standby_names")
                cluster.sql("SELECT pg_reload_conf()")
                assert await call == 6
                assert await names(store) == ["only here"]

        asyncio.run(asyncio.wait_for(story(), 60))


def is_waiting_for_standby(cluster: Cluster) -> bool:
    return cluster.sql("SHOW synchronous_standby_names") == [("nosuch",)]


def waiting(cluster: Cluster) -> list[tuple[object, ...]]:
    return cluster.sql("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")


def test_subscribers_reload_after_a_failover_to_a_standby_that_was_behind() -> None:
    """What the standby had not received is lost, and its ids are given out again: the documentation says so."""
    with running_cluster({"fsync": "off"}) as primary, standby_of(primary) as standby:

        async def story() -> None:
            async with opened(address_of_both(primary, standby)) as store:
                heard = recorded(store)
                assert await store.write(add("kept")) == 6
                await until_awaited(lambda: asyncio.to_thread(lambda: is_equal(primary, standby)))
                await asyncio.to_thread(lambda: standby.sql("ALTER SYSTEM SET primary_conninfo = ''"))
                await asyncio.to_thread(lambda: standby.sql("SELECT pg_reload_conf()"))
                await until_awaited(
                    lambda: asyncio.to_thread(lambda: not standby.sql("SELECT 1 FROM pg_stat_wal_receiver"))
                )
                assert await store.write(add("lost")) == 7
                await asyncio.to_thread(lambda: primary.stop("immediate"))
                await asyncio.to_thread(lambda: standby.run("pg_ctl", "promote", "-w", "-D", str(standby.data)))
                assert await store.write(add("after")) == 7
                assert await names(store) == ["kept", "after"]
                await store.deliver_pending_changes()
                assert heard == [("added", b'"kept"'), ("added", b'"lost"'), (RESYNC, b""), ("added", b'"after"')]

        asyncio.run(asyncio.wait_for(story(), 120))
        primary.start()


def is_equal(primary: Cluster, standby: Cluster) -> bool:
    ((sent,),) = primary.sql("SELECT pg_current_wal_lsn()")
    ((received,),) = standby.sql(f"SELECT pg_last_wal_replay_lsn() >= '{sent}'")
    return bool(received)
