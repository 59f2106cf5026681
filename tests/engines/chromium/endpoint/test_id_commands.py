"""Ids that the client was not given: nodes, paused requests and streams. Values of another type than they seem."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hatbox.engines.chromium.endpoint.browser_events import REQUEST_SECONDS
from tests.engines.chromium.endpoint.filtered_client import FilteredClient, with_page

NODE = {"backendNodeId": 7}


def paused(client: FilteredClient, request_id: str = "R", session: str = "S", name: str = "requestPaused") -> None:
    client.event(f"Fetch.{name}", {"requestId": request_id, "request": {"url": "http://a.test/"}}, session)
    assert len(client.to_client) == 1


# ---------------------------------------------------------------------------------------------------------------- nodes


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("DOM.getOuterHTML", NODE),
        ("DOM.describeNode", NODE),
        ("Accessibility.getPartialAXTree", NODE),
        ("DOM.pushNodesByBackendIdsToFrontend", {"backendNodeIds": [7]}),
    ],
)
def test_a_node_is_used_only_if_chromium_resolves_it_in_the_page(method: str, params: dict[str, Any]) -> None:
    client = with_page()
    for is_own in (True, False):
        number = client.send(method, params, "S")
        (check,) = client.to_browser
        assert (check["method"], check["sessionId"], check["params"]["backendNodeId"]) == ("DOM.resolveNode", "S", 7)
        client.receive(id=check["id"], **({"result": {}} if is_own else {"error": {"message": "not in the document"}}))
        assert (method, "S") in client.methods() if is_own else client.to_browser == []
        if is_own:
            assert client.result(number, {"a": 1}, "S")["result"] == {"a": 1}
        else:
            assert "No node" in client.to_client[0]["error"]["message"]


def test_of_many_nodes_all_must_be_those_of_the_page() -> None:
    client = with_page()
    client.send("DOM.pushNodesByBackendIdsToFrontend", {"backendNodeIds": [7, 8]}, "S")
    first, second = client.to_browser
    client.receive(id=first["id"], error={"message": "no"})
    assert client.outputs == []
    client.receive(id=second["id"], result={})
    assert client.to_browser == []
    assert "error" in client.to_client[0]
    for given in ([7.0], ["7"], [None], [True], 7, {"a": 1}, list(range(2000))):
        client.refused("DOM.pushNodesByBackendIdsToFrontend", {"backendNodeIds": given}, "S")


def test_one_command_becomes_few_commands_for_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each check costs the engine as much as a command of a client: a thousand of them would stop other identities."""
    client = with_page()
    push = "DOM.pushNodesByBackendIdsToFrontend"
    assert "At most 64" in client.refused(push, {"backendNodeIds": [*range(65)]}, "S")
    client.send(push, {"backendNodeIds": [7] * 1000}, "S")
    assert len(client.to_browser) == 1
    monkeypatch.setattr("hatbox.engines.chromium.endpoint.client_state.MAX_PENDING", 100)
    client.send(push, {"backendNodeIds": [*range(64)]}, "S")
    checks = client.to_browser
    assert len(checks) == 64
    assert "Wait for responses" in client.refused(push, {"backendNodeIds": [*range(64)]}, "S")
    for each in checks:
        client.receive(id=each["id"], result={})
    assert client.to_browser[-1]["method"] == push
    assert client.to_browser[-1]["params"]["backendNodeIds"] == [*range(64)]


def test_a_page_that_is_withheld_during_the_check_gives_nothing() -> None:
    client = with_page()
    client.send("DOM.getOuterHTML", NODE, "S")
    check = client.to_browser[0]["id"]
    client.perform(client.filter.withhold("P"))
    assert "not found" in client.to_client[-1]["error"]["message"]
    client.receive(id=check, result={})
    assert client.outputs == []


def test_nodes_of_the_session_itself_are_not_checked() -> None:
    client = with_page()
    client.result(client.send("DOM.resolveNode", {"nodeId": 3}, "S"), {"object": {"objectId": "1.2.3"}}, "S")
    client.forwarded("DOM.describeNode", {"objectId": "1.2.3"}, "S")
    client.forwarded("DOM.describeNode", {"nodeId": 3}, "S")


# ------------------------------------------------------------------------------------------------------------- requests


@pytest.mark.parametrize("session", ["S", "SW"])
@pytest.mark.parametrize(
    "name",
    ["continueRequest", "continueResponse", "continueWithAuth", "failRequest", "fulfillRequest", "getResponseBody"],
)
def test_a_request_that_the_client_was_not_given_cannot_be_answered(name: str, session: str) -> None:
    client = with_page()
    client.attach("W", "SW", "S", kind="worker")
    for given in ("interception-job-1.0", None, 1, ["R"]):
        assert "InterceptionId" in client.refused(f"Fetch.{name}", {"requestId": given}, session)
    paused(client, "R", session)
    client.forwarded(f"Fetch.{name}", {"requestId": "R"}, session)
    other = "SW" if session == "S" else "S"
    assert "InterceptionId" in client.refused(f"Fetch.{name}", {"requestId": "R"}, other)


