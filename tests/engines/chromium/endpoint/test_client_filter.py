from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.engines.chromium.endpoint.client_filter import ClientFilter
from hatbox.engines.chromium.endpoint.messages import (
    CookiesChanged,
    EndConnection,
    PageCreation,
    PageDriven,
    ToBrowser,
    ToClient,
)
from hatbox.engines.chromium.endpoint.page_commands import PAGE_COMMANDS, guarded_script
from hatbox.engines.chromium.endpoint.root_commands import ROOT_COMMANDS
from tests.engines.chromium.endpoint.filtered_client import OTHER, WORK, FilteredClient, info, with_page

# --------------------------------------------------------------------------------------------------- other identities


@pytest.mark.parametrize(
    "method",
    [
        "Browser.getWindowForTarget",
        "Target.activateTarget",
        "Target.attachToTarget",
        "Target.autoAttachRelated",
        "Target.closeTarget",
        "Target.getTargetInfo",
    ],
)
def test_a_target_of_another_identity_does_not_exist(method: str) -> None:
    client = FilteredClient()
    client.event("Target.targetCreated", {"targetInfo": info("B", OTHER)})
    assert client.to_client == []
    assert "No target" in client.refused(method, {"targetId": "B"})


def test_of_targets_that_the_client_was_not_given_it_can_use_pages_only() -> None:
    """It may have the id of a page from another connection."""
    client = FilteredClient()
    for kind in ("tab", "worker", "iframe", "service_worker"):
        client.event("Target.targetCreated", {"targetInfo": info(kind, kind=kind)})  # it does not discover targets
        assert "No target" in client.refused("Target.attachToTarget", {"targetId": kind})
    client.event("Target.targetCreated", {"targetInfo": info("C", url="chrome://settings/")})
    assert "No target" in client.refused("Target.attachToTarget", {"targetId": "C"})
    client.event("Target.targetCreated", {"targetInfo": info("P")})
    assert client.forwarded("Target.attachToTarget", {"targetId": "P"}) == {"targetId": "P", "flatten": True}


def test_a_page_is_closed_in_its_own_session_too() -> None:
    """DrissionPage and nodriver do."""
    client = with_page()
    client.event("Target.targetCreated", {"targetInfo": info("B", OTHER)})
    for method in ("Target.closeTarget", "Target.activateTarget"):
        assert client.forwarded(method, {"targetId": "P"}, "S")["targetId"] == "P"
        assert "No target" in client.refused(method, {"targetId": "B"}, "S")


def test_only_targets_of_the_identity_are_listed_and_openers_of_others_are_removed() -> None:
    client = FilteredClient()
    number = client.send("Target.getTargets")
    listed = [
        info("P", openerId="B", openerFrameId="F"),
        info("B", OTHER),
        info("U", kind="browser_ui"),
        info("T", kind="tab"),
    ]
    answer = client.result(number, {"targetInfos": listed})
    (shown,) = answer["result"]["targetInfos"]
    assert shown["targetId"] == "P"
    assert "openerId" not in shown
    assert "openerFrameId" not in shown
    assert client.forwarded("Target.attachToTarget", {"targetId": "P"}) == {"targetId": "P", "flatten": True}


def test_another_browser_context_is_refused() -> None:
    client = FilteredClient()
    for method in ("Storage.getCookies", "Storage.clearCookies", "Target.createTarget", "Browser.resetPermissions"):
        assert "No browser context" in client.refused(method, {"browserContextId": OTHER, "url": "about:blank"})


def test_a_discovering_client_sees_targets_come_and_go() -> None:
    client = FilteredClient()
    client.event("Target.targetCreated", {"targetInfo": info("P")})
    client.send("Target.setDiscoverTargets", {"discover": True})
    assert [each["method"] for each in client.to_client if "method" in each] == ["Target.targetCreated"]
    client.event("Target.targetCreated", {"targetInfo": info("B", OTHER)})
    assert client.to_client == []
    client.event("Target.targetInfoChanged", {"targetInfo": info("B", OTHER, url="http://b.test/")})
    client.event("Target.targetDestroyed", {"targetId": "B"})
    assert client.to_client == []
    client.event("Target.targetInfoChanged", {"targetInfo": info("P", url="http://c.test/")})
    assert client.to_client[0]["params"]["targetInfo"]["url"] == "http://c.test/"
    client.event("Target.targetDestroyed", {"targetId": "P"})
    assert client.to_client[0]["method"] == "Target.targetDestroyed"


def test_a_foreign_target_of_auto_attach_is_resumed_and_detached() -> None:
    client = FilteredClient()
    client.forwarded("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": False})
    client.attach("B", "SB", context=OTHER, waiting=True)
    assert client.to_client == []
    assert client.methods() == [("Runtime.runIfWaitingForDebugger", "SB"), ("Target.detachFromTarget", "")]
    client.event("Network.requestWillBeSent", {"documentURL": "http://b.test/"}, "SB")
    assert client.to_client == []
    assert "not found" in client.refused("Runtime.evaluate", {"expression": "1"}, "SB")


