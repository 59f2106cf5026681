"""JavaScript's view of values, where it is not Python's: white space, text, and how JSON.stringify() writes things."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["is_blank", "stringify", "well_formed"]

# What String.prototype.trim() takes away: not quite what str.strip() does.
_WHITE_SPACE: Final = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def is_blank(text: str) -> bool:
    """Whether trim() leaves nothing."""
    return not text.strip(_WHITE_SPACE)


def well_formed(text: str) -> str:
    """The text with each lone surrogate, which no file or terminal can hold, replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def stringify(value: Any) -> str:
    """What JSON.stringify() makes of a value, as a template string would show it."""
    return _json(value) or "undefined"


def _json(value: Any) -> str | None:
    """The value as JSON; None for what JSON.stringify() leaves out."""
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(_json(item) or 'null' for item in value)}]"
    if isinstance(value, Mapping):
        members = ((_json(str(key)), _json(item)) for key, item in value.items())
        return f"{{{','.join(f'{key}:{item}' for key, item in members if item is not None)}}}"
    if value is None or isinstance(value, (str, bool, int)):
        return json.dumps(value, ensure_ascii=False)
    return None if callable(value) else "{}"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "null"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent:
        return mantissa
    if -7 < int(exponent) < 0:  # JavaScript writes these out, Python does not
        return f"{value:.{len(mantissa.replace('.', '').lstrip('-')) - int(exponent) - 1}f}"
    return f"{mantissa}e{int(exponent):+d}"
