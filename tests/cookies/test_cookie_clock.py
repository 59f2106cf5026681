from __future__ import annotations

import asyncio
from email.utils import formatdate
from pathlib import Path

import pytest

import hatbox
from hatbox.cookies.cookie_clock import CookieClock
from hatbox.cookies.eviction import JarLimits
from hatbox.formats import FORMATS
from hatbox.profile import Profile
from tests.store.in_loop import in_loop

NOW = 1_790_000_000.0
HOUR = 3600.0
DAY = 24 * HOUR
YEAR = 365 * DAY
URL = "https://site.example/"
_WORK = 2
EVERYTHING = ["cookies", "<all_urls>"]


class Machine:
    """A machine whose clock can be set; `open` opens a profile as a program on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.time = NOW

    def open(self) -> Profile:
        profile = hatbox.open(self.path)
        profile.store.time = lambda: self.time  # type: ignore[method-assign]
        return profile

    async def rows(self) -> list[str]:
        """The names of all stored cookies, expired or not."""
        async with hatbox.open(self.path) as profile:
            return sorted(row[3] for row in await profile.store.read(lambda each: each.cookies.load(_WORK)))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "profile.db")


async def header(profile: Profile) -> str:
    return await (await profile.cookie_store("Work")).header(URL)


async def sent(profile: Profile, *lines: str) -> None:
    await (await profile.cookie_store("Work")).receive(lines, URL)


async def seen(profile: Profile) -> list[str]:
    """What a script and an export see."""
    found = await profile.browser(EVERYTHING).cookies.getAll({"storeId": "firefox-container-2"})
    exported = [cookie.name for holding in (await profile.export_bundle()).entries for cookie in holding.cookies]
    assert sorted(exported) == sorted(each["name"] for each in found)
    return [each["name"] for each in found]


@in_loop
async def test_an_expired_cookie_does_not_come_back_when_the_clock_goes_back(machine: Machine) -> None:
    async with machine.open() as profile:
        await sent(profile, "a=1; Max-Age=60", "b=1; Max-Age=100000")
        machine.time += HOUR
        assert await header(profile) == "b=1"
        machine.time = NOW
        assert await header(profile) == "b=1"
    for time in (NOW, NOW + 30, 0.0):
        machine.time = time
        async with machine.open() as profile:
            assert await seen(profile) == ["b"]
            assert await header(profile) == "b=1"


@in_loop
async def test_it_stays_away_in_another_program_that_has_not_seen_the_later_time(machine: Machine) -> None:
    async with machine.open() as one, machine.open() as two:
        await sent(one, "a=1; Max-Age=60")
        assert await header(two) == "a=1"
        machine.time += HOUR
        assert await header(one) == ""
        await one.identities.query()  # after what was written before it
        machine.time = NOW
        assert await header(two) == ""
        assert await seen(two) == []


@in_loop
async def test_it_stays_away_after_a_script_alone_has_seen_the_later_time(machine: Machine) -> None:
    async with machine.open() as profile:
        await sent(profile, "a=1; Max-Age=60")
    machine.time += HOUR
    async with machine.open() as profile:
        assert await seen(profile) == []
    machine.time = NOW
    async with machine.open() as profile:
        assert await header(profile) == ""


@pytest.mark.parametrize("leap", [2 * DAY, YEAR, 30 * YEAR])
@in_loop
async def test_a_clock_that_jumps_ahead_once_wipes_nothing(machine: Machine, leap: float) -> None:
    async with machine.open() as profile:
        await sent(profile, "a=1; Max-Age=60", "b=1; Max-Age=90000", "session=1")
    machine.time = NOW + leap
    async with machine.open() as profile:
        assert await header(profile) == "session=1"
        await sent(profile, "c=1; Max-Age=60")
        machine.time += HOUR
        assert await header(profile) == "session=1"
        assert await seen(profile) == ["session"]
    assert await machine.rows() == ["a", "b", "c", "session"]
    machine.time = NOW + 30
    async with machine.open() as profile:
        assert await header(profile) == "a=1; b=1; session=1; c=1"
        assert sorted(await seen(profile)) == ["a", "b", "c", "session"]
        machine.time = NOW + HOUR
        assert await header(profile) == "b=1; session=1; c=1"


@in_loop
async def test_a_cookie_that_the_site_deletes_while_it_is_withheld_does_not_come_back(machine: Machine) -> None:
    async with machine.open() as profile:
        await sent(profile, "a=1; Max-Age=60", "b=1; Max-Age=60")
        machine.time = NOW + YEAR
        await sent(profile, "a=; Max-Age=0")
        await sent(profile, "b=2")
        machine.time = NOW + 1
        assert await header(profile) == "b=2"


@in_loop
async def test_a_cookie_is_purged_a_day_after_its_end(machine: Machine) -> None:
    async with machine.open() as profile:
        await sent(profile, "a=1; Max-Age=60")
    machine.time = NOW + DAY
    async with machine.open() as profile:
        assert await header(profile) == ""
    assert await machine.rows() == ["a"]
    machine.time = NOW + DAY + 61
    async with machine.open() as profile:
        assert await header(profile) == ""
    assert await machine.rows() == []


@in_loop
async def test_a_program_that_did_not_run_for_weeks_purges_when_the_time_is_confirmed(machine: Machine) -> None:
    async with machine.open() as profile:
        await sent(profile, "a=1; Max-Age=60")
    machine.time = NOW + 30 * DAY
    async with machine.open() as profile:
        assert await header(profile) == ""
        machine.time -= HOUR
        assert await header(profile) == ""
    assert await machine.rows() == ["a"]
    machine.time = NOW + 31 * DAY + 1
    async with machine.open() as profile:
        assert await header(profile) == ""
    async with machine.open() as profile:
        assert await header(profile) == ""
    assert await machine.rows() == []


@pytest.mark.parametrize("ends", ["Max-Age=600", f"Expires={formatdate(NOW + 600, usegmt=True)}"])
@in_loop
async def test_new_cookies_work_while_the_clock_is_behind(machine: Machine, ends: str) -> None:
    async with machine.open() as profile:
        machine.time = NOW + 10 * HOUR
        assert await header(profile) == ""
        machine.time = NOW
        await sent(profile, f"a=1; {ends}")
        assert await header(profile) == "a=1"
        machine.time = NOW + 11 * HOUR
        assert await header(profile) == ""


@in_loop
async def test_expired_cookies_make_room_before_others_do(machine: Machine) -> None:
    limits = JarLimits()
    async with machine.open() as profile:
        await sent(profile, "login=1; Max-Age=100000")
        await sent(profile, *(f"n{number}=1; Max-Age=60; Secure" for number in range(int(limits.per_site) - 1)))
        machine.time += HOUR
        await sent(profile, *(f"m{number}=1; Max-Age=60; Secure" for number in range(20)))
        assert (await header(profile)).startswith("login=1; m0=1")


@in_loop
async def test_the_time_is_not_stored_with_every_request(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[float] = []
    save = CookieClock._save

    def counted(self: CookieClock, now: float, **more: float) -> asyncio.Future[None]:
        saved.append(now)
        return save(self, now, **more)

    monkeypatch.setattr(CookieClock, "_save", counted)
    async with machine.open() as profile:
        for _ in range(600):
            machine.time += 1
            await header(profile)
        assert len(saved) <= 11
        await profile.browser(EVERYTHING).cookies.getAll({})
    assert len(saved) <= 12


@in_loop
async def test_a_file_that_is_exported_can_be_imported_while_the_clock_is_behind(machine: Machine) -> None:
    async with machine.open() as profile:
        await sent(profile, "a=1; Max-Age=100000")
        written = FORMATS["json-lines"].write(await profile.export_bundle())
        machine.time += HOUR
        assert await header(profile) == "a=1"
        machine.time = NOW
        report = await profile.import_bundle(FORMATS["json-lines"].read(written.data, "a file"))
        assert report.cookies_unchanged == 1
