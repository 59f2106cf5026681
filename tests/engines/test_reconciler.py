"""The profile holds what should be, and an engine makes it so (engines/reconciler.py)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import hatbox
from hatbox.engines import engine_supervisor, reconciler
from hatbox.engines.base import EngineDelegate, PageState
from hatbox.engines.hiding import hide_and_wait
from hatbox.engines.runner import EngineRunner
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.tabs.discarding import discard_tabs
from hatbox.tabs.first_window import open_first_window
from tests.engines.fake import FakeEngine, KeepsHidden, LoadsAgain, run
from tests.store.in_loop import in_loop

A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"


@contextlib.asynccontextmanager
async def kept(
    path: Path, engine: FakeEngine | None = None
) -> AsyncIterator[tuple[hatbox.Profile, FakeEngine, EngineRunner]]:
    engine = engine or FakeEngine()
    async with hatbox.open(path) as profile, run(engine, profile) as runner:
        await runner.wait_until_settled()
        yield profile, engine, runner


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_supervisor, "_RESTART_DELAYS", (0,))


# ------------------------------------------------------------------------------------------ what should be is made so


@in_loop
async def test_what_was_open_is_opened_when_an_engine_starts(path: Path) -> None:
    async with hatbox.open(path) as profile:
        first = await profile.tabs.open("Work", A)
        second = await profile.tabs.open("Personal", B)
        blank = await profile.tabs.open("firefox-default")
    async with kept(path) as (profile, engine, _):
        wanted = {(first.id, A, None), (second.id, B, None), (blank.id, "about:blank", None)}
        assert set(engine.told("open")) == wanted
        assert engine.told("activate") == [(blank.id,)]


@in_loop
async def test_hiding_an_identity_does_not_wait_for_pages_of_discarded_tabs(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await profile.tabs.open("Work", B)
        await runner.wait_until_settled()
        await profile.tabs.write(lambda each: discard_tabs(each, [tab.id]))
        await runner.wait_until_settled()
        assert engine.told("close") == [(tab.id, True)]
        async with asyncio.timeout(20):
            report = await hide_and_wait(profile.tabs, profile.identities, [await profile.identities.find("Work")])
        assert report.unconfirmed == []


@in_loop
async def test_the_pages_of_an_identity_are_opened_one_by_one_in_the_order_of_its_tabs(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tabs = [await profile.tabs.open("Work", f"{A}{number}") for number in range(5)]
        await profile.tabs.move(tabs[4].id, 0)
        await profile.identities.hide("firefox-container-2")
        await runner.wait_until_settled()
        engine.calls.clear()
        engine.held["open"] = asyncio.Event()
        await profile.identities.show("firefox-container-2")
        await engine.until_told("open")
        other = await profile.tabs.open("Personal", B)
        await engine.until_told("open", 2)
        assert [call[0] for call in engine.told("open")] == [tabs[4].id, other.id]  # another identity does not wait
        engine.held["open"].set()
        await runner.wait_until_settled()
        order = [call[0] for call in engine.told("open") if call[0] != other.id]
        assert order == [tabs[4].id, *(tab.id for tab in tabs[:4])]


@in_loop
async def test_tabs_are_opened_loaded_and_closed_as_the_profile_says(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        await profile.tabs.navigate(tab.id, B)
        await runner.wait_until_settled()
        await profile.tabs.navigate(tab.id, "about:blank")
        await runner.wait_until_settled()
        await profile.tabs.close(tab.id)
        await runner.wait_until_settled()
        assert engine.calls[1:] == [
            ("open", tab.id, A, None),
            ("activate", tab.id),
            ("navigate", tab.id, B),
            ("navigate", tab.id, "about:blank"),
            ("close", tab.id, False),
        ]
        assert not engine.pages


@in_loop
async def test_a_tab_that_is_made_blank_while_it_loads_stays_blank(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        await profile.tabs.navigate(tab.id, "about:blank")
        await runner.wait_until_settled()
        assert engine.told("navigate") == [(tab.id, "about:blank")]
        await engine.reports.page_updated(tab.id, PageState("about:blank"))
        await engine.reports.page_updated(tab.id, PageState(A, title="late"), navigation=tab.navigation_id)
        assert (await profile.tabs.get(tab.id)).url == "about:blank"


@in_loop
async def test_the_profile_says_loading_from_when_an_engine_has_begun_until_it_is_done(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        assert tab.status == "complete"  # nobody has begun
        await runner.wait_until_settled()
        assert (await profile.tabs.get(tab.id)).status == "loading"
        await engine.reports.page_updated(tab.id, PageState(A, title="a", http_status=200, content_type="text/html"))
        loaded = await runner.wait_until_loaded(tab.id)
        assert (loaded.status, loaded.title, loaded.http_status) == ("complete", "a", 200)


@in_loop
async def test_a_tab_that_becomes_active_is_brought_to_the_front(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        first = await profile.tabs.open("Work", A)
        second = await profile.tabs.open("Work", B)
        await runner.wait_until_settled()
        engine.calls.clear()
        await profile.tabs.activate(first.id)
        await runner.wait_until_settled()
        assert engine.calls == [("activate", first.id)]
        await engine.reports.page_activated(second.id)
        assert (await profile.tabs.get(second.id)).active


# ---------------------------------------------------------------------------------------------------- hide and show


@in_loop
async def test_hiding_closes_pages_and_showing_opens_them_as_they_were(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        other = await profile.tabs.open("Personal", B)
        await runner.wait_until_settled()
        await engine.reports.page_updated(tab.id, PageState(A))
        await profile.identities.hide("firefox-container-2")
        await runner.wait_until_settled()
        assert engine.told("close") == [(tab.id, True)]
        assert set(engine.pages) == {other.id}
        await profile.identities.show("firefox-container-2")
        await runner.wait_until_settled()
        assert engine.told("open")[-1] == (tab.id, A, f"page {tab.id}".encode())


@in_loop
async def test_an_engine_that_keeps_hidden_pages_is_told_nothing(path: Path) -> None:
    async with kept(path, KeepsHidden()) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        await profile.identities.hide("firefox-container-2")
        await profile.identities.show("firefox-container-2")
        await runner.wait_until_settled()
        assert not engine.told("close")
        assert engine.told("open") == [(tab.id, A, None)]


@in_loop
async def test_hidden_tabs_stay_hidden_with_the_next_engine(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await profile.identities.hide("firefox-container-2")
    async with kept(path) as (profile, engine, runner):
        assert not engine.told("open")
        assert (await profile.tabs.get(tab.id)).hidden
        await profile.identities.show("firefox-container-2")
        await runner.wait_until_settled()
        assert set(engine.pages) == {tab.id}


@in_loop
async def test_a_page_that_closes_because_it_is_hidden_does_not_close_its_tab(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        engine.held["close"] = asyncio.Event()
        await profile.identities.hide("firefox-container-2")
        await engine.until_told("close")
        await engine.reports.page_closed(tab.id)
        await engine.reports.page_updated(tab.id, PageState(A, error="the page was closed"))
        engine.held["close"].set()
        await runner.wait_until_settled()
        assert (await profile.tabs.get(tab.id)).hidden
        assert (await profile.tabs.get(tab.id)).error == ""


@in_loop
async def test_hidden_while_it_is_being_opened(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        engine.held["open"] = asyncio.Event()
        tab = await profile.tabs.open("Work", A)
        await engine.until_told("open")
        await profile.identities.hide("firefox-container-2")
        engine.held["open"].set()
        await runner.wait_until_settled()
        assert not engine.pages
        assert (await profile.tabs.get(tab.id)).loading  # and loads when it is shown


@in_loop
async def test_closed_while_it_is_being_opened(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        engine.held["open"] = asyncio.Event()
        tab = await profile.tabs.open("Work", A)
        await engine.until_told("open")
        await profile.tabs.close(tab.id)
        engine.held["open"].set()
        await runner.wait_until_settled()
        assert engine.told("close") == [(tab.id, False)]
        assert not engine.pages


# ------------------------------------------------------------------------------------------------ what pages do


@in_loop
async def test_a_page_that_goes_elsewhere_by_itself_is_not_told_to(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        number = await engine.reports.navigation_started(tab.id, B)
        await runner.wait_until_settled()
        now = await profile.tabs.get(tab.id)
        assert (now.pending_url, now.navigation_id, now.status) == (B, number, "loading")
        await engine.reports.page_updated(tab.id, PageState(B, title="b"), navigation=number)
        assert (await runner.wait_until_loaded(tab.id)).url == B
        assert not engine.told("navigate")


@in_loop
async def test_the_users_load_comes_before_one_that_the_page_began_meanwhile(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        asked = profile.tabs.navigate(tab.id, B)
        assert await engine.reports.navigation_started(tab.id, C) is None
        await asked
        await engine.reports.page_updated(tab.id, PageState(C), navigation=tab.navigation_id)
        await runner.wait_until_settled()
        assert engine.told("navigate") == [(tab.id, B)]
        assert (await profile.tabs.get(tab.id)).pending_url == B


@in_loop
async def test_the_users_load_comes_after_one_that_the_page_began_before(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        began = asyncio.ensure_future(engine.reports.navigation_started(tab.id, C))
        await asyncio.sleep(0)
        await profile.tabs.navigate(tab.id, B)
        number = await began
        await runner.wait_until_settled()
        assert engine.told("navigate") == [(tab.id, B)]
        await engine.reports.page_updated(tab.id, PageState(C), navigation=number)
        assert (await profile.tabs.get(tab.id)).loading
        await engine.reports.page_updated(tab.id, PageState(B))
        assert (await runner.wait_until_loaded(tab.id)).url == B


@in_loop
async def test_a_load_that_a_page_began_while_the_engine_was_busy_with_it_is_overtaken(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        engine.held["activate"] = asyncio.Event()
        await profile.tabs.activate(tab.id)
        await engine.until_told("activate", 3)
        began = asyncio.ensure_future(engine.reports.navigation_started(tab.id, C))
        await asyncio.sleep(0)
        await profile.tabs.navigate(tab.id, B)
        engine.held["activate"].set()
        assert await began is None
        await runner.wait_until_settled()
        assert engine.told("navigate") == [(tab.id, B)]


@in_loop
async def test_of_two_loads_that_a_page_begins_the_second_counts(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        numbers = await asyncio.gather(
            engine.reports.navigation_started(tab.id, B), engine.reports.navigation_started(tab.id, C)
        )
        assert list(numbers) == [tab.navigation_id + 1, tab.navigation_id + 2]
        assert (await profile.tabs.get(tab.id)).pending_url == C


@in_loop
async def test_what_became_of_an_older_load_changes_nothing(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        await profile.tabs.navigate(tab.id, B)
        await runner.wait_until_settled()
        await engine.reports.page_updated(tab.id, PageState(A, title="late"), navigation=tab.navigation_id)
        assert (await profile.tabs.get(tab.id)).loading
        await engine.reports.page_updated(tab.id, PageState(B, title="right"))
        assert (await runner.wait_until_loaded(tab.id)).title == "right"


@in_loop
async def test_a_page_that_opens_another_has_no_second_page_made_for_it(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        popups = await asyncio.gather(*(engine.reports.page_opened(tab.cookie_store_id, tab.id) for _ in range(5)))
        await runner.wait_until_settled()
        assert {each.cookie_store_id for each in popups} == {tab.cookie_store_id}
        assert {each.opener_id for each in popups} == {tab.id}
        assert len(engine.told("open")) == 1
        assert await engine.reports.navigation_started(popups[0].id, B) == 1
        await engine.reports.page_closed(popups[1].id)
        await runner.wait_until_settled()
        assert popups[1].id not in [each.id for each in await profile.tabs.query()]


@in_loop
async def test_a_page_that_the_user_closes_is_not_opened_again(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        other = await profile.tabs.open("Work", B)
        await runner.wait_until_settled()
        asked = profile.tabs.navigate(other.id, C)  # so that the look at the tabs below has to wait for its turn
        looking = asyncio.ensure_future(runner._reconciler.reconcile())
        await asyncio.sleep(0)
        await asyncio.gather(asked, looking, engine.reports.page_closed(tab.id))
        await runner.wait_until_settled()
        assert [each.id for each in await profile.tabs.query()] == [other.id]
        assert len(engine.told("open")) == 2
        assert not engine.told("close")


@in_loop
async def test_reports_of_tabs_that_are_gone_change_nothing(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        await profile.tabs.close(tab.id)
        await engine.reports.page_updated(tab.id, PageState(A))
        assert await engine.reports.navigation_started(tab.id, B) is None
        await engine.reports.save_snapshot(tab.id, b"page")
        await engine.reports.page_activated(tab.id)
        await engine.reports.page_closed(tab.id)
        assert await profile.tabs.query() == []


# ------------------------------------------------------------------------------------------------- when it goes wrong


@pytest.mark.parametrize("error", [hatbox.EngineError("no page"), ValueError("no page")])
@in_loop
async def test_a_page_that_cannot_be_made_is_a_state_of_its_tab_and_the_rest_goes_on(
    path: Path, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    async with kept(path) as (profile, engine, runner):
        engine.fails["open"] = error
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        failed = await runner.wait_until_loaded(tab.id)
        assert (failed.url, failed.error) == (A, "no page")
        engine.fails.clear()
        other = await profile.tabs.open("Work", B)
        await profile.tabs.reload(tab.id)
        await runner.wait_until_settled()
        assert set(engine.pages) == {tab.id, other.id}
        engine.fails["navigate"] = error
        await profile.tabs.navigate(tab.id, C)
        await runner.wait_until_settled()
        assert (await runner.wait_until_loaded(tab.id)).error == "no page"
    assert "no page" in caplog.text


@pytest.mark.parametrize("call", ["activate", "close", "forget"])
@in_loop
async def test_no_error_of_an_engine_ends_the_keeping(path: Path, caplog: pytest.LogCaptureFixture, call: str) -> None:
    async with kept(path) as (profile, engine, runner):
        engine.fails[call] = RuntimeError("broken")
        await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        await profile.identities.remove("firefox-container-2")
        await runner.wait_until_settled()
        engine.fails.clear()
        tab = await profile.tabs.open("Personal", A)
        await runner.wait_until_settled()
        assert tab.id in engine.pages
    assert "broken" in caplog.text


@in_loop
async def test_an_engine_that_is_lost_is_started_again_and_gets_its_pages_back(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with kept(path) as (profile, engine, runner):
        done, loading = await profile.tabs.open("Work", A), await profile.tabs.open("Personal", B)
        hidden = await profile.tabs.open("Banking", C)
        await runner.wait_until_settled()
        await engine.reports.page_updated(done.id, PageState(A))
        await profile.identities.hide("firefox-container-3")
        await runner.wait_until_settled()
        engine.calls.clear()
        engine.fails["start"] = hatbox.EngineError("not yet")
        engine.reports.engine_crashed("it crashed")
        engine.reports.engine_crashed("and told so twice")
        await engine.until_told("start", 2)
        engine.fails.clear()
        await runner.wait_until_settled()
        assert engine.calls[-1] != ("start",)
        assert {call[:2] for call in engine.told("open")} == {(done.id, A), (loading.id, B)}
        assert (await profile.tabs.get(loading.id)).error == ""
        assert (await profile.tabs.get(hidden.id)).hidden
    assert "it crashed" in caplog.text
    assert "not yet" in caplog.text


@in_loop
async def test_a_loss_that_is_told_twice_is_one_loss(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        engine.reports.engine_crashed("the browser has ended")
        engine.reports.engine_crashed("the pipe is closed")
        await runner.wait_until_settled()
        await engine.until_told("open", 2)
        assert len(engine.told("start")) == 2
        assert set(engine.pages) == {tab.id}


@in_loop
async def test_what_fails_because_the_engine_was_lost_is_made_in_its_next_life(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with kept(path) as (profile, engine, runner):
        engine.held["open"] = asyncio.Event()
        engine.fails["open"] = RuntimeError("the browser is gone")
        tab = await profile.tabs.open("Work", A)
        await engine.until_told("open")
        engine.reports.engine_crashed("it crashed")
        engine.held.pop("open").set()
        await asyncio.sleep(0)
        engine.fails.clear()
        await runner.wait_until_settled()
        assert set(engine.pages) == {tab.id}
        assert (await profile.tabs.get(tab.id)).error == ""
    assert not [record for record in caplog.records if record.exc_info]  # nobody is told of errors that were no wonder


@in_loop
async def test_removing_an_identity_closes_its_pages_and_then_forgets_it(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        tabs = [await profile.tabs.open("Work", A) for _ in range(3)]
        other = await profile.tabs.open("Personal", B)
        await runner.wait_until_settled()
        engine.held["close"] = asyncio.Event()
        await profile.identities.remove("firefox-container-2")
        await engine.until_told("close", 3)
        assert not engine.told("forget")
        engine.held["close"].set()
        await runner.wait_until_settled()
        assert {call[0] for call in engine.told("close")} == {tab.id for tab in tabs}
        assert engine.told("forget") == [("firefox-container-2",)]
        assert set(engine.pages) == {other.id}


@in_loop
async def test_a_removal_that_was_missed_is_noticed(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        profile.store.unsubscribe(runner._reconciler.on_change)
        await profile.identities.remove("firefox-container-2")
        profile.store.subscribe(runner._reconciler.on_change)
        runner._reconciler.on_change(ChangeRecord(RESYNC, b"", None))
        await engine.until_told("forget")
        assert not engine.pages


# ------------------------------------------------------------------------------------------------ starting, stopping


@in_loop
async def test_stopping_in_the_middle_of_everything_loses_no_tab(path: Path) -> None:
    engine = FakeEngine()
    async with kept(path, engine) as (profile, _, runner):
        first = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()

        async def report() -> None:
            await engine.reports.save_snapshot(first.id, b"as it was")
            await engine.reports.page_closed(first.id)  # its page closes with the browser
            await engine.reports.page_updated(first.id, PageState(A, error="aborted"))
            engine.reports.engine_crashed("the browser was closed")
            with pytest.raises(hatbox.EngineError):
                await engine.reports.page_opened(first.cookie_store_id, None)

        engine.when_stopped = report
        engine.held["open"] = asyncio.Event()
        second = await profile.tabs.open("Work", B)
        await engine.until_told("open", 2)
    assert engine.calls[-1] == ("stop",)
    async with kept(path) as (profile, engine, _):
        assert engine.told("open") == [(first.id, A, b"as it was"), (second.id, B, None)]


@in_loop
async def test_closing_the_profile_stops_its_engine_first(path: Path) -> None:
    engine = FakeEngine()
    profile = await hatbox.open(path)
    tab = await profile.tabs.open("Work", A)
    async with run(engine, profile) as runner:
        await runner.wait_until_settled()
        engine.when_stopped = lambda: engine.reports.save_snapshot(tab.id, b"as it was")
        await profile.close()
        assert engine.calls[-1] == ("stop",)
        await engine.reports.page_updated(tab.id, PageState(A))
    assert len(engine.told("stop")) == 1
    async with kept(path) as (profile, engine, _):
        assert engine.told("open") == [(tab.id, A, b"as it was")]


@in_loop
async def test_what_is_reported_after_the_profiles_end_is_logged_and_raises_nothing(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with kept(path) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        await profile.store.close()
        await engine.reports.page_updated(tab.id, PageState(A))
        await engine.reports.save_snapshot(tab.id, b"page")
    assert "report not saved" in caplog.text
    assert not [record for record in caplog.records if record.exc_info]


@in_loop
async def test_a_profile_that_is_not_open_gets_no_engine(path: Path) -> None:
    engine = FakeEngine()
    profile = hatbox.open(path)
    async with profile:
        pass
    with pytest.raises(hatbox.ProfileClosed):
        await run(engine, profile).__aenter__()
    assert engine.calls in ([], [("stop",)])
    async with kept(path):
        pass


@in_loop
async def test_an_engine_that_does_not_start_leaves_the_profile_free_for_another(path: Path) -> None:
    engine = FakeEngine()
    engine.fails["start"] = hatbox.EngineError("no browser here. Install one.")
    async with hatbox.open(path) as profile:
        with pytest.raises(hatbox.EngineError, match="Install one"):
            await run(engine, profile).__aenter__()
        async with run(FakeEngine(), profile):
            pass


@in_loop
async def test_a_second_engine_is_refused_while_the_first_runs(path: Path) -> None:
    async with kept(path) as (profile, _, _):
        with pytest.raises(hatbox.EngineAlreadyRunning, match="open in the fake engine"):
            await run(FakeEngine(), profile).__aenter__()


@in_loop
async def test_an_engine_can_be_entered_again(path: Path) -> None:
    async with hatbox.open(path) as profile:
        tab = await profile.tabs.open("Work", A)
        engine = FakeEngine()
        runner = run(engine, profile)
        for count in (1, 2):
            async with runner:
                await runner.wait_until_settled()
                assert engine.told("open") == [(tab.id, A, None)] * count


@in_loop
async def test_waiting_for_a_tab_ends_when_it_is_closed(path: Path) -> None:
    async with kept(path) as (profile, _, runner):
        tab = await profile.tabs.open("Work", A)
        waiting = asyncio.ensure_future(runner.wait_until_loaded(tab.id))
        await runner.wait_until_settled()
        await profile.tabs.close(tab.id)
        with pytest.raises(hatbox.InvalidTab):
            await waiting


@pytest.mark.parametrize("call", ["navigate", "activate", "open", "close", "move"])
@in_loop
async def test_one_change_reads_the_tabs_that_it_concerns_however_many_are_open(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    async with kept(path) as (profile, engine, runner):
        tabs = [await profile.tabs.open("Work", f"{A}{number}") for number in range(30)]
        await runner.wait_until_settled()
        read: list[object] = []
        _record_tab_reads(profile.store, read, monkeypatch)
        match call:
            case "navigate":
                await profile.tabs.navigate(tabs[3].id, B)
            case "activate":
                await profile.tabs.activate(tabs[3].id)
            case "open":
                await profile.tabs.open("Work", B)
            case "close":
                await profile.tabs.close(tabs[3].id)
            case _:
                await profile.tabs.move(tabs[3].id, 0)
        await runner.wait_until_settled()
        assert "all" not in read
        assert 1 <= len(set(read)) <= 4  # a store may run a function twice
        expected = {"navigate": (tabs[3].id, B), "activate": (tabs[3].id,), "close": (tabs[3].id, False)}
        if call in expected:
            assert engine.told(call)[-1] == expected[call]


def _record_tab_reads(store: Store, read: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Append the id of each tab that a reading transaction gets, or "all"."""
    run_read = store.read

    class Recorded:
        def __init__(self, recorded: object) -> None:
            self._recorded = recorded

        def __getattr__(self, name: str) -> object:
            value = getattr(self._recorded, name)
            return Recorded(value) if name == "tabs" else value

        def get(self, tab: int) -> object:
            read.append(tab)
            return self._recorded.get(tab)  # type: ignore[attr-defined]

        def get_many(self, tabs: Collection[int]) -> object:
            read.extend(tabs)
            return self._recorded.get_many(tabs)  # type: ignore[attr-defined]

        def find(self, **where: int) -> object:
            read.append("all")
            return self._recorded.find(**where)  # type: ignore[attr-defined]

    monkeypatch.setattr(
        store,
        "read",
        lambda work, **options: run_read(lambda each: work(cast("Transaction", Recorded(each))), **options),
    )


