from __future__ import annotations

import asyncio

import pytest

from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization
from hatbox.engines.chromium.endpoint.client_files import ClientFiles
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from tests.waiting import until

RESOURCE = "https://01234567-89ab-cdef-0123-456789abcdef/options.html"


def test_a_page_is_withheld_until_every_reason_has_ended() -> None:
    seen: list[tuple[str, bool]] = []
    pages = EndpointPages()
    pages.subscribe(lambda target_id, is_withheld: seen.append((target_id, is_withheld)))
    pages.withhold("P", "person")
    pages.withhold("P", "start page")
    pages.release("P", "person")
    assert pages.withheld == ["P"]
    pages.release("P", "start page")
    pages.release("P", "start page")
    assert seen == [("P", True), ("P", False)]


def test_a_page_that_a_client_opens_is_its_page_also_if_a_request_is_faster_than_the_response() -> None:
    async def use() -> None:
        pages = EndpointPages()
        assert not await pages.controls("P", None, "C")
        pages.set_creating("C", is_pending=True)
        assert not await pages.controls("Q", None, "D")  # of another identity: nothing to wait for
        asking = asyncio.ensure_future(pages.controls("P", None, "C"))
        await asyncio.sleep(0)
        pages.drive("P")
        pages.set_creating("C", is_pending=False)
        assert await asking
        assert await pages.controls("R", "P", "C")  # its popup
        assert await pages.controls("S", "R", "C")
        assert not await pages.controls("T", None, "C")
        pages.remove("P")
        assert not pages.is_driven("P")

    asyncio.run(use())


def test_while_a_client_is_connected_every_page_of_its_context_is_driven_and_opened_ones_stay_so() -> None:
    async def use() -> None:
        pages = EndpointPages()
        pages.connect("C")
        pages.connect("C")
        assert await pages.controls("P", None, "C")
        assert pages.is_driven("P", "C")
        assert not pages.is_driven("P", "D")
        assert not await pages.controls("P", None, "D")
        assert not await pages.has_opened("P", None, "C")  # its dialogs are those of the user
        pages.opened("Q", TokenAuthorization(), ClientFiles())
        assert await pages.has_opened("R", "Q", "C")
        pages.drive("S")
        pages.disconnect("C")
        assert await pages.controls("P", None, "C")
        pages.disconnect("C")
        assert not await pages.controls("P", None, "C")
        for target_id in ("Q", "R", "S"):
            assert await pages.controls(target_id, None, "C")
        assert await pages.controls("T", "S", "C")
        assert pages.had_clients("C")  # what they have left in it stays
        assert not pages.had_clients("D")

    asyncio.run(use())


def test_a_page_that_starts_to_load_an_internal_page_is_withheld_until_it_has_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.endpoint.endpoint_pages._COMMIT_SECONDS", 0)

    async def use() -> None:
        pages = EndpointPages()
        pages.navigating("P", "chrome://version/")
        assert pages.withheld == []  # no client
        pages.subscribe(lambda *_: None)
        pages.navigating("P", "http://a.test/")
        assert pages.withheld == []
        for url in ("chrome://version/", "file:///a", "http://127.0.0.1:8000/hatbox-open/x", RESOURCE):
            pages.navigating("P", url)
            pages.loaded("Q")
            await asyncio.sleep(0.01)
            assert pages.withheld == ["P"]  # however long it takes
            pages.loaded("P")
            pages.navigating("P", url)  # once more
            await asyncio.sleep(0.01)
            assert pages.withheld == ["P"]
            pages.loaded("P")
            await until(lambda: not pages.withheld)
        pages.navigating("P", "file:///a")
        pages.remove("P")
        assert pages.withheld == []

    asyncio.run(use())


def test_a_frame_of_an_extension_is_withheld_until_its_page_is_closed() -> None:
    pages = EndpointPages()
    pages.withhold_frame("F", "P")
    pages.withhold_frame("G", "Q")
    pages.withhold_frame("P", "P")  # a page: its URL is known
    assert pages.withheld == ["F", "G"]
    pages.remove("P")
    assert pages.withheld == ["G"]
