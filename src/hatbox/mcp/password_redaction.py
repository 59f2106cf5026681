"""Removes the values of password fields from an accessibility snapshot. Pure text.

A snapshot is YAML as Playwright writes it: the value of a field follows `: `, plain or in double quotes, also in a line
`- text: ` below the field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

__all__ = ["HIDDEN", "without_passwords"]

HIDDEN: Final = "(hidden)"
_MIN_SUBSTRING: Final = 4
_SPACE: Final = re.compile(r"\s+")


def without_passwords(snapshot: str, passwords: Iterable[str]) -> str:
    """The snapshot without these values.

    A value that is the whole text of a line is removed. One that is longer than a few characters is removed everywhere,
    also from labels into which the page has copied it.
    """
    wanted = {normal for each in passwords if (normal := _normalized(each))}
    if not wanted:
        return snapshot
    text = "\n".join(_redacted(line, wanted) for line in snapshot.split("\n"))
    for each in sorted(wanted, key=len, reverse=True):
        if len(each) >= _MIN_SUBSTRING:
            for form in {each, json.dumps(each, ensure_ascii=False)[1:-1]}:
                text = text.replace(form, HIDDEN)
    return text


def _redacted(line: str, wanted: set[str]) -> str:
    """The line without its value, if that is a password: at any colon, because names contain colons too."""
    for found in re.finditer(r": ", line):
        value = _unquoted(line[found.end() :])
        if _normalized(value) in wanted:
            return f"{line[: found.end()]}{HIDDEN}"
    return line


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            decoded = json.loads(value)
        except ValueError:
            return value[1:-1]
        return decoded if isinstance(decoded, str) else value
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value


def _normalized(value: str) -> str:
    return _SPACE.sub(" ", value).strip()
