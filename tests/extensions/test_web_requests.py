"""webRequest, proxy and browsingData as extensions use them: in a real child, with the HTTP engine and a real site."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.engines.runner import EngineRunner
from hatbox.extension_data.extension_permissions import Permissions
from hatbox.extensions.extension import Extension
from hatbox.store.base import ChangeRecord
from hatbox.tabs.tab_model import REMOVED
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.loopback_proxy import LoopbackProxy
from tests.site import Site
from tests.store.in_loop import in_loop

pytestmark = needs_deno

ALL = ("webRequest", "webRequestBlocking", "proxy", "browsingData", "tabs", "cookies", "contextualIdentities")
WORK = "firefox-container-2"
ON_PAGES = '{urls: ["<all_urls>"], types: ["main_frame"]}'


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


class Browsing:
    def __init__(self, profile: hatbox.Profile, engine: EngineRunner, folder: Path) -> None:
        self.profile = profile
        self.engine = engine
        self._folder = folder

    async def extension(
        self,
        background: str,
        permissions: Sequence[str] = (*ALL, "<all_urls>"),
        name: str = "one",
        **options: Any,
    ) -> Extension:
        folder = make(self._folder, background, name=name, permissions=list(permissions))
        return await self.profile.extensions.start(folder, **options)

    async def visit(self, url: str, identity: str = "Work") -> hatbox.Tab:
        tab = await self.profile.tabs.open(identity, url)
        return await self.engine.wait_until_loaded(tab.id)


@contextlib.asynccontextmanager
async def browsing(path: Path) -> AsyncIterator[Browsing]:
    async with hatbox.open(path / "profile.db") as profile, profile.http_engine(trust_env=False) as engine:
        yield Browsing(profile, engine, path)


# ---------------------------------------------------------------------------------------- what containers are for

ASSIGNS = """
browser.webRequest.onBeforeRequest.addListener(async details => {
  if (details.tabId === -1 || details.cookieStoreId === "firefox-container-2") return {};
  const tab = await browser.tabs.get(details.tabId);
  browser.tabs.create({
    url: details.url, cookieStoreId: "firefox-container-2",
    index: tab.index + 1, active: tab.active, windowId: tab.windowId,
  });
  browser.tabs.remove(details.tabId);
  return {cancel: true};
}, {urls: ["<all_urls>"], types: ["main_frame"]}, ["blocking"]);
"""


@in_loop
async def test_a_page_opens_in_its_container_and_the_other_ones_cookies_are_never_sent(
    tmp_path: Path, site: Site
) -> None:
    async with browsing(tmp_path) as web:
        for name, store in (("Default", "firefox-default"), ("Personal", "Personal"), ("Work", "Work")):
            await web.visit(site.url("/login", user=name), store)
        site.seen.clear()
        gone: asyncio.Queue[None] = asyncio.Queue()

        def hear(change: ChangeRecord) -> None:
            if change.topic == REMOVED:
                gone.put_nowait(None)

        web.profile.store.subscribe(hear)
        await web.extension(ASSIGNS)
        for store in ("firefox-default", "Personal"):
            opened = await web.profile.tabs.open(store, site.url("/me", as_="Work"))
            await gone.get()
            tabs = [tab for tab in await web.profile.tabs.query() if tab.pending_url or "/me?" in tab.url]
            assert opened.id not in [tab.id for tab in tabs]
            loaded = await web.engine.wait_until_loaded(tabs[-1].id)
            assert (loaded.cookie_store_id, loaded.title) == (WORK, "Signed in as Work")
            assert loaded.active
        assert [each.path for each in site.seen] == ["/me", "/me"]
        assert site.users("/me") == ["Work", "Work"]
        assert not site.mixed


@in_loop
async def test_a_page_that_redirects_into_a_container_is_caught_on_its_way(tmp_path: Path, site: Site) -> None:
    only_localhost = ASSIGNS.replace('urls: ["<all_urls>"]', 'urls: ["*://localhost/*"]')
    async with browsing(tmp_path) as web:
        await web.extension(only_localhost)
        store = await web.profile.cookie_store("firefox-default")
        await store.set(site.url("/", host="localhost"), name="a", value="default-1")
        await web.profile.tabs.open("firefox-default", site.url("/go", to=site.url("/page/1", host="localhost")))
        await asyncio.to_thread(site.wait_for, "/page/1")
        assert [(each.path, each.cookies) for each in site.seen] == [("/go", {}), ("/page/1", {})]
        await web.engine.wait_until_settled()
        tabs = await web.profile.tabs.query()
        assert [tab.cookie_store_id for tab in tabs] == [WORK]


# ----------------------------------------------------------------------------------------------------------- answers


@in_loop
async def test_extensions_and_python_scripts_decide_together(tmp_path: Path, site: Site) -> None:
    adds = """
      browser.webRequest.onBeforeSendHeaders.addListener(
        ({requestHeaders: sent}) =>
          ({requestHeaders: [...sent, {name: "X-NAME", value: "1"}, {name: "X-Last", value: "NAME"}]}),
        PAGES, ["blocking", "requestHeaders"]);
    """.replace("PAGES", ON_PAGES)
    async with browsing(tmp_path) as web:
        await web.extension(adds.replace("NAME", "One"), name="one")
        script = web.profile.browser(["webRequest", "webRequestBlocking", "<all_urls>"])
        script.webRequest.onBeforeSendHeaders.addListener(
            lambda details: {"requestHeaders": [*details["requestHeaders"], {"name": "X-Script", "value": "1"}]},
            {"urls": ["<all_urls>"]},
            ["blocking", "requestHeaders"],
        )
        await web.extension(adds.replace("NAME", "Two"), name="two")
        await web.visit(site.url("/page/1"))
        headers = site.requests("/page/1")[0].headers
        assert [headers.get(name) for name in ("x-one", "x-script", "x-two", "x-last")] == ["1", "1", "1", "Two"]


@in_loop
async def test_nothing_that_a_listener_answers_stops_a_page_but_a_cancel(tmp_path: Path, site: Site) -> None:
    background = f"""
      const answers = [
        () => undefined, () => null, () => 7, () => [], () => ({{redirectUrl: undefined, cancel: undefined}}),
        () => Symbol("x"), () => (() => 1),
        () => {{ throw new Error("at once") }}, async () => {{ throw new Error("later") }},
        () => ({{get cancel() {{ throw new Error("getter") }}}}),
        () => {{ const round = {{}}; round.self = round; return round; }},
      ];
      let next = 0;
      browser.webRequest.onBeforeRequest.addListener(d => answers[next++ % answers.length](), {ON_PAGES}, ["blocking"]);
    """
    async with browsing(tmp_path) as web:
        await web.extension(background)
        for number in range(11):
            assert (await web.visit(site.url(f"/page/{number}"))).title == f"Page {number}"


@in_loop
async def test_a_listener_that_hangs_holds_a_page_up_only_for_a_while(
    tmp_path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async with browsing(tmp_path) as web:
        web.profile.web_requests.blocking_timeout = 0.2
        listener = f'(() => new Promise(() => {{}}), {ON_PAGES}, ["blocking"])'
        await web.extension(f"browser.webRequest.onBeforeRequest.addListener{listener}")
        assert (await web.visit(site.url("/page/1"))).title == "Page 1"
    assert "listener timed out after 0.2 s" in caplog.text


@in_loop
async def test_what_does_not_block_is_not_waited_for(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        await web.extension(
            f"browser.webRequest.onBeforeRequest.addListener(() => new Promise(() => {{}}), {ON_PAGES});"
        )
        assert (await web.visit(site.url("/page/1"))).title == "Page 1"


@in_loop
async def test_an_extension_that_ends_while_it_is_asked_stops_no_page(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        asked = f"""
          browser.webRequest.onBeforeRequest.addListener(() => {{
            browser.cookies.set({{url: "{site.url("/")}", name: "asked", value: "1"}});
            return new Promise(() => {{}});
          }}, {ON_PAGES}, ["blocking"]);
        """
        extension = await web.extension(asked)
        came = asyncio.Event()
        web.profile.cookies.on_changed.add_listener(lambda _: came.set())
        tab = await web.profile.tabs.open("Work", site.url("/page/1"))
        await came.wait()
        await web.profile.extensions.stop(extension)
        assert (await web.engine.wait_until_loaded(tab.id)).title == "Page 1"


@in_loop
async def test_a_background_that_sleeps_is_woken_by_a_request(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        extension = await web.extension(
            f'browser.webRequest.onBeforeRequest.addListener(() => ({{cancel: true}}), {ON_PAGES}, ["blocking"]);',
        )
        await extension.suspend()
        assert extension.runtime is None
        tab = await web.visit(site.url("/page/1"))
        assert (tab.url, site.seen) == ("about:blank", [])


# -------------------------------------------------------------------------------------------------- what is thrown


@in_loop
async def test_wrong_arguments_are_thrown_by_the_call_itself(tmp_path: Path) -> None:
    asks = """
      const message = f => { try { f(); return "nothing"; } catch (error) { return error.message; } };
      const listen = (name, ...extra) => message(() => browser.webRequest[name].addListener(() => {}, ...extra));
    """
    async with browsing(tmp_path) as web:
        extension = await web.extension(asks, ["webRequest", "browsingData", "<all_urls>"])

        async def said(expression: str) -> str:
            answer: str = await extension.evaluate(expression)
            return answer

        blocking = "Using webRequest.addListener with the blocking option requires the 'webRequestBlocking' permission."
        assert await said(f'listen("onBeforeRequest", {ON_PAGES}, ["blocking"])') == blocking
        assert await said(f'listen("onBeforeSendHeaders", {ON_PAGES}, ["requestHeaders", "blocking"])') == blocking
        assert "webRequestAuthProvider" in await said(f'listen("onAuthRequired", {ON_PAGES}, ["blocking"])')
        assert await said(f'listen("onBeforeRequest", {ON_PAGES})') == "nothing"
        assert await said('listen("onBeforeRequest", {urls: ["<all_urls>"], types: ["x", 7, "image"]})') == "nothing"
        assert await said('listen("onBeforeRequest", {urls: ["<all_urls>"], types: ["x"]})') == (
            "Type error for parameter filter (Error processing types: Array requires at least 1 items; you have 0) "
            "for webRequest.onBeforeRequest."
        )
        remove = "message(() => browser.browsingData.remove({}, {{cookies: true}}))"
        for host in ("A.EXAMPLE", "http://a.example", "a.example:80", "ex ample", "", "Bücher.example"):
            assert await said(remove.format(json.dumps({"hostnames": [host]}))) == (
                f"Type error for parameter options (Error processing hostnames.0: Error: Invalid hostname {host}) "
                "for browsingData.remove."
            )
        assert await said(remove.format('{since: "nonsense"}')) == (
            'Type error for parameter options (Error processing since: Value "nonsense" must either: match the format '
            '"date", be an integer value, or be an object value) for browsingData.remove.'
        )
        assert await said(remove.format("{since: {}}")) == (
            "Type error for parameter options (Error processing since: Value must either: be a string value, be an "
            "integer value, or be an instance of Date) for browsingData.remove."
        )
        assert await said(remove.format('{since: new Date(), hostnames: ["a.example:8080"]}')) == "nothing"
        assert await said("typeof browser.proxy") == "undefined"
        assert await said("typeof browser.webRequest.filterResponseData") == "undefined"


@in_loop
async def test_who_is_given_the_permission_may_block(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        extension = await web.extension("", ["webRequest", "<all_urls>"])
        block = f'browser.webRequest.onBeforeRequest.addListener(() => ({{cancel: true}}), {ON_PAGES}, ["blocking"])'
        with pytest.raises(hatbox.HatboxError, match="requires the 'webRequestBlocking' permission"):
            await extension.evaluate(block)
        extension.caller.permissions.add("webRequestBlocking")
        extension.permissions_changed()
        await extension.evaluate(block)
        assert (await web.visit(site.url("/page/1"))).url == "about:blank"


# ------------------------------------------------------------------------------------------- proxy and browsingData


@in_loop
async def test_an_extension_gives_each_container_its_proxy(tmp_path: Path, site: Site) -> None:
    with LoopbackProxy() as proxy:
        background = f"""
          const errors = [];
          browser.proxy.onError.addListener(error => errors.push(error.message));
          browser.proxy.onRequest.addListener(async ({{cookieStoreId}}) => {{
            const identity = await browser.contextualIdentities.get(cookieStoreId);
            const work = {{type: "http", host: "127.0.0.1", port: {proxy.port}, username: undefined}};
            if (identity.name === "Work") return [work];
            if (identity.name === "Banking") return {{type: "nonsense"}};
            return identity.name === "Shopping" ? null : undefined;
          }}, {{urls: ["<all_urls>"]}});
        """
        async with browsing(tmp_path) as web:
            extension = await web.extension(background)
            assert (await web.visit("http://elsewhere.invalid/")).title == "Through the proxy"
            for name in ("Personal", "Banking", "Shopping"):
                tab = await web.visit("http://elsewhere.invalid/", name)
                assert tab.error == "host not found: elsewhere.invalid"
            assert await extension.evaluate("errors") == ['ProxyInfoData: Invalid proxy server type: "nonsense"']
        assert len(proxy.asked) == 1


@in_loop
async def test_null_takes_back_the_proxy_that_another_extension_has_chosen(tmp_path: Path) -> None:
    with LoopbackProxy() as proxy:
        choose = "browser.proxy.onRequest.addListener(() => ANSWER, {urls: ['<all_urls>']});"
        async with browsing(tmp_path) as web:
            await web.extension(choose.replace("ANSWER", f"({json.dumps(proxy.info())})"), name="one")
            await web.extension(choose.replace("ANSWER", "undefined"), name="two")
            assert (await web.visit("http://elsewhere.invalid/")).title == "Through the proxy"
            await web.extension(choose.replace("ANSWER", "null"), name="three")
            assert (await web.visit("http://elsewhere.invalid/")).error == "host not found: elsewhere.invalid"


@in_loop
async def test_an_extension_cleans_up_after_a_container(tmp_path: Path) -> None:
    async with browsing(tmp_path) as web:
        extension = await web.extension("")
        for store in ("Work", "Personal"):
            cookies = await web.profile.cookie_store(store)
            await cookies.set("http://a.example/", name="a", value="1")
        clean_up = """(async () => {
          const cookieStoreId = "firefox-container-2", data = browser.browsingData;
          return [
            typeof await data.removeCookies({cookieStoreId, since: new Date(0)}),
            typeof await data.remove({cookieStoreId, hostnames: ["a.example"]}, {localStorage: true, indexedDB: true}),
            typeof await data.removeCache({}),
          ];
        })()"""
        assert await extension.evaluate(clean_up) == ["undefined"] * 3
        left = [await (await web.profile.cookie_store(store)).cookies() for store in ("Work", "Personal")]
        assert [len(cookies) for cookies in left] == [0, 1]


@pytest.mark.parametrize("failing", ["async () => { throw new Error('mine'); }", "() => { throw new Error('mine'); }"])
@in_loop
async def test_a_blocking_listener_that_fails_is_logged_with_its_line_and_does_not_block(
    tmp_path: Path, site: Site, failing: str
) -> None:
    async with browsing(tmp_path) as here:
        entries: asyncio.Queue[Any] = asyncio.Queue()
        background = f"browser.webRequest.onBeforeRequest.addListener({failing}, {ON_PAGES}, ['blocking']);"
        await here.extension(background, on_log=entries.put_nowait)
        tab = await here.visit(site.url("/page/1"))
        assert tab.url == site.url("/page/1")
        entry = await entries.get()
        assert entries.empty()
        assert (entry.text, entry.line, entry.file.rpartition("/")[2]) == ("Error: mine", 1, "background.js")


# ------------------------------------------------------------------------------------ fetch() of extensions


@in_loop
async def test_a_fetch_of_an_extension_goes_through_the_proxy_that_is_chosen_for_it(tmp_path: Path) -> None:
    async with browsing(tmp_path) as web:
        with LoopbackProxy() as proxy:
            choice = json.dumps(proxy.info())
            listen = f'browser.proxy.onRequest.addListener(() => ({choice}), {{urls: ["<all_urls>"]}});'
            await web.extension(listen, name="chooses")
            fetches = await web.extension("", name="fetches")
            fetched = await fetches.evaluate("fetch('http://shop.invalid/x').then(response => response.text())")
            assert fetched == "<title>Through the proxy</title>"
            assert [each.target for each in proxy.asked] == ["http://shop.invalid/x"]


@in_loop
async def test_no_extension_observes_the_fetches_of_another(tmp_path: Path, site: Site) -> None:
    record = """
    var seen = [];
    browser.webRequest.onBeforeRequest.addListener(details => {
      seen.push("webRequest");
      return {cancel: true};
    }, {urls: ["<all_urls>"]}, ["blocking"]);
    browser.proxy.onRequest.addListener(() => { seen.push("proxy"); }, {urls: ["<all_urls>"]});
    """
    async with browsing(tmp_path) as web:
        other = await web.extension(record, name="other")
        python: list[Any] = []
        browser = web.profile.browser(["webRequest", "<all_urls>"])
        browser.webRequest.onBeforeRequest.addListener(python.append, {"urls": ["<all_urls>"]})
        fetches = await web.extension("", name="fetches")
        url = site.url("/login")
        assert await fetches.evaluate(f"fetch({url!r}).then(response => response.ok)") is True
        # As in Firefox: proxies are chosen for everybody.
        assert await other.evaluate("seen") == ["proxy"]
        assert not python


@in_loop
async def test_a_permission_that_is_revoked_while_a_listener_thinks_counts(tmp_path: Path, site: Site) -> None:
    holds = """
    var asked = new Promise(resolve => { globalThis.heard = resolve; });
    var answer = new Promise(resolve => { globalThis.go = resolve; });
    browser.webRequest.onBeforeRequest.addListener(() => {
      heard();
      return answer;
    }, {urls: ["<all_urls>"]}, ["blocking"]);
    """
    async with browsing(tmp_path) as web:
        folder = make(
            tmp_path, holds, permissions=["webRequest", "webRequestBlocking"], optional_permissions=["<all_urls>"]
        )
        extension = await web.profile.extensions.start(folder)
        hosts = Permissions((), ("<all_urls>",))
        await web.profile.extensions.grant(extension.id, hosts)
        await extension.evaluate(f"void (globalThis.done = fetch({site.url('/page')!r}).then(() => 1, e => e.name))")
        await extension.evaluate("asked")
        await web.profile.extensions.revoke(extension.id, hosts)
        await extension.evaluate("go()")
        assert await extension.evaluate("done") == "TypeError"
        assert not site.seen


# ------------------------------------------------------------------------------------------------- asyncBlocking


@pytest.fixture
def locked() -> Iterator[str]:
    """A server that wants a password."""

    class Locked(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.headers.get("Authorization") == "Basic dTpw"
            self.send_response(200 if known else 401)
            self.send_header("WWW-Authenticate", 'Basic realm="R"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Locked)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


KNOWN = '{authCredentials: {username: "u", password: "p"}}'


@pytest.mark.parametrize(
    ("listener", "status"),
    [
        (f"(details, answer) => {{ answer({KNOWN}); }}", 200),
        (f"(details, answer) => {{ setTimeout(answer, 10, {KNOWN}); return {{cancel: true}}; }}", 200),
        ("(details, answer) => { answer(); }", 401),
        ("() => { throw new Error('thrown'); }", 401),
    ],
)
@in_loop
async def test_an_async_blocking_listener_answers_by_calling_a_function(
    tmp_path: Path, locked: str, listener: str, status: int
) -> None:
    async with browsing(tmp_path) as web:
        add = f'browser.webRequest.onAuthRequired.addListener({listener}, {ON_PAGES}, ["asyncBlocking"]);'
        await web.extension(add)
        assert (await web.visit(locked)).http_status == status
