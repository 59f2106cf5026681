"""The frames of a tab. Those of other pages than Chromium's in this process are not known, except the main frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from hatbox.api.content_script_registry import ContentScriptRegistry
from hatbox.errors import ApiError
from hatbox.store.base import Transaction

__all__ = ["MAIN_FRAME", "NO_PARENT", "FrameDetails", "all_frames", "choose_frame", "main_frame"]

MAIN_FRAME: Final = 0
NO_PARENT: Final = -1


class FrameDetails(NamedTuple):
    """The result of webNavigation.getFrame()."""

    tab_id: int
    frame_id: int
    parent_frame_id: int
    url: str


def main_frame(transaction: Transaction, tab_id: int) -> FrameDetails:
    """The main frame of a tab, as the profile knows it."""
    row = transaction.tabs.get(tab_id)
    if row is None:
        raise ApiError(f"Invalid tab ID: {tab_id}")
    return FrameDetails(tab_id, MAIN_FRAME, NO_PARENT, row.url)


async def all_frames(engines: ContentScriptRegistry, main: FrameDetails) -> list[FrameDetails]:
    """The frames of a tab: the main frame, and those that its engine knows."""
    host = engines.find_host(main.tab_id)
    try:
        found = [] if host is None else await host.frames(main.tab_id)
    except ApiError:  # its page was closed meanwhile
        found = []
    others = [FrameDetails(main.tab_id, *frame) for frame in found if frame.frame_id != MAIN_FRAME]
    return [main, *others]


def choose_frame(frames: Iterable[FrameDetails], frame_id: int) -> FrameDetails:
    """The frame with this id."""
    for frame in frames:
        if frame.frame_id == frame_id:
            return frame
    raise ApiError(f"No frame found with frameId: {frame_id}")
