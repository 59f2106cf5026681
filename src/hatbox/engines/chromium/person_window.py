"""A window of an identity in which a person does what a program requests: sign in, or pass a check."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.context_registry import map_browser_errors
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.identity_context import IdentityContext
from hatbox.engines.chromium.identity_indicator import ended_text, request_text
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.page_saving import save_site_data
from hatbox.engines.chromium.person_pages import bypass_service_workers
from hatbox.engines.chromium.running_browser import RunningBrowser
from hatbox.engines.chromium.sessions import within

__all__ = ["PersonWindow"]

_numbers = itertools.count(1)


class PersonWindow:
    """A page without a tab and without an opener. No client of an endpoint sees it or the pages that it opens."""

    def __init__(self, running: RunningBrowser, context: IdentityContext) -> None:
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """`done` or `refused`, the button that the person has pressed, or `closed`."""
        self._running = running
        self._context = context
        self._reason = f"person {next(_numbers)}"
        running.env.services.endpoint_pages.withhold(context.context_id, self._reason)  # before it has a page

    @classmethod
    async def open(cls, running: RunningBrowser, cookie_store_id: str, url: str, message: str) -> PersonWindow:
        """Open a window at a URL. It shows the message, as one of a program, and buttons for the answer."""
        with map_browser_errors():
            async with running.contexts.use(cookie_store_id) as context:
                window = cls(running, context)
                try:
                    await window._load(await context.new_page(), url, message)
                except BaseException:
                    await window.close()
                    raise
        return window

    async def _load(self, page: LivePage, url: str, message: str) -> None:
        self._add(page, self._set_answer)
        await bypass_service_workers(page)
        await page.world.show_request(request_text(message))
        page.load(url, 0)
        await within(page.page.bring_to_front())

    async def end(self) -> None:
        """Replace the pages by an empty one, and wait until the person closes it: see OpenPersonWindow.

        It is opened before the others are closed, so that no other page gets the focus.
        """
        closed = asyncio.Event()
        with map_browser_errors():
            page = await self._context.new_page()
            self._add(page, lambda _: closed.set())
            await page.world.show_request(ended_text())
            await within(page.page.bring_to_front())
        await self._close_pages(page)
        await closed.wait()

    async def close(self) -> None:
        """Close the page and those that it has opened, and wait until the profile has their cookies and site data."""
        self._set_answer("closed")
        context = self._context
        await self._close_pages()
        with contextlib.suppress(PlaywrightError):
            await context.cookies.wait_until_synced()
        self._running.env.services.endpoint_pages.release(context.context_id, self._reason)
        await self._running.contexts.close_if_empty(context)

    def _add(self, page: LivePage, on_answer: Callable[[str], None]) -> None:
        self._running.targets.person_pages.add(page.target_id)
        self._running.focus.person_page = page
        page.world.on_answer = on_answer
        page.page.on("close", log_exceptions(lambda _: on_answer("closed")))

    async def _close_pages(self, kept: LivePage | None = None) -> None:
        context, includes = self._context, self._running.targets.person_pages.includes
        with contextlib.suppress(PlaywrightError):
            while found := [
                each for each in context.pages if each is not kept and includes(each.target_id, each.opener_id)
            ]:
                for page in found:
                    page.is_closing = True
                    await save_site_data(context, page)
                    await context.close_page(page)

    def _set_answer(self, answer: str) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)
