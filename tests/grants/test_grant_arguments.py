"""What a grant may be created with. Anything unclear is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox import InvalidGrant
from hatbox.grants.grant import ACTIONS
from hatbox.grants.grant_arguments import (
    MAX_DURATION,
    accepted_actions,
    accepted_expiry,
    accepted_hosts,
    accepted_purpose,
)
from hatbox.grants.grant_service import digest_of, new_token
from hatbox.urls.match_patterns import parse_match_pattern


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("site.example", "*://site.example/*"),
        ("*.Site.Example", "*://*.site.example/*"),
        ("https://*.site.example/*", "https://*.site.example/*"),
        ("https://site.example", "https://site.example/*"),
        ("wss://site.example/", "wss://site.example/*"),
        ("hüte.example", "*://xn--hte-hoa.example/*"),
        ("127.0.0.1", "*://127.0.0.1/*"),
        ("localhost", "*://localhost/*"),
        ("https://[::1]/*", "https://[::1]/*"),
        ("localhost:8000", "*://localhost:8000/*"),
        ("*.site.example:443", "*://*.site.example:443/*"),
        ("http://[::1]:8000/*", "http://[::1]:8000/*"),
        ("*", "*://*/*"),
        ("<all_urls>", "<all_urls>"),
    ],
)
def test_a_host_becomes_a_match_pattern(given: str, stored: str) -> None:
    assert accepted_hosts([given, given]) == (stored,)
    assert parse_match_pattern(stored) is not None


@pytest.mark.parametrize(
    "given",
    [
        *("", "https://*/*", "http://*", "http://", "://site.example", "ftp://site.example/*"),
        *("file:///etc/passwd", "file:///*", "chrome://settings", "javascript:alert(1)", "data:text/html,x"),
        *(
            "site.example:0",
            "site.example:65536",
            "site.example:",
            ":80",
            "[::1]:",
            "https://site.example/admin/*",
            "site.example/admin",
        ),
        *("https://user@site.example/*", "site.example?x", "site.example#x", "a b", "site..example", ".example"),
        *("*.*.example", "si*te.example", "*site.example", "site.*", "*.127.0.0.1", "*.localhost", "**"),
        *("site.example\n", "site.example\x00", "x" * 400, "https://site.example/*/*", "site.example//", "*."),
    ],
)
def test_a_pattern_that_is_no_host_is_refused(given: str) -> None:
    with pytest.raises(InvalidGrant, match="invalid host"):
        accepted_hosts(["site.example", given])


@given(text=st.text(max_size=40))
def test_any_text_is_refused_or_becomes_a_pattern_with_a_host(text: str) -> None:
    try:
        (stored,) = accepted_hosts([text]) or ()
    except InvalidGrant:
        return
    pattern = parse_match_pattern(stored)
    assert pattern is not None
    assert pattern.domain or stored in ("*://*/*", "<all_urls>")
    assert "*" not in (pattern.domain or "")
    assert accepted_hosts([stored]) == (stored,)


def test_no_host_and_too_many_are_refused_because_none_would_mean_all() -> None:
    assert accepted_hosts(None) is None
    for hosts in ([], [f"h{number}.example" for number in range(101)]):
        with pytest.raises(InvalidGrant, match="Name 1 to 100 hosts, or none at all for all public hosts"):
            accepted_hosts(hosts)
    with pytest.raises(TypeError):
        accepted_hosts("site.example")
    with pytest.raises(TypeError):
        accepted_hosts([1])  # type: ignore[list-item]


def test_a_path_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidGrant, match="A grant cannot be limited to a path"):
        accepted_hosts(["https://site.example/admin/*"])


@pytest.mark.parametrize("purpose", ["", "nightly report", "Hüte \U0001f3a9", "x" * 1000, "\u05e9\u05dc\u05d5\u05dd"])
def test_a_purpose_is_stored_as_it_is(purpose: str) -> None:
    assert accepted_purpose(purpose) == purpose


@pytest.mark.parametrize(
    "purpose", ["a\nb", "\x1b[31mred", "\x00", "\x7f", "x" * 1001, "a\u202eb", "a\u2028b", "\ud800"]
)
def test_a_purpose_that_a_terminal_would_show_as_something_else_is_refused(purpose: str) -> None:
    with pytest.raises(InvalidGrant, match="invalid purpose"):
        accepted_purpose(purpose)


def test_unknown_actions_and_none_are_refused() -> None:
    assert accepted_actions(ACTIONS) == frozenset(ACTIONS)
    assert accepted_actions(["cookieValues"]) == {"cookies", "cookieValues"}
    assert accepted_actions(["cookies"]) == {"cookies"}
    for actions in (["Fetch"], ["fetch", "all"], ["*"], [""]):
        with pytest.raises(InvalidGrant, match="Allowed actions: fetch, pages, cookies, cookieValues, tabs, settings"):
            accepted_actions(actions)
    with pytest.raises(InvalidGrant, match="Name at least one"):
        accepted_actions([])
    with pytest.raises(TypeError):
        accepted_actions("fetch")


def test_a_duration_is_more_than_nothing_and_at_most_ten_years() -> None:
    assert accepted_expiry(None, 100.0) is None
    assert accepted_expiry(0.5, 100.0) == 100.5
    assert accepted_expiry(MAX_DURATION, 0.0) == MAX_DURATION
    for duration in (0, -1, -0.0, MAX_DURATION + 1, math.inf, math.nan, -math.inf, 10**6000):
        with pytest.raises(InvalidGrant):
            accepted_expiry(duration, 100.0)
    wrong: list[Any] = [True, "8h", []]
    for each in wrong:
        with pytest.raises(TypeError):
            accepted_expiry(each, 100.0)


def test_a_token_has_one_form() -> None:
    token = new_token()
    assert token.startswith("hatbox_")
    assert len(digest_of(token) or b"") == 32
    assert new_token() != token
    wrong: list[Any] = [token[:-1], token + "a", token.upper(), f" {token}", f"{token}\n", token.encode(), None, "", 5]
    for each in wrong:
        assert digest_of(each) != digest_of(token)
