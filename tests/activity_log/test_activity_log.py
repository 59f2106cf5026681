"""The activity log: what was done with which identity, for grants always. Bounded, and without contents."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox import Profile, RecordedAction
from hatbox.activity_log import activity_recorder
from hatbox.activity_log.activity_recorder import ActivityRecorder
from hatbox.activity_log.activity_rows import OTHER_HOSTS, set_recorded, share, write_entries
from hatbox.activity_log.entry_budget import MAX_KEYS, MAX_SUMMARIES, Recorded
from hatbox.errors import DiskFull
from hatbox.store.base import Transaction
from hatbox.store.grant_tables import ActivityRow
from hatbox.tabs.pages import PageState, navigate, update_page
from tests.postgres import address_of
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess
from tests.store.store_clock import set_store_clock
from tests.waiting import until_awaited

DAY = 86_400.0
START = 1_800_000_000.0
WORK = "firefox-container-2"
PERSONAL = "firefox-container-1"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture
def address(path: Path) -> str:
    return address_of(path)


def entry(at: float, grant: str = "grant", store: int | None = 2, host: str = "site.example") -> ActivityRow:
    return ActivityRow(0, at, grant, "program", "machine", store, "fetch", host, "ok", 1)


async def stored(profile: Profile) -> list[ActivityRow]:
    """What is in the profile, without what this process has not written yet."""
    return await profile.store.read(lambda each: each.activity.latest(100_000))


@in_loop
async def test_what_a_grant_does_is_recorded_and_found_again(address: str) -> None:
    async with hatbox.open(address) as profile:
        log = profile.activity_log
        before = profile.store.time()
        log.record(WORK, "fetch", host="site.example", grant="one")
        log.record(WORK, "pages", host="https://me@Other.Example:8443/path?token=1#x", grant="one", outcome="refused")
        log.record(None, "identities.list", grant="two", program="agent")
        found = await log.query()
        assert [(each.action, each.host, each.outcome, each.grant, each.identity) for each in found] == [
            ("identities.list", "", "ok", "two", None),
            ("pages", "other.example", "refused", "one", WORK),
            ("fetch", "site.example", "ok", "one", WORK),
        ]
        assert found[0].program == "agent"
        assert found[1].program
        assert found[1].machine
        assert all(before <= each.at <= profile.store.time() for each in found)
        assert [each.action for each in await log.query(grant="one", limit=1)] == ["pages"]
        assert [each.action for each in await log.query(identity="Work")] == ["pages", "fetch"]
        assert await log.query(identity="Personal") == []
        assert await log.query(since=profile.store.time() + 1) == []
        assert len(await log.query(since=before, grant="one", identity=WORK)) == 2
    async with hatbox.open(address) as profile:
        assert await profile.activity_log.query() == found


@in_loop
async def test_an_identity_is_recorded_without_a_grant_only_if_its_setting_is_on(address: str) -> None:
    async with hatbox.open(address) as profile:
        log = profile.activity_log
        for step, expected in ((None, 0), (True, 1), (True, 2), (False, 2)):
            if step is not None:
                await log.set_recorded("Work", step)
                assert await log.is_recorded("Work") is step
            log.record(WORK, "fetch")
            log.record(PERSONAL, "fetch")
            log.record("firefox-default", "fetch")
            log.record(None, "fetch")
            assert sum(each.times for each in await log.query()) == expected, step
        assert {each.identity for each in await log.query()} == {WORK}


@in_loop
async def test_another_process_switches_the_setting(path: Path) -> None:
    async with hatbox.open(address_of(path)) as profile, hatbox.open(address_of(path)) as other:
        profile.activity_log.record(WORK, "fetch")
        assert await profile.activity_log.query() == []
        await other.activity_log.set_recorded("Work", True)
        await profile.store.deliver_pending_changes()
        profile.activity_log.record(WORK, "fetch")
        assert len(await profile.activity_log.query()) == 1
        assert await profile.activity_log.query() == await other.activity_log.query()


@in_loop
async def test_the_setting_belongs_to_the_identity_in_the_trash_and_in_a_backup(address: str, tmp_path: Path) -> None:
    async with hatbox.open(address) as profile:
        await profile.activity_log.set_recorded("Work", True)
        await profile.backup(tmp_path / "backup")
        await profile.identities.remove("Work")
        await profile.trash.restore("Work")
        assert await profile.activity_log.is_recorded("Work")
        await profile.activity_log.set_recorded("Work", False)
        await profile.restore(tmp_path / "backup")
        assert await profile.activity_log.is_recorded("Work")
        profile.activity_log.record(WORK, "fetch")
        assert len(await profile.activity_log.query()) == 1


@in_loop
async def test_unknown_values_of_the_setting_do_not_record(address: str) -> None:
    async with hatbox.open(address) as profile:
        for value in (b"false", b"", b"\xff", b"TRUE", b"[true]"):
            await profile.store.write(lambda each, value=value: each.settings.put(2, "activity", value))  # type: ignore[misc]
            assert not await profile.activity_log.is_recorded("Work")
        await profile.store.write(lambda each: set_recorded(each, 2, recorded=True))
        assert await profile.activity_log.is_recorded("Work")


@in_loop
async def test_entries_are_written_without_a_query(address: str) -> None:
    async with hatbox.open(address) as profile:
        profile.activity_log.record(WORK, "fetch", grant="one")

        async def written() -> list[ActivityRow]:
            return await stored(profile)

        (row,) = await until_awaited(written)
        assert row.times == 1


@in_loop
async def test_entries_are_written_when_the_profile_is_closed(address: str) -> None:
    async with hatbox.open(address) as profile:
        for number in range(50):
            profile.activity_log.record(WORK, "fetch", host=f"h{number}.example", grant="one")
    async with hatbox.open(address) as profile:
        assert len(await stored(profile)) == 50


@in_loop
async def test_the_same_within_a_batch_is_one_entry(address: str) -> None:
    async with hatbox.open(address) as profile:
        for _ in range(10_000):
            profile.activity_log.record(WORK, "fetch", host="site.example", grant="one")
        profile.activity_log.record(WORK, "fetch", host="site.example", grant="two")
        assert [(each.grant, each.times) for each in await profile.activity_log.query()] == [
            ("two", 1),
            ("one", 10_000),
        ]


@pytest.mark.process
@in_loop
async def test_a_program_that_is_killed_has_written_what_is_older_than_a_second(path: Path) -> None:
    async with hatbox.open(address_of(path)) as profile:
        other = await asyncio.to_thread(OtherProcess, path)
        with other:
            await asyncio.to_thread(other.call, "record", WORK, "fetch", host="site.example", grant="one")

            async def written() -> list[ActivityRow]:
                return await stored(profile)

            await until_awaited(written)
            await asyncio.to_thread(other.call, "record", WORK, "pages", host="site.example", grant="one")
            other.kill()
        profile.activity_log.record(WORK, "tabs", grant="one")
        actions = [each.action for each in await profile.activity_log.query()]
        assert actions in (["tabs", "fetch"], ["tabs", "pages", "fetch"])


# --------------------------------------------------------------------------------------------------------------- bounds


@in_loop
async def test_entries_are_deleted_after_thirty_days(address: str) -> None:
    async with hatbox.open(address) as profile:
        now = profile.store.time()
        await profile.store.write(lambda each: each.activity.insert([entry(now - 31 * DAY), entry(now - 29 * DAY)]))
        await profile.store.write(lambda each: each.cookie_time.put(now, None, None))  # so the clock is trusted
    async with hatbox.open(address) as profile:  # cleaned up when it is opened
        assert [round((now - row.at) / DAY) for row in await stored(profile)] == [29]


@in_loop
async def test_a_clock_that_is_wrong_for_a_while_deletes_no_entry(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if older entries wait to be deleted, and if the log is written meanwhile."""

    async def ages(ahead: float) -> list[float]:
        set_store_clock(monkeypatch, START + ahead * DAY)
        async with hatbox.open(address) as profile:
            before = sorted(round((row.at - START) / DAY, 1) for row in await stored(profile))
            profile.activity_log.record(WORK, "fetch", grant=f"at {ahead}")
        return before

    assert await ages(0) == []
    assert await ages(29) == [0]
    assert await ages(60) == [0, 29]  # wrong
    assert await ages(29.1) == [0, 29, 60]
    assert await ages(31) == [0, 29, 29.1, 60]
    assert await ages(31.9) == [0, 29, 29.1, 31, 60]
    assert await ages(62) == [29, 29.1, 31, 31.9, 60]  # wrong again: deletes what had expired a day ago
    assert await ages(32.5) == [29, 29.1, 31, 31.9, 60, 62]
    assert await ages(61.5) == [29, 29.1, 31, 31.9, 32.5, 60, 62]
    assert await ages(62.6) == [31.9, 32.5, 60, 61.5, 62]


