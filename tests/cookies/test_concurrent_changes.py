"""Random changes of one cookie store by three processes at once. Every process sees the same history, and it is a
history that one jar could have: what is removed was stored, and what is stored replaces nothing without saying so."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TypeAlias

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hatbox
from hatbox.cookies.cookie import Cookie, CookieKey
from hatbox.cookies.cookie_stores import CookieChange, CookieStore
from hatbox.errors import CookieRejected

pytestmark = pytest.mark.slow

WORK = "firefox-container-2"
PROCESSES = 3

Change: TypeAlias = Callable[[CookieStore], Awaitable[object]]

names = st.sampled_from(["a", "b", "c"])
values = st.integers(0, 3).map(str)
hosts = st.sampled_from(["site.example", "www.site.example"])
attributes = st.sampled_from(["", "; Max-Age=0", "; Max-Age=1000", "; Secure", "; Domain=site.example", "; HttpOnly"])
lines = st.builds(lambda name, value, more: f"{name}={value}; Path=/{more}", names, values, attributes)
urls = st.builds(lambda scheme, host: f"{scheme}://{host}/", st.sampled_from(["https", "http"]), hosts)


def receive(url: str, set_cookie_values: list[str]) -> Change:
    return lambda store: store.receive(set_cookie_values, url)


def put(name: str, value: str, host: str) -> Change:
    return lambda store: store.put([Cookie(name=name, value=value, domain=host)])


def merge(name: str, value: str, host: str, removed: str) -> Change:
    key = CookieKey(host, True, "/", removed)
    return lambda store: store.merge([Cookie(name=name, value=value, domain=host)], [key] if removed != name else [])


def remove(name: str, host: str) -> Change:
    return lambda store: store.remove(CookieKey(host, True, "/", name))


def set_one(url: str, name: str, value: str) -> Change:
    async def set_one(store: CookieStore) -> None:
        with suppress(CookieRejected):  # an insecure site may not replace a secure cookie
            await store.set(url, name=name, value=value)

    return set_one


changes = st.one_of(
    st.builds(receive, urls, st.lists(lines, min_size=1, max_size=3)),
    st.builds(put, names, values, hosts),
    st.builds(merge, names, values, hosts, names),
    st.builds(remove, names, hosts),
    st.builds(set_one, urls, names, values),
    st.just(lambda store: store.clear()),
)
rounds = st.lists(st.lists(st.tuples(st.integers(0, PROCESSES - 1), changes), min_size=2, max_size=8), max_size=6)


@settings(max_examples=25, deadline=None)
@given(rounds)
def test_all_processes_see_one_history_of_one_jar(rounds: list[list[tuple[int, Change]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_check(Path(folder) / "profile.db", rounds))


async def _check(path: Path, rounds: list[list[tuple[int, Change]]]) -> None:
    async with AsyncExitStack() as opened:
        profiles = [await opened.enter_async_context(hatbox.open(path)) for _ in range(PROCESSES)]
        stores = [await profile.cookies.open(WORK) for profile in profiles]
        histories: list[list[CookieChange]] = [[] for _ in profiles]
        for profile, history in zip(profiles, histories, strict=True):
            profile.cookies.on_changed.add_listener(partial(_append, history))
        for changes in rounds:
            await asyncio.gather(*(change(stores[process]) for process, change in changes))
            jars = [_contents(await store.jar()) for store in stores]
            assert jars == [jars[0]] * PROCESSES
        assert histories == [histories[0]] * PROCESSES
        expected: dict[CookieKey, Cookie] = {}
        for change in histories[0]:
            key = change.cookie.key
            if change.removed:
                assert expected.pop(key) == change.cookie
            else:
                assert key not in expected
                expected[key] = change.cookie
        async with hatbox.open(path) as fresh:
            stored = await (await fresh.cookies.open(WORK)).jar()
            assert _contents(stored) == _contents(expected.values())


def _append(history: list[CookieChange], change: CookieChange) -> None:
    history.append(change._replace(cookie=_content(change.cookie)))


def _content(cookie: Cookie) -> Cookie:
    """The cookie without the time of its last use, which processes save at intervals."""
    return msgspec.structs.replace(cookie, last_access=0.0)


def _contents(cookies: Iterable[Cookie]) -> list[Cookie]:
    return sorted(
        map(_content, cookies), key=lambda cookie: (cookie.domain, cookie.host_only, cookie.path, cookie.name)
    )
