"""JSON as Firefox reads it from the files of an extension: UTF-8, with `//` comments. Knows nothing of its meaning."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, Final, NoReturn

from hatbox.errors import ManifestError

__all__ = ["MAX_BYTES", "parse_json"]

MAX_BYTES: Final = 2 * 2**20
"""Of a file: the largest of public extensions is a tenth of that, and reading more would hold up everybody else."""

# A string is matched whole, so that what looks like a comment inside it is none. So is one without its end, and nothing
# is ever tried twice: otherwise a text of nothing but quotes would take hours.
_STRING_OR_COMMENT: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|//[^\n]*+', re.DOTALL)
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(file: str, contents: bytes) -> Any:
    """What the file of this name says; ManifestError, with line and column, if it is no JSON."""
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
        place = f"line {error.lineno}, column {error.colno}"
        raise ManifestError(file, "", f"it is not valid JSON: {error.msg}: {place}", "Correct the file.") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, NaN, or thousands of brackets
        raise ManifestError(file, "", "it is not valid JSON", "Correct the file.") from None
    return _with_whole_characters(value) if _SURROGATE.search(text) else value


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


def _with_whole_characters(value: Any) -> Any:
    """The same, with U+FFFD for each half of a pair of surrogates that is alone: it cannot be kept, nor shown."""
    written = json.dumps(value, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
    return json.loads(written.decode("utf-16-le", "replace"))
