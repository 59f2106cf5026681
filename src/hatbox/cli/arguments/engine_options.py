"""The options that select an engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from hatbox.cli.arguments.parameters import Option, bad_parameter
from hatbox.cli.terminal.terminal_text import visible
from hatbox.engines.registry import ENGINES, registration_of
from hatbox.engines.selection import EngineSelection

__all__ = ["BrowserOption", "EngineOption", "HeadlessOption", "NoIndicatorOption", "select_engine"]

EngineOption = Annotated[
    str | None,
    Option(
        "--engine",
        metavar="|".join(ENGINES),
        help="Engine that loads pages: chromium, or http (no browser, no scripts). "
        "Default: the running engine, or chromium.",
    ),
]
BrowserOption = Annotated[
    str | None,
    Option(
        "--browser",
        metavar="PATH",
        help="Path of the Chromium to start. Default: $HATBOX_CHROMIUM, or an installed browser.",
    ),
]
HeadlessOption = Annotated[bool, Option("--headless", help="Start the browser without windows.")]
NoIndicatorOption = Annotated[
    bool,
    Option("--no-indicator", help="Do not show the identity indicator (name, color and icon) on pages."),
]


def select_engine(
    engine: str | None,
    browser: str | None,
    *,
    headless: bool,
    no_indicator: bool,
    identities: Sequence[str] | None = None,
) -> EngineSelection:
    """The engine that the options select. Raises BadParameter for invalid combinations."""
    if engine is not None and engine not in ENGINES:
        raise bad_parameter(
            f"unknown engine: {visible(engine)}. Allowed values: {', '.join(ENGINES)}", param_hint="--engine"
        )
    if browser is not None and engine is not None and not registration_of(engine).HAS_WINDOWS:
        raise bad_parameter(f"{registration_of(engine).DISPLAY_NAME} starts no browser", param_hint="--browser")
    if browser == "":
        raise bad_parameter("must not be empty", param_hint="--browser")
    path = str(Path(browser).expanduser().absolute()) if browser and os.sep in browser else browser
    only = tuple(identities) if identities else None
    return EngineSelection(engine, browser=path, headless=headless, indicator=not no_indicator, identities=only)
