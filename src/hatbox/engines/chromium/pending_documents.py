"""Documents whose response has arrived and that no frame shows yet. A download, or a load that is stopped, never does.

A request that is paused in the meantime belongs to the old document or to the new one: its CDP loader id decides.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

import msgspec

__all__ = ["PendingDocuments"]

_WITHOUT_DOCUMENT: Final = (204, 205)
_MAX_REQUESTS: Final = 1000  # of one frame; the loader of others stays unknown until the document is shown


class _Pending(msgspec.Struct):
    loader_id: str
    url: str
    is_requested: dict[str, bool] = {}
    """By request id: whether the new document has sent the request. False: the old one."""


class PendingDocuments:
    """The pending documents of a browser, by the id of their frame. At most one for each frame."""

    def __init__(self) -> None:
        self._pending: dict[str, _Pending] = {}

    def on_event(self, name: str, event: dict[str, Any], frames: Container[str]) -> bool:
        """Handle a CDP event of one of these frames; whether it may decide about a request."""
        if name == "Network.requestWillBeSent":
            return self._on_request(event)
        if name == "Network.responseReceived" and event["type"] == "Document":
            frame_id = event.get("frameId", "")
            if frame_id in frames and event["response"]["status"] not in _WITHOUT_DOCUMENT:
                self._pending[frame_id] = _Pending(event["loaderId"], event["response"]["url"])
        elif name == "Network.loadingFailed" and event.get("type") == "Document":
            return self._fail(event["requestId"])
        return False

    def commit(self, frame_id: str, loader_id: str) -> None:
        """A frame shows the document of this loader."""
        pending = self._pending.get(frame_id)
        if pending is not None and pending.loader_id == loader_id:
            del self._pending[frame_id]

    def remove(self, frame_id: str) -> None:
        """A frame was removed."""
        self._pending.pop(frame_id, None)

    def is_undecided(self, frame_id: str, request_id: str | None) -> bool:
        """Whether a paused request may be one of the pending document of its frame, or not."""
        pending = self._pending.get(frame_id)
        return pending is not None and request_id not in pending.is_requested

    def url_of_request(self, frame_id: str, request_id: str | None) -> str | None:
        """The URL of the pending document if it has sent this request."""
        pending = self._pending.get(frame_id)
        return pending.url if pending is not None and pending.is_requested.get(request_id or "") else None

    def _on_request(self, event: dict[str, Any]) -> bool:
        pending = self._pending.get(event.get("frameId", ""))
        if pending is None or event.get("type") == "Document" or len(pending.is_requested) >= _MAX_REQUESTS:
            return False
        pending.is_requested[event["requestId"]] = event["loaderId"] == pending.loader_id
        return True

    def _fail(self, loader_id: str) -> bool:
        failed = [frame_id for frame_id, each in self._pending.items() if each.loader_id == loader_id]
        for frame_id in failed:
            del self._pending[frame_id]
        return bool(failed)
