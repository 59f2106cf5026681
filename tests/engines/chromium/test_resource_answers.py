"""Requests of pages for files of extensions, without a browser: which documents are asked about, and what is sent."""

from __future__ import annotations

import asyncio
import base64
from typing import Any, cast

from hatbox.engines.chromium.extension_resources import ResourceRequest, ResourceResponse, is_resource_url
from hatbox.engines.chromium.fetch_commands import CONTINUE, FetchCommand
from hatbox.engines.chromium.frame_path import FramePath, Target
from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.resource_answers import ResourceAnswers
from hatbox.engines.chromium.resource_floods import REFUSED, ResourceFloods
from hatbox.events import Event
from hatbox.web_requests import RequestFrame

PAGE = Target("page", "page", "https://site.test/", "context", None, None)
URL = "https://01234567-89ab-cdef-0123-456789abcdef/a.html"


class Frames:
    def __init__(self, *urls: str) -> None:
        self.path = FramePath(PAGE, tuple((number, url) for number, url in enumerate(urls))) if urls else None

    async def wait_for_frame(self, _: str, __: str | None) -> FramePath | None:
        return self.path


class Tabs:
    def __init__(self, *, is_known: bool = True) -> None:
        self.is_known = is_known

    async def request_frame(self, _: Target) -> RequestFrame | None:
        return cast("RequestFrame", object()) if self.is_known else None


class Resources:
    are_present = True
    depend_on_page = False

    def __init__(self, body: bytes | None = b"body") -> None:
        self.on_changed: Event[None] = Event("changed")
        self.requests: list[ResourceRequest] = []
        self.body = body

    def chromium_url(self, url: str) -> str | None:
        return url

    async def respond(self, request: ResourceRequest) -> ResourceResponse | None:
        self.requests.append(request)
        return None if self.body is None else ResourceResponse([("content-type", "text/html")], self.body)


class Floods:
    def __init__(self) -> None:
        self.refused: list[str] = []

    def count_refusal(self, frame_id: str) -> None:
        self.refused.append(frame_id)


def answer(
    frames: Frames,
    resources: Resources,
    *,
    kind: str = "Image",
    method: str = "GET",
    is_known: bool = True,
    referrer: str | None = None,
) -> FetchCommand:
    headers = {} if referrer is None else {"Referer": referrer}
    event = {"frameId": "F", "resourceType": kind, "request": {"url": URL, "method": method, "headers": headers}}
    tabs: Any = Tabs(is_known=is_known)
    floods = Floods()
    answers = ResourceAnswers(cast("FrameTree", frames), tabs, resources, cast("ResourceFloods", floods))
    command = asyncio.run(answers.answer(event))
    assert floods.refused == (["F"] if command == REFUSED else [])
    return command


def test_a_file_is_sent_with_its_headers() -> None:
    resources = Resources()
    command = answer(Frames("https://site.test/"), resources)
    assert command.method == "Fetch.fulfillRequest"
    assert base64.b64decode(command.params["body"]) == b"body"
    assert command.params["responseHeaders"] == [{"name": "content-type", "value": "text/html"}]
    assert resources.requests == [ResourceRequest(URL, ("https://site.test/",), None, "page")]


def test_the_referrer_tells_that_a_page_of_the_extension_has_started_the_request() -> None:
    resources = Resources()
    answer(Frames("about:blank", "https://site.test/"), resources, referrer=URL)  # its new document is not known yet
    answer(Frames("https://site.test/"), resources, referrer="https://other.test/")
    answer(Frames("about:blank", "https://site.test/"), resources, referrer=URL, kind="Document")
    assert [each.document_urls for each in resources.requests] == [
        (URL,),
        ("https://site.test/",),
        ("https://site.test/",),
    ]


def test_a_frame_loads_a_page_for_its_parent_and_for_its_own_document() -> None:
    resources = Resources()
    answer(Frames("about:blank", "https://site.test/"), resources, kind="Document")
    answer(Frames("https://inner.test/", "https://site.test/"), resources, kind="Document")
    assert [each.document_urls for each in resources.requests] == [
        ("https://site.test/",),
        ("https://site.test/", "https://inner.test/"),
    ]
    assert {each.frame_id for each in resources.requests} == {"F"}


def test_a_tab_never_shows_a_page_of_an_extension_as_its_document() -> None:
    resources = Resources()
    assert answer(Frames("https://site.test/"), resources, kind="Document") == REFUSED
    assert resources.requests == []


def test_every_refusal_is_the_same() -> None:
    assert answer(Frames("https://site.test/"), Resources(None)) == REFUSED
    assert answer(Frames("about:blank"), Resources()) == REFUSED  # opened by no page
    assert answer(Frames(), Resources()) == REFUSED
    assert answer(Frames("https://site.test/"), Resources(), method="POST") == REFUSED


def test_pages_of_extensions_answer_their_own_requests() -> None:
    assert answer(Frames("https://01234567-89ab-cdef-0123-456789abcdef/"), Resources(), is_known=False) == CONTINUE


def test_urls_of_extensions_are_recognized_in_both_spellings() -> None:
    for url in (URL, "moz-extension://u/a", "https://01234567-89ab-cdef-0123-456789abcdef"):
        assert is_resource_url(url), url
    for url in (
        "https://site.test/?01234567-89ab-cdef-0123-456789abcdef/",
        "https://01234567-89ab-cdef-0123-456789abcdef.site.test/",
        "https://01234567-89ab-cdef-0123-456789abcdef:8443/",
        "http://01234567-89ab-cdef-0123-456789abcdef/",
    ):
        assert not is_resource_url(url), url
