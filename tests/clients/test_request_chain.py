"""One call of a client stores a limited number of cookies, however many redirects its sites send."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox.clients import request_chain
from hatbox.cookies import Jar, JarLimits
from tests.clients.faces import Wardrobe
from tests.clients.server import Site
from tests.store.in_loop import in_loop

NOW = 1_790_000_000.0
LIMIT = 20
LIMITS = JarLimits(per_site=18, per_site_after_eviction=15, per_store=60, per_store_after_eviction=30)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_chain, "MAX_CHAIN_COOKIES", LIMIT)


def chain(site: Site, name: str) -> str:
    """The URL of four redirects, each with eight cookies."""
    url = site.url("/end")
    for hop in range(4):
        url = site.url(f"/{name}{hop}", set=[f"{name}{hop}{number}=1; Path=/" for number in range(8)], to=url)
    return url


def test_a_call_with_its_redirects_stores_a_limited_number_of_cookies(clothes: Wardrobe, site: Site) -> None:
    face = clothes.wear("Work")
    face.get(chain(site, "a"))
    assert face.get(site.url("/me")).text.count("=1") == LIMIT
    face.get(chain(site, "b"))
    assert face.get(site.url("/me")).text.count("=1") == 2 * LIMIT


@in_loop
async def test_a_page_of_the_http_engine_does_too(path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.http_engine(trust_env=False) as engine:
        await engine.wait_until_loaded((await profile.tabs.open("Work", chain(site, "a"))).id)
        store = await profile.cookie_store("Work")
        assert len(await store.cookies()) == LIMIT


@in_loop
async def test_a_task_that_was_started_in_a_chain_and_outlives_it_has_chains_of_its_own() -> None:
    has_ended = asyncio.Event()

    async def background() -> list[int]:
        with request_chain.request_chain():
            await has_ended.wait()
            counts = [len(request_chain.admitted([b"a=1"] * 2 * LIMIT))]
        for _ in range(2):
            with request_chain.request_chain():
                counts.append(len(request_chain.admitted([b"a=1"] * 2 * LIMIT)))
        return [*counts, len(request_chain.admitted([b"a=1"] * 2 * LIMIT))]

    with request_chain.request_chain():
        task = asyncio.create_task(background())
        await asyncio.sleep(0)
        request_chain.admitted([b"a=1"] * (LIMIT - 1))
    has_ended.set()
    assert await task == [1, LIMIT, LIMIT, 2 * LIMIT]


@given(
    logins=st.lists(st.floats(0, 365), max_size=int(LIMITS.per_store) - LIMIT),
    hops=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30)), max_size=31),
)
def test_no_chain_evicts_a_login_of_a_store_that_has_room_for_one(
    logins: list[float], hops: list[tuple[int, int]]
) -> None:
    jar = Jar(LIMITS)
    for number, days in enumerate(logins):  # some were not used for months
        jar.store("sid=1; Max-Age=34560000", f"https://login{number}.example/", NOW - days * 24 * 3600)
    with request_chain.request_chain():
        for number, (host, count) in enumerate(hops):
            lines = [f"c{number}-{each}=1; Max-Age=99999".encode() for each in range(count)]
            stored = [line.decode() for line in request_chain.admitted(lines)]
            jar.store_all(stored, f"https://hop{host}.example/", NOW + number)
    for number in range(len(logins)):
        assert jar.header(f"https://login{number}.example/", NOW + 99) == "sid=1"
