"""Waits until the process of an extension has shown a page that was requested, or says why it did not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from hatbox.errors import ApiError
from hatbox.extension_data.page_opening import PAGE_ANSWERED, decode_answer
from hatbox.store.base import ChangeRecord, Store

__all__ = ["expect_page"]

_SECONDS: Final = 60.0  # Chromium may have to be started


@asynccontextmanager
async def expect_page(
    store: Store, area: str, seconds: float = _SECONDS
) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
    """Request a page of an extension in the block, and then await the result. It gets the words for a failure.

    Raises ApiError if the page is not shown.
    """
    answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def on_change(change: ChangeRecord) -> None:
        if change.topic == PAGE_ANSWERED and not answered.done():
            answer = decode_answer(change.payload)
            if answer.extension == area:
                answered.set_result(answer.error)

    async def wait(failure: str) -> None:
        try:
            async with asyncio.timeout(seconds):
                problem = await answered
        except TimeoutError:
            problem = f"the process of the extension did not answer within {seconds:g} seconds. Stop and start it."
        if problem:
            raise ApiError(f"{failure}: {problem}")

    store.subscribe(on_change)
    try:
        yield wait
    finally:
        store.unsubscribe(on_change)
