"""Serialization of stored values: structured clone or JSON.stringify(), and the size of the result.

Error messages and sizes match Firefox. Knows no store.
"""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hatbox.errors import ApiError
from hatbox.javascript.text import code_units, stringify
from hatbox.javascript.wire_codec import UNDEFINED, Opaque, ScriptFunction

__all__ = ["as_json", "clone_size", "cloned", "json_size", "stringified"]

_WORD: Final = 8  # bytes; SpiderMonkey pads everything in a structured clone to words
_MAX_INDEX: Final = 2**31 - 1
_TYPED_ARRAYS: Final = frozenset(
    f"{kind}Array"
    for kind in (
        *("Int8", "Uint8", "Uint8Clamped", "Int16", "Uint16", "Int32", "Uint32"),
        *("Float32", "Float64", "BigInt64", "BigUint64"),
    )
)


def cloned(value: Any) -> Any:
    """Return the value. Raises ApiError if it cannot be cloned."""
    if isinstance(value, ScriptFunction) or callable(value):
        raise ApiError("DataCloneError: Function object could not be cloned.")
    if isinstance(value, Opaque):
        if value.clone is None:
            raise ApiError(_not_cloned(type(value).__name__))
        cloned(value.clone)
    elif isinstance(value, Mapping):
        for item in value.values():
            cloned(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            cloned(item)
    return value


def _not_cloned(kind: str) -> str:
    return f"DataCloneError: {'The' if kind == 'Symbol' else kind} object could not be cloned."


def as_json(value: Any) -> Any:
    """The value after JSON.stringify(). A script's value has been serialized already, unless that failed there."""
    if value is UNDEFINED:
        return None
    if isinstance(value, Opaque):
        match type(value).__name__:
            case "_BigInt" | "BigInt":
                raise ApiError("BigInt value can't be serialized in JSON")
            case "Cycle":
                raise ApiError("cyclic object value")
            case "Symbol":
                raise ApiError("DataCloneError: The object could not be cloned.")
            case "Error" if value.clone is None:
                raise ApiError("An unexpected error occurred")  # toJSON() threw
    if isinstance(value, ScriptFunction) or callable(value):
        raise ApiError("DataCloneError: The object could not be cloned.")
    return stringified(value)


def stringified(value: Any) -> Any:
    """A clone after JSON.stringify(), with null for omitted values."""
    return None if _is_omitted(value) else _json(value)


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items() if not _is_omitted(item)}
    if isinstance(value, (list, tuple)):
        return [stringified(item) for item in value]
    if isinstance(value, Opaque):
        return _opaque_json(value)
    if isinstance(value, float):
        return None if not math.isfinite(value) else 0 if value == 0 else float(value)
    return value


def _is_omitted(value: Any) -> bool:
    return value is UNDEFINED or callable(value) or (isinstance(value, Opaque) and type(value).__name__ == "Symbol")


def _opaque_json(value: Opaque) -> Any:
    match type(value).__name__:
        case "Date":
            return _iso_date(value.clone)
        case "_BigInt":
            raise ApiError("BigInt value can't be serialized in JSON")
    return {}


def _iso_date(milliseconds: float) -> str | None:
    if not math.isfinite(milliseconds):
        return None
    try:
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
    return f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03}Z"


def json_size(value: Any) -> int:
    """The size of a value as JSON, in bytes."""
    return len(stringify(value).encode("utf-8", "surrogatepass"))


def clone_size(value: Any) -> int:
    """The size of Firefox's structured clone of a value, in bytes."""
    return _WORD + _size(value)


def _size(value: Any) -> int:
    if isinstance(value, str):
        return _text_size(value)
    if isinstance(value, Mapping):
        return 2 * _WORD + sum(_key_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return 2 * _WORD + sum(_WORD + _size(item) for item in value)
    if isinstance(value, Opaque):
        return _opaque_size(type(value).__name__, value.clone)
    return _WORD


def _opaque_size(kind: str, clone: Any) -> int:
    if kind == "Date":
        return 2 * _WORD
    if kind == "RegExp":
        return _WORD + _text_size(clone[0])
    if kind == "Map":
        return 2 * _WORD + sum(_size(key) + _size(item) for key, item in clone)
    if kind == "Set":
        return 2 * _WORD + sum(map(_size, clone))
    if kind == "_BigInt":
        return _WORD + _padded((abs(int(clone)).bit_length() + 7) // 8)
    if kind == "ArrayBuffer":
        return 2 * _WORD + _padded(len(b64decode(clone)))
    if kind in _TYPED_ARRAYS:
        return 5 * _WORD + _padded(len(b64decode(clone)))
    return 2 * _WORD + sum(map(_size, clone)) if isinstance(clone, list) else 2 * _WORD


def _text_size(text: str) -> int:
    wide = not text.isascii() and any(character > "\xff" for character in text)
    return _WORD + _padded(len(code_units(text)) if wide else len(text))


def _key_size(key: str) -> int:
    is_index = key.isdecimal() and key.isascii() and str(int(key)) == key and int(key) <= _MAX_INDEX
    return _WORD if is_index else _text_size(key)


def _padded(size: int) -> int:
    return -(-size // _WORD) * _WORD
