"""What a program reads of the engine to which it is attached, without a browser."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.engines.chromium.attached_browser import _read_json
from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization, authorize_token
from hatbox.engines.chromium.endpoint.endpoint import Endpoint

TOKEN = "the-token"
LONG = "data:text/html," + "a" * (2**21 - 20)  # as long as Chromium allows


class ManyLongPages:
    """Implements EndpointService."""

    async def version(self) -> dict[str, Any]:
        raise NotImplementedError

    async def targets(self) -> list[dict[str, Any]]:
        page = {"type": "page", "title": "", "url": LONG}
        return [page | {"targetId": str(number), "tabId": number} for number in range(20)]

    async def connect(self, *_: object) -> None:
        raise NotImplementedError


def test_tabs_with_long_urls_are_found() -> None:
    async def use() -> None:
        endpoint = Endpoint(ManyLongPages(), authorize_token(TOKEN, TokenAuthorization()))
        await endpoint.start()
        listed = await asyncio.to_thread(_read_json, f"http://127.0.0.1:{endpoint.port}/{TOKEN}/json/list")
        assert [each["tabId"] for each in listed] == [str(number) for number in range(20)]
        assert all(LONG.startswith(each["url"].removesuffix("…")) for each in listed)
        await endpoint.close()

    asyncio.run(use())
