"""No request of an identity with a proxy goes out another way, neither with TCP nor UDP, and no name is resolved."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

import hatbox
from hatbox.engines.chromium import launch as launching
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from tests.engines.chromium.leak_page import ATTEMPTS, LEAK_PAGE, WORKER
from tests.engines.chromium.outside import NetLog, Outside
from tests.engines.chromium.real import with_browser
from tests.engines.chromium.recording_proxy import DROPS, HANGS, MODES, REFUSES, UP, RecordingProxy
from tests.threaded_site import ThreadedSite
from tests.waiting import until, until_awaited

STUN = "UDP 0001"  # a binding request (RFC 8489)
CONNECT = "connect(window).then(() => 'connected', String)"


class LeakSite(ThreadedSite):
    """Serves the leak page for a port. The proxies of these tests lead to it."""

    def __init__(self, port: int) -> None:
        page = LEAK_PAGE.replace("PORT", str(port)).encode()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = self.path.partition("?")[0]
                is_script = path == "/worker.js"
                body = page if path == "/leaks" else WORKER.encode() if is_script else b""
                self.send_response(200)
                self.send_header("Content-Type", "text/javascript" if is_script else "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def log_message(self, *_: Any) -> None:
                pass

        super().__init__(Handler)


@pytest.fixture
def net_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The browser logs everything that its network service does to this file."""
    path, flags = tmp_path / "net-log.json", launching.flags

    def with_log(**options: bool) -> tuple[list[str], list[str]]:
        arguments, ignored = flags(**options)
        return [*arguments, f"--log-net-log={path}"], ignored

    monkeypatch.setattr(launching, "flags", with_log)
    return path


@contextlib.asynccontextmanager
async def started(path: Path, browser: str, proxy: str | None) -> AsyncIterator[tuple[hatbox.Profile, ChromiumRunner]]:
    async with hatbox.open(path) as profile:
        await profile.identities.set_settings("Work", proxy=proxy)
        async with profile.chromium(headless=True, browser=browser) as runner:
            yield profile, runner


async def open_leaks(runner: ChromiumRunner, outside: Outside) -> Page:
    return await runner.new_page("Work", f"http://127.0.0.1:{outside.port}/leaks")


@pytest.mark.parametrize("kind", ["http", "socks5", "http with password", "socks5 with password"])
@with_browser
async def test_everything_a_page_sends_goes_through_its_proxy(
    browser: str, path: Path, net_log: Path, kind: str
) -> None:
    credentials = {"user": "me", "password": "s3cret"} if "password" in kind else {}
    async with Outside() as outside:
        with LeakSite(outside.port) as site:
            async with RecordingProxy(site.port, socks="socks" in kind, **credentials) as proxy:
                url = proxy.url_with_credentials if credentials else proxy.url
                async with started(path, browser, url) as (_, runner):
                    page = await open_leaks(runner, outside)
                    assert await page.title() == "leaks"
                    await page.evaluate("open('/from/popup') && 0")
                    if "socks" not in kind:  # a SOCKS proxy sees no paths
                        expected = {f"/from/{name}" for name in ATTEMPTS} | {""}  # the tunnel of the WebSocket
                        with contextlib.suppress(AssertionError):
                            await until(lambda: expected <= proxy.paths())
                        assert expected - proxy.paths() == set()
                    else:
                        await until(lambda: any(each.host == "fetched.test" for each in proxy.asked))
                    await page.goto("about:blank")
                    assert page.context.browser is not None
                assert outside.received == []
                assert {each.user for each in proxy.asked} == {"me:s3cret" if credentials else ""}
    log = NetLog(net_log)
    assert {name for name in log.lookups() if "test" in name} == set()
    assert (log.local_ports() == {proxy.port}) == (not credentials)  # credentials are added by a relay
    assert not {outside.port, site.port} & log.local_ports()


@pytest.mark.parametrize("socks", [False, True])
@pytest.mark.parametrize("mode", MODES)
@with_browser
async def test_a_proxy_that_fails_is_not_replaced_by_a_direct_connection(
    browser: str, path: Path, net_log: Path, mode: str, socks: bool
) -> None:
    async with Outside() as outside:
        with LeakSite(outside.port) as site:
            async with (
                RecordingProxy(site.port, mode, socks=socks) as proxy,
                started(path, browser, proxy.url) as (profile, runner),
            ):
                if mode == HANGS:
                    tab = await profile.tabs.open("Work", f"http://127.0.0.1:{outside.port}/leaks")
                    await until(lambda: bool(proxy.asked))
                else:
                    page = await open_leaks(runner, outside)
                    tab = (await profile.tabs.query("Work"))[-1]
                    assert (await page.title() == "leaks") == (mode == UP)
                    if mode in (DROPS, REFUSES):
                        for host in ("127.0.0.1", "localhost", "name.test"):
                            with contextlib.suppress(PlaywrightError):  # what was sent before a drop may be a page
                                await page.goto(f"http://{host}:{outside.port}/again")
                    else:
                        proxy.mode = DROPS  # while the page runs
                        await page.evaluate("fetch('http://late.test/').then(String, String)")
                assert tab.id
            assert outside.received == []
    log = NetLog(net_log)
    assert {name for name in log.lookups() if "test" in name} == set()
    assert log.local_ports() == {proxy.port}


