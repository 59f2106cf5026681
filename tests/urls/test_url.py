from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.urls.url import Url, parse_url


@pytest.mark.parametrize(
    ("text", "host", "path"),
    [
        ("https://site.example", "site.example", "/"),
        ("https://site.example/x/y?z=/1#/2", "site.example", "/x/y"),
        ("  HTTPS://SITE.Example/X ", "site.example", "/X"),
        ("https://user:p@ss@site.example:8443/", "site.example", "/"),
        ("https:site.example", "site.example", "/"),
        ("https:\\\\site.example\\x\\y", "site.example", "/x/y"),
        ("https://site.ex\nample/\tx", "site.example", "/x"),
        ("https://bücher.example/é", "xn--bcher-kva.example", "/%C3%A9"),
        ("https://%73ite.example/%78", "site.example", "/%78"),
        ("https://site.example/a b/\ud800", "site.example", "/a%20b/%EF%BF%BD"),
        ("https://site.example/x/../y/./z", "site.example", "/y/z"),
        ("https://site.example/x/y/..", "site.example", "/x/"),
        ("https://site.example/x/.", "site.example", "/x/"),
        ("https://site.example/../%2E%2e/x", "site.example", "/x"),
        ("https://site.example//x", "site.example", "//x"),
        ("https://[0:0::1]/", "[::1]", "/"),
        ("https://0x7f.1/", "127.0.0.1", "/"),
    ],
)
def test_a_url_is_read_as_a_browser_reads_it(text: str, host: str, path: str) -> None:
    url = parse_url(text)
    assert url is not None
    assert (url.scheme, url.host, url.path) == ("https", host, path)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("HTTP://Site.example", "http://site.example/"),
        ("http://site.example:80/a b?c d#e f", "http://site.example/a%20b?c%20d#e%20f"),
        ("https://me:secret@site.example:8443?x", "https://me:secret@site.example:8443/?x"),
        ("https://site.example/?ü=%C3%BC", "https://site.example/?%C3%BC=%C3%BC"),
        ("about:blank#x", "about:blank#x"),
    ],
)
def test_a_url_is_written_as_a_browser_writes_it(text: str, whole: str) -> None:
    url = parse_url(text)
    assert url is not None
    assert url.text == whole


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "site.example",
        "//site.example/",
        "https://",
        "https:///",
        "https://[::1",
        "https://[::1]x/",
        "https://site.example:99999/",
        "https://site.example:x/",
        "https://si te.example/",
        "https://%00/",
        "https://%ff/",
        "https://a..b/",
    ],
)
def test_what_is_no_url_is_none(text: str) -> None:
    assert parse_url(text) is None


@pytest.mark.parametrize("text", ["about:blank", "file:///x", "data:,x", "moz-extension://abc/"])
def test_other_schemes_have_no_host_that_could_have_cookies(text: str) -> None:
    url = parse_url(text)
    assert url is not None
    assert url.host == ""


@pytest.mark.parametrize(("path", "directory"), [("/", "/"), ("/x", "/"), ("/x/", "/x/"), ("/x/y", "/x/")])
def test_the_directory_ends_with_the_last_slash(path: str, directory: str) -> None:
    assert Url("https", "site.example", path).directory == directory


@given(st.text(max_size=30), st.sampled_from(["", "https://", "https://site.example/", "http:"]))
def test_what_was_read_once_is_read_the_same_again(text: str, before: str) -> None:
    url = parse_url(before + text)
    if url is not None and url.host:
        assert parse_url(url.text) == url
        assert url.path.startswith("/")
        assert url.path.isascii()


@pytest.mark.parametrize(
    "text", ["https://" + "@" * 500_000 + ":x/", "http://a:" + "1" * 5000, "http://" + "ü" * 500_000 + "/"]
)
def test_no_url_freezes_the_host_or_is_an_error(text: str) -> None:
    assert parse_url(text) is None


@pytest.mark.parametrize(
    ("port", "after_host"), [("", ""), ("0", ":0"), ("80", ""), ("0080", ""), ("0" * 5000 + "81", ":81")]
)
def test_ports_are_numbers(port: str, after_host: str) -> None:
    url = parse_url(f"http://user:1@x@site.example:{port}/")
    assert url is not None
    assert (url.userinfo, url.host, url.port_suffix) == ("user:1@x@", "site.example", after_host)


def test_long_urls_are_not_cached() -> None:
    before = parse_url.cache_info().currsize
    for number in range(20):
        assert parse_url(f"https://site.example/{'x' * 50_000}{number}") is not None
    assert parse_url.cache_info().currsize == before
