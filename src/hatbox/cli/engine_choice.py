"""Which engine makes the tabs so, and the engine that comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from hatbox.engines.runner import EngineRunner
    from hatbox.profile import Profile

__all__ = ["CHROMIUM", "HTTP", "EngineSelection"]

CHROMIUM: Final = "chromium"
HTTP: Final = "http"


class EngineSelection(msgspec.Struct, frozen=True):
    """An engine, as it was asked for."""

    requested: str | None = None
    """The engine's name, where somebody gave it."""
    browser: str | None = None
    headless: bool = False
    marks: bool = True

    @property
    def name(self) -> str:
        """The engine to start."""
        return self.requested or CHROMIUM

    @property
    def has_windows(self) -> bool:
        """Whether a person sees it."""
        return self.name == CHROMIUM and not self.headless

    @property
    def shown_name(self) -> str:
        """What it is called in sentences."""
        return "Chromium" if self.name == CHROMIUM else "the HTTP engine"

    def runner(self, profile: Profile) -> EngineRunner:
        """The engine, to be entered."""
        if self.name == HTTP:
            return profile.http_engine()
        return profile.chromium(headless=self.headless, browser=self.browser, indicator=None if self.marks else False)

    def arguments(self) -> list[str]:
        """The options that ask for this engine once more."""
        return [
            f"--engine={self.name}",
            *([f"--browser={self.browser}"] if self.browser else []),
            *(["--headless"] if self.headless else []),
            *([] if self.marks else ["--no-marks"]),
        ]
