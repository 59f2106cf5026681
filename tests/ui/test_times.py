"""Times as the page writes them: a user reads how long ago, which day, and when a cookie expires."""

from __future__ import annotations

import pytest

from tests.ui.static_modules import value_of

pytestmark = pytest.mark.deno

NOW = "const now = new Date(2026, 10, 18, 14, 5, 40).getTime(), min = 60000, hour = 60 * min, day = 24 * hour;"


def test_a_time_is_written_as_people_say_it() -> None:
    ago = "[0, 59e3, 4 * min, 59 * min, hour, 3 * hour, 13 * hour, 15 * hour, 30 * hour, 3 * day, 8 * day, 400 * day]"
    assert value_of("times.js", "timeAgo", f"{NOW} return {ago}.map((each) => timeAgo(now - each, now));") == [
        "now",
        "now",
        "4 min ago",
        "59 min ago",
        "1 h ago",
        "3 h ago",
        "13 h ago",
        "yesterday",
        "yesterday",
        "3 days ago",
        "10 Nov",
        "14 Oct 2025",
    ]


def test_five_hours_ago_is_not_yesterday_although_midnight_was_between() -> None:
    body = "const now = new Date(2026, 10, 18, 2, 0).getTime(); return timeAgo(now - 5 * 3600e3, now);"
    assert value_of("times.js", "timeAgo", body) == "5 h ago"


def test_a_time_in_the_future_by_a_wrong_clock_is_now() -> None:
    assert value_of("times.js", "timeAgo", f"{NOW} return timeAgo(now + hour, now);") == "now"


def test_the_expiry_of_a_cookie_is_written_as_a_duration() -> None:
    left = "[-1, 30e3, 5 * min, 3 * hour, day, 29 * day, 70 * day, 366 * day, 800 * day]"
    assert value_of("times.js", "timeUntil", f"{NOW} return {left}.map((each) => timeUntil(now + each, now));") == [
        "expired",
        "in 1 min",
        "in 5 min",
        "in 3 h",
        "in 1 day",
        "in 29 days",
        "in 2 months",
        "in 12 months",
        "in 2 years",
    ]


def test_days_have_names_and_times() -> None:
    body = """return [dayName(now, now), dayName(now - day, now), dayName(now - 10 * day, now), fullDate(now),
        clockTime(now), dayAndTime(now - day, now), exactTime(now)];"""
    names = "dayName, fullDate, clockTime, dayAndTime, exactTime"
    assert value_of("times.js", names, f"{NOW} {body}") == [
        "Today",
        "Yesterday",
        "8 Nov",
        "18 Nov 2026",
        "14:05:40",
        "Yesterday 14:05",
        "18 Nov 2026, 14:05:40",
    ]
