"""Answers and events of Chromium that a client does not get, though its command was allowed or its session is open."""

from __future__ import annotations

import pytest

from tests.engines.chromium.endpoint.filtered_client import OTHER, FilteredClient, info, with_page


@pytest.mark.parametrize(
    "event",
    ["Storage.indexedDBListUpdated", "Browser.downloadWillBegin", "Tracing.dataCollected", "Debugger.scriptParsed"],
)
def test_events_of_domains_that_nobody_has_checked_are_dropped(event: str) -> None:
    client = with_page()
    client.event(event, {"url": "http://secret.test/"}, "S")
    assert client.outputs == []
    client.event("Page.loadEventFired", {"timestamp": 1}, "S")
    assert [each["method"] for each in client.to_client] == ["Page.loadEventFired"]


@pytest.mark.parametrize(
    "described",
    [
        info("B", OTHER, url="http://secret.test/"),
        info("M", url="chrome-extension://aa/secret.html"),
        info("P", OTHER, url="http://secret.test/"),
        info("X", kind="browser", url="http://secret.test/"),
    ],
)
def test_the_description_of_another_target_is_not_delivered(described: dict[str, object]) -> None:
    client = with_page()
    for session, params in (("", {"targetId": "P"}), ("S", {})):
        number = client.send("Target.getTargetInfo", params, session)
        answer = client.result(number, {"targetInfo": described}, session)
        assert "No target" in answer["error"]["message"]
        assert "secret" not in str(answer)


def test_the_description_of_an_own_target_and_of_the_browser_is_delivered() -> None:
    client = with_page()
    own = client.result(client.send("Target.getTargetInfo", {"targetId": "P"}), {"targetInfo": info("P")})
    assert own["result"]["targetInfo"]["url"] == "http://a.test/"
    number = client.send("Target.getTargetInfo")
    browser = client.result(number, {"targetInfo": info("X", "", kind="browser", url="")})
    assert browser["result"]["targetInfo"]["type"] == "browser"


def test_a_target_that_is_withheld_while_the_client_attaches_gives_no_session() -> None:
    client = with_page()
    number = client.send("Target.attachToTarget", {"targetId": "P"})
    client.perform(client.filter.withhold("P"))
    client.attach("P", "S2")
    assert client.to_client == []
    answer = client.result(number, {"sessionId": "S2"})
    assert "No target" in answer["error"]["message"]
    assert "S2" not in str(answer)


def test_a_session_is_detached_by_the_session_that_has_attached_it_only() -> None:
    client = FilteredClient("", info("P"), info("Q"))
    client.attach("P", "SP")
    client.attach("Q", "SQ")
    client.attach("F", "SF", "SP", kind="iframe", parentId="P")
    for session, parent in (("SF", ""), ("SF", "SQ"), ("SP", "SQ"), ("SP", "SP")):
        assert "No session" in client.refused("Target.detachFromTarget", {"sessionId": session}, parent)
    assert client.forwarded("Target.detachFromTarget", {"sessionId": "SF"}, "SP") == {"sessionId": "SF"}
    assert client.forwarded("Target.detachFromTarget", {"sessionId": "SP"}) == {"sessionId": "SP"}
