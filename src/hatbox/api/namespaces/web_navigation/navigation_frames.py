"""The frames of a tab. Only main frames are reported."""

from __future__ import annotations

from typing import Final, NamedTuple

from hatbox.errors import ApiError
from hatbox.store.base import Transaction

__all__ = ["MAIN_FRAME", "NO_PARENT", "FrameDetails", "get_all_frames", "get_frame"]

MAIN_FRAME: Final = 0
NO_PARENT: Final = -1


class FrameDetails(NamedTuple):
    """The result of webNavigation.getFrame()."""

    tab_id: int
    frame_id: int
    parent_frame_id: int
    url: str


def get_all_frames(transaction: Transaction, tab_id: int) -> list[FrameDetails]:
    """The frames of a tab."""
    row = transaction.tabs.get(tab_id)
    if row is None:
        raise ApiError(f"Invalid tab ID: {tab_id}")
    return [FrameDetails(tab_id, MAIN_FRAME, NO_PARENT, row.url)]


def get_frame(transaction: Transaction, tab_id: int, frame_id: int) -> FrameDetails:
    """One frame of a tab."""
    for frame in get_all_frames(transaction, tab_id):
        if frame.frame_id == frame_id:
            return frame
    raise ApiError(f"No frame found with frameId: {frame_id}")
