"""What a profile in PostgreSQL costs, beside bare statements and beside SQLite: `python -m benchmarks.fleet`.

Starts a PostgreSQL server of its own on a Unix socket, with durable commits. The peer is libpq with prepared statements
on one blocking connection, with the same rows. Calls take turns with it, round by round, so that a noisy neighbour hits
both alike; the median of the rounds counts.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from benchmarks.delaying_proxy import delaying_proxy
from tests.postgres import Cluster, running_cluster

Times = dict[str, float]
"""Microseconds for one call."""

SMALL, LARGE = "10,000", "1,000,000"
AT_ONCE = "create, 1,000 at once"
RAW = "libpq"
DELAY = 0.5  # milliseconds of a round trip through the proxy
TRIPS = {
    "identities.get": 1,
    "identities.create": 1,
    "tabs.create": 3,
    "tabs.create, inactive": 3,
    "tabs.remove": 3,
    "tabs.query by store": 2,
    "hide, 21 tabs": 3,
    "show, 21 tabs": 3,
    "hide, 21 tabs, one is active": 5,
}
"""How many times each call waits for the server."""


def measure(_: Path, rounds: int, calls: int, at_once: int, small: int, large: int) -> Measured:
    """All figures."""
    with running_cluster() as cluster:
        times = _times(cluster, {SMALL: small, LARGE: large}, rounds, calls, at_once)
        near = asyncio.run(measure_calls(cluster.new_address()))
        with delaying_proxy(f"{cluster.folder}/.s.PGSQL.{cluster.port}", DELAY) as port:
            schema = cluster.new_address().rpartition("=")[2]
            far = asyncio.run(measure_calls(f"postgresql://hatbox@127.0.0.1:{port}/postgres?schema={schema}"))
    return {
        **{call: (times[call], times[f"raw {call}"]) for call in ("get", "create", AT_ONCE)},
        **{f"{call}, to SQLite": (times[call], times[f"SQLite {call}"]) for call in ("get", "create", AT_ONCE)},
        "event of a change in another process": times["seen elsewhere"],
        **{
            f"{call}, {LARGE} identities": (times[f"{call}, {LARGE}"], times[f"{call}, {SMALL}"])
            for call in ("get", "query by name")
        },
        **{f"{call}: round trips": near[call].trips for call in TRIPS},
        **{f"{call}, {DELAY} ms away": (far[call].milliseconds, near[call].milliseconds) for call in TRIPS},
    }


# ── Identities ──


def _times(cluster: Cluster, sizes: dict[str, int], rounds: int, calls: int, at_once: int) -> Times:
    """The times of all calls, each the median of the rounds."""
    taken: dict[str, list[float]] = {}
    address = cluster.new_address()
    with tempfile.TemporaryDirectory(prefix="hatbox-benchmark-") as folder, _raw(cluster, address) as raw:
        sqlite = str(Path(folder) / "profile.db")
        for _ in range(rounds):
            for kind, place in (("", address), ("SQLite ", sqlite)):
                for name, microseconds in asyncio.run(_calls(place, calls, at_once)).items():
                    taken.setdefault(f"{kind}{name}", []).append(microseconds)
            for name, microseconds in raw(calls, at_once).items():
                taken.setdefault(f"raw {name}", []).append(microseconds)
    for label, size in sizes.items():
        grown = cluster.new_address()
        asyncio.run(_grow(cluster, grown, size))
        for _ in range(rounds):
            for name, microseconds in asyncio.run(_reads(grown, size, calls)).items():
                taken.setdefault(f"{name}, {label}", []).append(microseconds)
    for _ in range(rounds):
        taken.setdefault("seen elsewhere", []).append(_seen_elsewhere(address, calls))
    return {name: statistics.median(each) for name, each in taken.items()}


async def _calls(address: str, calls: int, at_once: int) -> Times:
    async with hatbox.open(address) as profile:
        identities = profile.identities
        made = [await identities.create("warm up", color="blue", icon="briefcase") for _ in range(20)]
        times = {
            "create": await _each(calls, lambda i: identities.create(f"Client {i}", color="blue", icon="briefcase")),
            "get": await _each(calls, lambda i: identities.get(made[i % 20].cookie_store_id)),
        }
        start = time.perf_counter()
        await asyncio.gather(
            *[identities.create(f"Client {i}", color="blue", icon="briefcase") for i in range(at_once)]
        )
        times[AT_ONCE] = (time.perf_counter() - start) / at_once * 1e6
        return times


async def _each(calls: int, call: Callable[[int], Awaitable[Any]]) -> float:
    taken = []
    for index in range(calls):
        begun = time.perf_counter()
        await call(index)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken) * 1e6


@contextmanager
def _raw(cluster: Cluster, address: str) -> Iterator[Callable[[int, int], Times]]:
    """The same rows with libpq: an identity, the head row, and a row of the log with a token."""
    asyncio.run(_open_once(address))
    schema = address.partition("schema=")[2].partition("&")[0]
    conninfo = f"host={cluster.folder} port={cluster.port} user=hatbox dbname=postgres"
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA raw_{schema}".encode())
        connection.execute(f"SET search_path TO raw_{schema}".encode())
        connection.execute(
            b"CREATE TABLE identities (id int8 PRIMARY KEY, name bytea, icon bytea, color bytea, hidden int8, "
            b"position int8, uuid bytea); "
            b"CREATE INDEX ON identities (position); CREATE INDEX ON identities USING hash (name); "
            b"CREATE TABLE head (id int8, changes int8, identities int8); INSERT INTO head VALUES (1, 0, 0); "
            b"CREATE TABLE changes (sequence int8 PRIMARY KEY, token bytea UNIQUE, at int8, logged int8, "
            b"changes bytea, program bytea, process int8, machine bytea)"
        )
        yield _Raw(connection.pgconn).measure


class _Raw:
    LOG = b'[["identities.created",{"name":"Client 0000001","icon":"briefcase","color":"blue","cookieStoreId":"1"}]]'
    INSERT = (
        b"INSERT INTO identities VALUES "
        b"($1::int8, 'a name', 'briefcase', 'blue', 0, $1::int8 * 1048576::int8, '0123456789abcdef0123456789abcdef')"
    )
    CREATE = (
        b"WITH a AS (" + INSERT + b"), "
        b"b AS (UPDATE head SET changes = changes + 1, identities = $1::int8) "
        b"INSERT INTO changes VALUES ($1::int8, $3, 0, 0, $2, 'program', 1, 'machine')"
    )

    def __init__(self, pgconn: Any) -> None:
        self._pg = pgconn
        self._number = 0
        _succeeded(self._pg.prepare(b"create", self.CREATE))
        _succeeded(self._pg.prepare(b"insert", self.INSERT))
        _succeeded(self._pg.prepare(b"get", b"SELECT * FROM identities WHERE id = $1"))

    def measure(self, calls: int, at_once: int) -> Times:
        create, get = self._median(calls, self._create), self._median(calls, self._get)
        return {"create": create, "get": get, AT_ONCE: self._pipeline(at_once)}

    def _median(self, calls: int, call: Callable[[], None]) -> float:
        taken = []
        for _ in range(calls):
            begun = time.perf_counter()
            call()
            taken.append(time.perf_counter() - begun)
        return statistics.median(taken) * 1e6

    def _token(self) -> bytes:
        return b"%016d" % self._number

    def _create(self) -> None:
        self._number += 1
        _succeeded(self._pg.exec_prepared(b"create", [b"%d" % self._number, self.LOG, self._token()]))

    def _get(self) -> None:
        _succeeded(self._pg.exec_prepared(b"get", [b"%d" % self._number], result_format=1))

    def _pipeline(self, count: int) -> float:
        """Identities in one transaction and one pipeline."""
        begun = time.perf_counter()
        self._pg.enter_pipeline_mode()
        self._pg.send_query_params(b"BEGIN", [])
        for _ in range(count):
            self._number += 1
            self._pg.send_query_prepared(b"insert", [b"%d" % self._number])
        self._number += 1
        self._pg.send_query_prepared(b"create", [b"%d" % self._number, self.LOG * count, self._token()])
        self._pg.send_query_params(b"COMMIT", [])
        self._pg.pipeline_sync()
        while True:
            result = self._pg.get_result()
            if result is not None and result.status == psycopg.pq.ExecStatus.PIPELINE_SYNC:
                break
            if result is not None:
                _succeeded(result)
        self._pg.exit_pipeline_mode()
        return (time.perf_counter() - begun) / count * 1e6


def _succeeded(result: Any) -> None:
    assert result.status in (psycopg.pq.ExecStatus.COMMAND_OK, psycopg.pq.ExecStatus.TUPLES_OK), result.error_message


# ── Size ──


async def _open_once(address: str) -> None:
    async with hatbox.open(address):
        pass


async def _grow(cluster: Cluster, address: str, size: int) -> None:
    await _open_once(address)
    schema = address.partition("schema=")[2].partition("&")[0]
    cluster.sql(
        f"INSERT INTO {schema}.identities (id, name, icon, color, hidden, position, uuid) "
        f"SELECT n, convert_to('Client ' || n, 'UTF8'), 'briefcase', 'blue', 0, n * 1048576::int8, "
        f"convert_to(n::text, 'UTF8') FROM generate_series(6, {size}) AS n"
    )
    cluster.sql(f"UPDATE {schema}.head SET identities = {size}, identity_position = {size} * 1048576::int8")
    cluster.sql(f"VACUUM ANALYZE {schema}.identities")


async def _reads(address: str, size: int, calls: int) -> Times:
    step = size // calls
    async with hatbox.open(address) as profile:
        await profile.identities.get("firefox-container-6")
        return {
            "get": await _each(calls, lambda i: profile.identities.get(f"firefox-container-{6 + i * step}")),
            "query by name": await _each(calls, lambda i: profile.identities.query(name=f"Client {6 + i * step}")),
        }


# ── Another process ──


def _seen_elsewhere(address: str, calls: int) -> float:
    """Milliseconds from the return of a create until another process has heard of it."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    other = context.Process(target=_listen, args=(address, there))
    other.start()
    try:
        here.recv()
        return asyncio.run(_create_and_wait(address, here, calls)) * 1e3
    finally:
        here.send(None)
        other.join()


