"""JavaScript text operations that differ from Python: white space, UTF-16, and JSON.stringify()."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, cast

__all__ = ["MAX_SAFE_INTEGER", "code_units", "is_blank", "stringify", "well_formed"]

MAX_SAFE_INTEGER: Final = 2**53 - 1

# The characters that String.prototype.trim() removes, which differ from those of str.strip().
_WHITE_SPACE: Final = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def is_blank(text: str) -> bool:
    """Whether trim() returns an empty string."""
    return not text.strip(_WHITE_SPACE)


def well_formed(text: str) -> str:
    """The text as a plain str, with U+FFFD for lone surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return str.__str__(text)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def code_units(text: str) -> bytes:
    """A key that sorts text as JavaScript does: by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def stringify(value: Any) -> str:
    """The result of JSON.stringify() in a template string."""
    try:
        return _json(value) or "undefined"
    except RecursionError:  # JSON.stringify() fails here too; the value is invalid anyway
        return "[object Object]"


def _json(value: Any) -> str | None:
    """The value as JSON; None for values that JSON.stringify() omits."""
    if isinstance(value, float) or (isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER):
        return _number(value)
    if isinstance(value, str):
        text = json.dumps(_paired(value), ensure_ascii=False)
        return _LONE_SURROGATE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", text)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(_json(item) or 'null' for item in value)}]"
    if isinstance(value, Mapping):
        members = ((_json(str(key)), _json(item)) for key, item in value.items())
        return f"{{{','.join(f'{key}:{item}' for key, item in members if item is not None)}}}"
    if value is None or isinstance(value, (bool, int)):
        return json.dumps(value)
    return None if callable(value) else "{}"


def _paired(text: str) -> str:
    """The text with each surrogate pair as one character."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _number(value: float) -> str:
    """A number as JavaScript writes it: the shortest digits that round-trip."""
    try:
        value = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(value):
        return "null"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + cast(int, exponent)
    minus = "-" if sign and value else ""
    if len(text) <= point <= 21:
        return f"{minus}{text}{'0' * (point - len(text))}"
    if 0 < point <= 21:
        return f"{minus}{text[:point]}.{text[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    return f"{minus}{text[0]}{'.' if text[1:] else ''}{text[1:]}e{point - 1:+d}"