@in_loop
async def test_the_blank_tab_of_the_first_window_is_opened_when_it_is_used(path: Path) -> None:
    async with kept(path) as (profile, engine, runner):
        await profile.store.write(open_first_window)
        (tab,) = await profile.store.read(lambda each: each.tabs.find())
        await runner.wait_until_settled()
        assert not engine.told("open")
        await profile.tabs.navigate(tab.id, A)
        await runner.wait_until_settled()
        assert engine.told("open") == [(tab.id, A, None)]


# ----------------------------------------------------------------------------------------------------- whatever comes

WHAT = st.sampled_from(
    ["open", "navigate", "blank", "close", "hide", "show", "page closes", "page goes", "page opens", "loaded", "lost"]
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(WHAT, st.integers(0, 5), st.booleans()), max_size=25))
@example([("open", 0, False), ("navigate", 0, False), ("page goes", 0, False), ("lost", 1, False)])
def test_whatever_happens_in_whatever_order_pages_end_up_as_tabs_are(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, bool]]
) -> None:
    reconciler.logger.setLevel(logging.CRITICAL)  # every loss is a line, and there are hundreds
    try:
        asyncio.run(asyncio.wait_for(_happen(tmp_path_factory.mktemp("any") / "profile.db", steps), 30))
    finally:
        reconciler.logger.setLevel(logging.NOTSET)