def test_a_hidden_request_cannot_be_answered_by_guessing_its_id() -> None:
    client = with_page()
    url = "https://01234567-89ab-cdef-0123-456789abcdef/a.js"
    for name, method in (("requestPaused", "Fetch.continueRequest"), ("authRequired", "Fetch.continueWithAuth")):
        client.event(f"Fetch.{name}", {"requestId": "H", "request": {"url": url}}, "S")
        assert client.to_client == []
        assert client.methods() == [(method, "S")]
        assert "InterceptionId" in client.refused("Fetch.fulfillRequest", {"requestId": "H", "responseCode": 200}, "S")


def test_requests_of_the_users_pages_go_on_if_the_client_forgets_them() -> None:
    client = with_page()
    paused(client, "R1")
    paused(client, "R2")
    paused(client, "R3", name="authRequired")
    client.forwarded("Fetch.continueRequest", {"requestId": "R2"}, "S")
    assert client.filter.next_resume == REQUEST_SECONDS
    client.perform(client.filter.resume_overdue(REQUEST_SECONDS))
    assert [(each["method"], each["params"]["requestId"]) for each in client.to_browser] == [
        ("Fetch.continueRequest", "R1"),
        ("Fetch.continueWithAuth", "R3"),
    ]
    assert client.filter.next_resume is None
    client.result(client.send("Target.createTarget", {"url": "about:blank"}), {"targetId": "N"})
    client.attach("N", "SN")
    paused(client, "R", "SN")  # its own page: a person may be debugging
    assert client.filter.next_resume is None


# -------------------------------------------------------------------------------------------------------------- streams


def test_a_stream_that_the_client_was_not_given_cannot_be_read() -> None:
    client = with_page()
    client.attach("Q", "SQ")
    number = client.send("Page.printToPDF", {"transferMode": "ReturnAsStream"}, "S")
    for method in ("IO.read", "IO.close"):
        assert "stream" in client.refused(method, {"handle": "1"}, "S")
    client.result(number, {"data": "", "stream": "1"}, "S")
    client.forwarded("IO.read", {"handle": "1"}, "S")
    assert "stream" in client.refused("IO.read", {"handle": "1"}, "SQ")
    assert "stream" in client.refused("IO.read", {"handle": "blob:1"}, "S")
    client.forwarded("IO.close", {"handle": "1"}, "S")
    assert "stream" in client.refused("IO.read", {"handle": "1"}, "S")
    paused(client)
    number = client.send("Fetch.takeResponseBodyAsStream", {"requestId": "R"}, "S")
    client.result(number, {"stream": "2"}, "S")
    client.forwarded("IO.read", {"handle": "2"}, "S")
    assert "InterceptionId" in client.refused("Fetch.takeResponseBodyAsStream", {"requestId": "X"}, "S")


# ---------------------------------------------------------------------------------------------------------------- types


@pytest.mark.parametrize("modifiers", [2, 2.0, 4.0, 6])
@pytest.mark.parametrize("code", [86, 86.0])
def test_numbers_with_a_fraction_of_zero_do_not_pass_the_checks(modifiers: float, code: float) -> None:
    """Chromium takes 2.0 for 2."""
    client = with_page()
    key = {"type": "rawKeyDown", "modifiers": modifiers, "windowsVirtualKeyCode": code}
    assert "clipboard" in client.refused("Input.dispatchKeyEvent", key, "S")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Input.dispatchKeyEvent", {"type": "keyDown", "modifiers": 2.5}),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "modifiers": "2"}),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "modifiers": True}),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "modifiers": None}),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "modifiers": 10**400}),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "key": ["v"]}),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "commands": "Paste"}),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "commands": [["Paste"]]}),
        ("Input.dispatchMouseEvent", {"type": "mousePressed", "button": ["middle"]}),
        ("Input.dispatchDragEvent", {"type": "drop", "data": {"files": {}}}),
        ("Input.dispatchDragEvent", {"type": "drop", "data": {"files": ""}}),
        ("Page.captureScreenshot", {"fromSurface": 0}),
        ("Page.captureScreenshot", {"fromSurface": None}),
        ("Runtime.evaluate", {"expression": "1", "contextId": 1.0}),
        ("Page.navigateToHistoryEntry", {"entryId": [1]}),
    ],
)
def test_values_of_another_type_are_refused(method: str, params: dict[str, Any]) -> None:
    with_page().refused(method, params, "S")


def test_integers_are_sent_as_they_were_checked() -> None:
    key = {"type": "keyDown", "modifiers": 1.0, "windowsVirtualKeyCode": 65}
    sent = with_page().forwarded("Input.dispatchKeyEvent", key, "S")
    assert json.dumps(sent["modifiers"]) == "1"
