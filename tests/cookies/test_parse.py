from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies import SameSite, SetCookie, as_octets, parse_set_cookie
from hatbox.cookies.parse import _read_attributes

from . import strategies
from .strategies import timeless


def serialised(cookie: SetCookie) -> str:
    """A line that says the same. The date of `expires` is left to test_dates."""
    parts = [f"{cookie.name}={cookie.value}"]
    if cookie.domain:
        parts.append(f"Domain=.{cookie.domain}")
    if cookie.path is not None:
        parts.append(f"Path={cookie.path}")
    if cookie.max_age is not None:
        parts.append(f"Max-Age={cookie.max_age}")
    if cookie.same_site is not SameSite.UNSPECIFIED:
        parts.append(f"SameSite={'None' if cookie.same_site is SameSite.NONE else cookie.same_site.value}")
    flags = {"Secure": cookie.secure, "HttpOnly": cookie.http_only, "Partitioned": cookie.partitioned}
    return "; ".join([*parts, *(name for name, there in flags.items() if there)])


@timeless
@given(st.one_of(st.text(), st.binary(), strategies.lines))
def test_any_line_is_read_or_refused_and_what_was_read_can_be_written(line: str | bytes) -> None:
    cookie = parse_set_cookie(line)
    if cookie is not None:
        cookie.expires = None
        assert parse_set_cookie(serialised(cookie)) == cookie
        assert parse_set_cookie(serialised(cookie).encode("latin-1")) == cookie


def test_a_full_line_is_read_field_by_field() -> None:
    line = (
        "sid=31d4; Domain=.Site.Example; Path=/a; Expires=Wed, 09 Jun 2021 10:18:14 GMT; "
        "Max-Age=60; Secure; HttpOnly; SameSite=Strict; Partitioned"
    )
    assert parse_set_cookie(line) == SetCookie(
        name="sid",
        value="31d4",
        domain="site.example",
        path="/a",
        secure=True,
        http_only=True,
        same_site=SameSite.STRICT,
        max_age=60,
        expires=1623233894.0,
        partitioned=True,
    )


def test_reading_the_same_attributes_twice_gives_cookies_of_their_own() -> None:
    first, second = parse_set_cookie("a=1; Path=/x"), parse_set_cookie("b=2; Path=/x")
    assert first is not None and second is not None
    assert (first.name, first.value, first.path) == ("a", "1", "/x")
    assert (second.name, second.value, second.path) == ("b", "2", "/x")


@pytest.mark.parametrize("digits", ["١", "1²", "- 1", "--1", "1 2"])  # what int() or isdigit() would take
def test_only_ascii_digits_are_an_age(digits: str) -> None:
    cookie = parse_set_cookie(f"a=1; Max-Age={digits}")
    assert cookie is not None and cookie.max_age is None


def test_only_spaces_and_tabs_are_white_space() -> None:
    cookie = parse_set_cookie("\xa0a\xa0=\xa01\x85")
    assert cookie is not None and (cookie.name, cookie.value) == ("\xa0a\xa0", "\xa01\x85")


def test_the_last_same_site_counts_even_if_it_means_nothing() -> None:
    cookie = parse_set_cookie("a=1; SameSite=Strict; SameSite=bogus")
    assert cookie is not None and cookie.same_site is SameSite.UNSPECIFIED


def test_an_unreadable_date_or_age_leaves_the_one_before_it() -> None:
    cookie = parse_set_cookie("a=1; Max-Age=5; Max-Age=x; Expires=Wed, 09 Jun 2021 10:18:14 GMT; Expires=never")
    assert cookie is not None and (cookie.max_age, cookie.expires) == (5, 1623233894.0)


def test_text_that_is_no_bytes_means_its_utf8() -> None:
    assert as_octets("é") == "é"
    assert as_octets("€") == "€".encode().decode("latin-1")
    assert as_octets("\ud800") == "\ufffd".encode().decode("latin-1")
    assert as_octets(b"\xff\x00") == "\xff\x00"


def test_size_is_counted_in_bytes() -> None:
    assert parse_set_cookie("n=" + "é" * 4095) is not None
    assert parse_set_cookie("n=" + "€" * 1366) is None


def test_long_attributes_are_not_cached() -> None:
    parse_set_cookie("a=1; Path=/; Secure")
    before = _read_attributes.cache_info().currsize
    for number in range(20):
        assert parse_set_cookie(f"a=1; x={'y' * 60_000}{number}; Secure") == SetCookie("a", "1", secure=True)
    assert _read_attributes.cache_info().currsize == before