async def _happen(path: Path, steps: list[tuple[str, int, bool]]) -> None:
    async with kept(path) as (profile, engine, runner):
        for what, which, settle in steps:
            tabs = await profile.tabs.query()
            identity = ("firefox-container-1", "firefox-container-2")[which % 2]
            tab = tabs[which % len(tabs)] if tabs else None
            match what:
                case "open":
                    await profile.tabs.open(identity, A)
                case "hide":
                    await profile.identities.hide(identity)
                case "show":
                    await profile.identities.show(identity)
                case "lost":
                    engine.pages.clear()
                    engine.reports.engine_crashed("test")
                case _ if tab is None:
                    pass
                case "navigate":
                    await profile.tabs.navigate(tab.id, B)
                case "blank":
                    await profile.tabs.navigate(tab.id, "about:blank")
                case "close":
                    await profile.tabs.close(tab.id)
                case _ if tab.id in engine.pages:
                    await _page_does(engine, what, tab)
            if settle:
                await runner.wait_until_settled()
        await runner.wait_until_settled()
        tabs = await profile.tabs.query()
        assert set(engine.pages) == {tab.id for tab in tabs if not tab.hidden}
        for tab in tabs:
            if not tab.hidden:
                assert engine.pages[tab.id].navigation_id == tab.navigation_id