@in_loop
async def test_a_full_log_loses_the_oldest_entries_of_the_one_who_floods_it(address: str) -> None:
    async with hatbox.open(address) as profile:
        now = profile.store.time() - DAY
        quiet = [entry(now + n, "quiet", host=f"q{n}.example") for n in range(30)]
        own = [entry(now + n, "", store=1, host=f"o{n}.example") for n in range(10)]
        flood = [entry(now + 100 + n, "flood", store=2 + n % 2, host=f"f{n}.example") for n in range(300)]
        await profile.store.write(lambda each: write_entries(each, [*quiet, *own, *flood], limit=200))
        rows = await stored(profile)
        counts = {grant: sum(row.grant_id == grant for row in rows) for grant in ("quiet", "", "flood")}
        assert counts == {"quiet": 30, "": 10, "flood": 140 + 2}
        summaries = [row for row in rows if row.host == OTHER_HOSTS]
        kept = sorted(int(row.host[1:].partition(".")[0]) for row in rows if row.grant_id == "flood" and row.program)
        assert kept == list(range(160, 300))
        assert {(row.grant_id, row.store, row.action, row.outcome, row.times) for row in summaries} == {
            ("flood", 2, "fetch", "ok", 80),
            ("flood", 3, "fetch", "ok", 80),
        }
        more = [entry(now + 900 + n, "flood", host=f"f{n}.example") for n in range(300)]
        await profile.store.write(lambda each: write_entries(each, more, limit=200))
        assert sum(row.times for row in await stored(profile) if row.grant_id == "flood") == 600  # none is forgotten


