"""An engine that loses its lease stops at once: another engine may open the same tabs."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

import hatbox
from hatbox.engines.base import PageState
from hatbox.store.sqlite.store import SqliteStore
from tests.engines.fake import FakeEngine, run
from tests.engines.losable_lease import LosableLease, losable
from tests.postgres import Cluster, find_programs, running_cluster
from tests.site import Site
from tests.store.in_loop import in_loop
from tests.waiting import until

A = "https://a.example/"


@pytest.fixture(autouse=True)
def losable_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteStore, "lease", losable)
    monkeypatch.setattr(LosableLease, "acquired", [])
    monkeypatch.delenv("HATBOX_TEST_STORE", raising=False)


@in_loop
async def test_it_stops_loading_and_names_the_profile(path: Path, site: Site, caplog: pytest.LogCaptureFixture) -> None:
    async with hatbox.open(path) as profile, profile.http_engine() as engine:
        tab = await profile.tabs.open("Work", site.url("/slow"))
        await asyncio.to_thread(site.wait_for, "/slow")
        loading = asyncio.ensure_future(engine.wait_until_loaded(tab.id))
        await asyncio.sleep(0)
        caplog.clear()
        await LosableLease.acquired[0].lose("the connection to db.example was lost")
        with pytest.raises(hatbox.EngineLeaseLost, match="hatbox status") as caught:
            await engine.wait_until_stopped()
        assert str(caught.value).startswith(f"{path}: the HTTP engine was stopped")
        (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
        assert line.startswith(f"{path}: lease of the HTTP engine lost (the connection to db.example was lost)")
        for call in (loading, engine.wait_until_settled(), engine.wait_until_loaded(tab.id)):
            with pytest.raises(hatbox.EngineLeaseLost):
                await call
        site.released.set()
        assert (await profile.tabs.get(tab.id)).title == ""


@in_loop
async def test_another_engine_can_take_the_tabs_at_once(path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.http_engine() as engine:
        tab = await profile.tabs.open("Work", site.url("/slow"))
        await asyncio.to_thread(site.wait_for, "/slow")
        await LosableLease.acquired[0].lose()
        async with hatbox.open(path) as elsewhere, elsewhere.http_engine() as other:
            site.released.set()
            assert (await other.wait_until_loaded(tab.id)).title == "At last"
        with pytest.raises(hatbox.EngineLeaseLost):
            await engine.wait_until_stopped()


@in_loop
async def test_nothing_is_reported_to_the_profile_after_that(path: Path) -> None:
    engine = FakeEngine()
    async with hatbox.open(path) as profile, run(engine, profile) as runner:
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()

        async def report() -> None:
            await engine.reports.save_snapshot(tab.id, b"late")
            await engine.reports.page_updated(tab.id, PageState(A, title="late"))
            await engine.reports.page_closed(tab.id)
            await engine.reports.shown(tab.id)
            with pytest.raises(hatbox.EngineError):
                await engine.reports.page_opened("firefox-container-2", None)

        engine.when_stopped = report
        await LosableLease.acquired[0].lose()
        with pytest.raises(hatbox.EngineLeaseLost):
            await runner.wait_until_stopped()
        assert engine.told("stop") == [()]
        (left,) = await profile.tabs.query()
        assert (left.id, left.title) == (tab.id, "")
        assert await profile.store.read(lambda each: each.tabs.page_snapshot(tab.id)) is None
        await profile.tabs.open("Work", A)
        assert len(engine.told("open")) == 1


@in_loop
async def test_a_lease_that_is_lost_while_the_engine_starts_is_an_error_of_the_start(path: Path) -> None:
    engine = FakeEngine()
    engine.held["start"] = asyncio.Event()
    async with hatbox.open(path) as profile:
        await profile.tabs.open("Work", A)
        runner = run(engine, profile)
        starting = asyncio.ensure_future(runner.__aenter__())
        await engine.until_told("start")
        await LosableLease.acquired[0].lose()
        engine.held["start"].set()
        with pytest.raises(hatbox.EngineLeaseLost):
            await starting
        assert not engine.told("open")
        await until(lambda: engine.calls[-1] == ("stop",))


@in_loop
async def test_an_engine_can_be_started_again_after_that(path: Path) -> None:
    async with hatbox.open(path) as profile:
        tab = await profile.tabs.open("Work", A)
        engine = FakeEngine()
        runner = run(engine, profile)
        async with runner:
            await runner.wait_until_settled()
            await LosableLease.acquired[0].lose()
            with pytest.raises(hatbox.EngineLeaseLost):
                await runner.wait_until_stopped()
        async with runner:
            await runner.wait_until_settled()
            assert engine.told("open") == [(tab.id, A, None)] * 2
        await runner.wait_until_stopped()


@pytest.mark.server
@pytest.mark.skipif(find_programs() is None, reason="PostgreSQL is not installed: no initdb was found")
def test_a_cut_connection_to_postgresql_stops_the_engine_and_another_one_takes_over() -> None:
    with running_cluster({"fsync": "off"}) as cluster:
        asyncio.run(asyncio.wait_for(_cut_connection(cluster), 60))


async def _cut_connection(cluster: Cluster) -> None:
    address = cluster.new_address()
    work, rest = FakeEngine(), FakeEngine()
    async with hatbox.open(address) as profile, hatbox.open(address) as elsewhere:
        tab = await profile.tabs.open("Work", A)
        async with run(work, profile, "Work") as runner:
            await runner.wait_until_settled()
            assert set(work.pages) == {tab.id}
            holders = cluster.sql("SELECT pid FROM pg_locks WHERE locktype = 'advisory'")
            async with run(rest, elsewhere) as other:
                await other.wait_until_settled()
                assert not rest.pages
                for (pid,) in holders:
                    cluster.sql(f"SELECT pg_terminate_backend({pid})")
                with pytest.raises(hatbox.EngineLeaseLost):
                    await runner.wait_until_stopped()
                assert work.told("stop")
                await rest.until_told("open")
                assert rest.told("open") == [(tab.id, A, None)]
