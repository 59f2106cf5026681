"""The engine that a program selects, and its options. Starts nothing."""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ["CHROMIUM", "HTTP", "EngineSelection"]

CHROMIUM: Final = "chromium"
HTTP: Final = "http"


class EngineSelection(msgspec.Struct, frozen=True):
    """An engine by name, with its options. Without a name: the running engine, or Chromium."""

    requested: str | None = None
    """The name that the caller passed: chromium, http or None."""
    browser: str | None = None
    """The path of Chromium. None is $HATBOX_CHROMIUM, or an installed browser."""
    headless: bool = False
    indicator: bool = True
    """Whether pages show the name, color and icon of their identity."""

    @property
    def name(self) -> str:
        """The name of the engine to start."""
        return self.requested or CHROMIUM

    @property
    def is_headed(self) -> bool:
        """Whether the engine opens windows."""
        return self.name == CHROMIUM and not self.headless

    @property
    def display_name(self) -> str:
        """The name in sentences."""
        return "Chromium" if self.name == CHROMIUM else "the HTTP engine"