@in_loop
async def test_a_process_counts_at_its_first_batch_and_every_thousand_entries(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity_recorder, "_COUNT_EVERY", 20)
    async with hatbox.open(address) as profile:
        now = profile.store.time() - 100
        await profile.store.write(
            lambda each: each.activity.insert(entry(now, host=f"h{n}.example") for n in range(60))
        )
        recorder = ActivityRecorder(profile.store, max_entries=50)
        recorder.add(Recorded("other", "p", "m", 2, "fetch", "x.example", "ok"))
        await recorder.flush()
        assert len(await stored(profile)) == 45 + 1  # with a summary
        for number in range(100):
            recorder.add(Recorded("grant", "p", "m", 2, "fetch", f"n{number}.example", "ok"))
            await recorder.flush()
            assert len(await stored(profile)) <= 50 + 20
        assert [row.grant_id for row in await stored(profile)].count("other") == 1
        await recorder.close()


@given(sizes=st.dictionaries(st.integers(), st.integers(0, 1000), min_size=1), total=st.integers(0, 2000))
def test_shares_fit_and_take_nothing_from_small_ones(sizes: dict[int, int], total: int) -> None:
    shares = share(sizes, total)
    assert shares.keys() == sizes.keys()
    assert sum(shares.values()) <= total
    assert all(0 <= shares[key] <= size for key, size in sizes.items())
    if sum(sizes.values()) <= total:
        assert shares == sizes
    for key, size in sizes.items():
        if size <= total // len(sizes):
            assert shares[key] == size


