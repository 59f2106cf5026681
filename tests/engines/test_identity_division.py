"""Several engines for one profile: each opens the tabs of its identities, and no identity has pages in two engines."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import hatbox
from hatbox.engines import engine_supervisor, identity_division
from hatbox.engines.base import PageState
from hatbox.engines.runner import EngineRunner
from hatbox.engines.running_engines import find_records
from hatbox.store.processes import current_process
from tests.engines.fake import FakeEngine, run
from tests.engines.losable_lease import LosableLease, lose_leases_of
from tests.engines.program import Program
from tests.site import Site
from tests.store.in_loop import in_loop
from tests.waiting import until, until_awaited

A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"
WORK, PERSONAL = "firefox-container-2", "firefox-container-1"


async def opened(runner: EngineRunner, engine: FakeEngine) -> set[str]:
    """The identities that have pages in an engine."""
    await runner.wait_until_settled()
    return {tab.cookie_store_id for tab in engine.pages.values()}


async def open_tabs(profile: hatbox.Profile) -> dict[str, hatbox.Tab]:
    return {name: await profile.tabs.open(name, A) for name in ("Work", "Personal", "Banking", "firefox-default")}


# ------------------------------------------------------------------------------------------- which engine opens which


@in_loop
async def test_each_engine_opens_the_tabs_of_its_identities_only(path: Path) -> None:
    work, rest, default = FakeEngine(), FakeEngine(), FakeEngine()
    async with hatbox.open(path) as profile:
        tabs = await open_tabs(profile)
        identity = await profile.identities.find("Personal")
        async with (
            run(work, profile, ["Work", identity]) as first,
            run(default, profile, "firefox-default") as second,
            run(rest, profile) as third,
        ):
            assert await opened(first, work) == {WORK, PERSONAL}
            assert await opened(second, default) == {"firefox-default"}
            assert await opened(third, rest) == {"firefox-container-3"}
            later = await profile.tabs.open("Work", B)
            await profile.tabs.close(tabs["Personal"].id)
            await profile.tabs.navigate(tabs["Banking"].id, C)
            assert await opened(first, work) == {WORK}
            assert set(work.pages) == {tabs["Work"].id, later.id}
            await third.wait_until_settled()
            assert rest.told("navigate") == [(tabs["Banking"].id, C)]
            assert await opened(third, rest) == {"firefox-container-3"}
            assert [first.serves(each) for each in (WORK, "firefox-default")] == [True, False]
            assert [third.serves(each) for each in (WORK, "firefox-container-4")] == [False, True]


@in_loop
async def test_a_second_engine_for_an_identity_is_refused_with_its_name_and_the_engine(path: Path) -> None:
    async with hatbox.open(path) as profile, run(FakeEngine(), profile, ["Work", "Personal"]):
        with pytest.raises(hatbox.EngineAlreadyRunning) as caught:
            await run(FakeEngine(), profile, ["Banking", "Personal"]).__aenter__()
        error, process = caught.value, current_process()
        assert str(error).startswith(f'identity "Personal" is already open in the fake engine (pid {process.pid})')
        assert (error.engine, error.process, error.machine, error.identity) == (
            "fake",
            process.pid,
            process.machine,
            PERSONAL,
        )
        async with run(FakeEngine(), profile, "Banking"):  # which the refused engine has released
            pass


@in_loop
async def test_unknown_identities_and_empty_lists_start_no_engine(path: Path) -> None:
    async with hatbox.open(path) as profile:
        engine = FakeEngine()
        with pytest.raises(hatbox.IdentityNotFound):
            await run(engine, profile, ["Wrok"]).__aenter__()
        with pytest.raises(ValueError, match="Omit it to serve all"):
            profile.http_engine(identities=[])
        with pytest.raises(TypeError):
            run(engine, profile, [2])  # type: ignore[list-item]
        assert not engine.calls
        assert await profile.running_engines() == []


@in_loop
async def test_an_identity_that_is_created_later_belongs_to_the_engine_for_all_others(path: Path) -> None:
    work, rest = FakeEngine(), FakeEngine()
    async with hatbox.open(path) as profile, run(work, profile, "Work") as one, run(rest, profile) as other:
        created = await profile.identities.create("Travel")
        await profile.tabs.open("Travel", A)
        assert await opened(other, rest) == {created.cookie_store_id}
        assert await opened(one, work) == set()


@in_loop
async def test_an_identity_is_hidden_and_removed_by_the_engine_that_has_it(path: Path) -> None:
    work, rest = FakeEngine(), FakeEngine()
    async with hatbox.open(path) as profile, run(work, profile, "Work") as one, run(rest, profile) as other:
        await open_tabs(profile)
        await one.wait_until_settled()
        await other.wait_until_settled()
        report = await profile.hide_and_wait(["Work", "Personal"])
        assert report.unconfirmed == []
        assert not await opened(one, work)
        await profile.identities.show("Work")
        assert await opened(one, work) == {WORK}
        await profile.identities.remove("Work")
        await until(lambda: work.told("forget") == [(WORK,)])
        await other.wait_until_settled()
        assert rest.told("forget") == []
        assert work.told("close")[-1][1] is False


@in_loop
async def test_hiding_does_not_wait_for_an_engine_that_has_other_identities(path: Path) -> None:
    async with hatbox.open(path) as profile, run(FakeEngine(), profile, "Work"):
        await profile.tabs.open("Personal", A)
        report = await asyncio.wait_for(profile.hide_and_wait("Personal"), 10)
        assert report.unconfirmed == []


@in_loop
async def test_a_page_opens_no_page_of_an_identity_that_another_engine_has(path: Path) -> None:
    rest = FakeEngine()
    async with hatbox.open(path) as profile, run(FakeEngine(), profile, "Work"), run(rest, profile):
        with pytest.raises(hatbox.EngineError, match=WORK):
            await rest.reports.page_opened(WORK, None)
        assert await profile.tabs.query() == []


# -------------------------------------------------------------------------------------------------------- handing over


@in_loop
async def test_an_engine_that_starts_for_some_identities_gets_their_pages_from_the_running_one(path: Path) -> None:
    work, rest = FakeEngine(), FakeEngine()
    async with hatbox.open(path) as profile, run(rest, profile) as other:
        tabs = await open_tabs(profile)
        await other.wait_until_settled()
        await rest.reports.page_updated(tabs["Work"].id, PageState(A, title="loaded"))
        async with run(work, profile, "Work") as one:
            # Closed with a snapshot, and only then opened elsewhere.
            assert rest.told("close") == [(tabs["Work"].id, True)]
            assert rest.told("forget") == [(WORK,)]
            assert WORK not in await opened(other, rest)
            assert await opened(one, work) == {WORK}
            assert work.told("open") == [(tabs["Work"].id, A, f"page {tabs['Work'].id}".encode())]
            assert (await profile.tabs.get(tabs["Work"].id)).title == "loaded"
            assert not (await profile.tabs.get(tabs["Work"].id)).hidden
        await until_awaited(lambda: _has(other, rest, WORK))
        assert rest.told("open")[-1][0] == tabs["Work"].id


async def _has(runner: EngineRunner, engine: FakeEngine, cookie_store_id: str) -> bool:
    return cookie_store_id in await opened(runner, engine)


@in_loop
async def test_the_new_engine_waits_until_a_page_is_closed(path: Path) -> None:
    work, rest = FakeEngine(), FakeEngine()
    async with hatbox.open(path) as profile, run(rest, profile) as other:
        await profile.tabs.open("Work", A)
        await other.wait_until_settled()
        rest.held["close"] = asyncio.Event()
        runner = run(work, profile, "Work")
        starting = asyncio.ensure_future(runner.__aenter__())
        await rest.until_told("close")
        (engine,) = [each for each in await profile.running_engines() if each.identities]
        assert engine.waiting
        assert not work.calls
        rest.held["close"].set()
        await starting
        assert await opened(runner, work) == {WORK}
        assert not any(each.waiting for each in await profile.running_engines())


@in_loop
async def test_an_engine_that_does_not_close_its_pages_keeps_them(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(identity_division, "_RELEASE_TIMEOUT", 0.2)
    work, rest = FakeEngine(), FakeEngine()
    async with hatbox.open(path) as profile, run(rest, profile) as other:
        await profile.tabs.open("Work", A)
        await other.wait_until_settled()
        rest.held["close"] = asyncio.Event()
        with pytest.raises(hatbox.EngineAlreadyRunning, match=r"which has not closed its pages within 0\.2 seconds"):
            await run(work, profile, "Work").__aenter__()
        assert not work.told("start")
        await until(lambda: other.serves(WORK))
        rest.held["close"].set()
        await until_awaited(lambda: _has(other, rest, WORK))
        assert not rest.told("forget")
        assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
        assert [each.identities for each in await profile.running_engines()] == [None]


@in_loop
async def test_an_engine_that_does_not_start_gives_its_identities_back(path: Path) -> None:
    work, rest = FakeEngine(), FakeEngine()
    work.fails["start"] = hatbox.EngineError("no browser here")
    async with hatbox.open(path) as profile, run(rest, profile) as other:
        await profile.tabs.open("Work", A)
        await other.wait_until_settled()
        with pytest.raises(hatbox.EngineError, match="no browser here"):
            await run(work, profile, "Work").__aenter__()
        await until_awaited(lambda: _has(other, rest, WORK))


@in_loop
async def test_a_crash_of_one_engine_restarts_that_engine_only(path: Path) -> None:
    work, rest = FakeEngine(), FakeEngine()
    async with hatbox.open(path) as profile, run(work, profile, "Work") as one, run(rest, profile) as other:
        await open_tabs(profile)
        await one.wait_until_settled()
        await other.wait_until_settled()
        work.pages.clear()
        work.reports.engine_crashed("test")
        await work.until_told("start", 2)
        await until_awaited(lambda: _has(one, work, WORK))
        assert len(rest.told("start")) == 1
        assert WORK not in await opened(other, rest)


# ------------------------------------------------------------------------------------------------- who runs, and where


@in_loop
async def test_a_program_sees_which_engine_has_which_identities(path: Path) -> None:
    async with hatbox.open(path) as profile, run(FakeEngine(), profile, ["Work", "Personal"]):
        async with profile.http_engine():
            assert [each.engine for each in await profile.running_engines()] == ["fake", "HTTP"]
            for identity, name, identities in (("Work", "fake", (WORK, PERSONAL)), ("Banking", "HTTP", None)):
                running = await profile.running_engine(identity)
                assert running is not None
                assert (running.engine, running.process) == (name, current_process())
                assert (running.identities, running.machine) == (identities, current_process().machine)
                assert running.since is not None
        assert await profile.running_engine("Banking") is None
        with hatbox.open_sync(path) as same:
            assert [each.engine for each in same.running_engines()] == ["fake"]
    async with hatbox.open(path) as profile:
        assert await profile.running_engines() == []
        assert await profile.store.read(find_records) == []


@in_loop
async def test_waiting_for_a_tab_that_no_engine_opens_is_an_error(path: Path) -> None:
    work, banking = FakeEngine(), FakeEngine()
    async with hatbox.open(path) as profile, run(work, profile, "Work") as runner:
        tab = await profile.tabs.open("Banking", A)
        with pytest.raises(hatbox.EngineError, match="no running engine serves firefox-container-3"):
            await runner.wait_until_loaded(tab.id)
        async with run(banking, profile, "Banking") as other:
            waiting = asyncio.ensure_future(runner.wait_until_loaded(tab.id))
            await other.wait_until_settled()
            await banking.reports.page_updated(tab.id, PageState(A, title="there"))
            assert (await waiting).title == "there"


@in_loop
async def test_an_engine_that_loses_one_lease_stops_for_all_of_its_identities(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, rest = FakeEngine(), FakeEngine()
    monkeypatch.setattr(identity_division, "_GRACE_SECONDS", -1.0)  # this one closes its pages at once
    async with hatbox.open(path) as profile:
        lose_leases_of(profile.store, monkeypatch)
        await open_tabs(profile)
        async with run(work, profile, ["Work", "Personal"]) as runner:
            await runner.wait_until_settled()
            await LosableLease.acquired[1].lose()
            with pytest.raises(hatbox.EngineLeaseLost):
                await runner.wait_until_stopped()
            assert LosableLease.acquired == []
            async with run(rest, profile) as other:
                assert {WORK, PERSONAL} <= await opened(other, rest)


# ---------------------------------------------------------------------------------------------------- whatever comes


class Exclusive(FakeEngine):
    """Fails if another engine has a page of the same identity."""

    def __init__(self, holders: dict[str, set[Exclusive]], violations: list[str]) -> None:
        super().__init__()
        self._holders = holders
        self._violations = violations
        self._crashes = 0

    def crash(self) -> None:
        """End all pages, also those that are being opened."""
        self._crashes += 1
        self.pages.clear()
        self.forget_closed()
        self.reports.engine_crashed("test")

    async def open(self, tab: hatbox.Tab, snapshot: bytes | None) -> None:
        holders = self._holders.setdefault(tab.cookie_store_id, set())
        if holders - {self}:
            self._violations.append(f"{tab.cookie_store_id} has pages in two engines")
        holders.add(self)
        crashes = self._crashes
        await asyncio.sleep(0.002)  # other engines run meanwhile
        if crashes != self._crashes:
            raise hatbox.EngineError("the engine has crashed")
        await super().open(tab, snapshot)

    async def close(self, tab_id: int, *, hiding: bool) -> None:
        await asyncio.sleep(0.002)
        await super().close(tab_id, hiding=hiding)
        self.forget_closed()

    async def stop(self) -> None:
        await super().stop()
        self.pages.clear()
        self.forget_closed()

    def forget_closed(self) -> None:
        open_now = {tab.cookie_store_id for tab in self.pages.values()}
        for store, holders in self._holders.items():
            if store not in open_now:
                holders.discard(self)


STEPS = st.sampled_from(["start", "start at once", "stop", "kill", "open", "close", "hide", "show", "crash"])
GROUPS: list[list[str] | None] = [None, ["Work"], ["Work", "Personal"], ["Personal"], ["firefox-default"]]


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(STEPS, st.integers(0, 9)), max_size=20))
@example([("open", 0), ("start", 0), ("start at once", 1), ("start at once", 2), ("open", 1), ("kill", 1), ("stop", 0)])
def test_whatever_starts_and_ends_no_identity_has_pages_in_two_engines(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    path = tmp_path_factory.mktemp("any") / "profile.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity_division, "_POLL_SECONDS", 0.01)
        patch.setattr(identity_division, "_GRACE_SECONDS", 0.05)  # the pages of a killed engine are closed at once
        patch.setattr(engine_supervisor, "_RESTART_DELAYS", (0,))
        logging.getLogger("hatbox.engines").setLevel(logging.CRITICAL)  # every crash is a line
        try:
            asyncio.run(asyncio.wait_for(_divide(path, steps), 60))
        finally:
            logging.getLogger("hatbox.engines").setLevel(logging.NOTSET)


async def _divide(path: Path, steps: list[tuple[str, int]]) -> None:
    holders: dict[str, set[Exclusive]] = {}
    violations: list[str] = []
    running: list[tuple[Exclusive, EngineRunner]] = []
    starting: list[asyncio.Task[None]] = []
    async with hatbox.open(path) as profile:

        async def start(number: int) -> None:
            engine = Exclusive(holders, violations)
            runner = EngineRunner(engine, profile.store, GROUPS[number % len(GROUPS)])
            with contextlib.suppress(hatbox.EngineAlreadyRunning):
                await runner.__aenter__()
                running.append((engine, runner))

        for what, number in steps:
            tabs = await profile.tabs.query()
            store = ("firefox-default", PERSONAL, WORK, "firefox-container-3")[number % 4]
            chosen = running[number % len(running)] if running else None
            match what:
                case "start":
                    await start(number)
                case "start at once":
                    starting.append(asyncio.ensure_future(start(number)))
                case "open":
                    await profile.tabs.open(store, A)
                case "close" if tabs:
                    await profile.tabs.close(tabs[number % len(tabs)].id)
                case "hide" | "show" if store != "firefox-default":
                    await getattr(profile.identities, what)(store)
                case "stop" if chosen:
                    running.remove(chosen)
                    await chosen[1].stop()
                case "kill" if chosen:  # the pages end with the process, then the leases; the record stays
                    running.remove(chosen)
                    chosen[1]._on_lease_lost("killed")
                    await chosen[1].stop()
                case "crash" if chosen:
                    chosen[0].crash()
                case _:
                    pass
        await asyncio.gather(*starting)
        assert not violations

        async def is_settled() -> bool:
            for _, runner in running:
                await runner.wait_until_settled()
            shown = {tab.id: tab.cookie_store_id for tab in await profile.tabs.query() if not tab.hidden}
            served = {tab for tab, store in shown.items() if any(runner.serves(store) for _, runner in running)}
            return {tab for engine, _ in running for tab in engine.pages} == served

        await until_awaited(is_settled)
        assert not violations
        rest = [runner for _, runner in running if runner.serves("firefox-container-4")]
        named = {
            each for _, runner in running for each in (WORK, PERSONAL) if runner not in rest and runner.serves(each)
        }
        for runner in rest:
            await until(lambda runner=runner: {each for each in (WORK, PERSONAL) if not runner.serves(each)} == named)  # type: ignore[misc]
        for _, runner in running:
            await runner.stop()


# ---------------------------------------------------------------------------------------------------------- processes


def load(programs: Sequence[tuple[Program, str]], site: Site) -> list[str]:
    """Load a page in each identity, wait for it in the process of its engine, and return the titles."""
    titles = []
    for program, name in programs:
        tab = program.tabs("open", name, site.url("/login", user=name, as_=name))["id"]
        titles.append(program.engine("wait_until_loaded", tab)["title"])
    return titles


@pytest.mark.process
@in_loop
async def test_two_processes_divide_the_identities_and_the_other_takes_over_after_a_kill(
    path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile:
        address = profile.address
    rest = await asyncio.to_thread(Program, address, "http")
    work = await asyncio.to_thread(Program, address, "http", "Work", "Personal")
    try:
        async with hatbox.open(path) as profile:
            programs = [(work, "Work"), (rest, "Banking"), (work, "Personal"), (rest, "Shopping")]
            assert await asyncio.to_thread(load, programs, site) == [
                f"Signed in as {name}" for name in ("Work", "Banking", "Personal", "Shopping")
            ]
            served = {(each.pid, each.identities) for each in await profile.running_engines()}
            assert served == {(rest.pid, None), (work.pid, (WORK, PERSONAL))}
            with pytest.raises(hatbox.EngineAlreadyRunning, match=rf'"Work".*\(pid {work.pid}\)'):
                await profile.http_engine(identities="Work").__aenter__()
            slow = await profile.tabs.open("Work", site.url("/slow"))
            await asyncio.to_thread(site.wait_for, "/slow")
            await asyncio.to_thread(work.kill)
            # No program reports the kill: the other engine notices it, and loads the page.
            await until(lambda: len(site.requests("/slow")) == 2)
            site.released.set()
            assert (await asyncio.to_thread(rest.engine, "wait_until_loaded", slow.id))["title"] == "At last"
            assert [each.pid for each in await profile.running_engines()] == [rest.pid]
            async with profile.http_engine(identities="Work") as again:  # and it hands it over again
                tab = await profile.tabs.open("Work", site.url("/me", as_="Work"))
                assert (await again.wait_until_loaded(tab.id)).title == "Signed in as Work"
        assert not site.mixed
    finally:
        for program in (work, rest):
            program.kill()
            with program:
                pass