async def _page_does(engine: FakeEngine, what: str, tab: hatbox.Tab) -> None:
    match what:
        case "page closes":
            engine.pages.pop(tab.id)
            await engine.reports.page_closed(tab.id)
        case "page goes":
            number = await engine.reports.navigation_started(tab.id, C)
            if number and tab.id in engine.pages:  # else it was closed meanwhile
                engine.pages[tab.id] = hatbox.Tab(
                    **{**{name: getattr(tab, name) for name in tab.__struct_fields__}, "navigation_id": number}
                )
        case "page opens":
            new = await engine.reports.page_opened(tab.cookie_store_id, tab.id)
            engine.pages[new.id] = new
        case "loaded":
            await engine.reports.page_updated(tab.id, PageState(C))


# ------------------------------------------------------------------------------------------- a restore is a load


@in_loop
async def test_a_tab_that_is_restored_is_loading_until_its_page_has_loaded(path: Path) -> None:
    async with kept(path, LoadsAgain()) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        blank = await profile.tabs.open("Work")
        await runner.wait_until_settled()
        await engine.reports.page_updated(tab.id, PageState(A, "One"))
    async with kept(path, LoadsAgain()) as (profile, engine, runner):
        restored = await profile.tabs.get(tab.id)
        assert (restored.status, restored.title, restored.url) == ("loading", "One", A)
        assert (await profile.tabs.get(blank.id)).status == "complete"
        await engine.reports.page_updated(tab.id, PageState(A), done=False)
        assert (await profile.tabs.get(tab.id)).title == "One"
    async with kept(path, LoadsAgain()) as (profile, engine, runner):  # the one before was stopped meanwhile
        assert (await profile.tabs.get(tab.id)).title == "One"
        waiting = asyncio.ensure_future(runner.wait_until_loaded(tab.id))
        engine.reports.engine_crashed("a test")
        await engine.until_told("start", 2)
        await runner.wait_until_settled()
        assert not waiting.done()
        await engine.reports.page_updated(tab.id, PageState(A, "Two"))
        assert ((await waiting).title, (await waiting).status) == ("Two", "complete")
        assert len(engine.told("open")) == 4  # each page once in each of its two lives