@in_loop
async def test_what_one_grant_does_too_often_is_counted_in_summaries_and_nothing_is_lost(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    clock = [0.0]
    async with hatbox.open(address) as profile:
        named = "*.bank.example"
        recorder = ActivityRecorder(
            profile.store, clock=lambda: clock[0], pattern_of=lambda _, host: named if host.endswith(named[1:]) else ""
        )
        for minute in range(2):
            clock[0] = minute * 61.0
            for number in range(5000):  # in one turn of the loop: nothing can be written meanwhile
                recorder.add(
                    Recorded("noise", "p", "m", 1 + number % 4, f"a{number % 50}", f"h{number}.example", "refused")
                )
                if number % 1000 == 0:
                    await recorder.flush()
            recorder.add(Recorded("noise", "p", "m", 2, "fetch", "shop.example", "ok"))
            for number in range(1, 1000):
                recorder.add(Recorded("noise", f"p{number}", "m", 2, "fetch", f"h{number}.example", "ok"))
            for number in range(2):
                recorder.add(Recorded("noise", "p", "m", 2, "fetch", f"{number}.bank.example", "ok"))
            recorder.add(Recorded("quiet", "p", "m", 2, "fetch", "site.example", "ok"))
            await recorder.flush()
            rows = await stored(profile)
            noise = [row for row in rows if row.grant_id == "noise"]
            assert sum(row.times for row in noise) == 6002 * (minute + 1)
            assert len(noise) <= 2 * (MAX_KEYS + MAX_SUMMARIES + 2) * (minute + 1)
            refused = [row for row in noise if row.outcome == "refused"]
            assert [row.host for row in refused].count(OTHER_HOSTS) > minute
            done = [(row.program, row.host, row.times) for row in noise if row.outcome == "ok"]
            assert done.count(("p", "shop.example", 1)) == minute + 1, "what was refused does not hide it"
            assert done.count(("", named, 2)) == minute + 1, "what the grant names is not hidden by other hosts"
            quiet = [row for row in rows if row.grant_id == "quiet"]
            assert [(row.host, row.times) for row in quiet] == [("site.example", 1)] * (minute + 1)
        await recorder.close()
    assert "lost" not in caplog.text


@in_loop
async def test_the_same_again_within_a_minute_changes_its_entry(address: str) -> None:
    clock = [0.0]
    async with hatbox.open(address) as profile:
        recorder = ActivityRecorder(profile.store, clock=lambda: clock[0])
        fetched = Recorded("one", "p", "m", 2, "fetch", "site.example", "ok")
        for now, expected in ((0.0, [1]), (1.0, [2]), (59.0, [3]), (61.0, [1, 3])):
            clock[0] = now
            before = profile.store.time()
            recorder.add(fetched)
            await recorder.flush()
            rows = await stored(profile)
            assert [row.times for row in rows] == expected
            assert rows[0].at >= before
        await recorder.close()


@in_loop
async def test_what_was_done_last_is_listed_first_also_if_it_started_earlier(address: str) -> None:
    async with hatbox.open(address) as profile:
        now = profile.store.time() - 100

        def write(transaction: Transaction) -> None:
            first, *_ = write_entries(transaction, [entry(now + n, host=f"h{n}.example") for n in range(3)])
            write_entries(transaction, [first._replace(at=now + 50, times=2)])  # the same again, within a minute
            transaction.activity.insert([entry(now + 50, host="same-time.example"), entry(now + 3, "other")])

        await profile.store.write(write)
        log = profile.activity_log
        expected = ["same-time.example", "h0.example", "site.example", "h2.example", "h1.example"]
        assert [each.host for each in await log.query()] == expected
        assert [each.host for each in await log.query(limit=2)] == expected[:2]
        assert [each.host for each in await log.query(identity="Work", since=now + 2)] == expected[:4]
        assert [each.host for each in await log.query(grant="grant", limit=3)] == [*expected[:2], expected[3]]


@in_loop
async def test_entries_wait_while_the_profile_cannot_be_written(
    address: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(address) as profile:
        with monkeypatch.context() as patch:

            def fail(work: object) -> asyncio.Future[Any]:
                future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
                future.set_exception(DiskFull("profile", "the disk is full", "Free some space."))
                return future

            patch.setattr(profile.store, "write", fail)
            profile.activity_log.record(WORK, "fetch", grant="one")
            await profile.activity_log.flush()
            profile.activity_log.record(WORK, "fetch", grant="one")
        assert "the activity log cannot be written: profile: the disk is full" in caplog.text
        assert [each.times for each in await profile.activity_log.query()] == [2]


# ------------------------------------------------------------------------------------------------ contents and deletion


@in_loop
async def test_nothing_but_words_and_hosts_is_recorded(address: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with hatbox.open(address) as profile:
        record: Any = profile.activity_log.record
        for arguments in (
            ("GET /secret", "ok"),
            ("fetch", "500 https://x/?secret"),
            ("", "ok"),
            ("a" * 65, "ok"),
            ("é", "ok"),
        ):
            with pytest.raises(ValueError, match="action and outcome must be words"):
                record(WORK, arguments[0], outcome=arguments[1], grant="one")
        for identity in ("Work", "firefox-container-0", "x"):
            with pytest.raises(ValueError, match="identity must be a cookieStoreId"):
                record(identity, "fetch", grant="one")
        for host in (
            "site.example/secret",
            "site.example?secret",
            "me:secret@site.example",
            "a\nb",
            "javascript:secret",
            "data:text/html,secret",
            "//site.example/secret",
        ):
            record(WORK, "fetch", host=host, grant="one")
        assert {each.host for each in await profile.activity_log.query()} == {""}
        record(WORK, "fetch", host="https://u:secret@site.example/secret?secret", grant="two", program="p" * 5000)
        (found,) = await profile.activity_log.query(grant="two")
        assert (found.host, len(found.program)) == ("site.example", 100)
        assert "secret" not in repr(await stored(profile))
    assert "secret" not in caplog.text


@in_loop
async def test_a_query_with_invalid_arguments_is_refused(address: str) -> None:
    async with hatbox.open(address) as profile:
        query: Any = profile.activity_log.query
        for limit in (0, -1, True, 1.5, 100_001, "5"):
            with pytest.raises(ValueError, match="limit must be a whole number from 1 to 100000"):
                await query(limit=limit)
        with pytest.raises(hatbox.IdentityNotFound):
            await query(identity="Wrok")
        with pytest.raises(TypeError):
            await query(identity=5)
        assert await query(grant="' OR 1=1 --") == []


@in_loop
async def test_entries_stay_with_an_identity_in_the_trash_and_are_deleted_with_it_for_ever(address: str) -> None:
    async with hatbox.open(address) as profile:
        log = profile.activity_log
        log.record(WORK, "fetch", grant="one")
        log.record(PERSONAL, "fetch", grant="one")
        await log.flush()
        await profile.identities.remove("Work")
        assert len(await log.query(identity=WORK)) == 1
        log.record(WORK, "fetch", host="late.example", grant="one")  # of a request that was under way
        await profile.trash.restore("Work")
        assert len(await log.query(identity="Work")) == 2
        await profile.identities.remove("Work")
        await profile.trash.empty()
        assert {each.identity for each in await log.query()} == {PERSONAL}
        log.record(WORK, "fetch", grant="one")  # after that nothing is written
        await profile.identities.remove("Personal", forever=True)
        assert await log.query() == []


@in_loop
async def test_entries_of_a_temporary_identity_are_deleted_with_it(address: str) -> None:
    async with hatbox.open(address) as profile:
        async with profile.temporary() as identity:
            profile.activity_log.record(identity.cookie_store_id, "fetch", grant="one")
            assert len(await profile.activity_log.query()) == 1
        assert await profile.activity_log.query() == []


@in_loop
async def test_garbage_in_the_table_is_listed_as_it_is(address: str) -> None:
    async with hatbox.open(address) as profile:
        odd = ActivityRow(0, 4_000_000_000.0, "\u202e'\x00", "\x1b[31m", "", 4_000_000_000, "", "\x00", "", -5)

        def put(transaction: Transaction) -> None:
            transaction.activity.insert([odd, odd._replace(store=-1, at=-1.0)])

        await profile.store.write(put)
        profile.activity_log.record(WORK, "fetch", grant="one")
        found = await profile.activity_log.query()
        assert len(found) in (2, 3)
        assert all(isinstance(each, RecordedAction) for each in found)


def test_programs_without_an_event_loop_use_the_log_too(path: Path) -> None:
    with hatbox.open_sync(address_of(path)) as profile:
        profile.activity_log.set_recorded("Work", True)
        assert profile.activity_log.is_recorded("Work")
        profile.activity_log.record(WORK, "fetch", host="site.example")
        (found,) = profile.activity_log.query(identity="Work")
        assert (found.action, found.host, found.grant) == ("fetch", "site.example", "")


@in_loop
async def test_pages_that_an_engine_loads_are_recorded_if_the_setting_is_on(address: str) -> None:
    async with hatbox.open(address) as profile:
        for identity, recorded in (("Work", True), ("Personal", False)):
            await profile.activity_log.set_recorded(identity, recorded)
            tab = await profile.tabs.open(identity, "https://me:secret@site.example/secret?secret")
            loaded = PageState("https://www.site.example/secret?secret#secret", "secret", http_status=200)
            await profile.tabs.write(lambda each, tab=tab, page=loaded: update_page(each, tab.id, 1, page))  # type: ignore[misc]
            again = PageState("https://www.site.example/secret/2", "secret", http_status=200)  # by history.pushState()
            await profile.tabs.write(lambda each, tab=tab, page=again: update_page(each, tab.id, 1, page))  # type: ignore[misc]
            await profile.tabs.write(lambda each, tab=tab: navigate(each, tab.id, "https://gone.example/secret"))  # type: ignore[misc]
            failed = PageState("https://gone.example/secret", error="no such host: secret")
            await profile.tabs.write(lambda each, tab=tab, page=failed: update_page(each, tab.id, 2, page))  # type: ignore[misc]
        found = await profile.activity_log.query()
        assert [(each.identity, each.action, each.host, each.outcome) for each in found] == [
            (WORK, "pages", "gone.example", "failed"),
            (WORK, "pages", "www.site.example", "ok"),
        ]
        assert "secret" not in repr(await stored(profile))


@in_loop
async def test_a_host_that_a_grant_names_has_an_entry_however_many_others_there_are(address: str) -> None:
    async with hatbox.open(address) as profile:
        hosts = ["*.shop.example", "bank.example"]
        grant, _ = await profile.grants.create("many", identities="Work", hosts=hosts)
        for number in range(MAX_KEYS):
            profile.activity_log.record("firefox-container-2", "fetch", host=f"{number}.shop.example", grant=grant.id)
        for host in ("last.shop.example", "bank.example"):
            profile.activity_log.record("firefox-container-2", "fetch", host=host, grant=grant.id)
        found = [entry.host for entry in await profile.activity_log.query(grant=grant.id)]
        assert set(found) - {f"{number}.shop.example" for number in range(MAX_KEYS)} == set(hosts)
