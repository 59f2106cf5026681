"""The stores that are reported are those with cookies that have expired, whatever was stored and removed before."""

from __future__ import annotations

import asyncio
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import hatbox
from hatbox.cookies.cookie import Cookie, CookieKey
from hatbox.cookies.cookie_expiry import ExpiredCookies
from hatbox.cookies.cookie_rows import row_of
from hatbox.store.base import RESYNC, Transaction
from tests.examples import examples
from tests.waiting import until_awaited

START = 1_900_000_000.0
URL = "https://site.example/"

stores, names = st.integers(0, 2), st.sampled_from("ab")
operations = st.lists(
    st.one_of(
        st.tuples(st.just("set"), stores, names, st.integers(1, 20)),
        st.tuples(st.just("remove"), stores, names),
        st.tuples(st.just("set unnoticed"), stores, names, st.integers(1, 20)),
        st.tuples(st.just("wait"), st.sampled_from([1.5, 2.0, 3.25, 7.0, 90.0])),
    ),
    max_size=25,
)


@settings(max_examples=examples(40), deadline=None)
@given(operations)
def test_each_expiry_is_reported_once_and_nothing_else(made: list[tuple[Any, ...]]) -> None:
    asyncio.run(_check(made))


async def _check(made: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with hatbox.open(Path(folder) / "profile.db") as profile:
            now = reported_until = START
            profile.store.time = lambda: now  # type: ignore[method-assign]
            expiry, received = profile.cookies.expiry, list[ExpiredCookies]()
            expiry.on_expired.add_listener(received.append)
            cookies = [await profile.cookies.open(name) for name in ("firefox-default", *_CONTAINERS)]
            expires: dict[tuple[int, str], float] = {}
            for kind, *values in [*made, ("wait", 90.0)]:
                match kind, values:
                    case "set", [store, name, seconds]:
                        await cookies[store].set(URL, name=name, value=str(now), expires=now + seconds)
                        expires[store, name] = now + seconds
                    case "remove", [store, name]:
                        await cookies[store].remove(CookieKey("site.example", True, "/", name, None))
                        expires.pop((store, name), None)
                    case "set unnoticed", [store, name, seconds]:
                        await profile.store.write(partial(_set_unnoticed, store, name, now + seconds))
                        expires[store, name] = now + seconds
                    case "wait", [seconds]:
                        now += seconds
                        await _run_timers(profile)
                        until = now - 0.5
                        expected = {store for (store, _), each in expires.items() if reported_until < each <= until}
                        assert {store for each in received for store in each.stores} == expected
                        assert not any(each.all for each in received)
                        received.clear()
                        reported_until = until


_CONTAINERS = ("firefox-container-1", "firefox-container-2")


def _set_unnoticed(store: int, name: str, expires: float, transaction: Transaction) -> None:
    """Store a cookie as when its record was lost: the log says only that some were."""
    cookie = Cookie(name=name, value="", domain="site.example", path="/", host_only=True, expires=expires)
    transaction.cookies.put(store, [row_of(cookie)])
    transaction.changes.append(RESYNC, b"null")


async def _run_timers(profile: hatbox.Profile) -> None:
    """Run what is due. Timers of the past also run by themselves."""
    expiry = profile.cookies.expiry

    async def is_quiet() -> bool:
        await profile.clock.advance(0)
        is_due = expiry._timer is not None and expiry._timer.when <= profile.clock.time()
        return expiry._checking is None and not is_due

    await until_awaited(is_quiet)
