"""The options that say which engine makes the tabs so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from hatbox.cli.engine_choice import CHROMIUM, HTTP, EngineSelection
from hatbox.cli.terminal.terminal_text import visible

__all__ = ["BrowserOption", "EngineOption", "HeadlessOption", "MarksOption", "chosen"]

_NAMES: Final = (CHROMIUM, HTTP)

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


def chosen(engine: str | None, browser: str | None, *, headless: bool, no_marks: bool) -> EngineSelection:
    """What the options ask for; what cannot be is wrong usage."""
    if engine is not None and engine not in _NAMES:
        raise typer.BadParameter(f"{visible(engine)} is not one of {', '.join(_NAMES)}", param_hint="--engine")
    if browser is not None and engine == HTTP:
        raise typer.BadParameter("the HTTP engine starts no browser", param_hint="--browser")
    if browser == "":
        raise typer.BadParameter("it is empty", param_hint="--browser")
    path = str(Path(browser).expanduser().absolute()) if browser and os.sep in browser else browser
    return EngineSelection(requested=engine, browser=path, headless=headless, marks=not no_marks)
