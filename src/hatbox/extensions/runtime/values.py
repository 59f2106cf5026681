"""JavaScript values that JSON has no word for, on their way through the pipe. values.js is the other half.

    {"\\0": [kind, detail]}     undefined: ["undefined"]; NaN, Infinity, -Infinity, -0: ["number", text];
                               a bigint: ["bigint", text]; a function: ["function"]; any other object that is not
                               plain: ["object", class, clone], with a clone where structured cloning has one

A key of a script's own that begins with NUL gets one NUL more, and keeps it here. Plain JSON costs nothing. The values
below look to `hatbox.schema` as what they are, and go back to a script as what they were.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

__all__ = ["UNDEFINED", "Opaque", "ScriptFunction", "encode_special", "revive"]

_KEY: Final = "\0"


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


@lru_cache(maxsize=256)
def _opaque_class(name: str) -> type[Opaque]:
    return type(name, (Opaque,), {})


def revive(value: Any) -> Any:
    """The value with what was encoded as special made whole."""
    if type(value) is list:
        return [revive(item) for item in value]
    if type(value) is dict:
        if len(value) == 1 and _KEY in value:
            return _special(value[_KEY])
        return {key: revive(item) for key, item in value.items()}
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
            return _opaque_class(name[:64])(revive(clone))
    return None  # nothing that our own half writes


def encode_special(value: Any) -> Any:
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
