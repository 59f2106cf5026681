"""webRequest for Python scripts on a real site. What is expected was recorded in Firefox 153, where it has it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import parse_http_list, parse_keqv_list

import pytest

from hatbox import ArgumentError
from hatbox.api.caller import Caller
from tests.api.browsing import ALL, PAGES, browsing, noting
from tests.site import Site
from tests.store.in_loop import in_loop
from tests.threaded_site import PageHandler, ThreadedSite

BLOCKING = "Using webRequest.addListener with the blocking option requires the 'webRequestBlocking' permission."
AUTH = (
    "Using webRequest.onAuthRequired.addListener with the blocking option requires either the 'webRequestBlocking' "
    "or 'webRequestAuthProvider' permission."
)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


# --------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("event", "arguments", "problem"),
    [
        ("onBeforeRequest", (), "Incorrect argument types for webRequest.onBeforeRequest."),
        ("onBeforeRequest", ({},), 'Type error for parameter filter (Property "urls" is required) for {}.'),
        (
            "onBeforeRequest",
            ({"urls": []},),
            "Type error for parameter filter (Error processing urls: Array requires at least 1 items; you have 0) "
            "for {}.",
        ),
        (
            "onBeforeRequest",
            ({"urls": ["<all_urls>"], "types": ["nonsense"]},),
            "Type error for parameter filter (Error processing types: Array requires at least 1 items; you have 0) "
            "for {}.",
        ),
        (
            "onBeforeRequest",
            ({"urls": ["<all_urls>"], "cookieStoreId": "x"},),
            'Type error for parameter filter (Unexpected property "cookieStoreId") for {}.',
        ),
        (
            "onBeforeRequest",
            (PAGES, ["requestHeaders"]),
            'Type error for parameter extraInfoSpec (Error processing 0: Invalid enumeration value "requestHeaders") '
            "for {}.",
        ),
        ("onErrorOccurred", (PAGES, []), "Incorrect argument types for {}."),
        (
            "onSendHeaders",
            (PAGES, ["blocking"]),
            'Type error for parameter extraInfoSpec (Error processing 0: Invalid enumeration value "blocking") for {}.',
        ),
    ],
)
@in_loop
async def test_wrong_arguments_raise_firefoxs_messages(
    tmp_path: Path, event: str, arguments: Any, problem: str
) -> None:
    async with browsing(tmp_path) as web:
        with pytest.raises(ArgumentError) as error:
            getattr(web.browser.webRequest, event).addListener(print, *arguments)
        assert str(error.value) == problem.format(f"webRequest.{event}")


@in_loop
async def test_blocking_needs_the_permission(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path, ["webRequest", "<all_urls>"]) as web:
        for event, problem in (
            ("onBeforeRequest", BLOCKING),
            ("onBeforeSendHeaders", BLOCKING),
            ("onHeadersReceived", BLOCKING),
            ("onAuthRequired", AUTH),
        ):
            with pytest.raises(ArgumentError) as error:
                getattr(web.browser.webRequest, event).addListener(print, PAGES, ["blocking"])
            assert str(error.value) == problem
        web.browser.webRequest.onBeforeRequest.addListener(lambda _: {"cancel": True}, PAGES)
        assert (await web.visit(site.url("/page/1"))).title == "Page 1"
        assert not hasattr(web.script(["<all_urls>"]), "webRequest")


@in_loop
async def test_a_listener_stops_to_interfere_when_the_permission_is_taken_away(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        received: list[Any] = []
        web.answer("onBeforeRequest", noting(received, {"cancel": True}))
        assert (await web.visit(site.url("/page/1"))).url == "about:blank"
        caller: Caller = web.browser._caller
        caller.permissions.discard("webRequestBlocking")
        assert (await web.visit(site.url("/page/1"))).title == "Page 1"
        assert len(received) == 2
        caller.permissions.discard("<all_urls>")
        await web.visit(site.url("/page/1"))
        assert len(received) == 2


# ------------------------------------------------------------------------------------------------------------ events


@in_loop
async def test_a_load_emits_all_events_in_order(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        web.listen_to_all()
        tab = await web.visit(site.url("/page/1", set="a=1"))
        assert web.names == [
            "onBeforeRequest",
            "onBeforeSendHeaders",
            "onSendHeaders",
            "onHeadersReceived",
            "onResponseStarted",
            "onCompleted",
        ]
        first, last = web.log[0][1], web.log[-1][1]
        common = {
            "requestId": first["requestId"],
            "url": site.url("/page/1", set="a=1"),
            "method": "GET",
            "type": "main_frame",
            "tabId": tab.id,
            "frameId": 0,
            "parentFrameId": -1,
            "incognito": False,
            "thirdParty": False,
            "cookieStoreId": "firefox-container-2",
            "proxyInfo": None,
            "frameAncestors": [],
            "urlClassification": {"firstParty": [], "thirdParty": []},
        }
        assert first == common | {"timeStamp": first["timeStamp"], "ip": None}
        assert last == common | {
            "timeStamp": last["timeStamp"],
            "fromCache": False,
            "statusCode": 200,
            "statusLine": "HTTP/1.1 200 OK",
            "ip": "127.0.0.1",
            "responseHeaders": last["responseHeaders"],
        }
        assert {"name": "Set-Cookie", "value": "a=1"} in last["responseHeaders"]
        assert all(isinstance(details["timeStamp"], int) for _, details in web.log)
        sent = web.details("onSendHeaders")[0]["requestHeaders"]
        assert sent[0] == {"name": "Host", "value": site.url("").removeprefix("http://")}


@in_loop
async def test_details_have_requested_properties_only(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        received: list[Any] = []
        web.browser.webRequest.onSendHeaders.addListener(received.append, PAGES)
        web.browser.webRequest.onCompleted.addListener(received.append, PAGES)
        web.browser.webRequest.onBeforeRequest.addListener(received.append, PAGES, ["requestBody"])
        await web.visit(site.url("/"))
        assert not any({"requestHeaders", "responseHeaders"} & details.keys() for details in received)
        assert received[0]["requestBody"] is None
        assert "requestBody" not in received[1]


@in_loop
async def test_redirects_have_one_request_id_and_emit_each_hop(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        web.listen_to_all()
        await web.visit(site.url("/redirect/1"))
        step = ["onBeforeRequest", "onBeforeSendHeaders", "onSendHeaders", "onHeadersReceived"]
        assert web.names == [*step, "onBeforeRedirect", *step, "onResponseStarted", "onCompleted"]
        assert len({details["requestId"] for _, details in web.log}) == 1
        redirect = web.details("onBeforeRedirect")[0]
        assert (redirect["url"], redirect["redirectUrl"]) == (site.url("/redirect/1"), site.url("/redirect/0"))
        assert (redirect["statusCode"], redirect["statusLine"]) == (302, "HTTP/1.1 302 Found")
        assert web.log[5][1]["ip"] is None
        await web.visit(site.url("/"))
        assert len({details["requestId"] for _, details in web.log}) == 2


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://127.0.0.1:1/", "NS_ERROR_CONNECTION_REFUSED"),
        ("http://nobody.invalid/", "NS_ERROR_UNKNOWN_HOST"),
        ("{site}/redirect/loop", "NS_ERROR_REDIRECT_LOOP"),
        ("{site}/go?to=ftp://x/", "NS_ERROR_UNKNOWN_PROTOCOL"),
    ],
)
@in_loop
async def test_errors_have_firefoxs_names(tmp_path: Path, site: Site, url: str, error: str) -> None:
    async with browsing(tmp_path) as web:
        web.listen_to_all()
        assert (await web.visit(url.format(site=site.url("")))).error
        assert web.names[-1] == "onErrorOccurred"
        assert web.log[-1][1]["error"] == error
        assert web.names.count("onErrorOccurred") == 1


@in_loop
async def test_a_load_that_times_out_has_firefoxs_error(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = 12.5  # of this engine alone; they are over as soon as the site has been asked
    limits: list[asyncio.Timeout] = []
    usual = asyncio.timeout

    def timeout(delay: float | None) -> asyncio.Timeout:
        if delay != seconds:
            return usual(delay)
        limits.append(usual(None))
        return limits[-1]

    monkeypatch.setattr(asyncio, "timeout", timeout)
    async with browsing(tmp_path, timeout=seconds) as web:
        web.listen_to_all()
        tab = await web.profile.tabs.open("Work", site.url("/slow"))
        await asyncio.to_thread(site.wait_for, "/slow")
        (limit,) = limits
        limit.reschedule(asyncio.get_running_loop().time())
        assert (await web.engine.wait_until_loaded(tab.id)).error == "timed out after 12.5 seconds"
        assert web.names[-1] == "onErrorOccurred"
        assert web.log[-1][1]["error"] == "NS_ERROR_NET_TIMEOUT"
        assert web.names.count("onErrorOccurred") == 1


@in_loop
async def test_a_load_that_another_takes_the_place_of_is_over(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        web.listen_to_all()
        tab = await web.profile.tabs.open("Work", site.url("/slow"))
        await asyncio.to_thread(site.wait_for, "/slow")
        await web.profile.tabs.navigate(tab.id, site.url("/page/2"))
        await web.engine.wait_until_loaded(tab.id)
        assert [details["error"] for details in web.details("onErrorOccurred")] == ["NS_BINDING_ABORTED"]
        assert len(web.details("onCompleted")) == 1


# ----------------------------------------------------------------------------------------------------------- filters


@pytest.mark.parametrize(
    ("filter_", "path", "is_received"),
    [
        ({"urls": ["http://127.0.0.1/page/*"]}, "/page/1", True),
        ({"urls": ["http://127.0.0.1/page/1"]}, "/page/1", True),
        ({"urls": ["http://127.0.0.1/page/2"]}, "/page/1", False),
        ({"urls": ["http://127.0.0.1/page/1?q=1"]}, "/page/1?q=1", True),
        ({"urls": ["http://127.0.0.1/page/1"]}, "/page/1?q=1", False),
        ({"urls": ["http://127.0.0.1/page/1"]}, "/page/1#x", False),
        ({"urls": ["http://127.0.0.1/page/1#x"]}, "/page/1#x", True),
        ({"urls": ["https://127.0.0.1/*"]}, "/page/1", False),
        ({"urls": ["http://localhost/*"]}, "/page/1", False),
        ({"urls": ["{site}/page/*"]}, "/page/1", False),
        ({"urls": ["nonsense"]}, "/page/1", False),
        ({"urls": ["<all_urls>", "nonsense"]}, "/page/1", False),
        ({"urls": ["<all_urls>"], "types": ["main_frame", "nonsense"]}, "/page/1", True),
        ({"urls": ["<all_urls>"], "types": ["image"]}, "/page/1", False),
        ({"urls": ["<all_urls>"], "tabId": 1}, "/page/1", True),
        ({"urls": ["<all_urls>"], "tabId": 99}, "/page/1", False),
        ({"urls": ["<all_urls>"], "windowId": 1}, "/page/1", True),
        ({"urls": ["<all_urls>"], "windowId": -2}, "/page/1", False),
        ({"urls": ["<all_urls>"], "incognito": True}, "/page/1", False),
        ({"urls": ["<all_urls>"], "incognito": False}, "/page/1", True),
    ],
)
@in_loop
async def test_filters_select_requests(tmp_path: Path, site: Site, filter_: Any, path: str, is_received: bool) -> None:
    filter_ = filter_ | {"urls": [each.format(site=site.url("")) for each in filter_["urls"]]}
    async with browsing(tmp_path) as web:
        received: list[Any] = []
        web.browser.webRequest.onBeforeRequest.addListener(received.append, filter_)
        await web.visit(site.url(path))
        assert bool(received) == is_received


@in_loop
async def test_requests_to_hosts_without_permission_are_not_delivered(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path, ["webRequest", "webRequestBlocking", "http://127.0.0.1/*"]) as web:
        web.listen_to_all()
        await web.visit(site.url("/page/1", host="localhost"))
        assert web.log == []
        await web.visit(site.url("/go", to=site.url("/page/1", host="localhost")))
        assert {details["url"].partition("?")[0] for _, details in web.log} == {site.url("/go")}
        assert web.names[-1] == "onBeforeRedirect"


# ----------------------------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize("answer", [None, 7, "cancel", [], {}, {"cancel": False}, {"nonsense": 1, "redirectUrl": 5}])
@in_loop
async def test_an_answer_that_says_nothing_changes_nothing(tmp_path: Path, site: Site, answer: Any) -> None:
    async with browsing(tmp_path) as web:
        for event in ("onBeforeRequest", "onBeforeSendHeaders", "onHeadersReceived"):
            web.answer(event, answer)
        assert (await web.visit(site.url("/page/1"))).title == "Page 1"


@in_loop
async def test_a_listener_that_raises_is_logged_and_the_page_is_loaded(
    tmp_path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(_: Any) -> None:
        raise ValueError("later")

    def fails_at_once(_: Any) -> None:
        raise ValueError("at once")

    async with browsing(tmp_path) as web:
        web.answer("onBeforeRequest", fails)
        web.answer("onBeforeRequest", fails_at_once)
        web.browser.webRequest.onBeforeRequest.addListener(fails, PAGES)
        assert (await web.visit(site.url("/page/1"))).title == "Page 1"
    assert caplog.text.count("ValueError: later") == 2
    assert "ValueError: at once" in caplog.text


@in_loop
async def test_a_listener_that_is_cancelled_does_not_take_the_request_with_it(
    tmp_path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async def is_cancelled(_: Any) -> None:
        raise asyncio.CancelledError

    async with browsing(tmp_path) as web:
        web.answer("onBeforeRequest", is_cancelled)
        assert (await asyncio.wait_for(web.visit(site.url("/page/1")), 10)).title == "Page 1"
    assert "webRequest.onBeforeRequest listener was cancelled" in caplog.text


@in_loop
async def test_a_listener_that_never_answers_holds_a_page_up_only_for_a_while(
    tmp_path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async def hangs(_: Any) -> None:
        await asyncio.Event().wait()

    async with browsing(tmp_path) as web:
        web.profile.web_requests.blocking_timeout = 0.05
        web.answer("onBeforeRequest", hangs)
        web.answer("onBeforeRequest", {"redirectUrl": site.url("/page/2")}, options=["blocking"])
        web.browser.webRequest.onCompleted.addListener(hangs, PAGES)
        assert (await web.visit(site.url("/page/1"))).error == "too many redirects: more than 20"
    assert "listener timed out after 0.05 s" in caplog.text


@pytest.mark.parametrize("event", ["onBeforeRequest", "onBeforeSendHeaders", "onHeadersReceived"])
@in_loop
async def test_a_cancelled_load_leaves_the_tab_where_it_was(tmp_path: Path, site: Site, event: str) -> None:
    async with browsing(tmp_path) as web:
        before = await web.visit(site.url("/page/1"))
        web.listen_to_all()
        web.answer(event, {"cancel": True})
        updates: list[Any] = []
        web.browser.tabs.onUpdated.addListener(lambda _, info, __: updates.append(info))
        await web.profile.tabs.navigate(before.id, site.url("/page/2", set="a=1"))
        after = await web.engine.wait_until_loaded(before.id)
        assert (after.url, after.title, after.error) == (before.url, "Page 1", "")
        assert updates == [{"status": "loading"}, {"status": "complete"}]
        assert web.names[-2:] == [event, "onErrorOccurred"]
        assert web.log[-1][1]["error"] == "NS_ERROR_ABORT"
        assert len(site.requests("/page/2")) == (event == "onHeadersReceived")
        assert await (await web.profile.cookie_store("Work")).cookies() == []


@pytest.mark.parametrize("event", ["onBeforeRequest", "onBeforeSendHeaders", "onHeadersReceived"])
@in_loop
async def test_a_redirected_load_has_the_same_request_id(tmp_path: Path, site: Site, event: str) -> None:
    async with browsing(tmp_path) as web:
        web.listen_to_all()
        there = {"redirectUrl": site.url("/page/2")}
        web.answer(event, lambda details: there if "/page/1" in details["url"] else {})
        tab = await web.visit(site.url("/page/1", set="a=1"))
        assert (tab.url, tab.title) == (site.url("/page/2"), "Page 2")
        assert len({details["requestId"] for _, details in web.log}) == 1
        redirect = web.details("onBeforeRedirect")[0]
        assert (redirect["statusCode"], redirect["redirectUrl"]) == (200, site.url("/page/2"))
        headers_received = event == "onHeadersReceived"
        assert (redirect["statusLine"], bool(redirect["responseHeaders"])) == (
            "HTTP/1.1 200 " + ("OK" if headers_received else ""),
            headers_received,
        )
        # Of a response that is redirected, the cookies count all the same.
        assert len(site.requests("/page/1")) == headers_received
        assert len(await (await web.profile.cookie_store("Work")).cookies()) == headers_received


@pytest.mark.parametrize("url", ["not a url", "/page/2", ""])
@in_loop
async def test_nothing_is_redirected_to_what_is_no_address(tmp_path: Path, site: Site, url: str) -> None:
    async with browsing(tmp_path) as web:
        web.answer("onBeforeRequest", {"redirectUrl": url})
        assert (await web.visit(site.url("/page/1"))).title == "Page 1"


@in_loop
async def test_pages_that_are_none_of_the_web(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        to = ["about:blank"]
        web.answer("onBeforeRequest", lambda _: {"redirectUrl": to[0]})
        tab = await web.visit(site.url("/page/1"))
        assert (tab.url, tab.error) == ("about:blank", "")
        to[0] = "data:text/html,x"
        assert "use http or https" in (await web.visit(site.url("/page/1"))).error


@in_loop
async def test_a_load_is_made_secure(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        web.listen_to_all()
        web.answer("onBeforeRequest", {"upgradeToSecure": True})
        tab = await web.visit(site.url("/page/1"))
        assert tab.url == site.url("/page/1").replace("http:", "https:")
        redirect = web.details("onBeforeRedirect")[0]
        assert (redirect["statusCode"], redirect["redirectUrl"]) == (0, tab.url)
        assert not site.requests("/page/1")


# ---------------------------------------------------------------------------------------------------------- headers


@in_loop
async def test_headers_are_changed_cookies_too(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        await web.visit(site.url("/", set="a=1"))

        def change(details: Any) -> Any:
            headers = [each for each in details["requestHeaders"] if each["name"] != "Accept"]
            cookie = next(each for each in headers if each["name"] == "Cookie")
            assert cookie["value"] == "a=1"
            cookie["value"] = "a=mine"
            return {"requestHeaders": [*headers, {"name": "X-Mine", "value": "1"}]}

        web.answer("onBeforeSendHeaders", change)
        await web.visit(site.url("/page/1"))
        seen = site.requests("/page/1")[0]
        assert (seen.cookies, seen.headers["x-mine"]) == ({"a": "mine"}, "1")
        assert "accept" not in seen.headers
        assert [each.value for each in await (await web.profile.cookie_store("Work")).cookies()] == ["1"]


@in_loop
async def test_cookies_that_a_listener_removes_are_not_stored_and_added_ones_are(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        seen: list[Any] = []

        def change(details: Any) -> Any:
            seen.extend(each["value"] for each in details["responseHeaders"] if each["name"] == "Set-Cookie")
            others = [each for each in details["responseHeaders"] if each["name"] != "Set-Cookie"]
            return {"responseHeaders": [*others, {"name": "Set-Cookie", "value": "c=3\nd=4"}]}

        web.answer("onHeadersReceived", change)
        await web.visit(site.url("/page/1", set=["a=1", "b=2"]))
        cookies = await (await web.profile.cookie_store("Work")).cookies()
        assert (seen, [each.name for each in cookies]) == (["a=1\nb=2"], ["c", "d"])


@in_loop
async def test_a_listener_decides_where_a_redirect_leads_and_what_a_page_is(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:

        def change(details: Any) -> Any:
            new = {"Location": "/page/2", "Content-Type": "text/plain"}
            return {
                "responseHeaders": [
                    each | {"value": new.get(each["name"], each["value"])} for each in details["responseHeaders"]
                ]
            }

        web.answer("onHeadersReceived", change)
        tab = await web.visit(site.url("/redirect/1"))
        assert (tab.url, tab.content_type, tab.title) == (site.url("/page/2"), "text/plain", "")


@in_loop
async def test_listeners_without_headers_option_cannot_change_headers(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        web.answer("onBeforeSendHeaders", {"requestHeaders": []}, options=["blocking"])
        web.answer("onHeadersReceived", {"responseHeaders": []}, options=["blocking"])
        assert (await web.visit(site.url("/page/1"))).title == "Page 1"


# ------------------------------------------------------------------------------------------------------ who decides


@in_loop
async def test_the_first_registered_listener_wins_and_all_are_called(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        other = web.script(caller_id="other")
        asked: list[str] = []

        def answers(name: str, answer: Any) -> Any:
            async def listener(details: Any) -> Any:
                asked.append(name)
                await asyncio.sleep(0)
                return answer if details["url"].endswith("/page/1") else {}

            return listener

        redirects = answers("redirects", {"redirectUrl": site.url("/page/2")})
        web.answer("onBeforeRequest", redirects)
        web.answer("onBeforeRequest", answers("cancels", {"cancel": True}), other)
        assert (await web.visit(site.url("/page/1"))).url == site.url("/page/2")
        assert asked[:2] == ["redirects", "cancels"]
    async with browsing(tmp_path / "2") as web:
        web.answer("onBeforeRequest", answers("cancels", {"cancel": True}))
        web.answer("onBeforeRequest", redirects, web.script(caller_id="other"))
        assert (await web.visit(site.url("/page/1"))).url == "about:blank"


@in_loop
async def test_headers_of_several_add_up(tmp_path: Path, site: Site) -> None:
    async with browsing(tmp_path) as web:
        shown: list[int] = []

        def adds(*pairs: tuple[str, str]) -> Any:
            def listener(details: Any) -> Any:
                shown.append(len(details["requestHeaders"]))
                more = [{"name": name, "value": value} for name, value in pairs]
                return {"requestHeaders": [*details["requestHeaders"], *more]}

            return listener

        web.answer("onBeforeSendHeaders", adds(("X-A", "1"), ("X-C", "first")))
        web.answer("onBeforeSendHeaders", adds(("X-B", "2"), ("X-C", "second")), web.script(caller_id="other"))
        web.listen_to_all()
        await web.visit(site.url("/page/1"))
        headers = site.requests("/page/1")[0].headers
        assert [headers.get(name) for name in ("x-a", "x-b", "x-c")] == ["1", "2", "second"]
        assert shown[0] == shown[1]
        sent = {each["name"]: each["value"] for each in web.details("onSendHeaders")[0]["requestHeaders"]}
        assert (sent["X-A"], sent["X-B"], sent["X-C"]) == ("1", "2", "second")


@in_loop
async def test_a_request_is_for_another_host_only_if_the_caller_has_permission_for_it(
    tmp_path: Path, site: Site
) -> None:
    permissions = ["webRequest", "webRequestBlocking", "http://127.0.0.1/*", "https://allowed.example/*"]
    async with browsing(tmp_path, permissions) as web:
        host = ["other.example"]

        def change(details: Any) -> Any:
            others = [each for each in details["requestHeaders"] if each["name"] != "Host"]
            return {"requestHeaders": [{"name": "Host", "value": host[0]}, *others]}

        web.answer("onBeforeSendHeaders", change)
        for name in ("other.example", "allowed.example"):
            host[0] = name
            await web.visit(site.url("/page/1"))
        assert [each.headers["host"].partition(":")[0] for each in site.seen] == ["127.0.0.1", "allowed.example"]


# -------------------------------------------------------------------------------------------------- who are you?


class _Locked(PageHandler):
    """Accepts user u with password p: Digest below /digest, Basic below /basic, elsewhere an unknown scheme."""

    protocol_version = "HTTP/1.1"

    def respond(self) -> None:
        way = self.path.split("/")[1]
        authorization = self.headers.get("Authorization", "")
        basic = "Basic " + base64.b64encode(b"u:p").decode()
        digest = (
            parse_keqv_list(parse_http_list(authorization.partition(" ")[2]))
            if authorization.startswith("Digest ")
            else {}
        )
        good = authorization == basic or digest.get("username") == "u"
        offers = {
            "digest": ['Digest realm="D", nonce="n", qop="auth"', 'Basic realm="B"'],
            "basic": ['Basic realm="R"'],
        }.get(way, ["Bearer"])
        challenges = [] if good else [("WWW-Authenticate", offer) for offer in offers]
        self.send_page("<title>In</title>" if good else "<title>Out</title>", 200 if good else 401, challenges)


@pytest.fixture
def locked() -> Iterator[str]:
    with ThreadedSite(_Locked) as site:
        yield site.url("")


@pytest.mark.parametrize(("way", "realm"), [("basic", "R"), ("digest", "D")])
@in_loop
async def test_a_listener_supplies_credentials(tmp_path: Path, locked: str, way: str, realm: str) -> None:
    async with browsing(tmp_path, [*ALL[:1], "webRequestAuthProvider", "<all_urls>"]) as web:
        received: list[Any] = []
        web.browser.webRequest.onAuthRequired.addListener(
            noting(received, {"authCredentials": {"username": "u", "password": "p"}}),
            PAGES,
            ["blocking"],
        )
        tab = await web.visit(f"{locked}/{way}/")
        assert (tab.title, tab.http_status) == ("In", 200)
        assert len(received) == 1
        assert {name: received[0][name] for name in ("scheme", "realm", "isProxy", "challenger", "statusCode")} == {
            "scheme": way,
            "realm": realm,
            "isProxy": False,
            "challenger": {"host": "127.0.0.1", "port": int(locked.rpartition(":")[2])},
            "statusCode": 401,
        }


@in_loop
async def test_without_credentials_the_answer_of_the_server_is_the_page(tmp_path: Path, locked: str) -> None:
    async with browsing(tmp_path) as web:
        web.listen_to_all()
        assert (await web.visit(f"{locked}/basic/")).http_status == 401
        assert web.names.count("onAuthRequired") == 1
        assert web.names[-1] == "onCompleted"
        await web.visit(f"{locked}/other/")
        assert web.names.count("onAuthRequired") == 1
        web.answer("onAuthRequired", {"authCredentials": {"username": "u"}})
        assert (await web.visit(f"{locked}/basic/")).http_status == 401
        web.answer("onAuthRequired", {"cancel": True})
        assert (await web.visit(f"{locked}/basic/")).url == "about:blank"
        assert web.log[-1][1]["error"] == "NS_ERROR_ABORT"


@in_loop
async def test_wrong_credentials_are_not_tried_for_ever(tmp_path: Path, locked: str) -> None:
    async with browsing(tmp_path) as web:
        asked: list[Any] = []
        web.answer("onAuthRequired", noting(asked, {"authCredentials": {"username": "x", "password": "y"}}))
        assert (await web.visit(f"{locked}/basic/")).error == "too many redirects: more than 20"
        assert len(asked) == 21


@in_loop
async def test_handler_behavior_changed_resolves(tmp_path: Path) -> None:
    async with browsing(tmp_path) as web:
        for _ in range(web.browser.webRequest.MAX_HANDLER_BEHAVIOR_CHANGED_CALLS_PER_10_MINUTES + 1):
            await web.browser.webRequest.handlerBehaviorChanged()
