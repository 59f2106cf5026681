"""Durations and times as users type them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cli.arguments.time_arguments import parse_duration, parse_time, parse_time_or_age


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30m", 1800), ("8h", 28_800), ("7d", 604_800), ("2w", 1_209_600), ("1h30m", 5400)],
)
def test_a_duration_is_a_number_with_a_unit(text: str, seconds: float) -> None:
    assert parse_duration(text, "--for") == seconds
    assert parse_time_or_age(text, "--since", 2_000_000.0) == 2_000_000.0 - seconds


@pytest.mark.parametrize("text", ["", "8", "h", "8 h", "-8h", "8H", "1.5h", "8h ", "1e3s", "٣h", "9999999999s", "ever"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a duration"):
        parse_duration(text, "--for")


def test_a_time_may_name_its_time_zone() -> None:
    expected = datetime(2030, 1, 2, 3, 4, tzinfo=UTC).timestamp()
    for text in ("2030-01-02T03:04Z", "2030-01-02T04:04+01:00", "2030-01-02 03:04:00+00:00"):
        assert parse_time(text, "--until") == expected
    local = datetime(2030, 1, 2).astimezone().timestamp()
    assert parse_time("2030-01-02", "--until") == parse_time("2030-01-02T00:00", "--until") == local


@given(text=st.text(max_size=30))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    try:
        assert isinstance(parse_time(text, "--until"), float)
    except typer.BadParameter as error:
        assert "is not a time" in str(error)
