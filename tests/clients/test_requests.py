from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter
from requests.auth import HTTPDigestAuth
from requests.cookies import RequestsCookieJar

import hatbox
from hatbox import CookiesNotAllowed, SyncProfile
from tests.clients.server import Site


@pytest.fixture
def profile(path: Path) -> Iterator[SyncProfile]:
    with hatbox.open_sync(path) as profile:
        yield profile


@pytest.fixture
def session(profile: SyncProfile) -> Iterator[requests.Session]:
    with profile.requests("Work") as session:
        yield session


def test_its_own_jar_takes_nothing(session: requests.Session, site: Site) -> None:
    with pytest.raises(CookiesNotAllowed, match='"a" was put'):
        session.cookies.set("a", "1")
    with pytest.raises(CookiesNotAllowed):
        session.cookies.update({"a": "1"})
    with pytest.raises(CookiesNotAllowed):
        session.cookies = RequestsCookieJar()
    with pytest.raises(CookiesNotAllowed):
        session.get(site.url(), cookies={"a": "1"})
    assert not site.seen
    assert session.cookies.get_dict() == {}


def test_cookies_in_the_sessions_headers_are_refused(session: requests.Session, site: Site) -> None:
    session.headers["Cookie"] = "a=1"
    with pytest.raises(CookiesNotAllowed):
        session.get(site.url())
    assert not site.seen


def test_a_prepared_request_can_be_sent_with_several_identities(profile: SyncProfile, site: Site) -> None:
    request = requests.Request("GET", site.url()).prepare()
    for name in ("Work", "Personal"):
        with profile.requests(name) as session:
            session.get(site.url(set=f"sid={name}"))
            assert session.send(request).text == f"sid={name}"
            assert session.send(request).text == f"sid={name}"


def test_a_request_that_went_out_with_one_identity_is_refused_with_another(profile: SyncProfile, site: Site) -> None:
    with profile.requests("Work") as work, profile.requests("Personal") as personal:
        work.get(site.url(set="sid=work"))
        sent = work.get(site.url()).request
        assert work.send(sent).text == "sid=work"
        with pytest.raises(CookiesNotAllowed):
            personal.send(sent)


def test_an_adapter_of_your_own_wears_the_identity_too(session: requests.Session, site: Site) -> None:
    class Counting(HTTPAdapter):
        sent = 0

        def send(self, *arguments: Any, **options: Any) -> requests.Response:
            self.sent += 1
            return super().send(*arguments, **options)

    counting = Counting()
    session.mount(site.url(), counting)
    session.get(site.url(set="a=1", to=site.url("/next")))
    assert session.get(site.url()).text == "a=1"
    assert counting.sent == 3


def test_digest_authentication_keeps_to_the_identity(session: requests.Session, site: Site) -> None:
    session.auth = HTTPDigestAuth("user", "password")
    session.get(site.url(set="o=0"))
    response = session.get(site.url("/digest", set=["a=1", "b=2; Path=/elsewhere"]))
    assert (response.status_code, response.text) == (200, "o=0; a=1")
    assert [seen.cookie for seen in site.seen] == [b"", b"o=0", b"o=0; a=1"]
    assert session.get(site.url("/elsewhere/")).text == "b=2; o=0; a=1"


def test_an_answer_still_tells_the_cookies_that_it_brought(session: requests.Session, site: Site) -> None:
    assert session.get(site.url(set="a=1")).cookies.get_dict() == {"a": "1"}
    assert session.cookies.get_dict() == {}


def test_cookies_of_a_stream_are_taken_before_its_body(session: requests.Session, site: Site) -> None:
    with session.get(site.url("/stream", set="a=1; Path=/"), stream=True) as response:
        assert session.get(site.url()).text == "a=1"
        assert response.content == b"one,two,three"


def test_bytes_that_are_no_text_come_back_as_they_were(session: requests.Session, site: Site) -> None:
    session.get(site.url(set="a=\xe9\xff"))
    session.get(site.url())
    assert site.seen[-1].cookie == b"a=\xe9\xff"


@pytest.mark.slow
def test_threads_can_share_it(session: requests.Session, site: Site) -> None:
    session.mount("http://", HTTPAdapter(pool_maxsize=8))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: session.get(site.url(set=f"c{n}={n}", to=site.url())), range(64)))
    assert len(session.get(site.url()).text.split("; ")) == 64


def test_a_copy_has_the_identity_too(session: requests.Session, site: Site) -> None:
    session.headers["X-Copied"] = "1"
    session.get(site.url(set="sid=1"))
    copied = copy.copy(session)
    assert copied.get(site.url()).text == "sid=1"
    assert copied.headers["X-Copied"] == "1"
    for refused in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="bind another one"):
            refused(session)
