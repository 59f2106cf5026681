"""JavaScript values that JSON has no word for, on their way through a pipe or into a store.

extensions/runtime/js/values.js is the other half.

    {"\\0": [kind, detail]}     undefined: ["undefined"]; NaN, Infinity, -Infinity, -0: ["number", text];
                               a bigint: ["bigint", text]; a function: ["function"]; any other object that is not
                               plain: ["object", class, clone], with a clone where structured cloning has one

A key of a script's own that begins with NUL gets one NUL more, and keeps it here. Plain JSON costs nothing. The values
below look to `hatbox.schema` as what they are, and go back to a script as what they were.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

import msgspec

from hatbox.text_cache import cache_short_texts

__all__ = ["UNDEFINED", "Opaque", "ScriptFunction", "decode", "encode", "without_undefined"]

_KEY: Final = "\0"
_MARK: Final = b'"\\u0000'  # how the key of a special value begins; nothing else costs a second look
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


class _Undefined:
    """JavaScript's undefined, where it stood inside a value. What a function was not given is not there at all."""

    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = _Undefined()


class ScriptFunction:
    """A function of the script. It cannot be called from here; that there is one is all that is known."""

    def __call__(self, *_: Any) -> None:
        """Do nothing: only what is callable counts as a function."""


class Opaque:
    """An object of JavaScript that is not a plain one; its Python class has the name of the JavaScript class."""

    def __init__(self, clone: Any = None) -> None:
        self.clone = clone


class _BigInt(Opaque):
    pass


class _Number(float):
    """A number that JSON cannot write."""


@cache_short_texts(256)
def _opaque_class(name: str) -> type[Opaque]:
    return type(name, (Opaque,), {})


def encode(value: Any) -> bytes:
    """A value as JSON, with marks."""
    try:
        return _encode(value)
    except UnicodeEncodeError:  # half a pair of surrogates
        return json.dumps(_marked(value), allow_nan=False, separators=(",", ":")).encode("ascii")


def decode(payload: bytes) -> Any:
    """What encode(), or its other half, was given. ValueError or RecursionError if it is no JSON."""
    value = _parse(payload)
    return _revive(value) if _MARK in payload else value


def without_undefined(value: Any) -> Any:
    """The value as Python says it: None for what JavaScript calls undefined."""
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
        if _SURROGATE.search(payload):  # half a pair is no text to msgspec, but it is to JavaScript
            return json.loads(payload, parse_constant=_refuse)
        raise


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _revive(value: Any) -> Any:
    """The value with what was encoded as special made whole."""
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
    return None  # nothing that our own half writes


def _special_mark(value: Any) -> Any:
    """What stands for a special value in JSON; for msgspec, which asks about all that it does not know."""
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
    raise NotImplementedError(f"{type(value).__name__} is nothing that a script can be given")


def _number_text(value: float) -> str:
    if value != value:
        return "NaN"
    return "-0" if value == 0 else "Infinity" if value > 0 else "-Infinity"


def _marked(value: Any) -> Any:
    """The value with a mark in the place of everything special."""
    if isinstance(value, (list, tuple)):
        return [_marked(item) for item in value]
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    if value is None or isinstance(value, (str, int)) or type(value) is float:
        return value
    return _marked(_special_mark(value))


_encode = msgspec.json.Encoder(enc_hook=_special_mark).encode
_decode = msgspec.json.Decoder().decode
