from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies.cookie_clock import DAY_SECONDS, HighWater

NOW = 1_790_000_000.0
HOUR = 3600.0
YEAR = 365 * DAY_SECONDS


def after(*times: float) -> HighWater:
    mark = HighWater()
    for each in times:
        mark = mark.observed(each)
    return mark


def test_time_does_not_go_back() -> None:
    assert after(NOW, NOW + HOUR, NOW).reached == NOW + HOUR
    assert after(NOW, 0.0).reached == NOW
    assert after(NOW, NOW + DAY_SECONDS, NOW - YEAR).reached == NOW + DAY_SECONDS


def test_a_clock_that_was_far_ahead_and_came_back_is_forgotten() -> None:
    assert after(NOW, NOW + YEAR).reached == NOW + YEAR
    assert after(NOW, NOW + YEAR, NOW + HOUR) == HighWater(NOW + HOUR)
    assert after(NOW, NOW + YEAR, NOW + YEAR + HOUR, NOW - HOUR) == HighWater(NOW)
    assert after(NOW, NOW + YEAR, 0.0, NOW + 2).reached == NOW + 2


def test_a_program_that_did_not_run_for_weeks_goes_by_the_time_that_it_finds() -> None:
    mark = after(NOW, NOW + 30 * DAY_SECONDS)
    assert mark.observed(mark.reached - HOUR).reached == mark.reached
    assert mark.observed(0.0).reached == mark.reached


def test_a_wrong_clock_purges_nothing_that_was_not_expired_for_a_day_before_it() -> None:
    assert after(NOW).purge_before == NOW - DAY_SECONDS
    assert after(NOW, NOW + YEAR).purge_before == NOW - DAY_SECONDS
    assert after(NOW, NOW + YEAR, NOW + YEAR + HOUR).purge_before == NOW - DAY_SECONDS


def test_a_leap_counts_for_good_when_the_clock_has_gone_on_for_a_day() -> None:
    mark = after(NOW, NOW + YEAR, NOW + YEAR + DAY_SECONDS)
    assert mark == HighWater(NOW + YEAR + DAY_SECONDS)
    assert mark.purge_before == NOW + YEAR
    assert mark.observed(NOW) == mark


steps = st.floats(-3 * YEAR, 3 * YEAR) | st.floats(-DAY_SECONDS, DAY_SECONDS)


@given(st.lists(steps.map(lambda step: NOW + step), min_size=1))
def test_cookies_expire_by_a_time_that_is_never_before_the_clock(times: list[float]) -> None:
    mark = HighWater()
    for each in times:
        mark = mark.observed(each)
        assert mark.reached >= each
        assert mark.observed(each) == mark
        assert mark.purge_before <= mark.reached - DAY_SECONDS


@given(st.lists(steps.map(lambda step: NOW + step), min_size=1), st.floats(DAY_SECONDS, 9 * YEAR))
def test_one_leap_never_purges(times: list[float], leap: float) -> None:
    before = after(*times)
    if before.before is None:
        assert before.observed(before.reached + leap).purge_before <= before.reached


@given(st.lists(st.floats(0, DAY_SECONDS), min_size=1), st.floats(0, NOW + YEAR))
def test_after_ordinary_running_no_clock_makes_time_go_back(steps: list[float], last: float) -> None:
    mark = HighWater(NOW)
    for step in steps:
        mark = mark.observed(mark.reached + step)
    assert mark.observed(last).reached >= mark.reached
