"""What an edit changes in a configuration, as a unified diff. Pure text.

The file may contain the secrets of other servers, so strings and comments that are not part of the edit are not shown.
"""

from __future__ import annotations

import re
from difflib import unified_diff
from typing import Final

__all__ = ["shown_diff"]

_TOKEN: Final = re.compile(
    r"""(?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)"""
    r"""|(?P<long>\"{3}.*?\"{3}|'{3}.*?'{3})"""
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')(?P<key>\s*[:=])?""",
    re.DOTALL,
)
_HIDDEN: Final = '"…"'
_CONTEXT: Final = 2
_MAX_LINE: Final = 2000


def shown_diff(path: str, before: str, after: str) -> list[str]:
    """The lines of the diff, without ends of lines."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    old = _masked(before, start, len(before) - end).splitlines()
    new = _masked(after, start, len(after) - end).splitlines()
    lines = unified_diff(old, new, path if before else "/dev/null", path, lineterm="", n=_CONTEXT)
    return [line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]}…" for line in lines]


def _masked(text: str, start: int, end: int) -> str:
    """The text without its strings and comments, except keys, and what is between two places."""

    def replacement(found: re.Match[str]) -> str:
        if found["key"] or (start <= found.start() and found.end() <= end):
            return found[0]
        return f"{found[0][0]}…" if found["comment"] else _HIDDEN

    return _TOKEN.sub(replacement, text)


def _common(one: str, other: str) -> int:
    """The number of characters that two texts have in common at their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
