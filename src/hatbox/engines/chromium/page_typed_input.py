"""Typed text in one page: reads it, and fills in saved typed text."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Final

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame
from playwright.async_api import Page as PlaywrightPage

from hatbox.engines.chromium.isolated_world import IsolatedWorld
from hatbox.engines.chromium.navigation_state import NavigationState
from hatbox.engines.chromium.page_storage import origin_of
from hatbox.engines.chromium.sessions import within
from hatbox.engines.chromium.typed_input import OTHER_SITE, Form, TypedInput, parse_typed_input

__all__ = ["PageTypedInput"]

logger = logging.getLogger("hatbox.engines.chromium")

_FRAME_TIMEOUT: Final = 0.5
_FILL_TIMEOUT: Final = 20.0
_MAX_FRAMES: Final = 20
_HAS_TEXT: Final = """() => [...document.querySelectorAll("input, textarea")].slice(0, 1000).some(
    (field) => !["hidden", "checkbox", "radio"].includes(field.type) && field.value !== field.defaultValue)"""


class PageTypedInput:
    """Reads and fills the forms of a page. `on_filled` is called when no saved typed text is left to fill in."""

    def __init__(
        self, page: PlaywrightPage, world: IsolatedWorld, state: NavigationState, on_filled: Callable[[], None]
    ) -> None:
        self.unfilled: list[Form] = []
        """Saved typed text that is not filled in yet."""
        self._page = page
        self._world = world
        self._state = state
        self._on_filled = on_filled
        self._is_filling = False
        self._has_cross_site_frames = False

    @property
    def is_possible(self) -> bool:
        """Whether the user may have typed into the page."""
        return self._world.is_typed_into or self._has_cross_site_frames

    async def read(self) -> TypedInput:
        """The typed text of the page."""
        typed = parse_typed_input(await self._world.typed()) if self._world.is_typed_into else TypedInput()
        if self._has_cross_site_frames and (count := await self._count_cross_site_frames()):
            typed = TypedInput(typed.forms, {**typed.lost, OTHER_SITE: count})
        return typed

    def fill_later(self, forms: Sequence[Form]) -> None:
        """Fill in these forms when their documents have loaded."""
        self.unfilled, self._is_filling = [*forms], False

    async def fill(self, origin: str, world: str | None = None) -> None:
        """Fill in the forms of a document that has loaded."""
        forms = [form for form in self.unfilled if origin == "null" or form.url.startswith(f"{origin}/")]
        if not forms or not await self._world.fill(forms, world) or self._is_filling or not self.unfilled:
            return
        self._is_filling = True
        await asyncio.sleep(_FILL_TIMEOUT)
        self.abandon()

    def on_form_filled(self, url: str, frame_path: list[int]) -> None:
        """All fields of a form are filled in."""
        self.unfilled = [form for form in self.unfilled if (form.url, form.frame_path) != (url, frame_path)]
        if not self.unfilled:
            self._is_filling = False
            self._on_filled()

    def abandon(self) -> None:
        """Stop filling, if it has started: the page is unloaded, or has no such fields."""
        if self._is_filling:
            count = sum(len(form.fields) for form in self.unfilled)
            logger.warning(
                "tab %s: typed text could not be filled in: up to %d fields not found",
                self._state.tab_id,
                count,
            )
            self.unfilled, self._is_filling = [], False
            self._on_filled()

    def on_cross_site_frame(self) -> None:
        """The page has a frame that the isolated world does not reach."""
        self._has_cross_site_frames = True

    def on_document_replaced(self) -> None:
        """The frames of the previous document are removed."""
        self._has_cross_site_frames = False

    async def _count_cross_site_frames(self) -> int:
        """The number of cross-site frames that seem to have typed text."""
        if await self._world.evaluate_in_main_frame("navigator.userActivation.hasBeenActive") is not True:
            return 0
        known = {origin_of(self._state.page.url), *self._world.origins}
        frames = [each for each in self._page.frames if (origin := origin_of(each.url)) and origin not in known]
        return sum(await asyncio.gather(*map(_has_text, frames[:_MAX_FRAMES])))


async def _has_text(frame: Frame) -> bool:
    with contextlib.suppress(PlaywrightError):
        return await within(frame.evaluate(_HAS_TEXT), seconds=_FRAME_TIMEOUT) is True
    return False