def test_auto_attach_is_always_flat() -> None:
    client = FilteredClient()
    assert client.forwarded("Target.setAutoAttach", {"autoAttach": True, "flatten": False})["flatten"] is True


def test_windows_must_be_those_of_own_targets() -> None:
    client = with_page()
    assert "No window" in client.refused("Browser.setWindowBounds", {"windowId": 1, "bounds": {}})
    number = client.send("Browser.getWindowForTarget", {"targetId": "P"})
    client.result(number, {"windowId": 1, "bounds": {}})
    client.forwarded("Browser.setWindowBounds", {"windowId": 1, "bounds": {}})


def test_unknown_methods_are_refused_in_every_session() -> None:
    client = with_page()
    for session in ("", "S"):
        assert "not available" in client.refused("Nothing.atAll", {}, session)
        assert "not available" in client.refused("Tracing.start", {}, session)
    assert "browser.contexts[0]" in client.refused("Target.createBrowserContext")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Network.setCookies", {"cookies": []}),
        ("Storage.getCookies", {}),
        ("Page.navigate", {"url": "http://a.test/"}),
    ],
)
def test_a_worker_has_no_methods_of_pages(method: str, params: dict[str, object]) -> None:
    client = with_page()
    client.attach("W", "SW", "S", kind="service_worker")
    assert "not available" in client.refused(method, params, "SW")


def test_methods_that_crash_the_browser_are_refused() -> None:
    client = with_page()
    for session in ("", "S"):
        for method in ("Emulation.setDisplayFeaturesOverride", "Storage.deleteStorageBucket", "Target.openDevTools"):
            client.refused(method, {"features": []}, session)
    metrics = {"width": 1, "height": 1, "deviceScaleFactor": 1, "mobile": False, "displayFeature": {}}
    assert "displayFeature" not in client.forwarded("Emulation.setDeviceMetricsOverride", metrics, "S")
    client.refused("Emulation.setDeviceMetricsOverride", metrics | {"width": 10**9}, "S")


# ------------------------------------------------------------------------------------------------- mapping and answers


def test_cookies_of_a_page_session_are_those_of_the_identity() -> None:
    client = with_page()
    number = client.send("Storage.setCookies", {"cookies": [{"name": "a", "value": "b"}]}, "S")
    (command,) = client.to_browser
    assert "sessionId" not in command
    assert command["params"]["browserContextId"] == WORK
    client.receive(id=command["id"], result={})
    assert client.to_client == [{"id": number, "result": {}, "sessionId": "S"}]
    assert CookiesChanged() in client.outputs


def test_the_cookie_of_the_manager_page_is_never_shown() -> None:
    client = with_page()
    cookies = [{"name": "hatbox_page", "domain": "127.0.0.1"}, {"name": "a", "domain": "127.0.0.1"}]
    number = client.send("Network.getAllCookies", {}, "S")
    assert [each["name"] for each in client.result(number, {"cookies": cookies}, "S")["result"]["cookies"]] == ["a"]
    client.send("Storage.getCookies")
    client.receive(id=client.to_browser[0]["id"], result={"cookies": cookies})
    assert [each["name"] for each in client.to_client[0]["result"]["cookies"]] == ["a"]


@pytest.mark.parametrize(
    ("name", "params", "shown"),
    [
        (
            "Network.requestWillBeSentExtraInfo",
            {
                "headers": {"Cookie": "a=1; hatbox_page=secret; b=2"},
                "associatedCookies": [
                    {"cookie": {"name": "hatbox_page", "value": "secret", "path": "/hatbox-secret/"}}
                ],
            },
            {
                "headers": {"Cookie": "a=1; hatbox_page=withheld"},
                "associatedCookies": [{"cookie": {"name": "hatbox_page", "value": "withheld", "path": "/"}}],
            },
        ),
        (
            "Network.responseReceivedExtraInfo",
            {"headers": {"Set-Cookie": "b=1\nhatbox_page=secret; Path=/hatbox-secret/\nc=2"}, "headersText": "x"},
            {"headers": {"Set-Cookie": "b=1\nhatbox_page=withheld\nc=2"}, "headersText": "x"},
        ),
        (
            "Network.responseReceived",
            {"response": {"url": "http://a.test/?hatbox_page", "headers": {"hatbox_page": "x"}}},
            {"response": {"url": "http://a.test/?hatbox_page", "headers": {"hatbox_page": "x"}}},
        ),
    ],
)
def test_a_page_cannot_hide_its_responses_with_the_name_of_the_cookie_of_the_manager_page(
    name: str, params: dict[str, object], shown: dict[str, object]
) -> None:
    client = with_page()
    client.event(name, params, "S")
    assert [each["params"] for each in client.to_client] == [shown]


def test_a_new_page_is_opened_in_the_identity() -> None:
    client = FilteredClient()
    number = client.send("Target.createTarget", {"url": "http://a.test/", "background": True})
    (command,) = client.to_browser
    assert command["params"] == {"url": "http://a.test/", "background": True, "browserContextId": WORK}
    assert PageCreation(True) in client.outputs
    client.event("Target.targetCreated", {"targetInfo": info("N")})
    client.result(number, {"targetId": "N"})
    assert PageDriven("N", is_opened=True) in client.outputs
    assert PageCreation(False) in client.outputs
    client.forwarded("Target.closeTarget", {"targetId": "N"})


