from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies import RequestUrl, parse_request_url, request_url_from
from hatbox.cookies.request_urls import _origin

from .strategies import timeless


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://site.example", RequestUrl("https", "site.example", "/", True)),
        ("HTTP://Site.Example:8080/a/b?q=/c#d", RequestUrl("http", "site.example", "/a/b", False)),
        (" https://user:p@ss@site.example/x", RequestUrl("https", "site.example", "/x", True)),
        ("https://site.example?q", RequestUrl("https", "site.example", "/", True)),
        ("wss://site.example/", RequestUrl("https", "site.example", "/", True)),
        ("ws://localhost/", RequestUrl("http", "localhost", "/", True)),
        ("http://[::1]:80/", RequestUrl("http", "[::1]", "/", True)),
        ("https://bücher.example/ü", RequestUrl("https", "xn--bcher-kva.example", "/%C3%BC", True)),
        ("https://site.example/%C3%BC", RequestUrl("https", "site.example", "/%C3%BC", True)),
    ],
)
def test_a_url_is_taken_apart(url: str, target: RequestUrl) -> None:
    assert parse_request_url(url) == target


@pytest.mark.parametrize(
    "url",
    [
        *("", "site.example", "/path", "about:blank", "file:///etc/hosts", "ftp://site.example/", "https://"),
        *("https://a b/", "https://[::1/", "https://site.example:x/", "https://evil.example\\@site.example/"),
        *("https://evil.example\\.site.example/", "https://site.example:80:80/"),
    ],
)
def test_what_has_no_host_for_cookies_has_an_empty_one(url: str) -> None:
    assert parse_request_url(url).host == ""


@timeless
@given(st.text())
def test_any_text_has_a_target(text: str) -> None:
    for url in (text, f"https://{text}", f"https://site.example/{text}"):
        target = parse_request_url(url)
        assert target.path.startswith("/") and target.path.isascii() and target.host.isascii()


def test_parts_that_a_client_has_are_taken_as_they_come() -> None:
    assert request_url_from("https", "SITE.example", "") == RequestUrl("https", "site.example", "/", True)
    assert request_url_from("https", "::1", "/a?b=/c") == parse_request_url("https://[::1]/a")
    assert request_url_from("https", "bücher.example", "/ü") == parse_request_url("https://bücher.example/ü")


@pytest.mark.parametrize("url", ["https://" + "@" * 500_000 + ":x/", "https://" + "a@" * 500_000 + "[/"])
def test_no_url_freezes_the_host(url: str) -> None:
    assert parse_request_url(url).host == ""


def test_the_last_at_sign_ends_name_and_password() -> None:
    assert parse_request_url("https://a@b:c@site.example:8/x") == RequestUrl("https", "site.example", "/x", secure=True)


def test_long_hosts_and_schemes_are_not_cached() -> None:
    before = _origin.cache_info().currsize
    for number in range(20):
        assert request_url_from("https", f"{'a' * 100_000}{number}.example", "/").host == ""
        assert parse_request_url(f"https://{'a' * 100_000}{number}.example/").host == ""
        assert parse_request_url(f"a{'a' * 100_000}{number}://site.example/").host == ""
    assert _origin.cache_info().currsize <= before + 2
