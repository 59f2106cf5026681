from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies import Target, target_from, target_of

from .strategies import timeless


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://site.example", Target("https", "site.example", "/", True)),
        ("HTTP://Site.Example:8080/a/b?q=/c#d", Target("http", "site.example", "/a/b", False)),
        (" https://user:p@ss@site.example/x", Target("https", "site.example", "/x", True)),
        ("https://site.example?q", Target("https", "site.example", "/", True)),
        ("wss://site.example/", Target("https", "site.example", "/", True)),
        ("ws://localhost/", Target("http", "localhost", "/", True)),
        ("http://[::1]:80/", Target("http", "[::1]", "/", True)),
        ("https://bücher.example/ü", Target("https", "xn--bcher-kva.example", "/%C3%BC", True)),
        ("https://site.example/%C3%BC", Target("https", "site.example", "/%C3%BC", True)),
    ],
)
def test_a_url_is_taken_apart(url: str, target: Target) -> None:
    assert target_of(url) == target


@pytest.mark.parametrize(
    "url",
    [
        *("", "site.example", "/path", "about:blank", "file:///etc/hosts", "ftp://site.example/", "https://"),
        *("https://a b/", "https://[::1/", "https://site.example:x/", "https://evil.example\\@site.example/"),
        *("https://evil.example\\.site.example/", "https://site.example:80:80/"),
    ],
)
def test_what_has_no_host_for_cookies_has_an_empty_one(url: str) -> None:
    assert target_of(url).host == ""


@timeless
@given(st.text())
def test_any_text_has_a_target(text: str) -> None:
    for url in (text, f"https://{text}", f"https://site.example/{text}"):
        target = target_of(url)
        assert target.path.startswith("/") and target.path.isascii() and target.host.isascii()


def test_parts_that_a_client_has_are_taken_as_they_come() -> None:
    assert target_from("https", "SITE.example", "") == Target("https", "site.example", "/", True)
    assert target_from("https", "::1", "/a?b=/c") == target_of("https://[::1]/a")
    assert target_from("https", "bücher.example", "/ü") == target_of("https://bücher.example/ü")