def test_a_failed_page_is_not_pending_any_more() -> None:
    client = FilteredClient()
    number = client.send("Target.createTarget", {"url": "http://a.test/"})
    client.receive(id=number, error={"code": -32000, "message": "no"})
    assert client.to_client[0]["error"]["message"] == "no"
    assert PageCreation(False) in client.outputs


def test_pages_of_a_client_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.endpoint.root_commands.MAX_PAGES", 1)
    client = FilteredClient()
    client.result(client.send("Target.createTarget", {"url": "about:blank"}), {"targetId": "N"})
    assert "Close one" in client.refused("Target.createTarget", {"url": "about:blank"})
    client.event("Target.targetDestroyed", {"targetId": "N"})
    client.send("Target.createTarget", {"url": "about:blank"})
    assert len(client.to_browser) == 1


def test_hidden_pages_cannot_be_opened() -> None:
    assert "hidden" in FilteredClient().refused("Target.createTarget", {"url": "about:blank", "hidden": True})


INTERNAL = (
    "chrome://settings",
    "CHROME://version",
    " chrome://version",
    "ch\trome://version",
    "about:version",
    "file:///etc/passwd",
    "devtools://devtools/bundled/x.html",
    "view-source:http://a.test/",
    "chrome-extension://abc/x.html",
    "javascript:alert(1)",
    "blob:chrome://settings/x",
    "blob:https://01234567-89ab-cdef-0123-456789abcdef/x",
    "blob:data:text/html,x",
    "filesystem:http://a.test/x",
    "moz-extension://abc/",
    "https://01234567-89ab-cdef-0123-456789abcdef/popup.html",
    "http://127.0.0.1:8000/hatbox-abc/",
    "http://127.1:8000/hatbox-abc/",
    "no url",
    "",
)


@pytest.mark.parametrize("url", INTERNAL)
def test_internal_pages_cannot_be_loaded(url: str) -> None:
    client = with_page()
    client.refused("Page.navigate", {"url": url}, "S")
    client.event("Fetch.requestPaused", {"requestId": "1", "request": {"url": "http://a.test/"}}, "S")
    assert "Cannot continue" in client.refused("Fetch.continueRequest", {"requestId": "1", "url": url}, "S")
    if url:
        client.refused("Target.createTarget", {"url": url})


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/x?y#z",
        "https://a.test/",
        "about:blank",
        "data:text/html,a",
        "blob:http://a.test/x",
        "blob:null/x",
    ],
)
def test_web_pages_can_be_loaded(url: str) -> None:
    assert with_page().forwarded("Page.navigate", {"url": url}, "S")["url"] == url


def test_what_concerns_the_whole_browser_is_answered() -> None:
    client = with_page()
    assert client.answered("Browser.setDownloadBehavior", {"behavior": "default"}) == {}
    assert client.answered("Browser.getHistograms") == {"histograms": []}
    assert client.answered("Page.setDownloadBehavior", {"behavior": "deny"}, "S") == {}
    assert client.answered("Target.getBrowserContexts") == {"browserContextIds": [], "defaultBrowserContextId": WORK}
    assert client.answered("Browser.close") == {}
    assert client.outputs[-1] == EndConnection("closed by the client", is_failure=False)


def test_downloads_of_other_identities_are_not_reported() -> None:
    client = with_page()
    client.event("Browser.downloadWillBegin", {"url": "http://b.test/", "suggestedFilename": "b"})
    assert client.outputs == []


def test_the_clipboard_cannot_be_pasted() -> None:
    client = with_page()
    key = {"type": "rawKeyDown", "modifiers": 2, "windowsVirtualKeyCode": 86}
    assert "clipboard" in client.refused("Input.dispatchKeyEvent", key, "S")
    assert "clipboard" in client.refused("Input.dispatchKeyEvent", {"type": "keyDown", "commands": ["Paste"]}, "S")
    assert "clipboard" in client.refused(
        "Input.dispatchKeyEvent", {"type": "keyDown", "modifiers": 8, "code": "Insert"}, "S"
    )
    assert "clipboard" in client.refused("Input.dispatchMouseEvent", {"type": "mousePressed", "button": "middle"}, "S")
    client.forwarded("Input.dispatchKeyEvent", {"type": "keyDown", "key": "v", "text": "v"}, "S")


def test_the_clipboard_and_the_camera_cannot_be_granted() -> None:
    client = FilteredClient()
    assert "clipboardReadWrite" in client.refused(
        "Browser.grantPermissions", {"permissions": ["geolocation", "clipboardReadWrite"]}
    )
    granted = {"permission": {"name": "camera"}, "setting": "granted"}
    assert "camera" in client.refused("Browser.setPermission", granted)
    assert client.forwarded("Browser.grantPermissions", {"permissions": ["geolocation"]})["browserContextId"] == WORK
    client.forwarded("Browser.setPermission", granted | {"setting": "denied"})


# ----------------------------------------------------------------------------------------------------- withheld pages


