"""Sign-ins that expire while pages are open: events say so, although no program changes anything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest

import hatbox
from hatbox.cookies import cookie_expiry
from hatbox.profile import Profile
from hatbox.store.base import RESYNC
from hatbox.store.tables.cookie_tables import SqlCookieTable
from tests.store.in_loop import in_loop
from tests.waiting import until, until_awaited

PERSONAL, WORK, BANKING = (f"firefox-container-{number}" for number in (1, 2, 3))
START = 1_900_000_000.0


class Watched:
    """A profile whose time only the test changes, and what its events have said since `clear`."""

    def __init__(self, profile: Profile) -> None:
        self.now = START
        profile.store.time = lambda: self.now  # type: ignore[method-assign]
        self.profile = profile
        self.hatbox = profile.browser(["hatbox"]).hatbox
        self.identities: list[Any] = []
        self.sites: list[Any] = []
        self.counts: list[Any] = []
        self._marks = 0

    def listen(self) -> None:
        self.hatbox.identities.onChanged.addListener(self.identities.append)
        self.hatbox.sites.onChanged.addListener(self.sites.append)
        self.hatbox.onCountsChanged.addListener(lambda: self.counts.append("changed"))

    async def sign_in(self, identity: str, seconds: float, name: str = "sid") -> None:
        store = await self.profile.cookie_store(identity)
        await store.receive([f"{name}=1; HttpOnly; Max-Age={seconds}"], "https://forge.example/")

    async def settle(self) -> None:
        """Forget the events so far: a change after them is in each event."""
        self._marks += 1
        store = await self.profile.cookie_store(BANKING)
        await store.receive(["mark=1"], f"https://mark{self._marks}.example/")
        await until(lambda: any(BANKING in each["changed"] for each in self.identities))
        await until(lambda: any(BANKING in each["cookieStoreIds"] for each in self.sites))
        for each in (self.identities, self.sites, self.counts):
            each.clear()

    def has_named(self, identity: str) -> bool:
        """Whether events about identities and about sites have named an identity."""
        return any(identity in each["changed"] for each in self.identities) and any(
            identity in each["cookieStoreIds"] for each in self.sites
        )

    async def pass_until(self, condition: Callable[[], object]) -> None:
        """Run the timers that are due until something has happened."""

        async def check() -> object:
            await self.profile.clock.advance(0)
            return condition()

        await until_awaited(check)

    async def signed_in(self, identity: str) -> int:
        (summary,) = await self.hatbox.identities.summaries([identity])
        return int(summary["signedIn"])


@asynccontextmanager
async def opened(address: str) -> AsyncIterator[Watched]:
    async with hatbox.open(address) as profile:
        yield Watched(profile)


@in_loop
async def test_an_expired_sign_in_is_reported_by_each_event_for_its_identity(address: str) -> None:
    async with opened(address) as watched:
        await watched.sign_in(WORK, 20)  # before the pages are opened
        watched.listen()
        await watched.sign_in(PERSONAL, 40)  # while they are open
        await watched.settle()
        assert await watched.signed_in(WORK) == 1
        for identity, other, seconds in ((WORK, PERSONAL, 21), (PERSONAL, WORK, 41)):
            watched.now = START + seconds
            await watched.pass_until(lambda: watched.counts and watched.has_named(identity))  # noqa: B023 - awaited here
            assert not any(each["all"] or other in each["changed"] for each in watched.identities)
            assert await watched.signed_in(identity) == 0
            await watched.settle()
        assert (await watched.hatbox.getCounts())["sites"] == 3, "those of `settle`"


@in_loop
async def test_a_sign_in_that_was_renewed_by_any_program_is_reported_when_it_expires(address: str) -> None:
    async with opened(address) as watched, hatbox.open(address) as other:
        other.store.time = lambda: watched.now  # type: ignore[method-assign]
        await watched.sign_in(WORK, 20)
        watched.listen()
        await watched.settle()
        await (await other.cookie_store(WORK)).receive(["sid=2; HttpOnly; Max-Age=60"], "https://forge.example/")
        await until(lambda: watched.has_named(WORK))
        await watched.settle()
        watched.now += 30
        await watched.profile.clock.advance(0)
        await watched.settle()
        assert await watched.signed_in(WORK) == 1
        watched.now += 31
        await watched.pass_until(lambda: watched.has_named(WORK))
        assert await watched.signed_in(WORK) == 0


@in_loop
async def test_cookies_that_expire_one_after_the_other_are_read_once_a_second(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[float] = []
    next_expiries = SqlCookieTable.next_expiries

    def counted(table: SqlCookieTable, *arguments: Any) -> dict[int, float]:
        reads.append(watched.now)
        return next_expiries(table, *arguments)

    async with opened(address) as watched:
        for number in range(50):
            watched.now = START + number * 0.1
            await watched.sign_in(WORK, 20, f"sid{number}")
        watched.listen()
        await watched.settle()
        await until(lambda: watched.profile.cookies.expiry._checking is None)
        monkeypatch.setattr(SqlCookieTable, "next_expiries", counted)
        for tenth in range(80):
            watched.now = START + 19 + tenth * 0.1
            await watched.profile.clock.advance(0)
        seconds = sorted(set(reads))
        assert 4 <= len(seconds) <= 7
        assert all(later - earlier > 0.99 for earlier, later in pairwise(seconds))
        assert await watched.signed_in(WORK) == 0


@in_loop
async def test_a_clock_that_is_set_and_lost_changes_are_noticed(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cookie_expiry, "_MAX_WAIT", 0.01)  # for what no timer can expect
    async with opened(address) as watched:
        await watched.sign_in(WORK, 3600)
        watched.listen()
        await watched.settle()
        watched.now += 7200  # no timer runs
        await until(lambda: watched.has_named(WORK))
        assert await watched.signed_in(WORK) == 0
        watched.now -= 7200  # before the later time was stored
        await until(lambda: any(each["all"] for each in watched.identities))
        assert await watched.signed_in(WORK) == 1
        await watched.settle()
        await watched.profile.store.write(lambda transaction: transaction.changes.append(RESYNC, b"null"))
        await until(lambda: any(each["all"] for each in watched.identities))
        await watched.settle()
        watched.now += 7200
        await until(lambda: watched.has_named(WORK))


@in_loop
async def test_nothing_is_read_without_listeners_or_of_a_closed_profile(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cookie_expiry, "_MAX_WAIT", 0.01)
    async with opened(address) as watched:
        expiry = watched.profile.cookies.expiry
        changed = watched.hatbox.sites.onChanged
        changed.addListener(watched.sites.append)
        assert expiry.is_watching
        changed.removeListener(watched.sites.append)
        assert not expiry.is_watching
        watched.listen()
        assert expiry.is_watching
    await until(lambda: not expiry.is_watching)
