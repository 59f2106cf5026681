"""proxy.onRequest and proxy.onError, with a real proxy. What is expected was recorded in Firefox 153."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from http.server import HTTPServer
from pathlib import Path
from typing import Any

import pytest

from hatbox import ArgumentError
from tests.api.browsing import ALL, PAGES, Browsing, browsing, noting
from tests.loopback_proxy import GOOD, LoopbackProxy
from tests.site import Site, _Handler, _Server
from tests.store.in_loop import in_loop

THERE = "http://elsewhere.example/page"
DEAD: Any = {"type": "http", "host": "127.0.0.1", "port": 1}


@pytest.fixture
def proxy() -> Iterator[LoopbackProxy]:
    with LoopbackProxy() as proxy:
        yield proxy


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def choose(web: Browsing, answer: Any, caller_id: str = "script", permissions: Any = ALL) -> list[Any]:
    """Let a script choose this proxy; returns the details it receives."""
    received: list[Any] = []
    listener = answer if callable(answer) else noting(received, answer)
    web.script(permissions, caller_id).proxy.onRequest.addListener(listener, PAGES)
    return received


# --------------------------------------------------------------------------------------------------------- bad input


@in_loop
async def test_wrong_arguments_raise_firefoxs_messages(tmp_path: Path) -> None:
    async with browsing(tmp_path) as web:
        event = web.browser.proxy.onRequest
        with pytest.raises(ArgumentError, match=r"^Incorrect argument types for proxy.onRequest\.$"):
            event.addListener(print)  # type: ignore[call-arg]
        with pytest.raises(ArgumentError, match=r'Invalid enumeration value "blocking"\) for proxy.onRequest\.$'):
            event.addListener(print, PAGES, ["blocking"])  # type: ignore[list-item]
        with pytest.raises(ArgumentError, match=r"^Incorrect argument types for proxy.onError\.$"):
            web.browser.proxy.onError.addListener(print, {})  # type: ignore[call-arg]
        assert not hasattr(web.script(["<all_urls>"]), "proxy")
        assert not hasattr(web.browser.proxy, "settings")


@in_loop
async def test_an_invalid_proxy_is_reported_to_its_extension_only(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        own: list[Any] = []
        others: list[Any] = []
        web.script(caller_id="wrong").proxy.onError.addListener(own.append)
        web.browser.proxy.onError.addListener(others.append)
        choose(web, {"type": "nonsense"}, "wrong")
        assert (await web.visit(site.url("/page/1"))).title == "Page 1"
        message = 'ProxyInfoData: Invalid proxy server type: "nonsense"'
        assert own == [{"message": message, "fileName": "undefined", "lineNumber": 0, "stack": ""}]
        assert others == []


@in_loop
async def test_a_listener_that_raises_or_hangs_leaves_it_to_the_others(
    tmp_path: Path, proxy: LoopbackProxy, caplog: pytest.LogCaptureFixture
) -> None:
    async def hangs(_: Any) -> None:
        await asyncio.Event().wait()

    def fails(_: Any) -> None:
        raise ValueError("oops")

    async with browsing(tmp_path) as web:
        web.profile.web_requests.blocking_timeout = 0.05
        choose(web, proxy.info())
        choose(web, hangs)
        choose(web, fails)
        assert (await web.visit(THERE)).title == "Through the proxy"
    assert "oops" in caplog.text
    assert "proxy.onRequest listener timed out" in caplog.text


# ------------------------------------------------------------------------------------------------------- the way out


@in_loop
async def test_a_page_comes_through_the_proxy_with_the_cookies_of_its_identity(
    tmp_path: Path, proxy: LoopbackProxy
) -> None:
    async with browsing(tmp_path) as web:
        received = choose(web, proxy.info(username="ignored", password="as in Firefox", proxyAuthorizationHeader="x"))
        web.listen_to_all()
        tab = await web.visit(THERE)
        assert (tab.title, tab.url, tab.error) == ("Through the proxy", THERE, "")
        assert [(each.method, each.target, each.authorization) for each in proxy.asked] == [("GET", THERE, None)]
        assert received == [
            {
                "requestId": web.log[0][1]["requestId"],
                "url": THERE,
                "method": "GET",
                "type": "main_frame",
                "fromCache": False,
                "incognito": False,
                "thirdParty": False,
                "frameId": 0,
                "parentFrameId": -1,
                "frameAncestors": [],
                "timeStamp": received[0]["timeStamp"],
                "tabId": tab.id,
                "cookieStoreId": "firefox-container-2",
                "urlClassification": {"firstParty": [], "thirdParty": []},
            }
        ]
        info = {
            "connectionIsolationKey": None,
            "failoverTimeout": 10,
            "host": "127.0.0.1",
            "port": proxy.port,
            "proxyAuthorizationHeader": "x",
            "proxyDNS": False,
            "type": "http",
            "username": "",
        }
        assert all(details["proxyInfo"] == info for _, details in web.log)
        await web.visit(THERE)
        await web.visit(THERE, "Banking")
        assert [each.headers.get("cookie") for each in proxy.asked] == [None, "a=1", None]


@in_loop
async def test_identities_can_go_different_ways(tmp_path: Path) -> None:
    with LoopbackProxy() as one, LoopbackProxy() as two:
        async with browsing(tmp_path) as web:
            ways = {"firefox-container-1": one, "firefox-container-2": two}

            async def by_identity(details: Any) -> Any:
                return ways[details["cookieStoreId"]].info()

            choose(web, by_identity)
            await web.visit(THERE, "Personal")
            await web.visit(f"{THERE}?work", "Work")
        assert [each.target for each in one.asked] == [THERE]
        assert [each.target for each in two.asked] == [f"{THERE}?work"]


@in_loop
async def test_this_machine_is_reached_without_a_proxy(tmp_path: Path, site: Site, proxy: LoopbackProxy) -> None:
    async with browsing(tmp_path) as web:
        received = choose(web, proxy.info())
        web.listen_to_all()
        for host in ("127.0.0.1", "localhost"):
            assert (await web.visit(site.url("/page/1", host=host))).title == "Page 1"
        assert len(received) == 2
        assert web.details("onCompleted")[0]["proxyInfo"] is None
    assert proxy.asked == []


@in_loop
async def test_the_next_proxy_is_tried_and_if_none_answers_the_tab_says_so(
    tmp_path: Path, proxy: LoopbackProxy
) -> None:
    async with browsing(tmp_path) as web:
        choose(web, [DEAD, DEAD, proxy.info()])
        web.listen_to_all()
        assert (await web.visit(THERE)).title == "Through the proxy"
        assert web.details("onCompleted")[0]["proxyInfo"]["port"] == proxy.port
    async with browsing(tmp_path / "2") as web:
        choose(web, [DEAD, DEAD])
        web.listen_to_all()
        assert (await web.visit(THERE)).error == "proxy unreachable: 127.0.0.1:1"
        assert web.details("onErrorOccurred")[0]["error"] == "NS_ERROR_PROXY_CONNECTION_REFUSED"


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("socks", "SOCKS proxies need: pip install 'hatbox[socks]'"),
        ("socks4", "SOCKS 4 proxies are not supported; use HTTP, HTTPS or SOCKS 5"),
    ],
)
@in_loop
async def test_a_proxy_that_cannot_be_used_is_an_error_and_never_left_out(
    tmp_path: Path, proxy: LoopbackProxy, monkeypatch: pytest.MonkeyPatch, kind: str, error: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "socksio", None)
    async with browsing(tmp_path) as web:
        choose(web, proxy.info(kind))
        assert (await web.visit(THERE)).error == error


@in_loop
async def test_the_last_listener_decides(tmp_path: Path, proxy: LoopbackProxy) -> None:
    async with browsing(tmp_path) as web:
        choose(web, DEAD, "one")
        choose(web, proxy.info(), "two")
        choose(web, None, "three")
        choose(web, {"type": "direct"}, "four")
        choose(web, {"type": "wrong"}, "five")
        web.listen_to_all()
        assert (await web.visit(THERE)).title == "Through the proxy"


@in_loop
async def test_requests_to_hosts_without_permission_are_not_delivered(tmp_path: Path, proxy: LoopbackProxy) -> None:
    async with browsing(tmp_path) as web:
        received = choose(web, proxy.info(), permissions=["proxy", "http://other.example/*"])
        assert (await web.visit("http://elsewhere.invalid/")).error == "host not found: elsewhere.invalid"
        assert (received, proxy.asked) == ([], [])


@in_loop
async def test_direct_bypasses_the_proxy_of_the_engine(tmp_path: Path, proxy: LoopbackProxy) -> None:
    async with browsing(tmp_path, proxy=f"http://127.0.0.1:{proxy.port}") as web:
        assert (await web.visit(THERE)).title == "Through the proxy"
        choose(web, {"type": "direct"})
        assert (await web.visit("http://elsewhere.invalid/")).error == "host not found: elsewhere.invalid"


# -------------------------------------------------------------------------------------------------- who are you?


@in_loop
async def test_a_listener_supplies_proxy_credentials(tmp_path: Path, proxy: LoopbackProxy) -> None:
    async with browsing(tmp_path) as web:
        choose(web, proxy.info())
        received: list[Any] = []
        web.answer("onAuthRequired", noting(received, {"authCredentials": {"username": "u", "password": "p"}}))
        assert (await web.visit(f"{THERE}/locked")).title == "Through the proxy"
        assert [each.authorization for each in proxy.asked] == [None, GOOD]
        assert {name: received[0][name] for name in ("scheme", "realm", "isProxy", "challenger", "statusCode")} == {
            "scheme": "basic",
            "realm": "P",
            "isProxy": True,
            "challenger": {"host": "127.0.0.1", "port": proxy.port},
            "statusCode": 407,
        }


@pytest.fixture
def secure(site: Site) -> Iterator[int]:
    """The port of a site with a self-signed certificate."""

    class Server(_Server):
        def server_bind(self) -> None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(Path(__file__).parents[2] / "engines" / "selfsigned.pem")
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
            HTTPServer.server_bind(self)

    server = Server(("127.0.0.1", 0), _Handler)
    server.site = site
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.hang_up()
    server.server_close()


@in_loop
async def test_secure_pages_go_through_a_tunnel(tmp_path: Path, secure: int, proxy: LoopbackProxy, site: Site) -> None:
    proxy.tunnels_to = secure
    async with browsing(tmp_path, verify=False) as web:
        choose(web, proxy.info(proxyAuthorizationHeader="Basic abc"))
        web.listen_to_all()
        tab = await web.visit("https://elsewhere.example/page/1")
        assert (tab.title, tab.error) == ("Page 1", "")
        assert [each[:3] for each in proxy.asked] == [("CONNECT", "elsewhere.example:443", "Basic abc")]
        assert "proxy-authorization" not in site.seen[0].headers
        assert web.names.count("onHeadersReceived") == 1


@in_loop
async def test_an_invalid_certificate_of_a_site_never_leads_to_the_next_proxy_or_to_no_proxy(
    tmp_path: Path, secure: int, proxy: LoopbackProxy
) -> None:
    proxy.tunnels_to = secure
    there = "https://elsewhere.invalid/page/1"
    with LoopbackProxy() as other:
        for number, following in enumerate((other.info(), {"type": "direct"})):
            async with browsing(tmp_path / str(number)) as web:
                choose(web, [DEAD, proxy.info(), following])
                web.listen_to_all()
                tab = await web.visit(there)
                assert tab.error == "invalid certificate of elsewhere.invalid: self-signed certificate"
                assert web.details("onErrorOccurred")[0]["error"] == tab.error
                assert web.details("onErrorOccurred")[0]["proxyInfo"]["port"] == proxy.port
        assert other.asked == []
    assert len(proxy.asked) == 2


@in_loop
async def test_a_proxy_with_an_invalid_certificate_is_never_left_out(
    tmp_path: Path, secure: int, proxy: LoopbackProxy
) -> None:
    async with browsing(tmp_path) as web:
        choose(web, [{"type": "https", "host": "127.0.0.1", "port": secure}, proxy.info()])
        for there in (THERE, "https://elsewhere.example/page"):
            assert (await web.visit(there)).error == f"no secure connection to the proxy 127.0.0.1:{secure}"
    assert proxy.asked == []


@in_loop
async def test_a_tunnel_is_opened_with_credentials(tmp_path: Path, secure: int, proxy: LoopbackProxy) -> None:
    proxy.tunnels_to = secure
    async with browsing(tmp_path, verify=False) as web:
        choose(web, proxy.info())
        there = "https://locked.example/page/1"
        tab = await web.visit(there)
        assert (tab.error, tab.http_status) == ("proxy refused the connection", None)
        received: list[Any] = []
        web.answer("onAuthRequired", noting(received, {"authCredentials": {"username": "u", "password": "p"}}))
        assert (await web.visit(there)).title == "Page 1"
        assert [(details["realm"], details["isProxy"]) for details in received] == [("P", True)]
        assert [each.authorization for each in proxy.asked] == [None, None, GOOD]