async def _create_and_wait(address: str, pipe: Any, calls: int) -> float:
    taken = []
    async with hatbox.open(address) as profile:
        for index in range(calls):
            await profile.identities.create(f"Seen {index}", color="blue", icon="briefcase")
            returned = time.time()
            heard = await asyncio.to_thread(pipe.recv)
            taken.append(max(0.0, heard - returned))
    return float(statistics.median(taken))


def _listen(address: str, pipe: Any) -> None:
    async def listen() -> None:
        async with hatbox.open(address) as profile:
            profile.identities.on_created.add_listener(lambda _: pipe.send(time.time()))
            pipe.send(None)
            await asyncio.to_thread(pipe.recv)

    asyncio.run(listen())


# ── Trips ──


class CallFigures(NamedTuple):
    """What one call costs."""

    trips: int
    milliseconds: float


async def measure_calls(address: str) -> dict[str, CallFigures]:
    """How many times each call waits for the server, and how long it takes."""
    figures: dict[str, CallFigures] = {}
    async with hatbox.open(address) as profile:
        browser = profile.browser(["tabs", "tabHide", "cookies", "contextualIdentities"], "benchmark")

        async def measure_call(name: str, call: Callable[[], Awaitable[Any]]) -> None:
            worker = profile.store._worker  # type: ignore[attr-defined]  # a benchmark of this store
            before, begun = worker.trips, time.perf_counter()
            await call()
            figures[name] = CallFigures(worker.trips - before, (time.perf_counter() - begun) * 1e3)

        work = "firefox-container-2"
        await profile.identities.create("first", color="blue", icon="briefcase")
        tabs = [await browser.tabs.create({"cookieStoreId": work}) for _ in range(20)]
        await browser.tabs.create({})
        await measure_call("identities.get", lambda: profile.identities.get(work))
        await measure_call(
            "identities.create", lambda: profile.identities.create("second", color="blue", icon="briefcase")
        )
        await measure_call("tabs.create", lambda: browser.tabs.create({"cookieStoreId": work}))
        await measure_call("tabs.create, inactive", lambda: browser.tabs.create({"active": False}))
        await measure_call("tabs.query by store", lambda: browser.tabs.query({"cookieStoreId": work}))
        await measure_call("hide, 21 tabs, one is active", lambda: profile.identities.hide(work))
        await measure_call("show, 21 tabs", lambda: profile.identities.show(work))
        await browser.tabs.create({})
        await measure_call("hide, 21 tabs", lambda: profile.identities.hide(work))
        await profile.identities.show(work)
        await measure_call("tabs.remove", lambda: browser.tabs.remove(tabs[0]["id"]))
    return figures


BENCHMARK = Benchmark(
    measure,
    [
        Figure("get", "µs", RAW, at_most=2.5),
        Figure("create", "µs", RAW, at_most=1.5),
        Figure(AT_ONCE, "µs", RAW, at_most=2),
        *(Figure(f"{call}, to SQLite", "µs", "Hatbox in SQLite") for call in ("get", "create", AT_ONCE)),
        Figure("event of a change in another process", "ms", at_most=5),
        *(
            Figure(f"{call}, {LARGE} identities", "µs", f"{SMALL} identities", at_most=1.5)
            for call in ("get", "query by name")
        ),
        *(Figure(f"{call}: round trips", at_most=trips) for call, trips in TRIPS.items()),
        *(Figure(f"{call}, {DELAY} ms away", "ms", "on a socket") for call in TRIPS),
    ],
    rounds=(7, 1),
    calls=(200, 2),
    at_once=(1000, 5),
    small=(10_000, 20),
    large=(1_000_000, 30),
)

if __name__ == "__main__":
    BENCHMARK.main()
