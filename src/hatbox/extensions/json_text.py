"""JSON as Firefox reads it from the files of an extension: UTF-8, with `//` comments. Knows nothing of its meaning."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, Final, NoReturn

from hatbox.errors import ManifestError

__all__ = ["parse_json"]

# A string is matched whole, so that what looks like a comment inside it is none.
_STRING_OR_COMMENT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*', re.DOTALL)


def parse_json(file: str, contents: bytes) -> Any:
    """What the file of this name says; ManifestError, with line and column, if it is no JSON."""
    try:
        text = contents.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = contents.count(b"\n", 0, error.start) + 1
        raise ManifestError(file, "", f"line {line} is not UTF-8 text", "Save the file as UTF-8.") from None
    try:
        return _load(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ManifestError(file, "", f"it is not valid JSON: {error.msg}: {place}", "Correct the file.") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, NaN, or thousands of brackets
        raise ManifestError(file, "", "it is not valid JSON", "Correct the file.") from None


def _load(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError:  # most files have no comments, and looking for them takes longer than all the rest
        return json.loads(_without_comments(text), parse_constant=_refuse)


def _without_comments(text: str) -> str:
    """The same text with blanks for comments, so that every line and column stays where it was."""
    return _STRING_OR_COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else " " * len(found[0]), text)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
