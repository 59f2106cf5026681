"""The options that select an engine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from hatbox.cli.terminal.terminal_text import visible
from hatbox.engines.selection import CHROMIUM, HTTP, EngineSelection

__all__ = ["BrowserOption", "EngineOption", "HeadlessOption", "NoIndicatorOption", "select_engine"]

_NAMES: Final = (CHROMIUM, HTTP)

EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="chromium|http",
        help="Engine that loads pages: chromium, or http (no browser, no scripts). "
        "Default: the running engine, or chromium.",
    ),
]
BrowserOption = Annotated[
    str | None,
    typer.Option(
        "--browser",
        metavar="PATH",
        help="Path of the Chromium to start. Default: $HATBOX_CHROMIUM, or an installed browser.",
    ),
]
HeadlessOption = Annotated[bool, typer.Option("--headless", help="Start the browser without windows.")]
NoIndicatorOption = Annotated[
    bool,
    typer.Option(
        "--no-indicator", help="Do not show the identity indicator (name, color and icon) in page titles and icons."
    ),
]


def select_engine(engine: str | None, browser: str | None, *, headless: bool, no_indicator: bool) -> EngineSelection:
    """The engine that the options select. Raises BadParameter for invalid combinations."""
    if engine is not None and engine not in _NAMES:
        raise typer.BadParameter(
            f"unknown engine: {visible(engine)}. Allowed values: {', '.join(_NAMES)}", param_hint="--engine"
        )
    if browser is not None and engine == HTTP:
        raise typer.BadParameter("the HTTP engine starts no browser", param_hint="--browser")
    if browser == "":
        raise typer.BadParameter("must not be empty", param_hint="--browser")
    path = str(Path(browser).expanduser().absolute()) if browser and os.sep in browser else browser
    return EngineSelection(requested=engine, browser=path, headless=headless, indicator=not no_indicator)
