"""The targets of a browser, and the position of a frame in its page. Contains no commands."""

from __future__ import annotations

import msgspec

__all__ = ["FramePath", "Target"]


class Target(msgspec.Struct):
    """A page, an out-of-process frame, or a worker."""

    id: str
    kind: str
    url: str
    context_id: str
    opener_id: str | None
    parent_frame_id: str | None
    session_id: str = ""
    is_ready: bool = False
    """Whether its events are received."""


class FramePath(msgspec.Struct, frozen=True):
    """A frame and its ancestors."""

    target: Target
    """The page, or the worker if it belongs to no page."""
    frames: tuple[tuple[int, str], ...] = ()
    """Number and URL of the frame and of its ancestors up to the main frame, which has number 0."""

    @property
    def document_url(self) -> str | None:
        """The URL of the document. A frame without an http URL (about:blank, srcdoc) has that of its parent."""
        urls = (url for _, url in self.frames) if self.frames else iter([self.target.url])
        return next((url for url in urls if url.startswith("http")), None)
