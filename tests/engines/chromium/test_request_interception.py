"""webRequest with the requests of a real Chromium."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Sized
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.api.browser import Browser
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.live_page import LivePage
from tests.engines.chromium.real import browser_process, running, value, with_browser
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.site import PAGES, Answer, Seen, Site, page
from tests.waiting import until, until_awaited

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"
EVERYWHERE = {"urls": ["<all_urls>"]}
EVENTS = (
    "onBeforeRequest",
    "onBeforeSendHeaders",
    "onSendHeaders",
    "onHeadersReceived",
    "onBeforeRedirect",
    "onResponseStarted",
    "onCompleted",
    "onErrorOccurred",
)


class Listener:
    """Records the details of each event."""

    def __init__(self, script: Browser) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._script = script

    def listen(self, *events: str, options: tuple[str, ...] = ()) -> Listener:
        for name in events or EVENTS:
            event = getattr(self._script.webRequest, name)
            event.addListener(
                lambda details, name=name: self.events.append((name, details)),
                EVERYWHERE,
                *([list(options)] if options else []),
            )
        return self

    def of(self, path: str, event: str | None = None) -> list[dict[str, Any]]:
        return [each for name, each in self.events if path in each["url"] and event in (None, name)]

    def names(self, path: str) -> list[str]:
        return [name for name, each in self.events if path in each["url"]]

    async def until(self, event: str, path: str) -> dict[str, Any]:
        async def found() -> list[dict[str, Any]]:
            return self.of(path, event)

        return (await until_awaited(found))[-1]


class Browsing:
    def __init__(self, profile: hatbox.Profile, runner: ChromiumRunner) -> None:
        self.profile = profile
        self.runner = runner
        names = ["webRequest", "webRequestBlocking", "tabs", "cookies", "contextualIdentities", "<all_urls>"]
        self.script = profile.browser(names)
        self.listener = Listener(self.script)

    def block(
        self, event: str, respond: Callable[[dict[str, Any]], Any], *options: str, url: str = "<all_urls>"
    ) -> None:
        """Add a blocking listener that returns `respond(details)`."""
        getattr(self.script.webRequest, event).addListener(respond, {"urls": [url]}, ["blocking", *options])

    def unblock(self, event: str, respond: Callable[[dict[str, Any]], Any]) -> None:
        getattr(self.script.webRequest, event).removeListener(respond)


@contextlib.asynccontextmanager
async def browsing(path: Path, browser: str) -> AsyncIterator[Browsing]:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        yield Browsing(profile, runner)


@with_browser
async def test_a_page_fires_every_event_of_its_requests_in_order(browser: str, path: Path, site: Site) -> None:
    async with browsing(path, browser) as web:
        web.listener.listen()
        await web.runner.new_page("Work", site.url("/redirect/2"))
        (tab,) = await web.profile.tabs.query("Work")
        done = await web.listener.until("onCompleted", "/redirect/0")
        step = ["onBeforeRequest", "onBeforeSendHeaders", "onSendHeaders", "onHeadersReceived"]
        assert web.listener.names("/redirect/") == [
            *step,
            "onBeforeRedirect",
            *step,
            "onBeforeRedirect",
            *step,
            "onResponseStarted",
            "onCompleted",
        ]
        assert len({each["requestId"] for each in web.listener.of("/redirect/")}) == 1
        assert [each["redirectUrl"] for each in web.listener.of("/redirect/", "onBeforeRedirect")] == [
            site.url("/redirect/1"),
            site.url("/redirect/0"),
        ]
        assert done["tabId"] == tab.id
        wanted = {
            "method": "GET",
            "type": "main_frame",
            "frameId": 0,
            "parentFrameId": -1,
            "cookieStoreId": WORK,
            "statusCode": 200,
            "statusLine": "HTTP/1.1 200 OK",
            "ip": "127.0.0.1",
            "fromCache": False,
            "frameAncestors": [],
            "thirdParty": False,
        }
        assert {name: done[name] for name in wanted} == wanted
        assert not {"documentUrl", "originUrl"} & done.keys()


@with_browser
async def test_a_cancelled_page_leaves_the_tab_where_it_was(browser: str, path: Path, site: Site) -> None:
    async with browsing(path, browser) as web:
        shown = await web.runner.new_page("Work", site.url("/page/1"))
        other = await web.runner.new_page("Personal", site.url("/page/1"))
        web.listener.listen("onErrorOccurred", "onCompleted")
        web.block("onBeforeRequest", lambda details: {"cancel": details["cookieStoreId"] == WORK}, url="*://*/page/2")
        (tab,) = await web.profile.tabs.query("Work")
        await web.profile.tabs.navigate(tab.id, site.url("/page/2"))
        await web.runner.wait_until_settled()
        now = await web.runner.wait_until_loaded(tab.id)
        assert (now.url, now.title, now.error, now.loading) == (site.url("/page/1"), "Page 1", "", False)
        assert shown.url == site.url("/page/1")
        assert [each["error"] for each in web.listener.of("/page/2")] == ["NS_ERROR_ABORT"]
        await shown.evaluate("location.href = '/page/2'")  # page-initiated
        await until_awaited(lambda: _count(web.listener.of("/page/2"), 2))
        assert not site.requests("/page/2")
        assert "failed" in await shown.evaluate("fetch('/page/2').then(() => 'came', () => 'failed')")
        await other.goto(site.url("/page/2"))  # another identity
        assert len(site.requests("/page/2")) == 1


@with_browser
async def test_a_new_window_whose_page_is_cancelled_can_load_another_at_once(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    attach = LivePage.attach.__func__  # type: ignore[attr-defined] # of a class method
    is_cancelled = asyncio.Event()

    async def attach_later(*arguments: Any, **options: Any) -> LivePage:
        await is_cancelled.wait()
        return await attach(*arguments, **options)  # type: ignore[no-any-return]

    async with browsing(path, browser) as web:
        shown = await web.runner.new_page("Work", site.url("/page/1"))
        web.listener.listen("onErrorOccurred")
        web.block("onBeforeRequest", lambda _: {"cancel": True}, url="*://*/page/2")
        await web.runner.wait_until_synced()
        monkeypatch.setattr(LivePage, "attach", classmethod(attach_later))
        async with shown.expect_popup() as opened:
            await shown.evaluate("void (open('about:blank').location = '/page/2')")
        await until_awaited(lambda: _count(web.listener.of("/page/2"), 1))
        popup = await opened.value
        navigations: list[str] = []
        popup.on("framenavigated", lambda frame: navigations.append(frame.url))
        await popup.goto(site.url("/page/3"))
        assert navigations == [site.url("/page/3")]
        is_cancelled.set()


async def _is_among(events: list[dict[str, Any]], request_id: str) -> bool:
    return request_id in [each["requestId"] for each in events]


async def _count(things: Sized, wanted: int) -> bool:
    return len(things) == wanted


@with_browser
async def test_a_listener_redirects_a_request(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed = (("Access-Control-Allow-Origin", site.url("")), ("Access-Control-Allow-Credentials", "true"))
    monkeypatch.setitem(PAGES, "/open", lambda *_: Answer(b"open", headers=allowed))
    async with browsing(path, browser) as web:
        web.listener.listen("onBeforeRedirect", "onCompleted")
        to = site.url("/page/9", host="localhost")
        web.block("onBeforeRequest", lambda _: {"redirectUrl": to}, url="*://*/page/1")
        web.block("onHeadersReceived", lambda _: {"redirectUrl": to}, url="*://*/page/2")
        web.block("onHeadersReceived", lambda _: {"redirectUrl": to}, url="*://*/redirect/1")
        web.block("onBeforeRequest", lambda _: {"redirectUrl": "about:blank"}, url="*://*/page/3")
        for first in ("/page/1", "/page/2", "/redirect/1"):
            shown = await web.runner.new_page("Work", site.url(first))
            assert shown.url == to
            (sent,) = web.listener.of(first, "onBeforeRedirect")
            assert sent["redirectUrl"] == to
            await until_awaited(
                lambda sent=sent: _is_among(web.listener.of("/page/9", "onCompleted"), sent["requestId"])  # type: ignore[misc]
            )
        assert not site.requests("/page/1")
        assert len(site.requests("/page/2")) == 1
        assert not site.requests("/redirect/0")
        shown = await web.runner.new_page("Work", site.url("/page/5"))
        read = "url => fetch(url, {credentials: 'include'}).then(answer => answer.url, error => `${error}`)"
        is_open = site.url("/open", host="localhost")
        web.block("onBeforeRequest", lambda _: {"redirectUrl": is_open}, url="*://localhost/page/7")
        assert await shown.evaluate(read, site.url("/page/7", host="localhost")) == is_open
        assert await shown.evaluate(read, site.url("/page/1")) != to  # that server sends no CORS headers
        web.block("onBeforeRequest", lambda _: {"redirectUrl": site.url("/page/8")}, url="*://*/page/6")
        assert await shown.evaluate(read, "/page/6") == site.url("/page/8")
        await web.runner.new_page("Work", site.url("/page/3"))
        assert not site.requests("/page/3")


@with_browser
async def test_listeners_change_request_and_response_headers(browser: str, path: Path, site: Site) -> None:
    def sent(details: dict[str, Any]) -> dict[str, Any]:
        kept = [each for each in details["requestHeaders"] if each["name"] not in ("User-Agent", "Cookie")]
        shown.append({each["name"]: each["value"] for each in details["requestHeaders"]})
        cookie = [{"name": "Cookie", "value": "by=hand"}] if "hand" in details["url"] else []
        return {"requestHeaders": [*kept, *cookie, {"name": "X-Added", "value": "1"}]}

    def received(details: dict[str, Any]) -> dict[str, Any]:
        kept = [each for each in details["responseHeaders"] if each["name"].lower() != "server"]
        return {"responseHeaders": [*kept, {"name": "X-Added", "value": "2"}]}

    shown: list[dict[str, str]] = []
    async with browsing(path, browser) as web:
        store = await web.profile.cookie_store("Work")
        await store.set(site.url("/"), name="a", value="Work-1")
        web.listener.listen("onCompleted", options=("responseHeaders",))
        web.block("onBeforeSendHeaders", sent, "requestHeaders")
        web.block("onHeadersReceived", received, "responseHeaders")
        page = await web.runner.new_page("Work", site.url("/page/1"))
        first = site.requests("/page/1")[0]
        assert shown[0]["Cookie"] == "a=Work-1"
        assert (first.headers["x-added"], first.cookies) == ("1", {})
        assert not first.headers.get("user-agent")
        assert "Accept" in shown[0]
        names = {
            each["name"].lower() for each in (await web.listener.until("onCompleted", "/page/1"))["responseHeaders"]
        }
        assert "x-added" in names
        assert "server" not in names
        got = await page.evaluate("fetch('/page/2?hand').then(answer => Object.fromEntries(answer.headers))")
        assert got["x-added"] == "2"
        assert "server" not in got
        assert site.requests("/page/2")[0].cookies == {"by": "hand"}
        assert [each.value for each in await store.cookies()] == ["Work-1"]


@with_browser
async def test_chromium_applies_the_response_headers_that_listeners_return(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def received(details: dict[str, Any]) -> dict[str, Any]:
        kept = [each for each in details["responseHeaders"] if each["name"] != policy[0]]
        added = [{"name": policy[0], "value": policy[1]}] if "strict" in details["url"] else []
        return {"responseHeaders": [*kept, *added, {"name": "Set-Cookie", "value": "by=Work-1"}]}

    policy = ("Content-Security-Policy", "script-src 'none'")
    body = page("Nothing ran", "<p>ü</p><script>document.title = 'Ran'</script>").body
    monkeypatch.setitem(PAGES, "/lax", lambda *_: Answer(body, headers=(policy,)))
    monkeypatch.setitem(PAGES, "/strict", lambda *_: Answer(body))
    async with browsing(path, browser) as web:
        shown = await web.runner.new_page("Work", site.url("/lax"))
        assert await shown.title() == "Nothing ran"
        web.listener.listen("onCompleted")
        web.block("onHeadersReceived", received, "responseHeaders")
        for name, title in (("/lax", "Ran"), ("/strict", "Nothing ran")):
            shown = await web.runner.new_page("Work", site.url(name))
            assert (await shown.title(), await shown.text_content("p")) == (title, "ü")
            assert (await web.listener.until("onCompleted", name))["statusCode"] == 200
        await until_awaited(lambda: value(web.profile, "Work", "by"))


@with_browser
async def test_chromium_rejects_unsafe_headers(
    browser: str, path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async with browsing(path, browser) as web:
        bad = [{"name": "Proxy-Authorization", "value": "x"}, {"name": "Content-Length", "value": "9"}]
        web.block("onBeforeSendHeaders", lambda _: {"requestHeaders": bad}, "requestHeaders")
        page = await web.runner.new_page("Work", site.url("/page/1"))
        assert await page.title() == "Page 1"
        assert "Chromium rejected the listener's changes" in caplog.text


INNER = "<img src='/icon.png'><script>fetch('/page/31', {mode: 'no-cors'})</script>"


@with_browser
async def test_requests_of_frames_have_their_frame_ids(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = site.url("/inner", host="localhost")
    worker = "fetch('/page/32').then(answer => answer.text())"
    monkeypatch.setitem(PAGES, "/outer", lambda *_: page("Outer", f"<iframe src='{other}'></iframe>"))
    monkeypatch.setitem(PAGES, "/inner", lambda *_: page("Inner", "<iframe src='/innermost'></iframe>"))
    monkeypatch.setitem(
        PAGES, "/innermost", lambda *_: page("Innermost", INNER + "<script>new Worker('/w.js')</script>")
    )
    monkeypatch.setitem(PAGES, "/w.js", lambda *_: Answer(worker.encode(), content_type="text/javascript"))
    async with browsing(path, browser) as web:
        web.listener.listen()
        await web.runner.new_page("Work", site.url("/outer"))
        (tab,) = await web.profile.tabs.query("Work")
        for each in ("/outer", "/inner", "/innermost", "/icon.png", "/w.js", "/page/31", "/page/32"):
            done = await web.listener.until("onCompleted", each)
            assert (done["tabId"], done["cookieStoreId"]) == (tab.id, WORK)
            assert web.listener.names(each)[-1] == "onCompleted"
        first = {
            each: web.listener.of(each, "onBeforeRequest")[0]
            for each in ("/inner", "/innermost", "/icon.png", "/page/31")
        }
        outer, inner, innermost = (site.url("/outer"), other, site.url("/innermost", host="localhost"))
        assert [each["type"] for each in first.values()] == ["sub_frame", "sub_frame", "image", "xmlhttprequest"]
        assert [each["documentUrl"] for each in first.values()] == [outer, inner, innermost, innermost]
        numbers = [0, first["/inner"]["frameId"], first["/innermost"]["frameId"]]
        assert len(set(numbers)) == 3
        assert [each["parentFrameId"] for each in first.values()] == [0, numbers[1], numbers[1], numbers[1]]
        assert [each["frameId"] for each in first.values()] == [*numbers[1:], numbers[2], numbers[2]]
        around = [{"url": inner, "frameId": numbers[1]}, {"url": outer, "frameId": 0}]
        assert [each["frameAncestors"] for each in first.values()] == [around[1:], around, around, around]
        assert all(each["thirdParty"] for each in first.values())
        assert web.listener.of("/page/32", "onBeforeRequest")[0]["type"] == "xmlhttprequest"


@with_browser
async def test_a_service_worker_belongs_to_an_identity_and_to_no_tab(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = b"onactivate = event => event.waitUntil(Promise.allSettled([fetch('/page/21'), fetch('/page/22')]))"
    monkeypatch.setitem(PAGES, "/sw.js", lambda *_: Answer(script, content_type="text/javascript"))
    async with browsing(path, browser) as web:
        web.listener.listen("onBeforeRequest", "onCompleted", "onErrorOccurred")
        web.block("onBeforeRequest", lambda _: {"cancel": True}, url="*://*/page/22")
        page = await web.runner.new_page("Work", site.url("/page/1"))
        await page.evaluate("navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready)")
        done = await web.listener.until("onCompleted", "/page/21")
        assert (done["tabId"], done["cookieStoreId"], done["type"]) == (-1, WORK, "xmlhttprequest")
        assert (await web.listener.until("onErrorOccurred", "/page/22"))["error"] == "NS_ERROR_ABORT"
        assert not site.requests("/page/22")


@with_browser
async def test_failed_requests_have_the_error_names_of_firefox(browser: str, path: Path, site: Site) -> None:
    async with browsing(path, browser) as web:
        web.listener.listen()
        refused = f"http://127.0.0.1:{_free_port()}/refused"
        await web.runner.new_page("Work", refused)
        assert (await web.listener.until("onErrorOccurred", "/refused"))["error"] == "NS_ERROR_CONNECTION_REFUSED"
        assert web.listener.names("/refused")[-2:] == ["onSendHeaders", "onErrorOccurred"]
        (tab,) = await web.profile.tabs.query("Work")
        assert "refused the connection" in tab.error
        tab = await web.profile.tabs.open("Work", site.url("/slow"))
        await asyncio.to_thread(site.wait_for, "/slow")
        await web.profile.tabs.close(tab.id)
        assert (await web.listener.until("onErrorOccurred", "/slow"))["error"] == "NS_BINDING_ABORTED"
        await web.runner.new_page("Personal", site.url("/redirect/loop"))
        assert (await web.listener.until("onErrorOccurred", "/loop"))["error"] == "NS_ERROR_REDIRECT_LOOP"


def _free_port() -> int:
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@with_browser
async def test_listeners_receive_the_request_body(browser: str, path: Path, site: Site) -> None:
    async with browsing(path, browser) as web:
        web.listener.listen("onBeforeRequest", options=("requestBody",))
        page = await web.runner.new_page("Work", site.url("/page/1"))
        send = "([path, body]) => fetch(path, {method: 'POST', body: eval(body)})"
        form = "(() => { const form = new FormData(); form.append('x', '1'); form.append('x', 'ü'); return form; })()"
        sent = {"/page/2": "new URLSearchParams('a=1&a=2&b=')", "/page/3": form, "/page/4": "new Uint8Array([1, 255])"}
        for each in sent.items():
            await page.evaluate(send, list(each))
        assert [web.listener.of(each)[0]["requestBody"] for each in ("/page/1", *sent)] == [
            None,
            {"formData": {"a": ["1", "2"], "b": [""]}},
            {"formData": {"x": ["1", "ü"]}},
            {"raw": [{"bytes": b"\x01\xff"}]},
        ]


@with_browser
async def test_a_new_window_has_a_tab_before_its_first_request_is_sent(browser: str, path: Path, site: Site) -> None:
    async def move(details: dict[str, Any]) -> dict[str, Any]:
        if details["cookieStoreId"] == PERSONAL:
            return {}
        tab = await web.script.tabs.get(details["tabId"])
        seen.append((tab["url"], tab.get("openerTabId"), details.get("originUrl")))
        await web.script.tabs.create({"url": details["url"], "cookieStoreId": PERSONAL, "index": tab["index"] + 1})
        if "stays" not in details["url"]:
            await web.script.tabs.remove(details["tabId"])
        return {"cancel": True}

    seen: list[Any] = []
    async with browsing(path, browser) as web:
        shown = await web.runner.new_page("Work", site.url("/page/1"))
        (opener,) = await web.profile.tabs.query("Work")
        web.block("onBeforeRequest", move, url="*://*/page/2*")
        await web.runner.wait_until_synced()

        async def tabs(*wanted: tuple[str, str]) -> bool:
            now = [(tab.cookie_store_id, tab.url) for tab in await web.profile.tabs.query()]
            return now == list(wanted)

        first, moved = (WORK, site.url("/page/1")), (PERSONAL, site.url("/page/2"))
        await shown.evaluate("void open('/page/2')")
        await until_awaited(lambda: tabs(first, moved))
        assert seen == [("about:blank", opener.id, site.url("/page/1"))]
        await shown.evaluate("void open('/page/2?stays', '', 'noopener')")
        await until_awaited(lambda: tabs(first, (WORK, "about:blank"), (PERSONAL, site.url("/page/2?stays")), moved))
        assert [each.cookies for each in site.requests("/page/2")] == [{}, {}]
        await until(lambda: len(web.runner.engine.tabs) == 4)
        context = await web.runner.context("Work")
        assert [each.url for each in context.pages] == [site.url("/page/1"), "about:blank"]


@with_browser
async def test_without_listeners_there_is_no_cdp_session(browser: str, path: Path, site: Site) -> None:
    called = asyncio.Event()

    async def never(details: dict[str, Any]) -> None:
        called.set()
        await asyncio.Event().wait()

    async with browsing(path, browser) as web:
        page = await web.runner.new_page("Work", site.url("/page/1"))
        interceptor = running(web.runner).interceptor
        assert not interceptor.has_session
        web.block("onBeforeRequest", never, url="*://*/page/2")
        await web.runner.wait_until_synced()
        going = asyncio.ensure_future(page.goto(site.url("/page/2")))
        await called.wait()
        web.unblock("onBeforeRequest", never)
        await going
        assert page.url == site.url("/page/2")
        assert not interceptor.has_session


@with_browser
async def test_only_requests_that_match_the_filter_types_are_paused(browser: str, path: Path, site: Site) -> None:
    async with browsing(path, browser) as web:
        calls: list[tuple[str, str]] = []

        def record(details: dict[str, Any]) -> None:
            calls.append((details["requestId"], details["url"]))

        pages = {"urls": ["<all_urls>"], "types": ["main_frame"]}
        web.script.webRequest.onBeforeRequest.addListener(record, pages, ["blocking"])  # type: ignore[arg-type]
        page = await web.runner.new_page("Work", site.url("/redirect/1"))
        interceptor = running(web.runner).interceptor
        assert interceptor.config is not None
        assert [each["requestStage"] for each in interceptor.config.patterns] == ["Request"]
        await page.evaluate("fetch('/page/1')")
        await page.goto(site.url("/page/2"))
        assert calls == [("1", site.url("/redirect/1")), ("1", site.url("/redirect/0")), ("2", site.url("/page/2"))]
        await until_awaited(lambda: _count(interceptor.in_flight, 0))
        web.listener.listen("onCompleted")  # needs Network events
        await web.runner.wait_until_synced()
        await page.evaluate("fetch('/page/3')")
        await web.listener.until("onCompleted", "/page/3")
        await page.goto(site.url("/page/4"))
        await web.listener.until("onCompleted", "/page/4")


@with_browser
async def test_a_listener_that_does_not_return_delays_a_page_only_until_the_timeout(
    browser: str, path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async with browsing(path, browser) as web:
        web.profile.web_requests.blocking_timeout = 0.2
        web.block("onBeforeRequest", lambda _: asyncio.Event().wait())
        page = await web.runner.new_page("Work", site.url("/page/1"))
        assert await page.title() == "Page 1"
        assert "listener timed out" in caplog.text


@with_browser
async def test_requests_are_intercepted_after_a_crash_with_paused_requests(
    browser: str, path: Path, site: Site
) -> None:
    request_ids: asyncio.Queue[str] = asyncio.Queue()

    async def pause(details: dict[str, Any]) -> None:
        request_ids.put_nowait(details["requestId"])
        if details["requestId"] == "1":
            await asyncio.Event().wait()

    async with browsing(path, browser) as web:
        web.listener.listen("onErrorOccurred", "onCompleted")
        web.block("onBeforeRequest", pause, url="*://*/page/1")
        tab = await web.profile.tabs.open("Work", site.url("/page/1"))
        assert await request_ids.get() == "1"
        os.kill(await browser_process(web.runner), signal.SIGKILL)
        assert await request_ids.get() != "1"
        assert (await web.runner.wait_until_loaded(tab.id)).title == "Page 1"
        assert [each["error"] for each in web.listener.of("/page/1", "onErrorOccurred")] == ["NS_BINDING_ABORTED"]


@with_browser
async def test_a_listener_provides_credentials(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vault(_: Site, seen: Seen) -> Answer:
        if seen.headers.get("authorization") == "Basic bWU6cGFzcw==":
            return page("Inside")
        return Answer(b"no", 401, headers=(("WWW-Authenticate", 'Basic realm="Vault"'),))

    monkeypatch.setitem(PAGES, "/vault", vault)
    challenges: list[dict[str, Any]] = []
    async with browsing(path, browser) as web:

        def answer(details: dict[str, Any]) -> dict[str, Any]:
            challenges.append(details)
            return {"authCredentials": {"username": "me", "password": "pass"}}

        web.block("onAuthRequired", answer)
        shown = await web.runner.new_page("Work", site.url("/vault"))
        assert await shown.title() == "Inside"
        (details,) = challenges
        assert (details["scheme"], details["realm"], details["isProxy"]) == ("basic", "Vault", False)
        assert details["challenger"]["host"] == "127.0.0.1"


@with_browser
async def test_internal_requests_of_the_engine_fire_no_events(browser: str, path: Path, site: Site) -> None:
    async with browsing(path, browser) as web:
        page = await web.runner.new_page("Work", site.url("/storage", write="V"), keep=True)
        await page.wait_for_function("document.title.includes('indexed V')")
    async with browsing(path, browser) as web:
        web.listener.listen()
        await web.runner.new_page("Work", site.url("/page/1"), keep=True)
        await web.listener.until("onCompleted", "/page/1")
        assert {each["url"] for _, each in web.listener.events} <= {
            site.url("/page/1"),
            site.url("/storage", write="V"),
            site.url("/favicon.ico"),
        }
        assert len({each["requestId"] for each in web.listener.of("/storage")}) == 1  # the request of the tab
        page = await web.runner.new_page("Work", site.url("/page/2"), keep=True)
        await page.goto(site.url("/page/3"))
        tab = (await web.profile.tabs.query("Work"))[-1]
        await web.profile.identities.hide(WORK)
        await web.runner.wait_until_settled()
        web.listener.events.clear()
        await web.profile.identities.show(WORK)
        await web.runner.page(tab.id)
        assert await asyncio.to_thread(site.wait_for, "/page/3", 2)
        assert not web.listener.of("/page/2")  # restoring the history sends no request
        assert web.listener.of("/page/3")


@with_browser
async def test_proxy_on_request_logs_that_it_is_not_supported(
    browser: str, path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async with browsing(path, browser) as web:
        script = web.profile.browser(["proxy", "<all_urls>"])
        for _ in range(2):
            script.proxy.onRequest.addListener(lambda _: {"type": "direct"}, {"urls": ["<all_urls>"]})
        await web.runner.new_page("Work", site.url("/page/1"))
    assert caplog.text.count("proxy.onRequest is not supported in Chromium") == 1


PAUSES_REQUESTS = """
const filter = {urls: ["*://*/page/2*"]};
browser.webRequest.onBeforeRequest.addListener(() => new Promise(() => {}), filter, ["blocking"]);
browser.webRequest.onBeforeRequest.addListener(({requestBody}) => {
  const [{bytes}] = requestBody.raw;
  return {redirectUrl: `${new URL(origin).origin}/cookies?${new Uint8Array(bytes).join("-")}`};
}, {urls: ["*://*/echo"]}, ["blocking", "requestBody"]);
"""


@needs_deno
@with_browser
async def test_requests_paused_by_an_extension_continue_when_it_is_terminated(
    browser: str, path: Path, site: Site, tmp_path: Path
) -> None:
    async with browsing(path, browser) as web:
        web.listener.listen("onBeforeRequest")
        page = await web.runner.new_page("Work", site.url("/page/1"))
        for end in ("stop", "kill"):
            background = PAUSES_REQUESTS.replace("new URL(origin).origin", repr(site.url("")))
            folder = make(
                tmp_path, background, name=end, permissions=["webRequest", "webRequestBlocking", "<all_urls>"]
            )
            extension = await web.profile.extensions.start(folder)
            await web.runner.wait_until_synced()
            sent = await page.evaluate(
                "fetch('/echo', {method: 'POST', body: new Uint8Array([7, 255])}).then(answer => answer.url)"
            )
            assert sent == site.url("/cookies?7-255")
            going = asyncio.ensure_future(page.goto(site.url(f"/page/2?{end}")))
            await web.listener.until("onBeforeRequest", f"/page/2?{end}")
            if end == "kill":
                assert extension.runtime is not None
                os.kill(extension.runtime.process.pid, signal.SIGKILL)
            else:
                await web.profile.extensions.stop(extension)
            await asyncio.wait_for(going, web.profile.web_requests.blocking_timeout / 2)
            await web.profile.extensions.stop(extension)
