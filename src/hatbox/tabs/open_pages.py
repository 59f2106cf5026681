"""The pages that engines of this process have open, for calls that need a real page. Not stored in the profile."""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

__all__ = ["CaptureRect", "OpenPages", "PageAccess", "PageCapture"]


class CaptureRect(msgspec.Struct, frozen=True):
    """An area of a document, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float


class PageCapture(msgspec.Struct, frozen=True):
    """How to capture a page."""

    format: Literal["png", "jpeg"] = "png"
    quality: int = 92
    """Of a JPEG image, from 0 to 100."""
    rect: CaptureRect | None = None
    """The area; None for what is visible."""
    scale: float | None = None
    """Pixels of the image for a CSS pixel; None for those of the device."""


class PageAccess(Protocol):
    """The pages of one engine."""

    def has_page(self, tab_id: int) -> bool:
        """Whether it has a page for this tab."""

    async def capture(self, tab_id: int, capture: PageCapture) -> bytes:
        """An image of the page of a tab. Raises EngineError."""

    async def move_in_history(self, tab_id: int, steps: int) -> None:
        """Request the page so many steps ahead in the history of a tab, if it exists. Raises EngineError."""


class OpenPages:
    """The engines of this process that have pages."""

    def __init__(self) -> None:
        self._engines: list[PageAccess] = []

    def attach(self, engine: PageAccess) -> None:
        """Add an engine that has started."""
        self._engines.append(engine)

    def detach(self, engine: PageAccess) -> None:
        """Remove an engine. Has no effect if it was not added."""
        self._engines = [each for each in self._engines if each is not engine]

    def find(self, tab_id: int) -> PageAccess | None:
        """The engine that has the page of a tab."""
        return next((each for each in self._engines if each.has_page(tab_id)), None)
