"""Two processes that change one cookie store at once. The last commit counts, and takes nothing else with it.

The interleaving is always the same: a change is computed here, another process commits, then the change is committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.cookies.cookie_stores import CookieChange, CookieStore
from hatbox.cookies.eviction import JarLimits
from hatbox.cookies.samesite import RequestContext
from hatbox.profile import Profile
from tests.store.in_loop import in_loop

WORK = "firefox-container-2"
URL = "https://site.example/"
DAY = 86400.0


class Pair:
    """A cookie store, opened by two processes."""

    def __init__(self, one: Profile, two: Profile, here: CookieStore, there: CookieStore) -> None:
        self.one, self.two, self.here, self.there = one, two, here, there

    def commit_first(self, commit: Callable[[], Awaitable[object]]) -> None:
        """Let another process commit before the next write from here."""
        store, write = self.one.store, self.one.store.write

        def write_after(work: Any) -> asyncio.Future[Any]:
            store.write = write  # type: ignore[method-assign]

            async def run() -> Any:
                await commit()
                return await write(work)

            return asyncio.ensure_future(run())

        store.write = write_after  # type: ignore[method-assign]

    async def headers(self, url: str = URL) -> str:
        """The Cookie header of both, which is the same."""
        headers = {await self.here.header(url), await self.there.header(url)}
        assert len(headers) == 1
        return headers.pop()

    async def order(self) -> list[str]:
        """The names of the cookies of both, oldest first."""
        names = [cookie.name for cookie in await self.here.cookies()]
        assert names == [cookie.name for cookie in await self.there.cookies()]
        return names


@asynccontextmanager
async def opened_twice(path: Path) -> AsyncIterator[Pair]:
    async with hatbox.open(path) as one, hatbox.open(path) as two:
        pair = Pair(one, two, await one.cookies.open(WORK), await two.cookies.open(WORK))
        await pair.here.receive(["first=1"], URL)  # also stores the time by which cookies expire
        assert await pair.headers() == "first=1"
        yield pair


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@in_loop
async def test_the_last_commit_counts_for_value_and_expiry(path: Path) -> None:
    async with opened_twice(path) as pair:
        await pair.here.receive(["sid=0; Max-Age=100"], URL)
        pair.commit_first(lambda: pair.there.receive(["sid=there; Max-Age=1000"], URL))
        await pair.here.receive(["sid=here; Max-Age=500"], URL)
        assert await pair.headers() == "first=1; sid=here"
        (cookie,) = [each for each in await pair.there.cookies() if each.name == "sid"]
        assert 400 < (cookie.expires or 0) - cookie.last_access <= 500


@in_loop
async def test_a_cookie_that_both_create_is_as_old_as_the_first_of_them(path: Path) -> None:
    async with opened_twice(path) as pair:

        async def create_there() -> None:
            await pair.there.receive(["sid=there"], URL)
            await pair.there.receive(["other=1"], URL)

        changes: list[CookieChange] = []
        pair.two.cookies.on_changed.add_listener(changes.append)
        pair.commit_first(create_there)
        await pair.here.receive(["sid=here"], URL)
        assert await pair.order() == ["first", "sid", "other"]
        assert await pair.headers() == "first=1; sid=here; other=1"
        assert [
            (each.cookie.pair, each.removed, each.cause.value) for each in changes if each.cookie.name == "sid"
        ] == [
            ("sid=there", False, "explicit"),
            ("sid=there", True, "overwrite"),
            ("sid=here", False, "explicit"),
        ]


@in_loop
async def test_the_cookies_of_one_response_are_stored_together(path: Path) -> None:
    async with opened_twice(path) as pair:
        await pair.here.receive(["sid=1", "user=1"], URL)
        pair.commit_first(lambda: pair.there.receive(["sid=2", "user=2"], URL))
        await pair.here.receive(["sid=1", "user=3"], URL)  # sid is unchanged in the jar from which this is computed
        assert await pair.headers() == "first=1; sid=1; user=3"


@in_loop
async def test_a_removal_in_a_response_counts_although_the_cookie_was_set_meanwhile(path: Path) -> None:
    async with opened_twice(path) as pair:
        pair.commit_first(lambda: pair.there.receive(["sid=2"], URL))
        await pair.here.receive(["sid=; Max-Age=0", "signed=out"], URL)
        assert await pair.headers() == "first=1; signed=out"


@in_loop
async def test_a_cookie_that_was_removed_meanwhile_is_created_anew(path: Path) -> None:
    async with opened_twice(path) as pair:
        await pair.here.receive(["sid=1"], URL)

        async def remove_there() -> None:
            await pair.there.receive(["sid=; Max-Age=0"], URL)
            await pair.there.receive(["other=1"], URL)

        pair.commit_first(remove_there)
        await pair.here.receive(["sid=2"], URL)
        (cookie,) = [each for each in await pair.there.cookies() if each.name == "sid"]
        assert await pair.headers() in ("first=1; sid=2; other=1", "first=1; other=1; sid=2")
        assert cookie.created == cookie.last_access


@in_loop
async def test_another_cookie_that_expired_here_is_not_removed_if_it_was_renewed_there(path: Path) -> None:
    async with opened_twice(path) as pair:
        start = now = pair.one.store.time()
        for profile in (pair.one, pair.two):
            profile.store.time = lambda: now  # type: ignore[method-assign]
        await pair.here.receive(["session=old; Max-Age=60"], URL)
        while now < start + 3 * DAY:  # in steps, so that the clock counts as right
            now += DAY / 2
            await pair.headers()
        pair.commit_first(lambda: pair.there.receive(["session=renewed; Max-Age=60"], URL))
        await pair.here.receive(["theme=dark"], URL)
        assert "session=renewed" in await pair.headers()


@in_loop
async def test_a_cookie_that_was_used_there_is_not_evicted_here(path: Path) -> None:
    limit = int(JarLimits().per_site)
    async with opened_twice(path) as pair:
        await pair.here.receive([f"c{number}={number}; Max-Age=1000" for number in range(limit - 1)], URL)
        assert len(await pair.there.cookies()) == limit
        pair.commit_first(lambda: pair.there.receive(["first=renewed", *(f"c{each}=new" for each in range(100))], URL))
        await pair.here.receive(["one-more=1"], URL)
        pairs = (await pair.headers()).split("; ")
        assert "first=renewed" in pairs
        assert "one-more=1" in pairs
        assert not {f"c{each}={each}" for each in range(100)} & set(pairs)


@in_loop
async def test_clear_removes_what_was_committed_before_it(path: Path) -> None:
    async with opened_twice(path) as pair:
        pair.commit_first(lambda: pair.there.receive(["sid=2"], URL))
        await pair.here.clear()
        assert await pair.headers() == ""


@in_loop
async def test_remove_removes_the_cookie_that_was_committed_before_it(path: Path) -> None:
    async with opened_twice(path) as pair:
        (cookie,) = await pair.here.cookies()
        pair.commit_first(lambda: pair.there.receive(["first=2"], URL))
        (change,) = await pair.here.remove(cookie.key)
        assert change.cookie.value == "2"
        assert await pair.headers() == ""


@in_loop
async def test_a_script_does_not_replace_a_cookie_that_became_http_only_meanwhile(path: Path) -> None:
    async with opened_twice(path) as pair:
        pair.commit_first(lambda: pair.there.receive(["sid=2; HttpOnly"], URL))
        await pair.here.receive(["sid=script"], URL, RequestContext(script=True))
        assert await pair.headers() == "first=1; sid=2"


@in_loop
async def test_saving_when_cookies_were_used_rolls_nothing_back(path: Path) -> None:
    async with opened_twice(path) as pair:
        start = now = pair.one.store.time() + 5
        for profile in (pair.one, pair.two):
            profile.store.time = lambda: now  # type: ignore[method-assign]
        await pair.here.receive(["used=1", "removed=1", "renewed=1"], URL)
        now = start + 1
        await pair.here.header(URL)
        now = start + 10
        assert await pair.headers() == "first=1; used=1; removed=1; renewed=1"
        now = start + 20
        await pair.there.header(URL)
        await pair.there.flush()

        async def change_there() -> None:
            await pair.there.receive(["removed=; Max-Age=0", "renewed=2"], URL)

        pair.commit_first(change_there)
        await pair.here.flush()
        async with hatbox.open(path) as third:
            stored = {each.name: each for each in await (await third.cookies.open(WORK)).cookies()}
        assert {name: cookie.value for name, cookie in stored.items()} == {"first": "1", "used": "1", "renewed": "2"}
        assert {cookie.last_access for cookie in stored.values()} == {start + 20}


@in_loop
async def test_a_response_that_changes_nothing_in_a_jar_that_is_behind_is_stored(path: Path) -> None:
    async with opened_twice(path) as pair:
        await pair.here.receive(["sid=1"], URL)
        await pair.there.receive(["sid=2"], URL)
        await pair.here.receive(["sid=1"], URL)  # no notice of sid=2 was processed in between
        assert await pair.headers() == "first=1; sid=1"


@in_loop
async def test_a_rejected_cookie_is_rejected_by_the_jar_as_committed(path: Path) -> None:
    async with opened_twice(path) as pair:
        await pair.here.receive(["sid=1; Secure; Path=/"], URL)
        await pair.there.receive(["sid=; Secure; Max-Age=0; Path=/"], URL)
        await pair.here.set("http://site.example/", name="sid", value="plain")
        assert await pair.headers("http://site.example/") == "first=1; sid=plain"


@in_loop
async def test_a_cookie_is_sent_by_other_requests_once_it_is_durable(path: Path) -> None:
    async with opened_twice(path) as pair:
        seen: list[str] = []

        async def look() -> None:
            seen.append(await pair.here.header(URL))

        pair.commit_first(look)
        await pair.here.receive(["sid=1"], URL)
        assert [*seen, await pair.headers()] == ["first=1", "first=1; sid=1"]