@with_browser
async def test_webrtc_sends_packets_without_a_proxy_and_does_not_exist_with_one(browser: str, path: Path) -> None:
    async with Outside() as outside:
        with LeakSite(outside.port) as site:
            async with RecordingProxy(site.port) as proxy, hatbox.open(path) as profile:
                async with profile.chromium(headless=True, browser=browser) as runner:  # the control
                    page = await runner.new_page("Personal", f"http://127.0.0.1:{site.port}/leaks")
                    assert await page.evaluate(CONNECT) == "connected"
                    await until(lambda: any(each.startswith(STUN) for each in outside.received))
                outside.received.clear()
                await profile.identities.set_settings("Work", proxy=proxy.url)
                async with profile.chromium(headless=True, browser=browser) as runner:
                    page = await runner.new_page("Work", f"http://127.0.0.1:{outside.port}/leaks")
                    assert "TypeError" in await page.evaluate(CONNECT)
                    # The second line: what removes WebRTC is itself removed, and still no packet is sent.
                    other = await runner.new_page("Personal", f"http://127.0.0.1:{site.port}/leaks")
                    outside.received.clear()
                    assert await other.evaluate(CONNECT) == "connected"
                    await other.evaluate("new Promise((done) => setTimeout(done, 1000))")  # time to send a packet
                    assert [each for each in outside.received if each.startswith(STUN)] == []


FRAMES = """() => new Promise((done) => {
  const out = {}, kind = (scope) => typeof scope.RTCPeerConnection;
  addEventListener("message", (event) => { if (Array.isArray(event.data)) out[event.data[0]] = event.data[1]; });
  const say = (name) => `<script>parent.postMessage(["${name}", typeof RTCPeerConnection], "*")</` + "script>";
  const add = (name, set) => {
    const frame = document.createElement("iframe");
    set(frame);
    document.body.append(frame);
    try { out[`${name} at once`] = kind(frame.contentWindow); } catch { }
    return frame;
  };
  add("blank", () => 0);
  add("srcdoc", (frame) => frame.srcdoc = say("srcdoc"));
  add("javascript", (frame) => frame.src = "javascript:'x'");
  add("data", (frame) => frame.src = "data:text/html," + say("data"));
  add("blob", (frame) => frame.src = URL.createObjectURL(new Blob([say("blob")], { type: "text/html" })));
  add("sandbox", (frame) => { frame.sandbox = "allow-scripts"; frame.srcdoc = say("sandbox"); });
  add("cross-site", (frame) => frame.src = location.href.replace("127.0.0.1", "localhost") + "?frame");
  const opened = add("document.open", () => 0);
  opened.contentDocument.open();
  opened.contentDocument.write("<p>x");
  out["after document.open"] = kind(opened.contentWindow);
  const removed = add("removed", () => 0), scope = removed.contentWindow;
  removed.remove();
  out["after removal"] = kind(scope);
  const nested = opened.contentDocument.createElement("iframe");
  opened.contentDocument.body.append(nested);
  out.nested = kind(nested.contentWindow);
  const popup = window.open("about:blank");
  out["popup at once"] = popup ? kind(popup) : "blocked";
  const names = ["srcdoc", "data", "blob", "sandbox"], poll = () =>
    names.every((name) => name in out) ? done(out) : setTimeout(poll, 20);
  poll();
})"""


@with_browser
async def test_webrtc_does_not_exist_in_any_frame_or_popup(browser: str, path: Path) -> None:
    async with Outside() as outside:
        with LeakSite(outside.port) as site:
            async with RecordingProxy(site.port) as proxy, started(path, browser, proxy.url) as (_, runner):
                page = await runner.new_page("Work", f"http://127.0.0.1:{outside.port}/page")
                kinds = await page.evaluate(FRAMES)
                assert len(kinds) > 12
                assert {name: kind for name, kind in kinds.items() if kind != "undefined"} == {}

                async def cross_site() -> Any:
                    return [frame for frame in page.frames if "localhost" in frame.url]

                await until_awaited(cross_site)
                (frame,) = await cross_site()
                assert await frame.evaluate("typeof RTCPeerConnection") == "undefined"
