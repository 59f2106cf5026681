"""Messages with half a surrogate pair, such as half an emoji. JavaScript has such strings; decoders refuse them.

Only for messages that could not be decoded: the others are not searched.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["decodable"]

_MAX_ESCAPES: Final = 1_000_000  # of surrogates, paired ones included
_HIGH: Final = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
# Both alternatives start with the same characters, so that the search for them is fast.
_LONE: Final = re.compile(rf"\\u[dD](?:[89abAB][0-9a-fA-F]{{2}}(?!{_LOW})|(?<!{_HIGH}\\u[dD])[c-fC-F][0-9a-fA-F]{{2}})")
_BACKSLASH, _PLACEHOLDER = r"\\", "\0\0"  # escaped, so that it is no start of an escape; JSON never contains \0


def decodable(text: str) -> str:
    r"""The JSON text with \ufffd for each escape of half a surrogate pair. With too many, the text as it is."""
    if "\0" in text or not 0 < text.count(r"\ud") + text.count(r"\uD") <= _MAX_ESCAPES:
        return text
    return _LONE.sub(r"\\ufffd", text.replace(_BACKSLASH, _PLACEHOLDER)).replace(_PLACEHOLDER, _BACKSLASH)
