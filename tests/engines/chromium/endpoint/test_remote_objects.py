"""Script objects that the client was not given, and numbers of script worlds that may have changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hatbox.engines.chromium.endpoint.method_rules import SessionKind, action_of
from hatbox.engines.chromium.endpoint.remote_objects import context_of, named_objects
from tests.engines.chromium.endpoint.filtered_client import FilteredClient, with_page
from tests.engines.chromium.endpoint.protocol_description import description, methods
from tests.engines.chromium.endpoint.test_client_filter import context

OWN = "-77.1.5"
CALL: dict[str, Any] = {"functionDeclaration": "function() { return browser }"}
NO_CONTEXT = "Cannot find context"


def with_object() -> FilteredClient:
    """A client with Runtime, the world 1 of the page and an object of it. The world 2 is that of a content script."""
    client = with_page()
    client.forwarded("Runtime.enable", {}, "S")
    client.event("Runtime.executionContextCreated", context(1, "", "default"), "S")
    client.event("Runtime.executionContextCreated", context(2, "x8f7secret"), "S")
    give(client, OWN)
    return client


def give(client: FilteredClient, object_id: str) -> None:
    number = client.send("Runtime.evaluate", {"expression": "({})"}, "S")
    client.result(number, {"result": {"type": "object", "objectId": object_id}}, "S")


def test_objects_of_worlds_from_which_the_client_has_none_cannot_be_used() -> None:
    client = with_object()
    client.forwarded("Runtime.callFunctionOn", CALL | {"objectId": OWN}, "S")
    client.forwarded("Runtime.getProperties", {"objectId": "-77.1.6"}, "S")  # such as the value of a property
    refused: tuple[Any, ...] = (
        "-77.2.1",
        "-78.1.5",
        "77.1.5",
        "-77.01.5",
        "-77.1.",
        "-77.1.5 ",
        "-77.1.5.1",
        "-77.+1.5",
        1,
        [OWN],
        {},
    )
    for given in refused:
        for method, params in (
            ("Runtime.callFunctionOn", CALL | {"objectId": given}),
            ("Runtime.callFunctionOn", CALL | {"objectId": OWN, "arguments": [{"objectId": OWN}, {"objectId": given}]}),
            ("Runtime.getProperties", {"objectId": given}),
            ("Runtime.awaitPromise", {"promiseObjectId": given}),
            ("Runtime.getExceptionDetails", {"errorObjectId": given}),
            ("Runtime.releaseObject", {"objectId": given}),
            ("DOM.requestNode", {"objectId": given}),
            ("DOM.describeNode", {"objectId": given}),
            ("Runtime.evaluate", {"expression": "1", "newObjectId": given}),  # of a newer Chromium
        ):
            assert NO_CONTEXT in client.refused(method, params, "S")
    client.attach("W", "SW", "S", kind="worker")
    assert NO_CONTEXT in client.refused("Runtime.getProperties", {"objectId": OWN}, "SW")


def test_data_of_a_program_may_have_the_same_names() -> None:
    sent = CALL | {"objectId": OWN, "arguments": [{"value": {"objectId": "of a database"}}]}
    assert with_object().forwarded("Runtime.callFunctionOn", sent, "S") == sent


@pytest.mark.parametrize(
    "params",
    [
        '{"objectId": "-77.2.1"}',
        r'{"\u006fbjectId": "-77.2.1"}',
        r'{"object\u0049d": "-77.2.1"}',
        r'{"\x6fbjectId": "-77.2.1"}',
        r'{"object\x49d": "-77.2.1"}',
        f'{{"objectId": "{OWN}", "objectId": "-77.2.1"}}',
    ],
)
def test_names_that_are_written_otherwise_are_checked_too(params: str) -> None:
    client = with_object()
    text = f'{{"id": 90, "method": "Runtime.getProperties", "sessionId": "S", "params": {params}}}'
    client.perform(client.filter.from_client(text))
    assert client.to_browser == []
    assert "error" in client.to_client[0]


def test_of_an_argument_that_is_given_twice_chromium_receives_the_checked_one() -> None:
    client = with_object()
    params = f'{{"objectId": "-77.2.1", "objectId": "{OWN}"}}'
    text = f'{{"id": 90, "method": "Runtime.getProperties", "sessionId": "S", "params": {params}}}'
    (sent,) = client.filter.from_client(text)
    assert "-77.2.1" not in str(sent)


def test_what_a_script_returns_by_value_gives_no_object() -> None:
    client = with_object()
    number = client.send("Runtime.evaluate", {"expression": "({objectId: '-77.3.1'})", "returnByValue": True}, "S")
    client.result(number, {"result": {"type": "object", "value": {"objectId": "-77.3.1"}}}, "S")
    number = client.send("Runtime.getProperties", {"objectId": OWN}, "S")
    client.result(number, {"result": [{"value": {"objectId": "-77.3.1"}}]}, "S")
    number = client.send("Network.getResponseBody", {"requestId": "1"}, "S")
    client.result(number, {"result": {"objectId": "-77.3.1"}}, "S")
    assert NO_CONTEXT in client.refused("Runtime.getProperties", {"objectId": "-77.3.1"}, "S")


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("name", ["consoleAPICalled", "exceptionThrown"])
def test_objects_of_events_are_given_with_the_event(name: str, number: int) -> None:
    client = with_object()
    given = {"objectId": f"-79.{number}.1"}
    thrown = {"exceptionDetails": {"executionContextId": number, "exception": given}}
    logged = {"type": "log", "executionContextId": number, "args": [{"type": "number"}, given]}
    client.event(f"Runtime.{name}", logged if name == "consoleAPICalled" else thrown, "S")
    assert len(client.to_client) == (number == 1)
    client.send("Runtime.getProperties", given, "S")
    assert bool(client.to_browser) == (number == 1)


def test_an_exception_of_an_unknown_world_gives_no_object() -> None:
    client = with_object()
    client.event("Runtime.exceptionThrown", {"exceptionDetails": {"exception": {"objectId": "-77.3.1"}}}, "S")
    assert NO_CONTEXT in client.refused("Runtime.getProperties", {"objectId": "-77.3.1"}, "S")


def test_objects_of_a_hidden_world_are_not_given_by_a_command_that_names_it_during_a_navigation() -> None:
    """The number is that of an own world when the command is sent, and that of another one when it is executed."""
    client = with_object()
    number = client.send("DOM.resolveNode", {"nodeId": 1, "executionContextId": 1}, "S")
    client.event("Runtime.executionContextsCleared", {}, "S")
    client.event("Runtime.executionContextCreated", context(1, "x8f7secret"), "S")
    client.result(number, {"object": {"objectId": "-80.1.1"}}, "S")
    assert NO_CONTEXT in client.refused("Runtime.callFunctionOn", CALL | {"objectId": "-80.1.1"}, "S")


def test_chromium_receives_the_unique_id_of_a_world() -> None:
    client = with_object()
    sent = client.forwarded("Runtime.evaluate", {"expression": "1", "contextId": 1}, "S")
    assert sent == {"expression": "1", "uniqueContextId": "u1"}
    sent = client.forwarded("Runtime.callFunctionOn", CALL | {"executionContextId": 1}, "S")
    assert sent == CALL | {"uniqueContextId": "u1"}
    number = client.send("Runtime.evaluate", {"expression": "1", "contextId": 1}, "S")
    client.receive(id=number, error={"code": -32000, "message": "uniqueContextId not found"}, sessionId="S")
    assert client.to_client[0]["error"]["message"].endswith("Cannot find context with specified id")  # Puppeteer
    assert "Runtime.evaluate" in client.refused("Runtime.runScript", {"scriptId": "1", "executionContextId": 1}, "S")


def test_numbers_of_worlds_are_used_only_while_chromium_reports_their_changes() -> None:
    client = with_object()
    client.forwarded("Runtime.disable", {}, "S")
    client.event("Runtime.executionContextCreated", context(3, "", "default"), "S")  # it was on its way
    for each in (1, 3):
        assert NO_CONTEXT in client.refused("DOM.resolveNode", {"nodeId": 1, "executionContextId": each}, "S")
    assert NO_CONTEXT in client.refused("Runtime.getProperties", {"objectId": OWN}, "S")
    client.forwarded("Runtime.enable", {}, "S")
    client.event("Runtime.executionContextCreated", context(1, "x8f7secret"), "S")
    assert NO_CONTEXT in client.refused("Runtime.evaluate", {"expression": "1", "contextId": 1}, "S")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Page.createIsolatedWorld", {"frameId": "P", "worldName": "own"}),
        ("Runtime.evaluate", {"expression": "globalThis"}),
        ("DOM.resolveNode", {"nodeId": 1}),
    ],
)
def test_a_client_that_never_enables_runtime_uses_its_worlds_and_no_other(method: str, params: dict[str, str]) -> None:
    """Patchright: its numbers come from results. The events are not shown to it, except those of its bindings."""
    client = with_page()
    client.send(method, params, "S")
    assert client.methods() == [("Runtime.enable", "S"), (method, "S")]
    for number, name in ((1, ""), (5, "own"), (6, "x8f7secret")):
        client.event("Runtime.executionContextCreated", context(number, name, "isolated" if name else "default"), "S")
        assert client.outputs == []
    created = method == "Page.createIsolatedWorld"
    for number in (1, 5) if created else (1,):
        sent = client.forwarded("Runtime.evaluate", {"expression": "1", "contextId": number}, "S")
        assert sent == {"expression": "1", "uniqueContextId": f"u{number}"}
    for number in (6, 7) if created else (5, 6, 7):
        assert NO_CONTEXT in client.refused("Runtime.evaluate", {"expression": "1", "contextId": number}, "S")
    client.event("Runtime.bindingCalled", {"name": "a_b", "payload": "", "executionContextId": 6}, "S")
    assert client.outputs == []
    client.event("Runtime.bindingCalled", {"name": "a_b", "payload": "", "executionContextId": 1}, "S")
    assert client.to_client[0]["method"] == "Runtime.bindingCalled"
    client.event("Runtime.consoleAPICalled", {"args": [{"objectId": OWN}], "executionContextId": 1}, "S")
    assert (client.methods(), client.to_client) == ([("Runtime.releaseObjectGroup", "S")], [])
    client.forwarded("Runtime.addBinding", {"name": "a_b"}, "S")
    client.send("Runtime.enable", {}, "S")  # Chromium reports the worlds again only after it is disabled
    assert [each for each, _ in client.methods()] == ["Runtime.disable", "Runtime.addBinding", "Runtime.enable"]
    client.event("Runtime.executionContextCreated", context(1, "", "default"), "S")
    assert client.to_client[0]["method"] == "Runtime.executionContextCreated"


def test_objects_work_without_runtime() -> None:
    client = with_page()
    give(client, OWN)
    client.forwarded("Runtime.callFunctionOn", CALL | {"objectId": OWN}, "S")


@pytest.mark.parametrize("name", ["setTimeout", "JSON", "browser", "chrome", "__proto__", "__defineGetter__", "$_", ""])
def test_a_binding_in_all_worlds_replaces_nothing(name: str) -> None:
    client = with_object()
    client.refused("Runtime.addBinding", {"name": name}, "S")
    client.refused("Runtime.addBinding", {"name": name, "executionContextName": ""}, "S")
    client.forwarded("Runtime.addBinding", {"name": name, "executionContextId": 1}, "S")
    client.forwarded("Runtime.addBinding", {"name": name, "executionContextName": "own"}, "S")
    client.attach("W", "SW", "S", kind="worker")  # it has one world
    client.forwarded("Runtime.addBinding", {"name": name}, "SW")


@pytest.mark.parametrize("name", ["__playwright__binding__", "puppeteer_log", "my_binding"])
def test_bindings_of_programs(name: str) -> None:
    assert with_object().forwarded("Runtime.addBinding", {"name": name}, "S") == {"name": name}


def test_every_argument_that_is_an_object_is_checked(browser: str) -> None:
    """Of a newer Chromium, too: all methods that pass are walked, with their nested arguments."""
    described = description(browser)
    types = {f"{each['domain']}.{kind['id']}": kind for each in described["domains"] for kind in each.get("types", ())}
    kinds: tuple[SessionKind, ...] = ("page", "worker", "devtools", "tab", "root")
    found = set()
    for method, command in methods(described):
        if all(action_of(kind, method) == "refuse" for kind in kinds):
            continue
        for path in object_paths(command.get("parameters", ()), method.partition(".")[0], types, ()):
            found.add((method, path))
            assert named_objects(nested(path)) == [OWN], (method, path)
    assert ("Runtime.callFunctionOn", ("arguments", "", "objectId")) in found
    assert len(found) > 10


def object_paths(properties: Any, domain: str, types: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Where an argument of the type Runtime.RemoteObjectId is. Empty for an item of an array."""
    for each in properties:
        inner = (*path, each.get("name", ""))
        name = each.get("$ref", "")
        full = name if "." in name or not name else f"{domain}.{name}"
        if full == "Runtime.RemoteObjectId":
            yield inner
        elif len(inner) < 6:
            kind = types.get(full, each)
            owner = full.partition(".")[0] or domain
            yield from object_paths(kind.get("properties", ()), owner, types, inner)
            if "items" in kind:
                yield from object_paths([kind["items"]], owner, types, inner)


def nested(path: tuple[str, ...]) -> Any:
    if not path:
        return OWN
    return {path[0]: nested(path[1:])} if path[0] else [nested(path[1:])]


def test_ids() -> None:
    assert context_of(OWN) == ("-77.1", 1)
    for other in ("", "1", "1.2", "a.1.1", "1.1.-1", "1.0.1", "1.1.1\n", "١.1.1", f"1.{'9' * 5000}.1", None):
        assert context_of(other) is None
