"""Visits are counted, deleted and bounded as the API of extensions promises."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hatbox
from hatbox.history import visits
from hatbox.history.search import find_pages
from hatbox.history.visits import add_visit, clear_history, delete_hosts, delete_page, delete_visits, storable_url
from hatbox.store.base import Transaction
from tests.store.in_loop import in_loop

SITE = "https://site.example/"


def totals(transaction: Transaction) -> dict[tuple[int, str], tuple[int, int, float]]:
    """What each page says about its visits, and the same counted from its visits."""
    found = {}
    for page in transaction.history.latest(10_000, since=-math.inf):
        own = transaction.history.visits(page)
        counted = (
            sum(visit.transition not in ("reload", "manual_subframe") for visit in own),
            sum(visit.transition == "typed" for visit in own),
            max(visit.visited for visit in own),
        )
        assert (page.visits, page.typed, page.last_visit) == counted
        found[page.store, page.url] = counted
    return found


@in_loop
async def test_pages_of_one_url_in_several_identities_are_one_item(address: str) -> None:
    async with hatbox.open(address) as profile:
        for store, time in ((0, 10.0), (2, 30.0), (1, 20.0)):
            await profile.store.write(
                lambda each, store=store, time=time: add_visit(each, store, SITE, title=f"In {store}", time=time)  # type: ignore[misc]
            )
        (item,) = await find_pages(profile.store, "", start=0, end=None, limit=10)
        assert (item.url, item.title, item.visit_count, item.last_visit_time) == (SITE, "In 2", 3, 30_000)
        await profile.store.write(lambda each: delete_page(each, SITE))
        assert await find_pages(profile.store, "", start=0, end=None, limit=10) == []
        assert await profile.store.read(lambda each: each.history.count_visits()) == 0


@in_loop
async def test_deleting_a_time_leaves_the_other_visits_and_right_numbers(address: str) -> None:
    async with hatbox.open(address) as profile:

        def fill(transaction: Transaction) -> None:
            for number in range(10):
                add_visit(transaction, number % 2, SITE + str(number % 3), transition="typed", time=float(number))

        await profile.store.write(fill)
        await profile.store.write(lambda each: delete_visits(each, 2.0, 8.0))
        left = await profile.store.read(totals)
        assert left == {(0, SITE + "0"): (1, 1, 0.0), (1, SITE + "1"): (1, 1, 1.0), (1, SITE + "0"): (1, 1, 9.0)}
        with pytest.raises(hatbox.ApiError):
            await profile.store.write(lambda each: delete_visits(each, 2.0, 1.0))
        assert await profile.store.read(totals) == left


@in_loop
async def test_only_pages_of_a_host_are_deleted(address: str) -> None:
    async with hatbox.open(address) as profile:

        def fill(transaction: Transaction) -> None:
            for host in ("a.example", "b.a.example", "c.example:8080"):
                add_visit(transaction, 1, f"https://{host}/", time=5.0)

        await profile.store.write(fill)
        await profile.store.write(lambda each: delete_hosts(each, {"a.example"}, 6.0))
        assert len(await profile.store.read(totals)) == 3
        await profile.store.write(lambda each: delete_hosts(each, {"a.example", "c.example:8080"}))
        assert set(await profile.store.read(totals)) == {(1, "https://b.a.example/")}


@in_loop
async def test_the_history_is_bounded_and_the_oldest_visits_go_first(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "_MAX_VISITS", 20)
    monkeypatch.setattr(visits, "_PRUNE_EVERY", 1)
    async with hatbox.open(address) as profile:

        def fill(transaction: Transaction) -> None:
            for number in range(50):
                add_visit(transaction, 1, f"{SITE}{number}", time=float(number))

        await profile.store.write(fill)
        found = await profile.store.read(totals)
        assert {url for _, url in found} == {f"{SITE}{number}" for number in range(30, 50)}


def test_addresses_that_are_never_stored() -> None:
    refused = (
        "about:blank",
        "javascript:1",
        "data:,x",
        "moz-extension://a/",
        "no url",
        "",
        "https://a.example/" + "a" * 2000,
    )
    assert [storable_url(url) for url in refused] == [None] * len(refused)
    assert storable_url("HTTP://User:Secret@Site.Example:80/a/../b") == "http://site.example/b"


OPERATIONS = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 2), st.integers(0, 3), st.integers(0, 9)),
    st.tuples(st.just("range"), st.integers(0, 9), st.integers(0, 9), st.just(0)),
    st.tuples(st.just("url"), st.integers(0, 3), st.just(0), st.just(0)),
    st.tuples(st.just("clear"), st.integers(0, 2), st.just(0), st.just(0)),
)


@pytest.mark.slow
@given(st.lists(OPERATIONS, max_size=25))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers_agree_with_the_visits_whatever_is_deleted(
    tmp_path_factory: pytest.TempPathFactory, operations: list[tuple[str, int, int, int]]
) -> None:
    @in_loop
    async def run() -> None:
        async with hatbox.open(tmp_path_factory.mktemp("visits") / "profile.db") as profile:
            expected: list[tuple[int, str, float]] = []
            for kind, one, two, three in operations:
                if kind == "add":
                    url = SITE + str(two)
                    await profile.store.write(lambda each: add_visit(each, one, url, time=float(three)))  # noqa: B023
                    expected.append((one, url, float(three)))
                elif kind == "range":
                    low, high = float(min(one, two)), float(max(one, two))
                    await profile.store.write(lambda each: delete_visits(each, low, high))  # noqa: B023
                    expected = [each for each in expected if not low <= each[2] <= high]
                elif kind == "url":
                    url = SITE + str(one)
                    await profile.store.write(lambda each: delete_page(each, url))  # noqa: B023
                    expected = [each for each in expected if each[1] != url]
                else:
                    await profile.store.write(lambda each: clear_history(each, one))  # noqa: B023
                    expected = [each for each in expected if each[0] != one]
            found = await profile.store.read(totals)
            assert {key: value[0] for key, value in found.items()} == {
                key: len([each for each in expected if each[:2] == key]) for key in {each[:2] for each in expected}
            }

    run()
