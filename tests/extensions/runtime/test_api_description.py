from __future__ import annotations

import json

from hatbox.api.caller import Caller
from hatbox.extensions.runtime.api_description import describe, event_returns
from hatbox.schema import load


def test_a_caller_is_told_of_the_surfaces_that_it_sees_and_of_no_others() -> None:
    assert set(describe(Caller("nobody"))) == {"tabs", "windows"}
    assert set(describe(Caller("a", ["contextualidentities"]))) == {
        "contextualIdentities",
        "contextualidentities",
        "tabs",
        "windows",
    }
    firefox = describe(Caller("b", ["contextualIdentities"]))["contextualIdentities"]
    assert {"move", "hide", "getSupportedColors"} <= set(firefox["functions"])
    assert set(firefox["events"]) == {"onCreated", "onUpdated", "onRemoved"}


def test_functions_say_how_they_are_called() -> None:
    functions = describe(Caller("b", ["contextualIdentities"]))["contextualIdentities"]["functions"]
    assert functions["get"] == {
        "anyArguments": False,
        "async": True,
        "callback": False,
        "returns": True,
        "parameters": [{"name": "cookieStoreId", "type": "string"}],
        "shown": "contextualIdentities.get",
    }
    assert functions["getSupportedColors"]["callback"] is True
    assert functions["hide"]["returns"] is False


def test_references_are_followed_and_what_is_for_people_is_left_out() -> None:
    text = json.dumps(describe(Caller("c", ["cookies"])))
    assert "$ref" not in text
    assert '"enum": ["unspecified", "no_restriction", "lax", "strict"]' in text
    assert "Retrieves one cookie" not in text
    assert describe(Caller("c", ["cookies"]))["cookies"]["constants"]["SameSiteStatus"]["LAX"] == "lax"


def test_only_events_that_ask_wait_for_what_listeners_return() -> None:
    surfaces = {surface.namespace: surface for surface in load()}
    assert not event_returns(surfaces["cookies"], "onChanged")
    assert event_returns(surfaces["webRequest"], "onBeforeRequest")
    assert not event_returns(surfaces["webRequest"], "onCompleted")
