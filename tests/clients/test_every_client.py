"""What holds for every client alike. A real site on the loopback address sees what is sent."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests

import hatbox
from hatbox import ContextualIdentity, CookiesNotAllowed, IdentityNotFound, IdentityRemoved, ProfileClosed
from hatbox.store.registry import store_at
from tests.clients.faces import FACES, AsyncFace, Wardrobe
from tests.clients.server import Site, chain
from tests.coded_site import BOMB_BYTES, CodedSite, gzip_bomb
from tests.postgres import address_of


def test_a_login_stays_with_its_identity(clothes: Wardrobe, site: Site) -> None:
    work, personal = clothes.wear("Work"), clothes.wear("Personal")
    work.get(site.url("/login", set="sid=work; HttpOnly; Path=/"))
    assert work.get(site.url("/me")).text == "sid=work"
    assert personal.get(site.url("/me")).text == ""
    personal.get(site.url("/login", set="sid=personal; HttpOnly; Path=/"))
    assert personal.get(site.url("/me")).text == "sid=personal"
    assert work.get(site.url("/me")).text == "sid=work"


def test_two_clients_with_one_identity_share_its_cookies(clothes: Wardrobe, site: Site) -> None:
    one, other = clothes.wear("Work"), clothes.wear("Work")
    one.get(site.url("/login", set="sid=1; Path=/"))
    assert other.get(site.url("/me")).text == "sid=1"


def test_no_identity_at_all_is_a_store_too(clothes: Wardrobe, site: Site) -> None:
    nobody, work = clothes.wear("firefox-default"), clothes.wear("Work")
    nobody.get(site.url("/", set="sid=nobody"))
    assert nobody.get(site.url("/")).text == "sid=nobody"
    assert work.get(site.url("/")).text == ""


def test_each_hop_of_a_redirect_gets_its_cookies_and_sets_its_own(clothes: Wardrobe, site: Site) -> None:
    work = clothes.wear("Work")
    hosts = ("127.0.0.1", "localhost", "127.0.0.1")
    answer = work.get(chain(site, "hop", *((host, f"v{number}") for number, host in enumerate(hosts))))
    assert [(seen.host, seen.cookie) for seen in site.seen] == [
        ("127.0.0.1", b""),
        ("localhost", b""),
        ("127.0.0.1", b"hop0=v0"),
        ("127.0.0.1", b"hop0=v0; hop2=v2"),
    ]
    assert answer.text == "hop0=v0; hop2=v2"
    assert work.get(site.url("/", host="localhost")).text == "hop1=v1"
    assert clothes.wear("Personal").get(site.url("/")).text == ""


def test_a_redirect_to_another_host_takes_no_cookie_along(clothes: Wardrobe, site: Site) -> None:
    work = clothes.wear("Work")
    work.get(site.url("/", set="sid=1"))
    assert work.get(site.url("/", to=site.url("/", host="localhost"))).text == ""
    assert [seen.cookie for seen in site.seen] == [b"", b"sid=1", b""]


@pytest.mark.parametrize(
    ("line", "asked", "sent"),
    [
        ("a=1; HttpOnly", "/", "a=1"),
        ("a=1; Path=/deep", "/deep/er", "a=1"),
        ("a=1; Path=/deep", "/deeper", ""),
        ("a=1; Secure", "/", "a=1"),
        ("__Host-a=1; Secure; Path=/", "/", "__Host-a=1"),
        ("__Host-a=1; Path=/", "/", ""),
        ("a=1; Domain=localhost", "/", "a=1"),
        ("a=1; Domain=site.example", "/", ""),
        ("a=1; Max-Age=0", "/", ""),
        ("a=1; SameSite=Strict", "/", "a=1"),
        ("a=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT", "/", "a=1"),
        ('a="x, y=z"', "/", 'a="x, y=z"'),
        ("alone", "/", "alone"),
        ("a=caf\u00c3\u00a9", "/", "a=caf\u00c3\u00a9"),
    ],
)
def test_a_browsers_rules_hold(clothes: Wardrobe, site: Site, line: str, asked: str, sent: str) -> None:
    work = clothes.wear("Work")
    work.get(site.url("/", host="localhost", set=line))
    assert work.get(site.url(asked, host="localhost")).text == sent


def test_several_cookies_of_one_answer_are_kept_whole_and_in_order(clothes: Wardrobe, site: Site) -> None:
    work = clothes.wear("Work")
    work.get(site.url("/", set=["b=1; Expires=Wed, 09 Jun 2100 10:18:14 GMT", "a=2, c=3", "d=4"]))
    assert work.get(site.url("/")).text == "b=1; a=2, c=3; d=4"


def test_a_site_can_log_out(clothes: Wardrobe, site: Site) -> None:
    work = clothes.wear("Work")
    work.get(site.url("/", set=["sid=1", "rest=2"]))
    work.get(site.url("/", set="sid=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"))
    assert work.get(site.url("/")).text == "rest=2"


@pytest.mark.parametrize("status", [401, 404, 500])
def test_an_error_sets_cookies_too(clothes: Wardrobe, site: Site, status: int) -> None:
    work = clothes.wear("Work")
    assert work.get(site.url("/", set="a=1", status=status)).status == status
    assert work.get(site.url("/")).text == "a=1"


def test_the_clients_own_jar_stays_empty(clothes: Wardrobe, site: Site) -> None:
    work = clothes.wear("Work")
    work.get(chain(site, "hop", ("127.0.0.1", "1"), ("127.0.0.1", "2"), set="end=3"))
    assert site.seen[-1].cookie == b"hop0=1; hop1=2"
    assert work.own_cookies() == []


def test_a_cookie_header_from_elsewhere_is_refused(clothes: Wardrobe, site: Site) -> None:
    work = clothes.wear("Work")
    with pytest.raises(CookiesNotAllowed, match="Cookie header of its own"):
        work.get(site.url("/"), headers={"cookie": "sid=other"})
    assert site.seen == []
    assert work.get(site.url("/")).status == 200


def test_a_removed_identity_sends_nothing(clothes: Wardrobe, site: Site) -> None:
    work = clothes.wear("Work")
    work.get(site.url("/", set="a=1"))
    before = site.connections
    clothes.remove("Work")
    with pytest.raises(IdentityRemoved, match=r'"Work" \(firefox-container-2\) was removed'):
        work.get(site.url("/", host="localhost"))  # not even a connection, which would have to be a new one
    assert len(site.seen) == 1
    assert site.connections == before


@pytest.mark.process
def test_an_identity_that_another_process_removed_sends_nothing(clothes: Wardrobe, site: Site, path: Path) -> None:
    work, personal = clothes.wear("Work"), clothes.wear("Personal")
    work.get(site.url("/", set="a=1"))
    subprocess.run(
        [sys.executable, "-m", "hatbox", "--profile", address_of(path), "remove", "--yes", "Work"], check=True
    )
    with pytest.raises(IdentityRemoved):
        work.get(site.url("/"))
    assert len(site.seen) == 1
    assert personal.get(site.url("/")).status == 200


def test_an_identity_that_goes_while_the_answer_comes_is_told(clothes: Wardrobe, site: Site, path: Path) -> None:
    work = clothes.wear("Work")
    work.get(site.url("/"))
    with hatbox.open_sync(path) as other:
        site.before_answer = lambda: other.identities.remove("firefox-container-2")
        with pytest.raises(IdentityRemoved):
            work.get(site.url("/", set="a=1"))
    assert len(site.seen) == 2


def test_a_closed_profile_sends_nothing(clothes: Wardrobe, site: Site) -> None:
    work = clothes.wear("Work")
    work.get(site.url("/"))
    clothes.close_profile()
    with pytest.raises(ProfileClosed, match="it is not open"):
        work.get(site.url("/"))
    assert len(site.seen) == 1


def test_a_renamed_identity_is_still_the_same(clothes: Wardrobe, site: Site) -> None:
    work = clothes.wear("Work")
    work.get(site.url("/", set="a=1"))
    clothes.rename("Work", "Office")
    clothes.rename("Personal", "Work")
    assert work.get(site.url("/")).text == "a=1"
    assert clothes.wear("Work").get(site.url("/")).text == ""
    assert clothes.wear("firefox-container-2").get(site.url("/")).text == "a=1"


def test_an_identity_can_be_given_itself(clothes: Wardrobe, site: Site) -> None:
    clothes.wear("Work").get(site.url("/", set="a=1"))
    work = ContextualIdentity("Work", "briefcase", "orange", "firefox-container-2")
    assert clothes.wear(work).get(site.url("/")).text == "a=1"


def test_an_unknown_name_comes_with_help_and_sends_nothing(clothes: Wardrobe, site: Site, kind: str) -> None:
    with pytest.raises(IdentityNotFound, match='Did you mean "Work"'):
        wrong = clothes.wear("Wrok")  # where nothing has to be awaited, this is where it is noticed
        assert issubclass(FACES[kind], AsyncFace)
        wrong.get(site.url("/"))
    assert site.seen == []


@pytest.mark.process
def test_another_process_sees_a_login_at_its_next_request(clothes: Wardrobe, site: Site, path: Path) -> None:
    work = clothes.wear("Work")
    assert work.get(site.url("/")).text == ""
    environment = {**os.environ, "HATBOX_PROFILE": address_of(path)}
    script = (
        "import hatbox, sys\nwith hatbox.open_sync() as profile:\n    profile.urllib('Work').open(sys.argv[1]).read()\n"
    )
    subprocess.run(
        [sys.executable, "-c", script, site.url("/", set="sid=theirs")], env=environment, check=True, timeout=30
    )
    assert work.get(site.url("/")).text == "sid=theirs"


def test_a_request_reads_the_profile_once_and_a_response_writes_it_once(
    clothes: Wardrobe, site: Site, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a database on a server, each of these is a round trip."""
    store_class = type(store_at(path))
    work = clothes.wear("Work")
    work.get(site.url("/login", set="sid=0; Path=/"))
    trips: list[str] = []

    def count(name: str) -> None:
        original: Callable[..., Any] = getattr(store_class, name)

        def counted(*arguments: Any, **options: Any) -> Any:
            trips.append(name)
            return original(*arguments, **options)

        monkeypatch.setattr(store_class, name, counted)

    for name in ("read", "deliver_pending_changes", "write"):
        count(name)
    assert work.get(site.url("/me")).text == "sid=0"
    assert trips == ["deliver_pending_changes"]
    trips.clear()
    assert work.get(site.url("/renew", set="sid=1; Path=/")).text == "sid=0"
    assert trips == ["deliver_pending_changes", "write"]


@pytest.mark.slow
def test_a_body_that_expands_without_measure_is_not_decoded(clothes: Wardrobe, kind: str) -> None:
    client = clothes.wear("Work")
    decodes = "urllib" not in kind  # it hands out what came
    nested = decodes and "aiohttp" not in kind  # it decodes one coding, and not two
    with CodedSite() as site:
        assert client.get(site.url("gzip", gzip.compress(b"text"))).text == "text" or not decodes
        assert client.get(site.url("gzip, gzip", gzip.compress(gzip.compress(b"text")))).text == "text" or not nested
        for times in (2, 3):
            url = site.url(", ".join(["gzip"] * times), gzip_bomb(times))
            if nested:
                with pytest.raises((httpx.DecodingError, requests.exceptions.ContentDecodingError)):
                    client.get(url)
            else:
                assert len(client.get(url).text) < BOMB_BYTES / 100
