"""Parses the JSON files of an extension as Firefox does: UTF-8, with `//` comments."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, Final, NoReturn

from hatbox.errors import ManifestError

__all__ = ["MAX_BYTES", "parse_json"]

MAX_BYTES: Final = 2 * 2**20
"""Maximum size of a file: ten times the largest of public extensions. Parsing blocks the event loop."""

# Strings are matched whole, so that `//` inside is not a comment. Possessive quantifiers prevent backtracking, which
# would take quadratic time on unclosed strings.
_STRING_OR_COMMENT: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|//[^\n]*+', re.DOTALL)
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(file: str, contents: bytes) -> Any:
    """Parse a file. Raises ManifestError, with line and column, for invalid JSON."""
    if len(contents) > MAX_BYTES:
        raise ManifestError(file, "", f"it is larger than {MAX_BYTES >> 20} MiB", "Make it smaller.")
    try:
        text = contents.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = contents.count(b"\n", 0, error.start) + 1
        raise ManifestError(file, "", f"line {line} is not UTF-8 text", "Save the file as UTF-8.") from None
    try:
        value = _load(text)
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise ManifestError(file, "", f"it is not valid JSON: {error.msg}: {position}", "Correct the file.") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, NaN, or thousands of brackets
        raise ManifestError(file, "", "it is not valid JSON", "Correct the file.") from None
    return _well_formed(value) if _SURROGATE.search(text) else value


def _load(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError:  # most files have no comments, and removing them is slow
        return json.loads(_without_comments(text), parse_constant=_refuse)


def _without_comments(text: str) -> str:
    """The text with spaces for comments, so that lines and columns do not change."""
    return _STRING_OR_COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else " " * len(found[0]), text)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _well_formed(value: Any) -> Any:
    """The value with U+FFFD for lone surrogates, which UTF-8 cannot encode."""
    written = json.dumps(value, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
    return json.loads(written.decode("utf-16-le", "replace"))
