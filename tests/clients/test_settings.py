"""Clients use the settings of their identity for their next request, in any process, whatever the caller's options."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
import socket
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import aiohttp
import httpx
import pytest
import requests
from requests.adapters import HTTPAdapter

import hatbox
from hatbox import MissingExtra, SettingNotSupported
from tests.clients.faces import Aiohttp, AsyncHttpx, Httpx, Requests, Urllib, Wardrobe
from tests.clients.recording_proxy import PASSWORD, USER, RecordingProxy, RecordingSite
from tests.clients.server import Site
from tests.store.in_loop import in_loop


@pytest.fixture
def recorder() -> Iterator[RecordingSite]:
    with RecordingSite() as site:
        yield site


@pytest.fixture
def proxies(recorder: RecordingSite) -> Iterator[tuple[RecordingProxy, RecordingProxy]]:
    with (
        RecordingProxy(recorder.port, recorder.port) as one,
        RecordingProxy(recorder.port, recorder.port) as two,
    ):
        yield one, two


@pytest.fixture
def other(path: Path, clothes: Wardrobe) -> Iterator[hatbox.SyncProfile]:
    """The profile, opened once more: what another program changes."""
    with hatbox.open_sync(path) as opened:
        yield opened


def test_user_agent_and_locale_are_sent_unless_the_caller_sets_them(
    clothes: Wardrobe, other: hatbox.SyncProfile, site: Site
) -> None:
    face = clothes.wear("Work")
    face.get(site.url())
    default = site.headers[-1]["User-Agent"]
    assert "Accept-Language" not in site.headers[-1]
    other.identities.set_settings("Work", user_agent="Agent/1", locale="de-DE")
    face.get(site.url())
    assert site.headers[-1]["User-Agent"] == "Agent/1"
    assert site.headers[-1]["Accept-Language"] == "de-DE,de;q=0.9"
    face.get(site.url(to=site.url("/landed")))
    assert [each["User-Agent"] for each in site.headers[-2:]] == ["Agent/1"] * 2
    assert [each["Accept-Language"] for each in site.headers[-2:]] == ["de-DE,de;q=0.9"] * 2
    face.get(site.url(), {"User-Agent": "Mine", "Accept-Language": "fr"})
    assert (site.headers[-1]["User-Agent"], site.headers[-1]["Accept-Language"]) == ("Mine", "fr")
    assert site.headers[-1].get_all("User-Agent") == ["Mine"]
    other.identities.set_settings("Work", user_agent=None, locale=None)
    face.get(site.url())
    assert site.headers[-1]["User-Agent"] == default
    assert "Accept-Language" not in site.headers[-1]


def test_another_identity_has_other_settings(clothes: Wardrobe, other: hatbox.SyncProfile, site: Site) -> None:
    other.identities.set_settings("Work", user_agent="Agent/1")
    clothes.wear("Personal").get(site.url())
    assert site.headers[-1]["User-Agent"] != "Agent/1"


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_new_proxy_is_used_for_the_next_request(
    scheme: str,
    clothes: Wardrobe,
    other: hatbox.SyncProfile,
    site: Site,
    recorder: RecordingSite,
    proxies: tuple[RecordingProxy, RecordingProxy],
) -> None:
    face, (one, two) = clothes.wear("Work"), proxies
    face.get(site.url())
    assert len(site.seen) == 1
    for count, proxy in enumerate((one, two, one), start=1):
        other.identities.set_settings("Work", proxy=proxy.url(scheme))
        assert face.get("http://site.test/").status == 200
        assert len(recorder.requests) == count
        assert recorder.last_peer in proxy.ports
    other.identities.set_settings("Work", proxy=None)
    face.get(site.url())
    assert len(site.seen) == 2
    assert len(recorder.requests) == 3


def test_cookies_come_and_go_through_a_proxy(
    clothes: Wardrobe, other: hatbox.SyncProfile, site: Site, proxies: tuple[RecordingProxy, RecordingProxy]
) -> None:
    with RecordingProxy(site.server_port, site.server_port) as proxy:
        other.identities.set_settings("Work", proxy=proxy.url("http"))
        face = clothes.wear("Work")
        face.get("http://site.test/?set=sid%3D1")
        assert face.get("http://site.test/me").text == "sid=1"


def test_the_proxy_of_the_identity_wins_over_those_of_the_caller_and_the_environment(
    clothes: Wardrobe,
    other: hatbox.SyncProfile,
    recorder: RecordingSite,
    proxies: tuple[RecordingProxy, RecordingProxy],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine, wrong = proxies
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://leaked:leaked@127.0.0.1:{wrong.port}")
    other.identities.set_settings("Work", proxy=mine.url("http"))
    face = clothes.wear("Work")
    options: dict[str, Any] = {}
    if isinstance(face, Requests):
        face.session.proxies = {"http": wrong.url("http")}
        options = {"proxies": {"all": wrong.url("http")}}
    elif isinstance(face, Aiohttp):
        options = {"proxy": wrong.url("http")}
    assert face.get("http://site.test/redirect", **options).status == 200
    assert {each.target for each in mine.asked} == {"site.test"}
    assert not any(each.authorized for each in mine.asked)
    assert "proxy-authorization" not in recorder.requests[-1]
    assert len(recorder.requests) == 2
    assert set(recorder.peers) <= mine.ports
    assert wrong.asked == []


def test_proxy_options_of_httpx_clients_are_replaced(
    path: Path, proxies: tuple[RecordingProxy, RecordingProxy]
) -> None:
    mine, wrong = proxies
    with hatbox.open_sync(path) as profile:
        profile.identities.set_settings("Work", proxy=mine.url("http"))
        with profile.httpx("Work", proxy=wrong.url("http")) as client:
            client.get("http://site.test/")
    assert len(mine.asked) == 1
    assert wrong.asked == []


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_cannot_be_reached_is_not_reported_as_the_site(
    clothes: Wardrobe, other: hatbox.SyncProfile, site: Site, scheme: str
) -> None:
    face = clothes.wear("Work")
    other.identities.set_settings("Work", proxy=f"{scheme}://127.0.0.1:1")
    for url in ("http://site.example/", "https://site.example/"):
        with pytest.raises(Exception, match="127\\.0\\.0\\.1") as failed:
            face.get(url)
        assert "proxy" in repr(failed.value).lower()
        assert not isinstance(failed.value, httpx.ConnectError)


@pytest.fixture
def full_port() -> Iterator[int]:
    """A port where connections are not accepted, and not refused."""
    with contextlib.ExitStack() as sockets:
        full = sockets.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(3):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        yield full.getsockname()[1]


@pytest.mark.parametrize("source", ["setting", "environment"])
@pytest.mark.parametrize("problem", ["unreachable", "refuses", "timeout"])
def test_errors_of_a_proxy_name_it_and_show_no_password(
    clothes: Wardrobe,
    other: hatbox.SyncProfile,
    recorder: RecordingSite,
    full_port: int,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    problem: str,
) -> None:
    with RecordingProxy(recorder.port, recorder.port, "refuses") as refusing:
        port = {"unreachable": 1, "refuses": refusing.port, "timeout": full_port}[problem]
        proxy = f"http://{USER}:hunter2@127.0.0.1:{port}"
        if source == "setting":
            other.identities.set_settings("Work", proxy=proxy)
        else:
            for name in ("HTTPS_PROXY", "https_proxy"):
                monkeypatch.setenv(name, proxy)
            for name in ("NO_PROXY", "no_proxy"):
                monkeypatch.delenv(name, raising=False)
        face = clothes.wear("Work")
        options: dict[str, Any] = {"timeout": 0.2}
        if isinstance(face, Aiohttp):
            face.session._trust_env = True
            options = {"timeout": aiohttp.ClientTimeout(sock_connect=0.2)}
        with pytest.raises(Exception, match=f"127\\.0\\.0\\.1[:']+{port}") as failed:
            face.get("https://site.example/", **options)
    assert "proxy" in (repr(failed.value) + str(failed.value)).lower()
    assert not re.search("hunter2|authorization", repr(failed.value) + str(failed.value), re.IGNORECASE)


# ---------------------------------------------------------------------------------------------------- refused, not sent


def test_transports_of_the_caller_are_refused_when_the_identity_has_a_proxy(path: Path, site: Site) -> None:
    with hatbox.open_sync(path) as profile:
        for options in ({"transport": httpx.HTTPTransport()}, {"mounts": {"all://": httpx.HTTPTransport()}}):
            with profile.httpx("Work", **options) as client:
                profile.identities.set_settings("Work", proxy=None)
                assert client.get(site.url()).status_code == 200
                profile.identities.set_settings("Work", proxy="direct")
                with pytest.raises(SettingNotSupported, match="may ignore the proxy"):
                    client.get(site.url())
    assert len(site.seen) == 2


class OwnAdapter(HTTPAdapter):
    pass


class OwnHandler(urllib.request.HTTPHandler):
    pass


def test_adapters_and_handlers_of_the_caller_are_refused_when_the_identity_has_a_proxy(path: Path, site: Site) -> None:
    with hatbox.open_sync(path) as profile:
        profile.identities.set_settings("Work", proxy="direct")
        session = profile.requests("Work")
        session.mount("http://", OwnAdapter())
        with pytest.raises(SettingNotSupported, match="OwnAdapter"):
            session.get(site.url())
        with pytest.raises(SettingNotSupported, match="OwnHandler"):
            profile.urllib("Work", OwnHandler()).open(site.url())
        with pytest.raises(SettingNotSupported, match="set_proxy"):
            request = urllib.request.Request(site.url())
            request.set_proxy("127.0.0.1:9", "http")
            profile.urllib("Work").open(request)
        with pytest.raises(SettingNotSupported, match="ftp"):
            profile.urllib("Work").open("ftp://127.0.0.1/file")
        with pytest.raises(SettingNotSupported, match="file"):
            profile.urllib("Work").open("file://site.test/file")
        with profile.urllib("Work").open("data:,hello") as response:
            assert response.read() == b"hello"
    assert site.seen == []


@in_loop
async def test_connectors_of_the_caller_are_refused_when_the_identity_has_a_proxy(path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.set_settings("Work", proxy="direct")
        async with profile.aiohttp("Work", connector=aiohttp.UnixConnector(str(path))) as session:
            with pytest.raises(SettingNotSupported, match="UnixConnector"):
                await session.get(site.url())
        async with (
            profile.aiohttp("Work", connector=aiohttp.TCPConnector(limit=1)) as session,
            session.get(site.url()) as response,
        ):
            assert response.status == 200


@pytest.mark.parametrize("module", ["httpx_socks", "socks", "aiohttp_socks"])
def test_without_the_extra_a_socks_proxy_is_refused_and_the_extra_named(
    module: str, clothes: Wardrobe, other: hatbox.SyncProfile, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    face = clothes.wear("Work")
    needed = {
        Httpx: "httpx_socks",
        AsyncHttpx: "httpx_socks",
        Requests: "socks",
        Urllib: "socks",
        Aiohttp: "aiohttp_socks",
    }
    if needed[type(face)] != module:
        pytest.skip("another client")
    monkeypatch.setitem(sys.modules, module, None)
    other.identities.set_settings("Work", proxy="socks5://127.0.0.1:9")
    with pytest.raises(MissingExtra, match=r"pip install 'hatbox\[socks\]'"):
        face.get(site.url())
    assert site.seen == []


# ---------------------------------------------------------------------------------------------------- running requests


@in_loop
async def test_a_response_in_progress_survives_a_change_of_the_proxy(
    path: Path, proxies: tuple[RecordingProxy, RecordingProxy]
) -> None:
    one, two = proxies
    async with hatbox.open(path) as profile, profile.httpx("Work") as client:
        await profile.identities.set_settings("Work", proxy=one.url("http"))
        async with client.stream("GET", "http://site.test/") as response:
            await profile.identities.set_settings("Work", proxy=two.url("http"))
            assert (await client.get("http://site.test/")).status_code == 200
            assert await response.aread() == b"<title>Recorded</title>"
        assert (len(one.asked), len(two.asked)) == (1, 1)


@in_loop
async def test_a_request_object_sent_by_two_identities_uses_the_proxy_of_each(
    path: Path, proxies: tuple[RecordingProxy, RecordingProxy]
) -> None:
    one, two = proxies
    async with (
        hatbox.open(path) as profile,
        profile.httpx("Work") as work,
        profile.httpx("Personal") as personal,
    ):
        await profile.identities.set_settings("Work", proxy=one.url("http"))
        await profile.identities.set_settings("Personal", proxy=two.url("socks5"))
        request = work.build_request("GET", "http://site.test/")
        await asyncio.gather(*(client.send(request) for client in (work, personal) for _ in range(20)))
        assert {each.kind for each in one.asked} == {"GET"}
        assert {each.kind for each in two.asked} == {"SOCKS"}


@in_loop
async def test_a_websocket_of_aiohttp_takes_the_proxy(
    path: Path, proxies: tuple[RecordingProxy, RecordingProxy]
) -> None:
    async with hatbox.open(path) as profile, profile.aiohttp("Work") as session:
        await profile.identities.set_settings("Work", proxy=proxies[0].url("http"))
        with pytest.raises(aiohttp.WSServerHandshakeError):  # the site behind the proxy has no WebSockets
            await session.ws_connect("ws://site.test/")
        assert [each.target for each in proxies[0].asked] == ["site.test"]


@pytest.mark.parametrize("password", [quote(PASSWORD, safe=""), "another"])
@in_loop
async def test_aiohttp_shows_the_password_of_the_proxy_in_no_response_and_no_error(
    path: Path, recorder: RecordingSite, password: str
) -> None:
    secret = base64.b64encode(f"{USER}:{unquote(password)}".encode()).decode()
    with RecordingProxy(recorder.port, recorder.port, locked=True) as proxy:
        async with hatbox.open(path) as profile:
            await profile.identities.set_settings("Work", proxy=f"http://{USER}:{password}@127.0.0.1:{proxy.port}")
            async with profile.aiohttp("Work") as session:
                async with session.get("http://site.test/") as response:
                    assert response.status == (407 if password == "another" else 200)
                    assert secret not in repr(response.request_info) + repr(response)
                    with contextlib.suppress(aiohttp.ClientResponseError):
                        response.raise_for_status()
                if password == "another":
                    with pytest.raises(aiohttp.ClientHttpProxyError) as refused:
                        await session.get("https://site.test/")
                    assert refused.value.status == 407
                    assert secret not in repr(refused.value) + repr(refused.value.args)
        assert proxy.asked[0].authorized is (password != "another")


def test_retries_of_requests_stay_in_the_proxy(path: Path) -> None:
    with (
        RecordingSite() as site,
        RecordingProxy(site.port, site.port, "drops") as proxy,
        hatbox.open_sync(path) as profile,
    ):
        profile.identities.set_settings("Work", proxy=proxy.url("socks5"))
        session = profile.requests("Work")
        session.mount("http://", HTTPAdapter(max_retries=2))
        with pytest.raises(requests.ConnectionError):
            session.get(f"http://127.0.0.1:{site.port}/", timeout=60)
        assert len(proxy.asked) == 3
        assert site.peers == []
