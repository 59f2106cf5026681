"""Error messages for manifests: what is wrong, with the value, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from hatbox.errors import ManifestError
from hatbox.javascript.text import stringify
from hatbox.schema.types import Path, ValidationError

__all__ = ["describe", "dotted", "invalid", "manifest_error", "shown"]

_MAX_SHOWN: Final = 60
_TYPES: Final = {
    "string": ("is not text", "Write text in double quotes."),
    "boolean": ("is neither true nor false", "Write true or false, without quotes."),
    "integer": ("is not a whole number", "Write a whole number, without quotes."),
    "array": ("is not a list", "Write a list in square brackets."),
    "object": ("is not an object", "Write an object in braces."),
}


def manifest_error(error: ValidationError, file: str) -> ManifestError:
    """The error for the user."""
    path, problem, remedy = _message(error)
    return ManifestError(file, dotted(path), problem, remedy)


def describe(error: ValidationError) -> tuple[Path, str]:
    """The path and the problem."""
    path, problem, _ = _message(error)
    return path, problem


def invalid(problem: str, remedy: str) -> ValidationError:
    """An error with a message of its own."""
    return ValidationError(problem, problem, code="invalid", detail=remedy)


def shown(value: Any) -> str:
    """A value in a message, shortened if it is long."""
    written = stringify(value)
    return written if len(written) <= _MAX_SHOWN else f"{written[:_MAX_SHOWN]}…"


def dotted(path: Path) -> str:
    """background.scripts[1]"""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _message(error: ValidationError) -> tuple[Path, str, str]:
    path = error.path
    if error.code in _TYPES:
        problem, remedy = _TYPES[error.code]
        return path, f"{shown(error.value)} {problem}", remedy
    match error.code:
        case "choices":
            inner, problem, remedy = _message(_closest(error.detail))
            return (*path, *inner), problem, remedy
        case "enum":
            return path, f"{shown(error.value)} is not possible here", f"Write {_listed(error.detail)}."
        case "required":
            return (*path, error.detail), "it is missing", "Add it."
        case "minItems":
            return path, "the list is empty", "Add an item, or remove the key."
        case "unexpected":
            return (*path, error.detail[0]), "this key is not known here", "Remove it."
        case "key":
            return path, "this key is not possible here", error.detail
        case "unknown":
            return path, "Firefox does not know this key", "Remove it."
        case "otherVersion":
            return path, f"manifest version {error.value['otherVersion']} does not have this", "Remove it."
    return path, error.problem, error.detail


def _closest(choices: list[ValidationError]) -> ValidationError:
    """The error of the choice with the type of the value."""
    return next((each for each in choices if each.path or each.code not in _TYPES), choices[0])


def _listed(names: Iterable[str]) -> str:
    *others, last = (f'"{name}"' for name in names)
    return f"{', '.join(others)} or {last}" if others else last
