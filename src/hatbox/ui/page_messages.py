"""Messages to a page. A result that is too large becomes an error of its call.

Otherwise the session would end, the page would open another one and send the call again, and so on.
"""

from __future__ import annotations

from typing import Any, Final

from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.outgoing_messages import OutgoingMessages
from hatbox.extensions.runtime.wire_frames import encode_frame
from hatbox.ui.page_session import PageSession

__all__ = ["PageMessages"]

_MIB: Final = 1 << 20
_SMALL_PART: Final = 16  # of the limit: smaller results are never refused


class PageMessages(OutgoingMessages):
    """See OutgoingMessages. `limit` is for the bytes of results that the page has not acknowledged."""

    def __init__(self, session: PageSession, limit: int) -> None:
        super().__init__(session)
        self._session = session
        self._limit = limit

    def _limited(self, messages: list[list[Any]], frame: bytes) -> bytes:
        room = self._limit - self._session.unacknowledged_bytes
        if len(frame) <= max(room, self._limit // _SMALL_PART):
            return frame
        limited = []
        for message in messages:
            size = len(encode_frame([message]))
            if message[0] == protocol.RESULT and size > self._limit // _SMALL_PART and size > room:
                limited.append([protocol.RESULT, message[1], False, _too_large(size)])
            else:
                room -= size
                limited.append(message)
        return encode_frame(limited)


def _too_large(size: int) -> str:
    return (
        f"The result has {max(1, round(size / _MIB))} MB, which is too large for this page. "
        "Use the command line for it, such as `hatbox export`."
    )
