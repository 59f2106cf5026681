from __future__ import annotations

import asyncio

from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages


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