def withheld(client: FilteredClient) -> None:
    assert ("Target.detachFromTarget", "") in client.methods()
    assert client.to_client[0]["method"] == "Target.detachedFromTarget"
    assert client.to_client[0]["params"] == {"sessionId": "S", "targetId": "P"}
    assert "not found" in client.refused("Runtime.evaluate", {"expression": "1"}, "S")
    assert "No target" in client.refused("Target.attachToTarget", {"targetId": "P"})
    client.event("Page.frameNavigated", {"frame": {}}, "S")
    assert client.outputs == []


@pytest.mark.parametrize(
    "url",
    ["chrome://settings/", "file:///etc/passwd", "view-source:http://a.test/", "http://127.0.0.1:8000/hatbox-abc/"],
)
def test_a_page_is_withheld_while_it_shows_an_internal_page(url: str) -> None:
    client = with_page()
    pending = client.send("Runtime.evaluate", {"expression": "document.body.innerText"}, "S")
    client.event("Target.targetInfoChanged", {"targetInfo": info("P", url=url)})
    withheld(client)
    answer = client.result(pending, {"result": {"value": "secret"}}, "S")
    assert "secret" not in json.dumps(answer)
    client.event("Target.targetInfoChanged", {"targetInfo": info("P", url="http://a.test/")})
    assert client.methods() == [("Target.attachToTarget", "")]
    client.attach("P", "S2")
    assert client.to_client[0]["method"] == "Target.attachedToTarget"
    client.forwarded("Runtime.evaluate", {"expression": "1"}, "S2")


def test_a_page_is_withheld_on_request_and_released() -> None:
    client = with_page()
    client.perform(client.filter.withhold("P"))
    withheld(client)
    client.event("Target.targetInfoChanged", {"targetInfo": info("P", url="http://c.test/")})
    assert client.outputs == []
    client.perform(client.filter.release("P"))
    assert client.methods() == [("Target.attachToTarget", "")]


def test_a_page_that_was_withheld_before_it_is_attached_is_resumed() -> None:
    client = FilteredClient()
    client.perform(client.filter.withhold("P"))
    client.attach("P", "S", waiting=True)
    assert client.to_client == []
    assert client.methods() == [("Runtime.runIfWaitingForDebugger", "S"), ("Target.detachFromTarget", "")]
    client.perform(client.filter.release("P"))
    assert client.methods() == [("Target.attachToTarget", "")]


def test_popups_of_a_withheld_page_are_withheld_with_it() -> None:
    client = with_page()
    client.attach("O", "SO", openerId="P")
    client.perform(client.filter.withhold("P"))
    assert len(client.to_client) == 2
    client.attach("N", "SN", openerId="O", waiting=True)
    assert client.to_client == []
    client.perform(client.filter.release("P"))
    assert [each["params"]["targetId"] for each in client.to_browser] == ["P", "O", "N"]


def test_a_withheld_page_of_a_tab_session_comes_back_with_its_tab() -> None:
    client = FilteredClient()
    client.attach("T", "ST", kind="tab")
    client.attach("P", "S", "ST")
    client.perform(client.filter.withhold("P"))
    events = [(each["method"], each.get("sessionId", "")) for each in client.to_client]
    assert events == [("Target.detachedFromTarget", "ST"), ("Target.detachedFromTarget", "")]
    client.event("Target.targetInfoChanged", {"targetInfo": info("T", kind="tab")})  # it is not attached any more
    assert client.outputs == []
    client.perform(client.filter.release("P"))
    assert [(each["method"], each["params"]["targetId"]) for each in client.to_browser] == [
        ("Target.attachToTarget", "T")
    ]


def test_a_discovering_client_sees_a_withheld_page_as_closed() -> None:
    client = with_page()
    client.send("Target.setDiscoverTargets", {"discover": True})
    client.perform(client.filter.withhold("P"))
    assert [each["method"] for each in client.to_client] == ["Target.detachedFromTarget", "Target.targetDestroyed"]
    client.perform(client.filter.release("P"))
    assert [each["method"] for each in client.to_client] == ["Target.targetCreated"]


def test_frames_of_extensions_are_not_shown() -> None:
    client = with_page()
    client.attach("F", "SF", "S", kind="iframe", url="https://01234567-89ab-cdef-0123-456789abcdef/frame.html")
    assert client.to_client == []
    assert client.methods() == [("Target.detachFromTarget", "S")]


def test_requests_for_files_of_extensions_are_continued_and_not_shown() -> None:
    client = with_page()
    paused = {"requestId": "R", "request": {"url": "https://01234567-89ab-cdef-0123-456789abcdef/a.js"}}
    client.event("Fetch.requestPaused", paused, "S")
    assert client.to_client == []
    assert client.methods() == [("Fetch.continueRequest", "S")]
    client.event("Fetch.requestPaused", paused | {"request": {"url": "http://a.test/a.js"}}, "S")
    assert len(client.to_client) == 1


