"""What is withheld together with a page: its frames, workers and popups, and those that come later."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from hatbox.engines.chromium.endpoint.messages import PageDriven
from hatbox.engines.chromium.endpoint.page_commands import guarded_script
from tests.engines.chromium.endpoint.filtered_client import FilteredClient, info, with_page

PART: dict[str, Any] = {"parentId": "P", "parentFrameId": "P"}
RESOURCE = "https://01234567-89ab-cdef-0123-456789abcdef"
MANAGER = "http://127.0.0.1:8000/hatbox-open/token"
SHOWN = "http://127.0.0.1:8000/hatbox-withheld"  # what a client gets in its place


def discovering() -> FilteredClient:
    client = with_page()
    client.send("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
    return client


def is_usable(client: FilteredClient, target_id: str) -> bool:
    client.send("Target.attachToTarget", {"targetId": target_id})
    return bool(client.to_browser)


@pytest.mark.parametrize("more", [PART, {"openerId": "P"}, {"openerId": "P", "canAccessOpener": False}])
@pytest.mark.parametrize("kind", ["page", "iframe", "worker"])
def test_frames_workers_and_popups_are_withheld_with_their_page_and_released_with_it(
    kind: str, more: dict[str, Any]
) -> None:
    client = discovering()
    client.event("Target.targetCreated", {"targetInfo": info("F", kind=kind, **more)})
    client.event("Target.targetCreated", {"targetInfo": info("G", kind="worker", parentId="F")})
    client.attach("F", "SF", kind=kind, **more)  # in the session of the browser: not part of the session of the page
    assert is_usable(client, "F")
    client.perform(client.filter.withhold("P"))
    assert "secret" not in json.dumps(client.result(client.send("Browser.getVersion"), {"product": "x"}))
    assert "not found" in client.refused("Runtime.evaluate", {"expression": "1"}, "SF")
    for target_id in ("P", "F", "G"):
        assert not is_usable(client, target_id)
    client.event("Runtime.consoleAPICalled", {"args": ["secret"]}, "SF")
    assert client.to_client == []
    client.perform(client.filter.release("P"))
    assert {each["params"]["targetId"] for each in client.to_browser} >= {"P", "F"}
    assert is_usable(client, "F")


@pytest.mark.parametrize("more", [PART, {"openerId": "P", "canAccessOpener": False}])
@pytest.mark.parametrize("kind", ["page", "iframe", "worker"])
def test_frames_workers_and_popups_that_a_withheld_page_opens_are_not_shown(kind: str, more: dict[str, Any]) -> None:
    client = discovering()
    client.perform(client.filter.withhold("P"))
    client.event("Target.targetCreated", {"targetInfo": info("F", kind=kind, url="", **more)})
    assert client.to_client == []
    client.attach("F", "SF", kind=kind, url="", waiting=True, **more)
    assert client.to_client == []
    assert client.methods() == [("Runtime.runIfWaitingForDebugger", "SF"), ("Target.detachFromTarget", "")]
    assert not [each for each in client.outputs if isinstance(each, PageDriven)]


@pytest.mark.parametrize("kind", ["shared_worker", "service_worker"])
def test_shared_and_service_workers_are_withheld_while_a_web_page_is(kind: str) -> None:
    """They see the requests of the page."""
    client = discovering()
    client.attach("W", "SW", kind=kind)
    client.perform(client.filter.withhold("P"))
    assert "not found" in client.refused("Runtime.evaluate", {"expression": "1"}, "SW")
    client.perform(client.filter.release("P"))
    assert is_usable(client, "W")
    client.attach("B", "SB", url="about:blank")
    client.perform(client.filter.withhold("B"))  # the start page
    assert is_usable(client, "W")


def test_parts_of_an_internal_page_are_not_shown() -> None:
    client = discovering()
    client.attach("W", "SW", kind="worker", **PART)
    client.event("Target.targetInfoChanged", {"targetInfo": info("P", url="chrome://settings/")})
    assert "not found" in client.refused("Runtime.evaluate", {"expression": "1"}, "SW")
    client.attach("F", "SF", kind="iframe", url="", **PART)
    assert client.to_client == []
    client.event("Target.targetInfoChanged", {"targetInfo": info("P")})
    assert is_usable(client, "F")


def test_a_page_that_is_loaded_in_advance_is_not_shown_until_it_is_opened() -> None:
    client = discovering()
    client.event("Target.targetCreated", {"targetInfo": info("R", subtype="prerender")})
    assert client.to_client == []
    client.attach("T", "ST", kind="tab")
    client.attach("R", "SR", "ST", subtype="prerender", waiting=True)
    assert client.to_client == []
    assert client.methods() == [("Runtime.runIfWaitingForDebugger", "SR"), ("Target.detachFromTarget", "ST")]
    assert is_usable(client, "T")  # the tab has another page
    client.event("Target.targetInfoChanged", {"targetInfo": info("R")})
    assert ("Target.attachToTarget", "ST") in client.methods()


def test_a_tab_does_not_tell_of_its_page_which_may_be_withheld() -> None:
    client = FilteredClient("", info("T", kind="tab", url="http://secret.test/"))
    client.send("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
    assert "secret" not in json.dumps(client.to_client)
    assert "title of T" not in json.dumps(client.to_client)
    for method in (
        "Target.closeTarget",
        "Target.activateTarget",
        "Target.autoAttachRelated",
        "Browser.getWindowForTarget",
    ):
        assert "Name its page" in client.refused(method, {"targetId": "T"})
    assert is_usable(client, "T")
    client.attach("T", "ST", kind="tab", url="http://secret.test/")
    assert "secret" not in json.dumps(client.to_client)


def test_a_frame_of_an_extension_is_withheld_before_its_url_is_known() -> None:
    client = discovering()
    client.perform(client.filter.withhold("F"))  # EndpointPages.withhold_frame
    client.attach("F", "SF", "S", kind="iframe", url="", waiting=True, **PART)
    assert client.to_client == []
    client.event("Target.targetInfoChanged", {"targetInfo": info("F", kind="iframe", url=f"{RESOURCE}/a.html", **PART)})
    assert client.to_client == []
    client.attach("G", "SG", kind="iframe", url="", parentId="F", parentFrameId="F")  # in it
    assert client.to_client == []


@pytest.mark.parametrize("url", ["", "about:blank", f"blob:{RESOURCE}/1"])
@pytest.mark.parametrize("opener", ["F", "frame in F"])
def test_a_blank_page_that_a_frame_of_an_extension_opens_is_withheld_until_it_shows_a_web_page(
    opener: str, url: str
) -> None:
    """It has the origin of the extension, also after the client has removed the frame."""
    client = discovering()
    client.perform(client.filter.withhold("F"))
    frame = info("F", kind="iframe", url=f"{RESOURCE}/a.html", **PART)
    client.event("Target.targetCreated", {"targetInfo": frame})
    popup = info("B", url=url, openerId="P", openerFrameId=opener)
    client.event("Target.targetCreated", {"targetInfo": popup})
    inner = info("C", url=url, openerId="B", openerFrameId="B")
    client.event("Target.targetCreated", {"targetInfo": inner})
    client.event("Target.targetDestroyed", {"targetId": "F"})
    for each in ("B", "C"):
        client.event("Target.targetInfoChanged", {"targetInfo": info(each, url=url)})  # without an opener
        assert client.to_client == []
        assert not is_usable(client, each)
    client.event("Target.targetInfoChanged", {"targetInfo": popup | {"url": "http://b.test/"}})
    assert is_usable(client, "B")


def test_blank_pages_of_web_pages_and_their_frames_are_shown() -> None:
    client = discovering()
    for number, opener in enumerate(("P", "frame in P")):
        created = info(f"B{number}", url="about:blank", openerId="P", openerFrameId=opener)
        client.event("Target.targetCreated", {"targetInfo": created})
        assert is_usable(client, f"B{number}")
    client.event("Target.targetCreated", {"targetInfo": info("X", url=f"{RESOURCE}/page.html")})
    for key, url in (("Y", "about:blank"), ("Z", "http://a.test/")):
        client.event("Target.targetCreated", {"targetInfo": info(key, url=url, openerId="X", openerFrameId="X")})
        assert is_usable(client, key) == (key == "Z")


def test_contexts_of_internal_documents_are_not_given() -> None:
    client = with_page()
    for number, origin in enumerate(("chrome://settings", "file://", "devtools://devtools", RESOURCE), 2):
        context = {"id": number, "origin": origin, "name": "", "uniqueId": f"u{number}", "auxData": {"type": "default"}}
        client.event("Runtime.executionContextCreated", {"context": context}, "S")
        assert client.to_client == []
        client.refused("Runtime.evaluate", {"expression": "1", "contextId": number}, "S")
    for number, origin in enumerate(("://", "", "null", "http://a.test:8000"), 12):
        context = {"id": number, "origin": origin, "name": "", "uniqueId": f"u{number}", "auxData": {"type": "default"}}
        client.event("Runtime.executionContextCreated", {"context": context}, "S")
        assert len(client.to_client) == 1


def test_a_script_without_a_context_does_not_run_in_internal_documents() -> None:
    """The page may show another document when the script arrives."""
    client = with_page()
    client.forwarded("Runtime.enable", {}, "S")
    context = {"id": 2, "origin": "http://a.test", "name": "", "uniqueId": "u", "auxData": {"type": "default"}}
    client.event("Runtime.executionContextCreated", {"context": context}, "S")
    guarded = client.forwarded("Runtime.evaluate", {"expression": "1 + 1"}, "S")["expression"]
    assert guarded == guarded_script("1 + 1")
    pure = {"expression": "document.title", "throwOnSideEffect": True}
    assert client.forwarded("Runtime.evaluate", pure, "S")["expression"] == guarded_script("document.title")
    assert guarded.startswith("if ((location.protocol ===")
    assert "origin?.length === 44" in guarded
    assert client.forwarded("Runtime.evaluate", {"expression": "1", "contextId": 2}, "S")["expression"] == "1"
    compiled = client.forwarded("Runtime.compileScript", {"expression": "1", "executionContextId": 2}, "S")
    assert compiled["expression"] == guarded_script("1")
    client.refused("Runtime.evaluate", {"expression": 1}, "S")


@pytest.mark.parametrize("method", ["Page.captureSnapshot", "Page.printToPDF"])
@pytest.mark.parametrize("nesting", [PART, {"parentId": "M", "parentFrameId": "M"}], ids=["frame", "frame in a frame"])
def test_what_chromium_makes_of_all_frames_is_refused_with_a_frame_of_an_extension(
    method: str, nesting: dict[str, Any]
) -> None:
    client = discovering()
    client.event("Target.targetCreated", {"targetInfo": info("M", kind="iframe", **PART)})
    client.event("Target.targetCreated", {"targetInfo": info("W", url="chrome://version/", openerId="P")})
    dragged = {"items": [{"mimeType": "text/plain", "data": "text"}], "files": [], "dragOperationsMask": 1}
    client.event("Input.dragIntercepted", {"data": dragged}, "S")
    assert client.to_client[0]["params"]["data"] == dragged
    number = client.send(method, {}, "S")
    assert client.result(number, {"data": "all"}, "S")["result"] == {"data": "all"}
    late = client.send(method, {}, "S")
    client.event(
        "Target.targetCreated", {"targetInfo": info("F", kind="iframe", url=f"{RESOURCE}/frame.html", **nesting)}
    )
    assert "extension" in client.result(late, {"data": "all"}, "S")["error"]["message"]
    assert "extension" in client.refused(method, {}, "S")
    client.event("Input.dragIntercepted", {"data": dragged}, "S")
    assert client.to_client[0]["params"]["data"] == {"items": [], "files": [], "dragOperationsMask": 1}
    client.event("Target.targetDestroyed", {"targetId": "F"})
    client.forwarded(method, {}, "S")


def test_a_snapshot_with_a_frame_of_an_extension_that_is_gone_is_not_delivered() -> None:
    client = discovering()
    for location, is_shown in ((f"{RESOURCE}/frame.html", False), ("http://a.test/x", True), ("cid:frame-1", True)):
        number = client.send("Page.captureSnapshot", {}, "S")
        data = f"MIME-Version: 1.0\r\nContent-Location: {location}\r\n\r\n<p>text"
        assert ("result" in client.result(number, {"data": data}, "S")) is is_shown


def test_no_message_has_the_path_of_the_manager_page() -> None:
    """It may have the token of a link that was not used yet."""
    client = discovering()
    for name in ("Network.requestWillBeSent", "Page.frameStartedNavigating", "Page.frameRequestedNavigation"):
        client.event(name, {"url": MANAGER, "referrer": MANAGER}, "S")
        shown = {"url": SHOWN, "referrer": SHOWN}
        assert client.to_client == [{"method": name, "params": shown, "sessionId": "S"}]
    client.event("Target.targetInfoChanged", {"targetInfo": info("P", title=MANAGER.removeprefix("http://"))})
    assert client.to_client[0]["params"]["targetInfo"]["title"] == SHOWN.removeprefix("http://")
    number = client.send("Page.getFrameTree", {}, "S")
    assert client.result(number, {"frameTree": {"url": MANAGER}}, "S")["result"] == {"frameTree": {"url": SHOWN}}
    client.send("Runtime.evaluate", {"expression": "1"}, "S")
    client.receive(id=client.to_browser[-1]["id"], error={"code": 1, "message": f"no {MANAGER}"}, sessionId="S")
    assert client.to_client[0]["error"]["message"] == f"no {SHOWN}"
    client.event("Network.requestWillBeSent", {"url": "http://a.test/hatbox-open/x"}, "S")
    assert client.to_client[0]["params"] == {"url": "http://a.test/hatbox-open/x"}


def test_a_body_of_bytes_has_no_path_of_the_manager_page() -> None:
    client = discovering()
    body = f"link={MANAGER}&more=1"
    post = {"url": "http://a.test/", "postData": body, "postDataEntries": [{"bytes": encoded(body)}, {}]}
    client.event("Fetch.requestPaused", {"requestId": "R", "request": post}, "S")
    shown = client.to_client[0]["params"]["request"]
    assert shown["postData"] == f"link={SHOWN}&more=1"
    assert shown["postDataEntries"] == [{"bytes": encoded(shown["postData"])}, {}]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("127.0.0.1:8000/hatbox-open/a_-token", "127.0.0.1:8000/hatbox-withheld"),
        ("http://127.0.0.1/hatbox-prefix/index.html?a=b#c", "http://127.0.0.1/hatbox-withheld?a=b#c"),
        ("ws://127.0.0.1:1/hatbox-%41b/bridge, and more", "ws://127.0.0.1:1/hatbox-withheld, and more"),
        (r'"127.0.0.1/hatbox-a"\127.0.0.1/hatbox-b\n127.0.0.1/hatbox-', None),
        ("127.0.0.1 /hatbox-a 127.0.0.1:x/hatbox-a 127x0.0.1/hatbox-a", "unchanged"),
    ],
)
def test_only_the_path_of_the_manager_page_is_replaced(text: str, shown: str | None) -> None:
    client = with_page()
    client.event("Runtime.consoleAPICalled", {"text": text, "nested": json.dumps({"text": text})}, "S")
    params = client.to_client[0]["params"]
    assert json.loads(params["nested"])["text"] == params["text"]
    if shown is None:
        assert params["text"] == r'"127.0.0.1/hatbox-withheld"\127.0.0.1/hatbox-withheld\n127.0.0.1/hatbox-withheld'
    else:
        assert params["text"] == (text if shown == "unchanged" else shown)


def test_a_page_cannot_hide_requests_and_navigations_with_the_address_of_the_manager_page() -> None:
    client = discovering()
    url, shown = "https://b.test/127.0.0.1/hatbox-x?d=secret", "https://b.test/127.0.0.1/hatbox-withheld?d=secret"
    for name in ("Fetch.requestPaused", "Fetch.authRequired"):
        client.event(name, {"requestId": name, "request": {"url": url, "headers": {"Referer": url}}}, "S")
        assert client.to_client[0]["params"]["request"] == {"url": shown, "headers": {"Referer": shown}}
        assert client.to_browser == []
    client.forwarded("Fetch.failRequest", {"requestId": "Fetch.requestPaused", "errorReason": "Failed"}, "S")
    client.event("Page.frameNavigated", {"frame": {"url": url}}, "S")
    assert client.to_client[0]["params"]["frame"]["url"] == shown
    client.event("Target.targetInfoChanged", {"targetInfo": info("P", url=url, title=url)})
    changed = client.to_client[0]["params"]["targetInfo"]
    assert (changed["url"], changed["title"]) == (shown, shown)
    client.attach("N", "SN", url=url)
    assert client.to_client[-1]["method"] == "Target.attachedToTarget"
    assert client.to_client[-1]["params"]["targetInfo"]["url"] == shown
    answer = client.result(client.send("Target.getTargets"), {"targetInfos": []})
    assert {each["url"] for each in answer["result"]["targetInfos"]} == {shown}


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "127.0.0.1", "user@127.0.0.1", "127.1", "0x7f000001", "2130706433"])
def test_requests_for_the_manager_page_are_continued_and_not_shown(host: str) -> None:
    client = with_page()
    client.event("Fetch.requestPaused", {"requestId": "R", "request": {"url": f"http://{host}/hatbox-open/token"}}, "S")
    assert client.to_client == []
    assert client.methods() == [("Fetch.continueRequest", "S")]


def test_the_session_history_is_shown_without_the_manager_page() -> None:
    client = with_page()
    entry = {"id": 1, "url": MANAGER, "userTypedURL": MANAGER, "title": "Hatbox"}
    number = client.send("Page.getNavigationHistory", {}, "S")
    answer = client.result(number, {"currentIndex": 1, "entries": [entry, info("P") | {"id": 2}]}, "S")
    first, second = answer["result"]["entries"]
    assert (first["url"], first["title"]) == ("about:blank", "")
    assert second["url"] == "http://a.test/"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
