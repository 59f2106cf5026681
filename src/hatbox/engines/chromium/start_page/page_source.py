"""The script of the start page: its files, joined into one expression. Pure text."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Final

from hatbox.identity.glyphs import glyph

__all__ = ["page_source"]

_FILES: Final = ("elements.js", "sections.js", "address.js", "page.js")
_GLYPHS: Final = {"CHECK": "ui-check", "CROSS": "ui-x", "PIN": "ui-pin", "WARN": "ui-warn"}


@cache
def page_source() -> str:
    """A JavaScript function expression: it takes the function that sends messages, and creates the start page."""
    folder = files(__package__)
    constants: dict[str, object] = {"CSS_TEXT": folder.joinpath("style.css").read_text("utf-8")}
    constants |= {name: glyph(symbol) for name, symbol in _GLYPHS.items()}
    parts = [f"const {name} = {json.dumps(value)};\n" for name, value in constants.items()]
    parts += [folder.joinpath(name).read_text("utf-8") for name in _FILES]
    return f'(post => {{\n"use strict";\n{"".join(parts)}\nreturn createPage(post);\n}})'
