"""The default applications of a user: edits the text of mimeapps.list, and changes nothing else in it. Pure text."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["default_of", "with_default", "without_default"]

_SECTION: Final = "[Default Applications]"


def default_of(text: str, mime: str) -> str | None:
    """The value of a type, as it is written; None if it has none."""
    found = _find(_lines(text), mime)
    return None if found is None else _lines(text)[found].partition("=")[2].strip()


def with_default(text: str, mime: str, value: str) -> str:
    """The text with this value for a type. All other lines stay."""
    lines = _lines(text)
    line = f"{mime}={value}\n"
    if (found := _find(lines, mime)) is not None:
        lines[found] = line
        return "".join(lines)
    section = _section(lines)
    if section is None:
        separator = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{separator}{_SECTION}\n{line}"
    if not lines[section].endswith("\n"):
        lines[section] += "\n"
    return "".join([*lines[: section + 1], line, *lines[section + 1 :]])


def without_default(text: str, mime: str) -> str:
    """The text without the value of a type. All other lines stay."""
    lines = _lines(text)
    found = _find(lines, mime)
    return text if found is None else "".join(lines[:found] + lines[found + 1 :])


def _lines(text: str) -> list[str]:
    """The lines with their ends; unlike splitlines(), which knows more ends than a newline."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _section(lines: list[str]) -> int | None:
    return next((number for number, line in enumerate(lines) if line.strip() == _SECTION), None)


def _find(lines: list[str], mime: str) -> int | None:
    inside = False
    for number, line in enumerate(lines):
        if line.strip().startswith("["):
            inside = line.strip() == _SECTION
        elif inside and line.partition("=")[0].strip() == mime and "=" in line:
            return number
    return None
