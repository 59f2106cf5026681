"""Messages with half a surrogate pair: a page can have such text anywhere, and a client must not wait for ever."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox.engines.chromium.endpoint.client_filter import decodable, leading_id
from hatbox.engines.chromium.endpoint.messages import ToClient
from hatbox.javascript.text import well_formed
from tests.engines.chromium import shared_driver
from tests.engines.chromium.endpoint.filtered_client import FilteredClient, info, with_page
from tests.engines.chromium.real import with_browser
from tests.site import Site

HALF = "\ud83d"
PARTS = st.sampled_from(["\\", "u", "d83d", '"', "\ud83d", "\udc00", "\ud800", "\U0001f600", "a"])


@given(st.lists(st.lists(PARTS).map("".join) | st.text(st.characters(exclude_categories=()))))
def test_only_lone_surrogates_are_replaced(texts: list[str]) -> None:
    replaced = json.loads(decodable(json.dumps(texts)))
    assert replaced == [well_formed(each) for each in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'"\ud83d"', r'"\ufffd"'),
        (r'"\uDE00\uD83D"', r'"\ufffd\ufffd"'),
        (r'"\ud83d\ud83d\ude00\ude00"', r'"\ufffd\ud83d\ude00\ufffd"'),
        (r'"\\ud83d"', r'"\\ud83d"'),
        (r'"\\\ud83d"', r'"\\\ufffd"'),
        (r'"\\ud83d\ude00"', r'"\\ud83d\ufffd"'),
        (r'"\ud83d\\ude00"', r'"\ufffd\\ude00"'),
    ],
)
def test_escaped_backslashes_begin_no_escape(text: str, expected: str) -> None:
    assert decodable(text) == expected


def test_a_client_receives_results_and_events_as_chromium_has_sent_them() -> None:
    client = with_page()
    number = client.send("DOM.getAttributes", {}, "S")
    reply = client.result(number, {"result": {"type": "string", "value": HALF}}, "S")
    assert reply["result"]["result"]["value"] == HALF
    client.event("Runtime.consoleAPICalled", {"args": [{"value": f"a{HALF}"}], "executionContextId": 1}, "S")
    client.event("Page.frameNavigated", {"frame": {"name": HALF}}, "S")
    assert client.to_client[0]["params"]["frame"]["name"] == HALF
    client.receive(id=client.send("DOM.getAttributes", {}, "S"), error={"message": HALF}, sessionId="S")
    assert client.to_client[0]["error"]["message"] == HALF


def test_a_result_that_the_filter_changes_has_a_replacement_character() -> None:
    client = FilteredClient("P", {**info("P"), "title": HALF})
    attach = client.to_browser[-1]["id"]
    client.attach("P", "S")
    client.receive(id=attach, result={"sessionId": "S"})
    reply = client.result(client.send("DOM.getAttributes", {}), {"result": {"value": HALF}}, "S")
    assert reply["result"]["result"]["value"] == "\ufffd"
    client = with_page()
    client.send("Target.setDiscoverTargets", {"discover": True})
    client.event("Target.targetInfoChanged", {"targetInfo": {**info("P"), "title": HALF}})
    assert client.to_client[0]["params"]["targetInfo"]["title"] == "\ufffd"


def test_chromium_receives_the_arguments_that_were_checked() -> None:
    sent = with_page().forwarded("Input.insertText", {"text": f"'{HALF}'", HALF: "\\ud83d"}, "S")
    assert sent == {"text": "'\ufffd'", "\ufffd": "\\ud83d"}


def test_a_surrogate_that_is_not_escaped_can_be_sent_to_the_client() -> None:
    client = with_page()
    number = client.send("DOM.getAttributes", {}, "S")
    message = {"id": client.numbers[number], "result": {"result": {"value": HALF}}, "sessionId": "S"}
    (output,) = client.filter.from_browser(json.dumps(message, ensure_ascii=False), 0)
    assert isinstance(output, ToClient)
    assert output.text.encode()


@pytest.mark.parametrize("result", ["[" * 5000 + "]" * 5000, r'"\x"', '{"a": \udc00}'])
def test_a_response_that_cannot_be_decoded_is_an_error_and_not_silence(result: str) -> None:
    client = with_page()
    number = client.send("DOM.getAttributes", {}, "S")
    client.perform(
        client.filter.from_browser(f'{{"id":{client.numbers[number]},"result":{result},"sessionId":"S"}}', 0)
    )
    (reply,) = client.to_client
    assert (reply["id"], reply["sessionId"]) == (number, "S")
    assert "cannot be decoded" in reply["error"]["message"]
    client.send("DOM.getOuterHTML", {"backendNodeId": 7}, "S")
    check = client.to_browser[0]["id"]  # a command of the endpoint
    client.perform(client.filter.from_browser(f'{{"id":{check},"result":{result},"sessionId":"S"}}', 0))
    assert "No node" in client.to_client[0]["error"]["message"]


def test_a_command_that_cannot_be_decoded_is_answered_with_its_id() -> None:
    client = with_page()
    client.perform(client.filter.from_client(f'{{"id": 7, "method": "DOM.getAttributes", "params": {"[" * 5000}'))
    assert client.to_client[0]["id"] == 7
    assert [leading_id(each) for each in ('{"id":1}', '{"method":"a","id":1}', '{"id":"1"}')] == [1, None, None]


@with_browser
async def test_programs_get_text_with_half_an_emoji(browser: str, path: Path, site: Site) -> None:
    async with (
        hatbox.open(path) as profile,
        profile.chromium(headless=True, browser=browser) as runner,
        hatbox.open(path) as attached_profile,
        attached_profile.chromium(headless=True) as attached,
    ):
        _, token = await profile.grants.create(
            identities="Work", actions=["pages", "cookieValues"], hosts=["<all_urls>"]
        )
        endpoint = await runner.open_endpoint("Work")
        client = await shared_driver.playwright().chromium.connect_over_cdp(endpoint.url(token))
        assert attached.attached_to is not None
        pages: list[Any] = [await client.contexts[0].new_page(), await attached.new_page("Work")]
        for page in pages:
            await page.goto(site.url("/page/1"))
            async with asyncio.timeout(30):
                assert await page.evaluate("'😀'.slice(0, 1)") == HALF
                assert await page.evaluate("x => x.length", f"a{HALF}") == 2
                await page.evaluate("document.title = 'a' + '😀'.slice(1)")
                assert len(await page.title()) == 2
                with pytest.raises(Exception, match="cut"):
                    await page.evaluate("throw new Error('cut ' + '😀'.slice(0, 1))")
        await client.close()
