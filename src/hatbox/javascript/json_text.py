"""JSON as JavaScript reads and writes it: with lone surrogates, which msgspec rejects, and numbers of 53 bits."""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["decode_javascript_json", "encode_javascript_json"]

_EXACT_DIGITS: Final = 15


def decode_javascript_json(data: bytes) -> Any:
    """Decode JSON. Raises ValueError, or RecursionError if it is nested too deeply."""
    return json.loads(data.decode(), parse_int=_integer, parse_constant=_refuse)


def encode_javascript_json(value: Any) -> bytes:
    """Encode JSON, in ASCII if a lone surrogate must be escaped. Raises ValueError for NaN and infinities."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _integer(text: str) -> float:
    """A zero has a sign, and what needs more than 53 bits is rounded."""
    return float(text) if len(text) > _EXACT_DIGITS or text == "-0" else int(text)


def _refuse(name: str) -> float:
    raise ValueError(f"not JSON: {name}")
