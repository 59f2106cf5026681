"""Injects scripts and style sheets into the frames that the API has chosen, and returns one result for each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from playwright.async_api import Error as PlaywrightError

from hatbox.api.content_script_host import FrameResult, Injection
from hatbox.errors import ApiError
from hatbox.extensions.content_scripts.document_bridge import DocumentBridge
from hatbox.extensions.content_scripts.extension_world import ExtensionWorld
from hatbox.extensions.content_scripts.page_frames import PageFrame, WorldContext
from hatbox.extensions.content_scripts.script_injection import evaluate_in_frame, open_world, wait_for_run_at
from hatbox.extensions.content_scripts.style_sheets import StyleSheets

__all__ = ["FrameInjections"]

logger = logging.getLogger("hatbox.extensions")

_BridgeOf = Callable[[PageFrame, WorldContext, ExtensionWorld], DocumentBridge]
_Allows = Callable[[PageFrame, Injection], bool]


class FrameInjections:
    """Injects. `bridge_of` returns the bridge of a world in a document.

    A frame may load another document at any time, so `allows` is called again for the document that a script or style
    sheet is injected into.
    """

    def __init__(self, bridge_of: _BridgeOf, allows: _Allows) -> None:
        self.style_sheets = StyleSheets()
        self._bridge_of = bridge_of
        self._allows = allows

    def choose(
        self, frames: Sequence[PageFrame], injection: Injection, bridges: Iterable[DocumentBridge]
    ) -> list[PageFrame]:
        """The frames of an injection. Raises ApiError for frames and documents that do not exist."""
        if injection.frame_ids is not None:
            known = {frame.number for frame in frames}
            if missing := [number for number in injection.frame_ids if number not in known]:
                raise ApiError(f"Invalid frame IDs: [{', '.join(map(str, missing))}].")
            return [frame for frame in frames if frame.number in injection.frame_ids]
        if injection.document_ids is None:
            return [*frames]
        found = {
            bridge.extension_context.document_id: bridge.frame
            for bridge in bridges
            if bridge.world.extension.id == injection.extension_id and bridge.frame in frames
        }
        for document_id in injection.document_ids:
            if document_id not in found:
                raise ApiError(f"Invalid documentId: {document_id}")
        chosen = [found[each] for each in injection.document_ids]
        return [frame for frame in frames if frame in chosen]

    async def execute(
        self, world: ExtensionWorld, frames: Sequence[PageFrame], injection: Injection
    ) -> list[FrameResult]:
        """Run scripts; the results of the documents that have not ended."""
        results = await asyncio.gather(*(self._execute_in(frame, world, injection) for frame in frames))
        return [result for result in results if result is not None]

    async def insert_css(self, world: ExtensionWorld, frames: Sequence[PageFrame], injection: Injection) -> int:
        """Insert style sheets; the number of frames."""
        await asyncio.gather(*(self._change_css(frame, world, injection, remove=False) for frame in frames))
        return len(frames)

    async def remove_css(self, world: ExtensionWorld, frames: Sequence[PageFrame], injection: Injection) -> int:
        """Remove style sheets; the number of frames."""
        await asyncio.gather(*(self._change_css(frame, world, injection, remove=True) for frame in frames))
        return len(frames)

    async def _execute_in(self, frame: PageFrame, world: ExtensionWorld, injection: Injection) -> FrameResult | None:
        try:
            unique_id = await open_world(frame, world, world.empty_runner())
            await wait_for_run_at(frame, world, unique_id, injection.run_at)
            context = frame.contexts[world.names.world]
            # The evaluation names the context, so it fails if the frame loads another document after this check.
            if context.unique_id != unique_id or not self._allows(frame, injection):
                return None
            bridge = self._bridge_of(frame, context, world)
            document_id = bridge.extension_context.document_id
            return await evaluate_in_frame(frame, world, unique_id, document_id, injection)
        except (PlaywrightError, KeyError) as error:  # the document has ended
            logger.debug("executeScript: %s", error)
            return None

    async def _change_css(self, frame: PageFrame, world: ExtensionWorld, injection: Injection, *, remove: bool) -> None:
        for source in injection.sources:
            text = world.style_text(source)
            if text is None:
                raise ApiError("An unexpected error occurred")  # as in Firefox
            try:
                if remove:
                    await self.style_sheets.remove(frame, injection.extension_id, text)
                else:
                    allows = partial(self._allows, frame, injection)
                    await self.style_sheets.insert(frame, injection.extension_id, text, allows)
            except PlaywrightError as error:  # the document has ended
                logger.debug("insertCSS: %s", error)
