"""Leases and registered processes across machines (store/postgres/leases.py)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from hatbox.errors import ProfileUnavailable
from hatbox.store.processes import ProcessId, current_process
from tests.marks import starts
from tests.postgres import Cluster, shared_cluster
from tests.store.in_loop import in_loop
from tests.store.postgres.cutting_proxy import CuttingProxy
from tests.store.postgres.test_lost_connections import opened
from tests.waiting import until, until_awaited

HOLDER = Path(__file__).with_name("lease_holder.py")


@pytest.fixture
@starts("server")
def cluster() -> Cluster:
    return shared_cluster()


@pytest.fixture
@starts("server")
def proxy(cluster: Cluster) -> Iterator[CuttingProxy]:
    with CuttingProxy(cluster) as proxy:
        yield proxy


class Holder:
    """A process on another machine, which acquires a lease and is registered."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def line(self) -> str:
        assert self._process.stdout
        return (await self._process.stdout.readline()).decode().strip()

    async def kill(self) -> None:
        self._process.kill()
        await self._process.wait()


@contextlib.asynccontextmanager
async def holder_at(address: str, machine: str = "elsewhere") -> AsyncIterator[Holder]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HOLDER), address, machine, stdout=subprocess.PIPE, stdin=subprocess.PIPE
    )
    holder = Holder(process)
    try:
        yield holder
    finally:
        if process.returncode is None:
            await holder.kill()


@in_loop
async def test_a_killed_holder_frees_its_lease_and_is_no_longer_registered(cluster: Cluster) -> None:
    address = cluster.new_address()
    async with opened(address) as store, holder_at(address) as other:
        result, pid, started_at = (await other.line()).split()
        assert result == "acquired"
        lease = store.lease("engine")
        found = await lease.acquire("here")
        process = ProcessId("elsewhere", int(pid), started_at)
        assert found == ("there", process)
        assert str(process) == f"pid {pid} on elsewhere"
        assert await store.read(lambda transaction: transaction.processes.is_running(process))
        await other.kill()

        async def acquired() -> bool:
            return await lease.acquire("here") is None

        await until_awaited(acquired)
        assert not await store.read(lambda transaction: transaction.processes.is_running(process))
        holder = await store.lease("engine").holder()
        assert holder == ("here", current_process())


@in_loop
async def test_a_process_of_another_machine_that_never_registered_is_not_running(cluster: Cluster) -> None:
    async with opened(cluster.new_address()) as store:
        there = ProcessId("elsewhere", os.getpid(), "1")
        assert not await store.read(lambda transaction: transaction.processes.is_running(there))
        assert await store.read(lambda transaction: transaction.processes.is_running(current_process()))


@in_loop
async def test_of_several_processes_one_has_the_lease(cluster: Cluster) -> None:
    address = cluster.new_address()
    async with opened(address), contextlib.AsyncExitStack() as stack:
        others = [await stack.enter_async_context(holder_at(address, f"machine{n}")) for n in range(4)]
        results = [(await each.line()).split()[0] for each in others]
        assert sorted(results) == ["acquired", "busy", "busy", "busy"]
        for _ in range(3):  # the next one has it as soon as the last one is gone
            await others[results.index("acquired")].kill()
            del others[results.index("acquired")]
            lines = {asyncio.ensure_future(each.line()): each for each in others}
            done, waiting = await asyncio.wait(lines, return_when=asyncio.FIRST_COMPLETED)
            for each in waiting:
                each.cancel()
            assert [each.result().split()[0] for each in done] == ["acquired"]
            results = ["acquired" if each is lines[next(iter(done))] else "busy" for each in others]


@in_loop
async def test_a_cut_connection_reports_the_loss_of_each_lease_once(proxy: CuttingProxy) -> None:
    address = proxy.address()
    async with opened(address) as store:
        lost: list[str] = []
        leases = [store.lease(name) for name in ("a", "b")]
        for lease in leases:
            lease.on_lost(lost.append)
            assert await lease.acquire("here") is None
        released = store.lease("c")
        released.on_lost(lost.append)
        assert await released.acquire("here") is None
        await released.release()
        proxy.cut_all()
        await until(lambda: len(lost) == 2)
        assert all(lost)
        assert await leases[0].acquire("again") is None
        assert await leases[1].holder() is None
        assert len(lost) == 2
        await leases[1].release()


@in_loop
async def test_a_lease_cannot_be_acquired_without_a_server(proxy: CuttingProxy) -> None:
    async with opened(proxy.address()) as store:
        proxy.refuses = True
        lease = store.lease("a")
        with pytest.raises(ProfileUnavailable):
            await lease.acquire("here")
        proxy.refuses = False
        assert await lease.acquire("here") is None


@in_loop
async def test_a_registered_process_registers_again_after_its_connection_was_cut(
    proxy: CuttingProxy, cluster: Cluster
) -> None:
    address = proxy.address()
    async with opened(address) as store:
        await store.register_process()
        await store.register_process()
        query = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND pid IN ({0})"
        pids = "SELECT pid FROM pg_stat_activity WHERE application_name = 'hatbox'"

        def registered() -> set[object]:
            return {pid for (pid,) in cluster.sql(query.format(pids))}

        before = registered()
        assert before
        proxy.cut_all()

        def is_registered_again() -> bool:
            now = registered()
            return bool(now) and now.isdisjoint(before)

        await until_awaited(lambda: asyncio.to_thread(is_registered_again))
    await until_awaited(lambda: asyncio.to_thread(lambda: not registered()))


@in_loop
async def test_leases_of_profiles_in_one_database_are_different(cluster: Cluster) -> None:
    async with opened(cluster.new_address()) as one, opened(cluster.new_address()) as other:
        assert await one.lease("engine").acquire("one") is None
        assert await other.lease("engine").acquire("other") is None


@in_loop
async def test_a_lease_is_free_when_its_store_is_closed(cluster: Cluster) -> None:
    address = cluster.new_address()
    async with opened(address) as store:
        async with opened(address) as other:
            assert await other.lease("engine").acquire("there") is None
            assert await store.lease("engine").acquire("here") is not None
        assert await store.lease("engine").acquire("here") is None
