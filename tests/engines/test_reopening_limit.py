"""How often rules reopen pages."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hatbox.engines.reopening_limit import MAX_REOPENED_BY_PAGES, MAX_REOPENED_URL, ReopeningLimit

URL = "http://site.example/"
WORK, PERSONAL = "firefox-container-2", "firefox-container-1"


class ManualClock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_one_url_is_reopened_five_times_in_ten_seconds() -> None:
    clock = ManualClock()
    limit = ReopeningLimit(clock)
    waits = [limit.seconds_to_wait(PERSONAL, URL, is_requested=True) for _ in range(MAX_REOPENED_URL + 1)]
    assert waits == [0] * MAX_REOPENED_URL + [10]
    assert limit.seconds_to_wait(PERSONAL, URL + "other", is_requested=True) == 0
    clock.now += 10
    assert limit.seconds_to_wait(PERSONAL, URL, is_requested=True) == 0


def test_pages_of_one_identity_reopen_twenty_urls_and_programs_any_number() -> None:
    limit = ReopeningLimit(ManualClock())
    urls = [f"{URL}{number}" for number in range(200)]
    assert sum(limit.seconds_to_wait(PERSONAL, url, is_requested=False) == 0 for url in urls) == MAX_REOPENED_BY_PAGES
    assert limit.seconds_to_wait(WORK, urls[-1], is_requested=False) == 0
    assert all(limit.seconds_to_wait(PERSONAL, f"{url}/", is_requested=True) == 0 for url in urls)


def test_a_reopening_that_an_extension_cancelled_is_contested_once() -> None:
    clock = ManualClock()
    limit = ReopeningLimit(clock)
    limit.reopened(7, URL)
    limit.cancelled(8, URL)  # another tab
    assert not limit.is_contested(URL)
    limit.cancelled(7, URL)
    assert limit.is_contested(URL)
    assert not limit.is_contested(URL)
    limit.reopened(9, URL)
    limit.cancelled(9, URL)
    clock.now += 10
    assert not limit.is_contested(URL)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 7), st.sampled_from([0.0, 0.1, 3.0, 11.0])), max_size=60))
def test_no_ten_seconds_have_more_reopenings_than_allowed(steps: list[tuple[int, float]]) -> None:
    clock = ManualClock()
    limit = ReopeningLimit(clock)
    allowed: list[tuple[float, str]] = []
    for number, seconds in steps:
        clock.now += seconds
        url = f"{URL}{number}"
        if limit.seconds_to_wait(PERSONAL, url, is_requested=False) == 0:
            allowed.append((clock.now, url))
        recent = [each for at, each in allowed if at > clock.now - 10]
        assert len(recent) <= MAX_REOPENED_BY_PAGES
        assert recent.count(url) <= MAX_REOPENED_URL
