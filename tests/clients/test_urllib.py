from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import (
    HTTPCookieProcessor,
    HTTPDigestAuthHandler,
    HTTPPasswordMgr,
    OpenerDirector,
    ProxyHandler,
    Request,
)

import pytest

import hatbox
from hatbox import CookiesNotAllowed, SyncProfile
from tests.clients.server import REALM, Site


@pytest.fixture
def profile(path: Path) -> Iterator[SyncProfile]:
    with hatbox.open_sync(path) as profile:
        yield profile


def text(opener: OpenerDirector, request: str | Request) -> str:
    with opener.open(request) as response:
        body: bytes = response.read()
    return body.decode()


@pytest.mark.parametrize("handler", [HTTPCookieProcessor, HTTPCookieProcessor()])
def test_a_handler_with_a_jar_is_refused(
    profile: SyncProfile, handler: HTTPCookieProcessor | type[HTTPCookieProcessor]
) -> None:
    with pytest.raises(CookiesNotAllowed, match="a handler with a jar"):
        profile.urllib("Work", handler)


def test_what_a_jar_that_was_added_later_sends_is_refused(profile: SyncProfile, site: Site) -> None:
    jar = HTTPCookieProcessor()
    with urllib.request.build_opener(jar).open(site.url(set="a=1")):
        pass
    opener = profile.urllib("Work")
    opener.add_handler(jar)
    with pytest.raises(CookiesNotAllowed):
        text(opener, site.url())
    assert len(site.seen) == 1


def test_one_request_can_be_sent_with_several_identities(profile: SyncProfile, site: Site) -> None:
    request = Request(site.url())
    for name in ("Work", "Personal"):
        opener = profile.urllib(name)
        text(opener, site.url(set=f"sid={name}"))
        assert text(opener, request) == f"sid={name}"
        assert text(opener, request) == f"sid={name}"
    assert not request.has_header("Cookie")


@pytest.mark.parametrize("add", [Request.add_header, Request.add_unredirected_header])
def test_cookies_of_a_request_are_refused(profile: SyncProfile, site: Site, add: object) -> None:
    request = Request(site.url())
    add(request, "Cookie", "a=1")  # type: ignore[operator]
    with pytest.raises(CookiesNotAllowed):
        text(profile.urllib("Work"), request)
    assert not site.seen


def test_digest_authentication_keeps_to_the_identity(profile: SyncProfile, site: Site) -> None:
    passwords = HTTPPasswordMgr()
    passwords.add_password(REALM, site.url(), "user", "password")
    handler = HTTPDigestAuthHandler(passwords)
    opener = profile.urllib("Work", handler)
    text(opener, site.url(set="o=0"))
    assert text(opener, site.url("/digest", set=["a=1", "b=2; Path=/elsewhere"])) == "o=0; a=1"
    assert [seen.cookie for seen in site.seen] == [b"", b"o=0", b"o=0; a=1"]


def test_a_request_through_a_proxy_has_the_cookies_of_where_it_goes(profile: SyncProfile, site: Site) -> None:
    opener = profile.urllib("Work", ProxyHandler({"http": site.url()}))
    text(opener, "http://site.example/?set=a=1")
    assert text(opener, "http://site.example/") == "a=1"
    assert text(opener, "http://other.example/") == ""


def test_bytes_that_are_no_text_come_back_as_they_were(profile: SyncProfile, site: Site) -> None:
    opener = profile.urllib("Work")
    text(opener, site.url(set="a=\xe9\xff"))
    with opener.open(site.url()) as response:
        assert response.read() == b"a=\xe9\xff"


def test_cookies_of_a_stream_are_taken_before_its_body(profile: SyncProfile, site: Site) -> None:
    opener = profile.urllib("Work")
    with opener.open(site.url("/stream", set="a=1; Path=/")) as response:
        assert text(opener, site.url()) == "a=1"
        assert response.read() == b"one,two,three"


@pytest.mark.slow
def test_threads_can_share_it(profile: SyncProfile, site: Site) -> None:
    opener = profile.urllib("Work")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: text(opener, site.url(set=f"c{n}={n}", to=site.url())), range(64)))
    assert len(text(opener, site.url()).split("; ")) == 64
