"""The HTTP engine against a real site (engines/http.py, engines/reasons.py)."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import ssl
import threading
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest

import hatbox
from hatbox.content_coding import accept_encoding
from hatbox.engines.http.http_engine import HttpEngine
from hatbox.engines.load_errors import format_bytes, load_error_message
from hatbox.engines.runner import EngineRunner
from hatbox.web_requests import RequestSnapshot
from tests.coded_site import CodedSite, gzip_bomb
from tests.site import TITLES, Site
from tests.store.in_loop import in_loop

HERE = Path(__file__).parent


@contextlib.asynccontextmanager
async def browsing(path: Path, **options: Any) -> AsyncIterator[tuple[hatbox.Profile, EngineRunner]]:
    async with hatbox.open(path) as profile, profile.http_engine(**options) as engine:
        yield profile, engine


async def visit(profile: hatbox.Profile, engine: EngineRunner, url: str, identity: str = "Work") -> hatbox.Tab:
    tab = await profile.tabs.open(identity, url)
    return await engine.wait_until_loaded(tab.id)


# ------------------------------------------------------------------------------------------------------------- pages


@in_loop
async def test_two_identities_are_signed_in_at_once_and_the_cookies_are_in_the_profile(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        for name in ("Work", "Personal"):
            tab = await visit(profile, engine, site.url("/login", user=name, as_=name), name)
            assert (tab.url, tab.title) == (site.url("/me", as_=name), f"Signed in as {name}")
            assert (tab.http_status, tab.content_type, tab.error) == (200, "text/html", "")
        assert (await visit(profile, engine, site.url("/me"), "Banking")).http_status == 401
        assert (await visit(profile, engine, site.url("/me"), "firefox-default")).http_status == 401
        async with profile.httpx("Work") as client:
            assert "Signed in as Work" in (await client.get(site.url("/me", as_="Work"))).text
    assert not site.mixed


@in_loop
async def test_redirects_are_followed_each_with_its_cookies(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        tab = await visit(profile, engine, site.url("/redirect/3"))
        assert (tab.url, tab.title) == (site.url("/redirect/0"), "The end")
        assert [set(seen.cookies) for seen in site.seen] == [
            set(),
            {"hop3"},
            {"hop3", "hop2"},
            {"hop3", "hop2", "hop1"},
        ]
        there = site.url("/go", to=site.url("/cookies", host="localhost"), set="here=1")
        assert (await visit(profile, engine, there)).url == site.url("/cookies", host="localhost")
        assert site.seen[-1].cookies == {}


@in_loop
async def test_strict_cookies_go_along_as_when_a_user_types_an_address(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        await visit(profile, engine, site.url("/", set=["strict=1; SameSite=Strict", "lax=1; SameSite=Lax"]))
        await visit(profile, engine, site.url("/go", host="localhost", to=site.url("/cookies")))
        assert set(site.seen[-1].cookies) == {"strict", "lax"}


@pytest.mark.parametrize("name", ["meta", "entities", "utf-16", "text", "none"])
@in_loop
async def test_titles_are_read_as_browsers_do(path: Path, site: Site, name: str) -> None:
    async with browsing(path) as (profile, engine):
        assert (await visit(profile, engine, site.url(f"/title/{name}"))).title == TITLES[name][2]


@in_loop
async def test_what_a_tab_needs_is_recorded(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        tab = await visit(profile, engine, site.url("/icon"))
        assert (tab.title, tab.icon) == ("Icon", site.url("/icon.png"))
        for number in (404, 500):
            tab = await visit(profile, engine, site.url(f"/status/{number}"))
            assert (tab.http_status, tab.title[:3], tab.error) == (number, str(number), "")
        tab = await visit(profile, engine, site.url("/download"))
        assert (tab.content_type, tab.title) == ("application/octet-stream", "")
        assert (await visit(profile, engine, site.url(""))).url == site.url("/")


@in_loop
async def test_another_place_in_the_same_page_is_no_request(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        tab = await visit(profile, engine, site.url("/long"))
        await profile.tabs.navigate(tab.id, f"{tab.url}#end")
        there = await engine.wait_until_loaded(tab.id)
        assert (there.url, there.title) == (f"{tab.url}#end", "Long")
        assert len(site.requests("/long")) == 1
        await profile.tabs.reload(tab.id)
        await engine.wait_until_loaded(tab.id)
        assert len(site.requests("/long")) == 2


# ------------------------------------------------------------------------------------------------------------ errors


@pytest.fixture(scope="module")
def bad_certificate() -> Iterator[str]:
    """A site whose certificate nobody has signed."""

    class Server(HTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(HERE.parent / "selfsigned.pem")
    server = Server(("127.0.0.1", 0), SimpleHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://nobody.invalid/", "host not found: nobody.invalid"),
        ("http://127.0.0.1:1/", "127.0.0.1:1 refused the connection"),
        ("ftp://site.example/", "unsupported URL scheme: ftp (use http or https)"),
        ("javascript:alert(1)", "unsupported URL scheme: javascript (use http or https)"),
        ("http://", "invalid URL: http://"),
        ("http://[::bad/", "invalid URL: http://[::bad/"),
    ],
)
@in_loop
async def test_a_page_that_cannot_be_loaded_is_a_state_that_says_why(path: Path, url: str, error: str) -> None:
    async with browsing(path) as (profile, engine):
        tab = await visit(profile, engine, url)
        assert (tab.error, tab.url, tab.status, tab.http_status) == (error, url, "complete", None)


@in_loop
async def test_a_bad_certificate_is_named_as_such(path: Path, bad_certificate: str) -> None:
    async with browsing(path) as (profile, engine):
        tab = await visit(profile, engine, bad_certificate)
        assert tab.error.startswith("invalid certificate of 127.0.0.1:")
        assert "self" in tab.error


@in_loop
async def test_a_server_that_speaks_no_tls_is_named_as_such(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        tab = await visit(profile, engine, site.url("/").replace("http:", "https:"))
        assert tab.error.startswith("no secure connection to 127.0.0.1:")


@in_loop
async def test_redirects_without_end_come_to_one(path: Path, site: Site) -> None:
    async with browsing(path, max_redirects=5) as (profile, engine):
        assert (await visit(profile, engine, site.url("/redirect/5"))).title == "The end"
        tab = await visit(profile, engine, site.url("/redirect/loop"))
        assert tab.error == "too many redirects: more than 5"
        assert len(site.requests("/redirect/loop")) == 6
        tab = await visit(profile, engine, site.url("/go", to="ftp://site.example/"))
        assert tab.error == "redirected to an unsupported URL: ftp://site.example/ (use http or https)"


@in_loop
async def test_of_a_page_without_end_only_so_much_is_read_and_it_still_counts(path: Path, site: Site) -> None:
    async with browsing(path, max_bytes=1_000_000) as (profile, engine):
        tab = await visit(profile, engine, site.url("/big"))
        assert (tab.title, tab.http_status) == ("Without end", 200)
        assert tab.error == "larger than 1 MB; the rest was not read"
        assert await asyncio.to_thread(site.closed.wait, 10)
        assert site.sent < 50_000_000


@in_loop
async def test_time_is_limited_before_the_answer_and_in_the_middle_of_it(path: Path, site: Site) -> None:
    for seconds in (0.3, 3, 15):  # a busy machine answers late
        async with browsing(path, timeout=seconds) as (profile, engine):
            slow, drip = await asyncio.gather(
                visit(profile, engine, site.url("/slow")), visit(profile, engine, site.url("/drip"))
            )
        if drip.title:
            break
    assert (slow.error, slow.http_status) == (f"timed out after {seconds:g} seconds", None)
    assert (drip.error, drip.http_status, drip.title) == (f"timed out after {seconds:g} seconds", 200, "Drip")


@in_loop
async def test_an_error_that_nobody_thought_of_is_a_state_too(
    path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    def surprise(_: httpx.Request) -> httpx.Response:
        raise RuntimeError("surprise")

    async with browsing(path, transport=httpx.MockTransport(surprise)) as (profile, engine):
        assert (await visit(profile, engine, site.url("/"))).error == "loading failed (surprise)"
    assert "surprise" in caplog.text


# -------------------------------------------------------------------------------------------------- loads under way


@in_loop
async def test_a_newer_load_cancels_the_older(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        tab = await profile.tabs.open("Work", site.url("/slow"))
        await asyncio.to_thread(site.wait_for, "/slow")
        assert isinstance(engine.engine, HttpEngine)
        older = engine.engine._loads[tab.id]
        await profile.tabs.navigate(tab.id, site.url("/page/2"))
        assert (await engine.wait_until_loaded(tab.id)).title == "Page 2"
        assert older.cancelled()
        site.released.set()
        await engine.wait_until_settled()
        assert (await profile.tabs.get(tab.id)).title == "Page 2"


@in_loop
async def test_closing_a_tab_cancels_its_load_and_so_does_making_it_blank(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        assert isinstance(engine.engine, HttpEngine)
        tabs = [await profile.tabs.open("Work", site.url("/slow")) for _ in range(2)]
        await asyncio.to_thread(site.wait_for, "/slow", 2)
        await profile.tabs.close(tabs[0].id)
        await profile.tabs.navigate(tabs[1].id, "about:blank")
        await engine.wait_until_settled()
        assert (await engine.wait_until_loaded(tabs[1].id)).url == "about:blank"
        site.released.set()
        for load in list(engine.engine._loads.values()):
            await load
        assert [tab.url for tab in await profile.tabs.query()] == ["about:blank"]


@in_loop
async def test_hiding_cancels_nothing(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        tab = await profile.tabs.open("Work", site.url("/slow"))
        await asyncio.to_thread(site.wait_for, "/slow")
        await profile.identities.hide("firefox-container-2")
        await engine.wait_until_settled()
        site.released.set()
        loaded = await engine.wait_until_loaded(tab.id)
        assert (loaded.title, loaded.hidden) == ("At last", True)


@in_loop
async def test_removing_an_identity_cancels_its_loads_and_closes_its_client(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        assert isinstance(engine.engine, HttpEngine)
        await profile.tabs.open("Work", site.url("/slow"))
        await asyncio.to_thread(site.wait_for, "/slow")
        client = engine.engine._clients["firefox-container-2"]
        await profile.identities.remove("firefox-container-2")
        await engine.wait_until_settled()
        assert client.is_closed
        assert not engine.engine._loads
        assert await profile.tabs.query() == []


@in_loop
async def test_an_identity_that_is_removed_in_the_middle_of_a_load_sends_nothing_more(path: Path, site: Site) -> None:
    async def remove(_: RequestSnapshot) -> None:
        await profile.identities.remove("firefox-container-2")
        ended.set()

    ended = asyncio.Event()
    async with browsing(path) as (profile, engine):
        profile.web_requests.on_headers_received.add_listener(remove)
        await profile.tabs.open("Work", site.url("/redirect/3"))
        await ended.wait()
        await engine.wait_until_settled()
        assert isinstance(engine.engine, HttpEngine)
        assert not engine.engine._loads
    assert len(site.seen) == 1


@in_loop
async def test_stopping_ends_loads_and_the_next_engine_takes_up_only_those(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        done = await visit(profile, engine, site.url("/page/1"))
        slow = await profile.tabs.open("Work", site.url("/slow"))
        await asyncio.to_thread(site.wait_for, "/slow")
    site.released.set()
    async with browsing(path) as (profile, engine):
        assert (await engine.wait_until_loaded(slow.id)).title == "At last"
        assert (await profile.tabs.get(done.id)).title == "Page 1"
    assert len(site.requests("/page/1")) == 1
    assert len(site.requests("/slow")) == 2


@in_loop
async def test_only_so_many_loads_are_under_way_at_once(path: Path, site: Site) -> None:
    async with browsing(path, max_concurrent=2) as (profile, engine):
        tabs = [await profile.tabs.open("Work", site.url("/slow")) for _ in range(5)]
        await asyncio.to_thread(site.wait_for, "/slow", 2)
        other = await profile.tabs.open("Personal", site.url("/page/1"))
        await engine.wait_until_settled()
        assert len(site.seen) == 2
        site.released.set()
        for tab in [*tabs, other]:
            await engine.wait_until_loaded(tab.id)
        assert len(site.seen) == 6


@pytest.mark.slow
@in_loop
async def test_a_hundred_identities_are_signed_in_and_none_is_mixed(path: Path, site: Site) -> None:
    async with browsing(path) as (profile, engine):
        made = [await profile.identities.create(f"User {n}", color="red", icon="pet") for n in range(100)]
        tabs = [await profile.tabs.open(each, site.url("/login", user=each.name, as_=each.name)) for each in made]
        for identity, tab in zip(made, tabs, strict=True):
            assert (await engine.wait_until_loaded(tab.id)).title == f"Signed in as {identity.name}"
    assert not site.mixed
    assert len(site.sessions) == 100


# ---------------------------------------------------------------------------------------------------------- in words


def test_an_error_without_words_is_left_to_others() -> None:
    assert load_error_message(KeyError("x"), "http://site.example/") == ""
    assert load_error_message(httpx.ReadError(""), "http://site.example/") == "connection to the server lost"
    assert (
        load_error_message(httpx.RemoteProtocolError("x"), "")
        == "connection closed by the server, or invalid HTTP response"
    )


@pytest.mark.parametrize(
    ("size", "words"), [(10, "10 bytes"), (1000, "1 kB"), (16_000_000, "16 MB"), (1_500_000, "1.5 MB"), (10**9, "1 GB")]
)
def test_amounts_are_for_people(size: int, words: str) -> None:
    assert format_bytes(size) == words


# ------------------------------------------------------------------------------------------------------------ codings


@pytest.mark.slow
@in_loop
async def test_pages_are_decoded_within_the_limit(path: Path) -> None:
    page = b"<title>Decoded</title>"
    with CodedSite() as site:
        async with browsing(path, max_bytes=1_000_000) as (profile, engine):
            for coding, body in (("gzip", gzip.compress(page)), ("gzip, deflate", zlib.compress(gzip.compress(page)))):
                tab = await visit(profile, engine, site.url(coding, body))
                assert (tab.title, tab.error) == ("Decoded", "")
            twice, thrice = site.url("gzip, gzip", gzip_bomb(2)), site.url("gzip, gzip, gzip", gzip_bomb(3))
            tracemalloc.start()
            try:
                tab = await visit(profile, engine, twice)
                assert tab.error == "larger than 1 MB; the rest was not read"
                tab = await visit(profile, engine, thrice)
                assert "encoded 3 times" in tab.error
                assert tracemalloc.get_traced_memory()[1] < 16_000_000
            finally:
                tracemalloc.stop()
            tab = await visit(profile, engine, site.url("gzip", b"no gzip"))
            assert "damaged" in tab.error
    assert set(site.accepted) == {accept_encoding()}