def test_internal_entries_of_the_session_history_are_blank() -> None:
    client = with_page()
    entries = [
        {"id": 1, "url": "chrome://history/", "userTypedURL": "x", "title": "h"},
        {"id": 2, "url": "http://a.test/", "title": "a"},
    ]
    number = client.send("Page.getNavigationHistory", {}, "S")
    answer = client.result(number, {"currentIndex": 1, "entries": entries}, "S")
    assert "history" not in json.dumps(answer)
    client.refused("Page.navigateToHistoryEntry", {"entryId": 1}, "S")
    client.forwarded("Page.navigateToHistoryEntry", {"entryId": 2}, "S")


# ----------------------------------------------------------------------------------------------------- script worlds


def context(number: int, name: str, kind: str = "isolated", origin: str = "http://a.test") -> dict[str, object]:
    aux = {"isDefault": kind == "default", "type": kind, "frameId": "P"}
    return {"context": {"id": number, "origin": origin, "name": name, "uniqueId": f"u{number}", "auxData": aux}}


def test_worlds_of_hatbox_and_extensions_are_not_shown() -> None:
    client = with_page()
    client.forwarded("Runtime.enable", {}, "S")
    client.event("Runtime.executionContextCreated", context(1, "", "default"), "S")
    assert len(client.to_client) == 1
    for number, name in ((2, "hatbox"), (3, "x8f7secret")):
        client.event("Runtime.executionContextCreated", context(number, name), "S")
        assert client.to_client == []
        assert "context" in client.refused("Runtime.evaluate", {"expression": "browser", "contextId": number}, "S")
        client.refused("Runtime.evaluate", {"expression": "1", "uniqueContextId": f"u{number}"}, "S")
        client.refused("Runtime.callFunctionOn", {"functionDeclaration": "f", "executionContextId": number}, "S")
        client.refused("DOM.resolveNode", {"nodeId": 1, "executionContextId": number}, "S")
        client.event("Runtime.consoleAPICalled", {"type": "log", "args": [], "executionContextId": number}, "S")
        assert client.to_client == []
        client.event("Runtime.bindingCalled", {"name": "b", "payload": "p", "executionContextId": number}, "S")
        assert client.to_client == []
        client.event("Runtime.exceptionThrown", {"exceptionDetails": {"executionContextId": number}}, "S")
        assert client.to_client == []
    client.forwarded("Runtime.evaluate", {"expression": "1", "contextId": 1}, "S")
    client.event("Runtime.executionContextsCleared", {}, "S")
    client.refused("Runtime.evaluate", {"expression": "1", "contextId": 1}, "S")


def test_worlds_of_the_client_are_its_own() -> None:
    client = with_page()
    client.forwarded("Runtime.enable", {}, "S")
    client.forwarded("Page.addScriptToEvaluateOnNewDocument", {"source": "", "worldName": "mine"}, "S")
    client.event("Runtime.executionContextCreated", context(4, "mine"), "S")
    assert len(client.to_client) == 1
    client.forwarded("Runtime.evaluate", {"expression": "1", "contextId": 4}, "S")
    number = client.send("Page.createIsolatedWorld", {"frameId": "P", "worldName": "other"}, "S")
    client.event("Runtime.executionContextCreated", context(5, "other"), "S")
    client.result(number, {"executionContextId": 5}, "S")
    client.forwarded("Runtime.evaluate", {"expression": "1", "contextId": 5}, "S")
    assert "hatbox" in client.refused("Page.createIsolatedWorld", {"frameId": "P", "worldName": "Hatbox"}, "S")
    assert "hatbox" in client.refused(
        "Page.addScriptToEvaluateOnNewDocument", {"source": "", "worldName": "hatbox"}, "S"
    )
    assert "hatbox" in client.refused("Runtime.addBinding", {"name": "hatboxStart"}, "S")


def test_a_script_runs_with_the_syntax_with_which_it_was_compiled() -> None:
    evaluated = with_page().forwarded("Runtime.evaluate", {"expression": "run()", "replMode": True}, "S")
    assert evaluated == {"expression": guarded_script("run()")}


def test_scripts_for_new_documents_do_not_run_in_internal_pages() -> None:
    client = with_page()
    for method, name in (
        ("Page.addScriptToEvaluateOnNewDocument", "source"),
        ("Page.reload", "scriptToEvaluateOnLoad"),
    ):
        client.failure = None
        assert client.forwarded(method, {name: "run()"}, "S")[name] == guarded_script("run()")
        client.failure = {"exception": {"description": "SyntaxError: Unexpected token '}'\n  at x"}}
        failing = client.forwarded(method, {name: "} evil(); {"}, "S")[name]
        assert "evil" not in failing
        assert failing.endswith("""throw new SyntaxError("Unexpected token '}'");""")


def test_commands_wait_for_the_script_before_them_and_keep_their_order() -> None:
    client = with_page()
    texts = [
        '{"id": 1, "method": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": "a"}, "sessionId": "S"}',
        '{"id": 2, "method": "Runtime.compileScript", "params": {"expression": "b"}, "sessionId": "S"}',
        '{"id": 3, "method": "Page.navigate", "params": {"url": "http://a.test/2"}, "sessionId": "S"}',
    ]
    client.perform([each for text in texts for each in client.filter.from_client(text)])
    assert client.to_browser == []
    client.perform(client.filter.compiled(None))
    assert client.methods() == [("Page.addScriptToEvaluateOnNewDocument", "S")]
    client.perform(client.filter.compiled(None))
    assert client.methods() == [("Runtime.compileScript", "S"), ("Page.navigate", "S")]


