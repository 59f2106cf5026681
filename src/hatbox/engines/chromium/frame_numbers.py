"""The frameId of a frame in webRequest, webNavigation and content scripts, derived from its id in CDP.

Several CDP sessions observe the same frames. A frame keeps its CDP id when it moves to another process.
"""

from __future__ import annotations

from typing import Final

__all__ = ["frame_number"]

_DIGITS: Final = 12  # hexadecimal; JavaScript represents 48 bits exactly


def frame_number(frame_id: str, *, is_main: bool) -> int:
    """The frameId: 0 for the main frame of a page, otherwise a positive number."""
    return 0 if is_main else int(frame_id[:_DIGITS], 16) or 1
