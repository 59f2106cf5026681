"""Large commands: those that carry files and documents reach Chromium, others do not delay the engine."""

from __future__ import annotations

from typing import Any

import pytest

from hatbox.engines.chromium.endpoint.command_params import MAX_ARGUMENTS, MAX_PARAMS
from hatbox.engines.chromium.endpoint.page_commands import guarded_script
from tests.engines.chromium.endpoint.filtered_client import FilteredClient, with_page
from tests.engines.chromium.endpoint.test_remote_objects import CALL, OWN, with_object

LARGE = "a" * (MAX_PARAMS + 1)
MANY = [1] * (MAX_PARAMS // 2)
UPLOAD = {"o": [{"k": "name", "v": "a.bin"}, {"k": "buffer", "v": LARGE}], "id": 1}  # as Playwright sends it


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Input.insertText", {"text": LARGE}),
        ("Page.setDocumentContent", {"frameId": "P", "html": LARGE}),
        ("Runtime.callFunctionOn", CALL | {"objectId": OWN, "arguments": [{"objectId": OWN}, {"value": UPLOAD}]}),
        ("Runtime.callFunctionOn", {"functionDeclaration": LARGE, "objectId": OWN, "arguments": [{"value": LARGE}]}),
        ("Runtime.callFunctionOn", CALL | {"objectId": OWN, "arguments": [{"value": [1] * MAX_PARAMS}]}),
    ],
)
def test_files_and_documents_reach_chromium(method: str, params: dict[str, Any]) -> None:
    assert with_object().forwarded(method, params, "S") == params


@pytest.mark.parametrize(
    ("method", "name"),
    [("Runtime.evaluate", "expression"), ("Page.addScriptToEvaluateOnNewDocument", "source")],
)
def test_long_scripts_reach_chromium(method: str, name: str) -> None:
    assert with_page().forwarded(method, {name: LARGE}, "S")[name] == guarded_script(LARGE)


@pytest.mark.parametrize("method", ["fulfillRequest", "continueRequest"])
def test_bodies_of_requests_reach_chromium(method: str) -> None:
    client = with_page()
    client.event("Fetch.requestPaused", {"requestId": "R", "request": {"url": "http://a.test/"}, "frameId": "P"}, "S")
    params = {"requestId": "R", "body" if method == "fulfillRequest" else "postData": LARGE}
    assert client.forwarded(f"Fetch.{method}", params, "S") == params


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Accessibility.queryAXTree", {"backendNodeIds": MANY}),
        ("Fetch.fulfillRequest", {"requestId": "R", "responseHeaders": MANY}),
        ("Input.dispatchKeyEvent", {"type": "char", "commands": MANY}),
        ("Page.navigate", {"url": f"http://a.test/{LARGE}"}),
        ("Runtime.callFunctionOn", {"functionDeclaration": MANY}),
        ("Runtime.callFunctionOn", CALL | {"arguments": [{"other": MANY}]}),
        ("Runtime.evaluate", {"expression": MANY}),
        ("Runtime.evaluate", {"expression": "1", "other": MANY}),
    ],
)
def test_other_large_commands_are_refused(method: str, params: dict[str, Any]) -> None:
    assert f"At most {MAX_PARAMS} are allowed" in with_object().refused(method, params, "S")


def test_a_large_text_that_is_given_twice_counts() -> None:
    params = f'{{"expression":"{LARGE}","expression":"1"}}'
    assert f"At most {MAX_PARAMS}" in error_of(with_page(), "Runtime.evaluate", params)


def error_of(client: FilteredClient, method: str, params: str) -> str:
    text = f'{{"id":90,"method":"{method}","sessionId":"S","params":{params}}}'
    client.perform(client.filter.from_client(text))
    assert client.to_browser == []
    (answer,) = client.to_client
    assert answer["id"] == 90
    return str(answer["error"]["message"])


@pytest.mark.slow
@pytest.mark.parametrize("argument", [{}, {"objectId": OWN}, {"value": 1}])
def test_calls_have_a_limited_number_of_arguments(argument: dict[str, Any]) -> None:
    client = with_object()
    call = CALL | {"objectId": OWN}
    for count in (MAX_ARGUMENTS + 1, MAX_PARAMS):
        refused = client.refused("Runtime.callFunctionOn", call | {"arguments": [argument] * count}, "S")
        assert f"at most length {MAX_ARGUMENTS}" in refused
    most = call | {"arguments": [argument] * MAX_ARGUMENTS}
    assert client.forwarded("Runtime.callFunctionOn", most, "S") == most


@pytest.mark.parametrize("arguments", [{}, 1, "1", [1], [[]], None])
def test_arguments_that_are_no_list_of_objects_are_refused(arguments: Any) -> None:
    params = CALL | {"objectId": OWN, "arguments": arguments}
    assert "Expected" in with_object().refused("Runtime.callFunctionOn", params, "S")


def test_repeated_nodes_are_limited() -> None:
    assert "At most 64" in with_page().refused("Accessibility.queryAXTree", {"backendNodeIds": [1] * 1001}, "S")


@pytest.mark.parametrize("half", [r"\ud800", r"\uDC00"])
def test_a_flood_of_lone_surrogates_is_refused(half: str) -> None:
    flood = half * 1_000_001
    assert "must be a command" in error_of(with_page(), "Runtime.evaluate", f'{{"expression":"{flood}"}}')
    client = with_page()
    number = client.send("Runtime.evaluate", {"expression": "1"}, "S")
    text = f'{{"id":{client.numbers[number]},"result":{{"result":{{"value":"{flood}"}}}},"sessionId":"S"}}'
    client.perform(client.filter.from_browser(text, 0))
    assert "cannot be decoded" in client.to_client[0]["error"]["message"]