@in_loop
async def test_a_tab_that_cannot_be_restored_keeps_its_title_and_says_why(path: Path) -> None:
    async with kept(path, LoadsAgain()) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        await engine.reports.page_updated(tab.id, PageState(A, "One"))
        await profile.identities.hide("firefox-container-2")
        await runner.wait_until_settled()
        engine.fails["open"] = hatbox.EngineError("the browser did not answer")
        await profile.identities.show("firefox-container-2")
        await runner.wait_until_settled()
        failed = await runner.wait_until_loaded(tab.id)
        assert (failed.url, failed.title, failed.error) == (A, "One", "the browser did not answer")
        engine.fails.clear()
        await profile.tabs.reload(tab.id)
        await runner.wait_until_settled()
        await engine.reports.page_updated(tab.id, PageState(A, "Two"))
        assert ((await runner.wait_until_loaded(tab.id)).title, (await runner.wait_until_loaded(tab.id)).error) == (
            "Two",
            "",
        )


@in_loop
async def test_a_load_that_is_requested_while_a_tab_is_hidden_is_the_only_one_when_it_is_shown(path: Path) -> None:
    async with kept(path, LoadsAgain()) as (profile, engine, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        await engine.reports.page_updated(tab.id, PageState(A, "One"))
        await profile.identities.hide("firefox-container-2")
        await profile.tabs.navigate(tab.id, B)
        await profile.identities.show("firefox-container-2")
        await runner.wait_until_settled()
        assert engine.told("open")[-1][:2] == (tab.id, B)
        assert engine.told("navigate") == []
        await engine.reports.page_updated(tab.id, PageState(B, "Two"))
        assert (await runner.wait_until_loaded(tab.id)).title == "Two"


class DiesWhenItRestores(LoadsAgain):
    """It is lost once, just before the load of a restored page is written to the profile."""

    is_dying = False

    def loads_again(self, tab: hatbox.Tab) -> bool:
        if self.is_dying:
            self.is_dying = False
            self.fails["open"] = hatbox.EngineError("the browser has ended")
            self.reports.engine_crashed("a test")
        return super().loads_again(tab)

    async def start(self, delegate: EngineDelegate) -> None:
        await super().start(delegate)
        self.fails.clear()


@in_loop
async def test_a_tab_whose_engine_is_lost_as_it_is_restored_gets_one_page_from_the_next(path: Path) -> None:
    engine = DiesWhenItRestores()
    async with kept(path, engine) as (profile, _, runner):
        tab = await profile.tabs.open("Work", A)
        await runner.wait_until_settled()
        await engine.reports.page_updated(tab.id, PageState(A, "One"))
        await profile.identities.hide("firefox-container-2")
        await runner.wait_until_settled()
        engine.calls.clear()
        engine.is_dying, engine.held["start"] = True, asyncio.Event()
        await profile.identities.show("firefox-container-2")
        await engine.until_told("start")
        while (await profile.tabs.get(tab.id)).status != "loading":
            pass
        for _ in range(10):  # so that whatever follows that write has happened
            await profile.tabs.get(tab.id)
        engine.held["start"].set()
        await runner.wait_until_settled()
        assert [call[:2] for call in engine.told("open")] == [(tab.id, A)]
        assert set(engine.pages) == {tab.id}
        await engine.reports.page_updated(tab.id, PageState(A, "Two"))
        assert (await runner.wait_until_loaded(tab.id)).title == "Two"
