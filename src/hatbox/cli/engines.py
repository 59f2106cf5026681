"""Which engine makes the tabs so: the options that say it, and the engine that comes of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from hatbox.cli.text import visible
from hatbox.engines.runner import EngineRunner
from hatbox.profile import Profile

__all__ = ["BrowserOption", "Choice", "EngineOption", "HeadlessOption", "MarksOption", "chosen"]

_CHROMIUM: Final = "chromium"
_HTTP: Final = "http"
_NAMES: Final = (_CHROMIUM, _HTTP)

EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="chromium|http",
        help="Where the pages are: in Chromium, or, with http, in no browser at all: they are only asked for. "
        "Without it: the engine that runs, else chromium.",
    ),
]
BrowserOption = Annotated[
    str | None,
    typer.Option(
        "--browser",
        metavar="PATH",
        help="The Chromium to start. Without it: $HATBOX_CHROMIUM, else the one on this machine.",
    ),
]
HeadlessOption = Annotated[bool, typer.Option("--headless", help="Start the browser without windows.")]
MarksOption = Annotated[
    bool,
    typer.Option(
        "--no-marks", help="Leave the titles and icons of pages alone: nothing of them says whose the window is."
    ),
]


class Choice(msgspec.Struct, frozen=True):
    """An engine, as it was asked for."""

    asked: str | None = None
    """The engine's name, where somebody gave it."""
    browser: str | None = None
    headless: bool = False
    marks: bool = True

    @property
    def name(self) -> str:
        """The engine to start."""
        return self.asked or _CHROMIUM

    @property
    def has_windows(self) -> bool:
        """Whether a person sees it."""
        return self.name == _CHROMIUM and not self.headless

    @property
    def shown_name(self) -> str:
        """What it is called in sentences."""
        return "Chromium" if self.name == _CHROMIUM else "the HTTP engine"

    def runner(self, profile: Profile) -> EngineRunner:
        """The engine, to be entered."""
        if self.name == _HTTP:
            return profile.http_engine()
        return profile.chromium(headless=self.headless, browser=self.browser, marks=None if self.marks else False)

    def arguments(self) -> list[str]:
        """The options that ask for this engine once more."""
        return [
            f"--engine={self.name}",
            *([f"--browser={self.browser}"] if self.browser else []),
            *(["--headless"] if self.headless else []),
            *([] if self.marks else ["--no-marks"]),
        ]


def chosen(engine: str | None, browser: str | None, *, headless: bool, no_marks: bool) -> Choice:
    """What the options ask for; what cannot be is wrong usage."""
    if engine is not None and engine not in _NAMES:
        raise typer.BadParameter(f"{visible(engine)} is not one of {', '.join(_NAMES)}", param_hint="--engine")
    if browser is not None and engine == _HTTP:
        raise typer.BadParameter("the HTTP engine starts no browser", param_hint="--browser")
    if browser == "":
        raise typer.BadParameter("it is empty", param_hint="--browser")
    path = str(Path(browser).expanduser().absolute()) if browser and os.sep in browser else browser
    return Choice(asked=engine, browser=path, headless=headless, marks=not no_marks)
