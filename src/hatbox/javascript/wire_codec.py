"""Encodes JavaScript values that JSON cannot represent, for the bridge and the store.

extensions/runtime/js/values.js is the JavaScript half.

    {"\\0": [kind, detail]}     undefined: ["undefined"]; NaN, Infinity, -Infinity, -0: ["number", text];
                               a bigint: ["bigint", text]; a function: ["function"]; any other object that is not
                               plain: ["object", class, clone], with a clone where structured cloning has one

A key of a script that starts with NUL gets a second NUL, also in Python. Plain JSON has no overhead. The classes below
pass the checks of `hatbox.schema` as their JavaScript types, and are decoded to the original values in a script.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

import msgspec

from hatbox.text_cache import cache_short_texts

__all__ = ["UNDEFINED", "Opaque", "ScriptFunction", "decode", "encode", "without_undefined"]

_KEY: Final = "\0"
_MARK: Final = b'"\\u0000'  # the start of an encoded special value
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


class _Undefined:
    """JavaScript's undefined inside a value. Missing arguments are not encoded."""

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = _Undefined()


class ScriptFunction:
    """A function of the script. Python cannot call it."""

    def __call__(self, *_: Any) -> None:
        """Do nothing. The schema checks only that it is callable."""


class Opaque:
    """A JavaScript object that is not a plain object. Its Python class has the name of the JavaScript class."""

    def __init__(self, clone: Any = None) -> None:
        self.clone = clone


class _BigInt(Opaque):
    pass


class _Number(float):
    """A number that JSON cannot represent."""


@cache_short_texts(256)
def _opaque_class(name: str) -> type[Opaque]:
    return type(name, (Opaque,), {})


def encode(value: Any) -> bytes:
    """Encode a value as JSON."""
    try:
        return _encode(value)
    except UnicodeEncodeError:  # a lone surrogate
        return json.dumps(_marked(value), allow_nan=False, separators=(",", ":")).encode("ascii")


def decode(payload: bytes) -> Any:
    """Decode a value. Raises ValueError or RecursionError for invalid JSON."""
    value = _parse(payload)
    return _revive(value) if _MARK in payload else value


def without_undefined(value: Any) -> Any:
    """The value with None for undefined."""
    if value is UNDEFINED:
        return None
    if type(value) is list:
        return [without_undefined(item) for item in value]
    if type(value) is dict:
        return {key: without_undefined(item) for key, item in value.items()}
    return value


def _parse(payload: bytes) -> Any:
    try:
        return _decode(payload)
    except msgspec.DecodeError:
        if _SURROGATE.search(payload):  # msgspec rejects lone surrogates, JavaScript allows them
            return json.loads(payload, parse_constant=_refuse)
        raise


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _revive(value: Any) -> Any:
    """The value with special values decoded."""
    if type(value) is list:
        return [_revive(item) for item in value]
    if type(value) is dict:
        if len(value) == 1 and _KEY in value:
            return _special(value[_KEY])
        return {key: _revive(item) for key, item in value.items()}
    return value


def _special(encoded: Any) -> Any:
    match encoded:
        case ["undefined"]:
            return UNDEFINED
        case ["number", ("NaN" | "Infinity" | "-Infinity" | "-0") as text]:
            return _Number(text)
        case ["bigint", str(digits)]:
            return _BigInt(digits)
        case ["function"]:
            return ScriptFunction()
        case ["object", str(name), clone]:
            return _opaque_class(name[:64])(_revive(clone))
    return None  # not written by the JavaScript half


def _special_mark(value: Any) -> Any:
    """The JSON form of a special value. msgspec calls it for types that it does not know."""
    if value is UNDEFINED:
        return {_KEY: ["undefined"]}
    if isinstance(value, _Number):
        return {_KEY: ["number", _number_text(value)]}
    if isinstance(value, _BigInt):
        return {_KEY: ["bigint", value.clone]}
    if isinstance(value, ScriptFunction):
        return {_KEY: ["function"]}
    if isinstance(value, Opaque):
        return {_KEY: ["object", type(value).__name__, value.clone]}
    raise NotImplementedError(f"{type(value).__name__} cannot be passed to a script")


def _number_text(value: float) -> str:
    if value != value:
        return "NaN"
    return "-0" if value == 0 else "Infinity" if value > 0 else "-Infinity"


def _marked(value: Any) -> Any:
    """The value with the JSON form of special values."""
    if isinstance(value, (list, tuple)):
        return [_marked(item) for item in value]
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    if value is None or isinstance(value, (str, int)) or type(value) is float:
        return value
    return _marked(_special_mark(value))


_encode = msgspec.json.Encoder(enc_hook=_special_mark).encode
_decode = msgspec.json.Decoder().decode
