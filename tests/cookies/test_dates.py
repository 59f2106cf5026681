from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies import parse_date

from .strategies import timeless

FORMS = [
    "%a, %d %b %Y %H:%M:%S GMT",
    "%A, %d-%b-%Y %H:%M:%S GMT",
    "%a %b %d %H:%M:%S %Y",
    "%H:%M:%S %Y/%b/%d",
    "%d %B %Y %H:%M:%S",
]


@timeless
@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)), st.sampled_from(FORMS))
def test_a_date_means_the_same_in_every_order(moment: datetime, form: str) -> None:
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    assert parse_date(moment.strftime(form)) == moment.timestamp()


@timeless
@given(st.text())
def test_any_text_is_a_date_or_not(text: str) -> None:
    parse_date(text)


@pytest.mark.parametrize(
    ("year", "meant"),
    [
        ("69", 2069),
        ("70", 1970),
        ("99", 1999),
        ("00", 2000),
        ("1600", 1600),
        ("1601", 1601),
        ("101", 101),
        ("2024", 2024),
    ],
)
def test_years(year: str, meant: int) -> None:
    assert parse_date(f"1 Jan {year} 00:00:00") == datetime(meant, 1, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 Jan 2024",  # no time
        "Jan 2024 00:00:00",
        "1 2024 00:00:00",
        "1 Jan 00:00:00",
        "1 Jan 20240 00:00:00",
        "1 Jan 7 00:00:00",
        "0 Jan 2024 00:00:00",
        "32 Jan 2024 00:00:00",
        "30 Feb 2024 00:00:00",
        "1 Jan 2024 24:00:00",
        "1 Jan 2024 00:60:00",
        "1 Jan 2024 00:00:60",
        "1 Jan 2024 00:00",
        "1 Jan 2024 000:00:00",
        "١ Jan 2024 00:00:00",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert parse_date(text) is None


def test_tokens_may_end_in_other_things() -> None:
    assert parse_date("1st january 2024AD 1:2:3pm") == datetime(2024, 1, 1, 1, 2, 3, tzinfo=UTC).timestamp()
