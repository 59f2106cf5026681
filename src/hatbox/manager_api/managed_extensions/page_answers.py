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
_COMMAND_OPTION: Final = ", or use --headless"  # of the command line: no help to a user who wants to see a page


@asynccontextmanager
async def expect_page(store: Store, area: str) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
    """Request a page of an extension in the block, and then await the result with its title, such as "The popup of X".

    Raises ApiError if the page is not shown.
    """
    answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def on_change(change: ChangeRecord) -> None:
        if change.topic == PAGE_ANSWERED and not answered.done():
            answer = decode_answer(change.payload)
            if answer.extension == area:
                answered.set_result(answer.error)

    async def wait(title: str) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                problem = await answered
        except TimeoutError:
            problem = f"the process of the extension did not answer within {_SECONDS:g} seconds. Stop and start it."
        if problem:
            raise ApiError(f"{title} is not open: {problem.replace(_COMMAND_OPTION, '')}")

    store.subscribe(on_change)
    try:
        yield wait
    finally:
        store.unsubscribe(on_change)
