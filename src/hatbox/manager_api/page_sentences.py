"""Messages as sentences. Those of commands follow "hatbox: ", those of the page stand alone."""

from __future__ import annotations

import re
from typing import Final

from hatbox.errors import ApiError, HatboxError

__all__ = ["error_sentence", "sentence"]

_WORD: Final = re.compile(r"[a-z]+[ ,]")  # not a file, an id or a host


def error_sentence(error: HatboxError) -> str:
    """What the page shows about an error. An ApiError is a sentence already, which may start with a name."""
    return error.page_message if isinstance(error, ApiError) else sentence(error.page_message)


def sentence(text: str) -> str:
    """The text with a capital letter, if it starts with a word."""
    return text[0].upper() + text[1:] if _WORD.match(text) else text
