"""The jar against the public conformance data: the IETF http-state working group's and web-platform-tests'."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from hatbox.cookies import Jar, RequestContext, parse_date

from .published import published

NOW = 1_790_000_000.0
# Disabled in its own suite: a NUL in the middle of the line.
UNREACHABLE = {"disabled-chromium0022"}


def name_of(case: Any) -> str | None:
    return case["id"] if isinstance(case, dict) else None


def context_of(step: dict[str, Any]) -> RequestContext:
    return RequestContext(script=step["api"] == "dom")


def check(case: dict[str, Any]) -> None:
    jar = Jar()
    for number, step in enumerate(case["steps"]):
        now = NOW + number
        if "set" in step:
            jar.store_all(step["lines"], step["set"], now, context_of(step))
            continue
        header = jar.header(step["get"], now, context_of(step))
        if "accept" in step:
            assert header in step["accept"]
        if "contains" in step:
            assert step["contains"] in header.split("; ")
        if "lacks" in step:
            assert step["lacks"] not in header.split("; ")


@pytest.mark.parametrize("case", published("http-state", "cases"), ids=name_of)
def test_http_state(case: dict[str, Any], request: pytest.FixtureRequest) -> None:
    if case["id"].lower() in UNREACHABLE:
        request.applymarker(pytest.mark.xfail(reason="a disabled case with a NUL", strict=True))
    check(case)


@pytest.mark.parametrize("case", published("wpt", "cases"), ids=name_of)
def test_web_platform_tests(case: dict[str, Any]) -> None:
    check(case)


@pytest.mark.parametrize("case", published("dates", "dates"))
def test_dates(case: tuple[str, str | None]) -> None:
    text, meaning = case
    assert parse_date(text) == (None if meaning is None else parsedate_to_datetime(meaning).timestamp())