def test_a_text_that_is_no_script_reaches_no_document() -> None:
    client = with_page()
    thrown = {"className": "SyntaxError"}
    client.failure = {"text": "Uncaught", "exception": thrown}
    wrong = {"expression": "} evil(); {"}
    shown = {"result": thrown, "exceptionDetails": client.failure}
    assert client.answered("Runtime.evaluate", wrong, "S") == shown
    assert client.answered("Runtime.compileScript", wrong, "S") == {"exceptionDetails": client.failure}


# --------------------------------------------------------------------------------------------- the user's pages


def test_dialogs_of_pages_that_the_client_did_not_open_are_left_to_the_user() -> None:
    client = with_page()
    client.event("Page.javascriptDialogOpening", {"message": "Sure?", "type": "confirm"}, "S")
    assert client.to_client == []
    assert "No dialog" in client.refused("Page.handleJavaScriptDialog", {"accept": True}, "S")
    assert client.answered("Page.setInterceptFileChooserDialog", {"enabled": True}, "S") == {}
    client.result(client.send("Target.createTarget", {"url": "about:blank"}), {"targetId": "N"})
    client.attach("N", "SN")
    client.attach("M", "SM", openerId="N")
    for session in ("SN", "SM"):
        client.event("Page.javascriptDialogOpening", {"message": "Sure?", "type": "confirm"}, session)
        assert len(client.to_client) == 1
        client.forwarded("Page.handleJavaScriptDialog", {"accept": True}, session)
        client.forwarded("Page.setInterceptFileChooserDialog", {"enabled": True}, session)


def test_a_page_that_the_client_does_not_resume_is_resumed_after_two_seconds() -> None:
    client = FilteredClient()
    client.attach("P", "S", waiting=True)
    client.attach("Q", "SQ", waiting=True)
    assert client.filter.next_resume == 2
    client.forwarded("Runtime.runIfWaitingForDebugger", {}, "SQ")
    client.perform(client.filter.resume_overdue(1.9))
    assert client.outputs == []
    client.perform(client.filter.resume_overdue(2.0))
    assert client.methods() == [("Runtime.runIfWaitingForDebugger", "S")]
    assert client.filter.next_resume is None


def test_a_client_that_detaches_resumes_the_page() -> None:
    client = FilteredClient()
    client.attach("P", "S", waiting=True)
    client.send("Target.detachFromTarget", {"sessionId": "S"})
    assert client.methods() == [("Runtime.runIfWaitingForDebugger", "S"), ("Target.detachFromTarget", "")]


@pytest.mark.parametrize("kind", ["iframe", "worker"])
def test_a_page_is_driven_before_the_client_can_use_it_or_a_part_of_it(kind: str) -> None:
    client = FilteredClient()
    client.event("Target.targetCreated", {"targetInfo": info("P")})
    assert not [each for each in client.outputs if isinstance(each, PageDriven)]
    client.attach("F", "SF", kind=kind, parentId="P", parentFrameId="P")
    assert client.outputs[0] == PageDriven("P")  # before the client knows the session
    assert isinstance(client.outputs[1], ToClient)
    client.attach("Q", "SQ")
    assert client.outputs[0] == PageDriven("Q")


# --------------------------------------------------------------------------------------------------------- messages


def test_a_client_can_number_the_commands_of_each_session_on_its_own() -> None:
    """Puppeteer did until 24.0. Chromium's error for an ended session names no session."""
    client = with_page()
    client.attach("W", "SW", "S", kind="worker")
    numbers = {}
    for session in ("", "S", "SW"):
        client.send("Target.getTargetInfo", {}, session, id=1)
        (command,) = client.to_browser
        assert command.get("sessionId", "") == session
        numbers[session] = client.numbers[1]
    for session, name in (("S", "P"), ("SW", "W")):
        client.receive(id=numbers[session], result={"targetInfo": info(name)}, sessionId=session)
        (answer,) = client.to_client
        assert (answer["id"], answer["sessionId"], answer["result"]["targetInfo"]["targetId"]) == (1, session, name)
    client.receive(id=numbers[""], error={"code": -32001, "message": "Session with given id not found."})
    (answer,) = client.to_client
    assert (answer["id"], answer["error"]["code"], "sessionId" in answer) == (1, -32001, False)
    for number in (-1, 2**53, 1.5, "1", None):
        client.perform(client.filter.from_client(json.dumps({"id": number, "method": "Browser.getVersion"})))
        assert "error" in client.to_client[0]
        assert client.to_browser == []


def test_a_result_of_an_unknown_form_is_an_error() -> None:
    client = with_page()
    answer = client.result(client.send("Target.getTargets"), {"infos": [info("B", OTHER)]})
    assert "does not know" in answer["error"]["message"]
    assert OTHER not in json.dumps(answer)


def test_responses_without_a_command_are_dropped() -> None:
    client = with_page()
    client.receive(id=99, result={"targetInfos": [info("B", OTHER)]})
    assert client.outputs == []


def test_arguments_are_sent_as_they_were_checked() -> None:
    client = FilteredClient()
    text = '{"id": 1, "method": "Storage.getCookies", "params": {"browserContextId": "%s", "browserContextId": "%s"}}'
    client.perform(client.filter.from_client(text % (OTHER, WORK)))
    (output,) = client.outputs
    assert isinstance(output, ToBrowser)
    assert OTHER not in output.text


def test_a_result_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.endpoint.client_filter.MAX_MESSAGE", 300)
    client = with_page()
    number = client.send("Runtime.evaluate", {"expression": "1"}, "S")
    answer = client.result(number, {"result": {"value": "a" * 400}}, "S")
    assert "characters" in answer["error"]["message"]
    client.event("Page.screencastFrame", {"data": "a" * 400}, "S")
    assert client.outputs == []


def test_commands_without_responses_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.endpoint.client_state.MAX_PENDING", 3)
    client = with_page()
    for _ in range(3):
        client.send("Browser.getVersion")
    assert "no response" in client.refused("Browser.getVersion")


@pytest.mark.parametrize("how", ["detached", "withheld"])
def test_commands_of_a_session_end_with_it(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chromium does not answer them."""
    monkeypatch.setattr("hatbox.engines.chromium.endpoint.client_state.MAX_PENDING", 30)
    client = with_page()
    for count in range(50):
        client.attach("P", "S")
        client.attach("F", "SF", "S", kind="iframe", parentId="P")
        sent = [
            client.send("Page.captureScreenshot", {}, "S"),
            client.send("DOM.getOuterHTML", {"backendNodeId": 7}, "S"),
            client.send("Runtime.evaluate", {"expression": "1"}, "SF"),
        ]
        if how == "detached":
            client.event("Target.detachedFromTarget", {"sessionId": "S", "targetId": "P"})
        else:
            client.perform(client.filter.withhold("P"))
        answers = [(each["id"], each["sessionId"]) for each in client.to_client if "id" in each]
        assert sorted(answers) == sorted(zip(sent, ("S", "S", "SF"), strict=True)), count
        assert client.to_client[0]["method"] == "Target.detachedFromTarget"  # libraries end their commands with it
        assert {each["error"]["code"] for each in client.to_client if "id" in each} == {-32001}
        client.perform(client.filter.release("P"))


def test_a_page_that_a_closed_session_requested_is_not_pending_any_more() -> None:
    client = FilteredClient()
    browser = {"targetId": "R", "type": "browser", "url": "", "title": ""}
    client.send("Target.attachToBrowserTarget")
    client.event("Target.attachedToTarget", {"sessionId": "SR", "targetInfo": browser, "waitingForDebugger": False})
    client.send("Target.createTarget", {"url": "about:blank"}, "SR")
    client.event("Target.detachedFromTarget", {"sessionId": "SR", "targetId": "R"})
    assert PageCreation(False) in client.outputs


def test_a_late_result_of_a_closed_session_does_not_answer_another_command() -> None:
    client = with_page()
    number = client.send("Runtime.evaluate", {"expression": "document.title"}, "S")
    client.perform(client.filter.withhold("P"))
    late = client.numbers[number]
    client.send("Browser.getVersion", id=number)
    client.perform(client.filter.from_browser(f'{{"id":{late},"result":{{"result":{{"value":"secret"}}}}}}', 0))
    assert client.outputs == []
    assert client.result(number, {"product": "x"})["result"] == {"product": "x"}


def test_sessions_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("browser_events", "root_commands"):
        monkeypatch.setattr(f"hatbox.engines.chromium.endpoint.{module}.MAX_SESSIONS", 2)
    client = with_page()
    assert "Detach" in client.refused("Target.attachToTarget", {"targetId": "P"})
    client.attach("Q", "SQ", waiting=True)
    assert ("Runtime.runIfWaitingForDebugger", "SQ") in client.methods()


def test_a_second_session_of_the_browser_is_filtered_too() -> None:
    client = FilteredClient()
    number = client.send("Target.attachToBrowserTarget")
    browser = {"targetId": "R", "type": "browser", "url": "", "title": ""}
    client.event("Target.attachedToTarget", {"sessionId": "SR", "targetInfo": browser, "waitingForDebugger": False})
    client.result(number, {"sessionId": "SR"})
    assert "not available" in client.refused("Tracing.start", {}, "SR")
    client.attach("B", "SB", "SR", context=OTHER)
    assert client.methods() == [("Target.detachFromTarget", "SR")]
    # Not requested: a session of the browser without a filter.
    client.event("Target.attachedToTarget", {"sessionId": "SX", "targetInfo": browser, "waitingForDebugger": False})
    assert client.to_client == []
    assert "not found" in client.refused("Browser.getVersion", {}, "SX")


def test_the_socket_of_devtools_is_a_session_of_its_page() -> None:
    client = FilteredClient("P", info("P"))
    attach = client.to_browser[0]["id"]
    number = client.send("Runtime.enable")  # before the page is attached
    assert client.outputs == []
    client.attach("P", "S")
    assert client.outputs == [PageDriven("P")]
    client.receive(id=attach, result={"sessionId": "S"})
    assert client.methods() == [("Runtime.enable", "S")]
    client.receive(id=client.to_browser[0]["id"], result={}, sessionId="S")
    assert client.to_client == [{"id": number, "result": {}}]
    client.event("Runtime.executionContextCreated", context(1, "", "default"), "S")
    assert "sessionId" not in client.to_client[0]
    assert client.answered("Debugger.enable") == {"debuggerId": "0.0"}
    for method in ("Target.getTargets", "Target.setDiscoverTargets", "Browser.close", "Target.createTarget"):
        client.refused(method, {})
    client.attach("W", "SW", "S", kind="worker")
    assert client.to_client[0]["params"]["sessionId"] == "SW"
    client.forwarded("Runtime.evaluate", {"expression": "1"}, "SW")
    client.perform(client.filter.withhold("P"))
    assert any(isinstance(each, EndConnection) for each in client.outputs)


@pytest.mark.parametrize("context_id", [OTHER, WORK])
def test_the_socket_of_devtools_for_a_page_of_another_identity_is_closed(context_id: str) -> None:
    url = "http://a.test/" if context_id == OTHER else "chrome://settings/"
    client = FilteredClient("P", info("P", context_id, url=url))
    assert [type(each) for each in client.outputs] == [EndConnection]  # nothing is attached


@pytest.mark.parametrize("kind", ["worker", "iframe", "tab", "service_worker"])
def test_the_socket_of_devtools_for_a_worker_or_frame_is_closed(kind: str) -> None:
    """A session of a worker with the methods of a page would crash the browser, or reach the default context."""
    client = FilteredClient("W", info("W", kind=kind))
    assert [type(each) for each in client.outputs] == [EndConnection]
    client.attach("W", "S", kind=kind)  # whatever Chromium sends
    assert client.methods() == [("Target.detachFromTarget", "")]
    client.send("Runtime.evaluate", {"expression": "1"})
    assert client.outputs == []


def test_a_second_session_of_the_page_does_not_replace_that_of_devtools() -> None:
    client = FilteredClient("P", info("P"))
    attach = client.to_browser[0]["id"]
    client.attach("P", "S")
    client.receive(id=attach, result={"sessionId": "S"})
    client.attach("P", "S2")
    assert client.methods() == [("Target.detachFromTarget", "")]
    client.send("Runtime.enable")
    assert client.methods() == [("Runtime.enable", "S")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3),
)


@given(st.text(max_size=200) | JSON.map(json.dumps))
def test_any_text_of_a_client_is_answered_and_not_sent(text: str) -> None:
    for output in FilteredClient().filter.from_client(text):
        assert isinstance(output, ToClient)


def test_commands_wait_until_the_targets_are_known() -> None:
    early = ClientFilter(WORK)
    (discover,) = early.start()
    assert isinstance(discover, ToBrowser)
    assert early.from_client('{"id": 1, "method": "Target.setDiscoverTargets", "params": {"discover": true}}') == []
    created = {"method": "Target.targetCreated", "params": {"targetInfo": info("P")}}
    assert early.from_browser(json.dumps(created), 0) == []
    outputs = early.from_browser(json.dumps({"id": json.loads(discover.text)["id"], "result": {}}), 0)
    assert ["P" in each.text for each in outputs if isinstance(each, ToClient)] == [True, False]


IDS = st.sampled_from(["targetId", "sessionId", "browserContextId", "windowId", "contextId", "permission"])
KEYS = IDS | st.sampled_from(["url", "filter", "flatten", "permissions", "cookies", "data", "modifiers", "commands"])
VALUES = st.sampled_from(
    ["B", OTHER, "", "chrome://version", None, 1, True, [], {}, ["B"], [{"type": "tab"}], {"files": ["x"]}]
)


@given(st.data())
def test_no_arguments_make_the_filter_fail_or_name_another_identity(data: st.DataObject) -> None:
    client = with_page()
    session = data.draw(st.sampled_from(["", "S"]))
    method = data.draw(st.sampled_from(sorted(PAGE_COMMANDS if session else ROOT_COMMANDS)))
    params = data.draw(st.dictionaries(KEYS, VALUES, max_size=5))
    client.send(method, params, session)
    for command in client.to_browser:
        if command["method"].startswith(("Browser.", "Storage.", "Target.")):
            assert command["params"].get("targetId") != "B"
            assert command["params"].get("browserContextId") in (None, WORK)


@pytest.mark.parametrize("method", ["Runtime.evaluate", "Page.getNavigationHistory"])
def test_a_result_of_any_depth_is_answered(method: str) -> None:
    """The depth at which decoding fails depends on what is decoded."""
    client = with_page()
    for depth in range(900, 1100):
        number = client.send(method, {"expression": "1"}, "S")
        value, sent = "[" * depth + "]" * depth, client.numbers[number]
        text = f'{{"id":{sent},"result":{{"result":{{"objectId":"1.1.1","value":{value}}}}},"sessionId":"S"}}'
        (answer,) = client.filter.from_browser(text, 0)
        assert isinstance(answer, ToClient)
        assert answer.text.startswith(f'{{"id":{number},'), depth
