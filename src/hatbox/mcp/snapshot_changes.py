"""What has changed between two snapshots of a page: an agent that has the first needs no second one. Pure text."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

__all__ = ["changes_of", "with_parents"]

_MAX_PAIRS: Final = 10_000  # of lines that are compared: repeated lines take the third power of their number
_WORTH: Final = 0.5  # of the length of the whole snapshot


def changes_of(before: str, after: str) -> str | None:
    """The lines of `after` that `before` does not have there, below their parents; empty if they are equal.

    None if the whole snapshot is not much longer.
    """
    old, new = before.splitlines(), after.splitlines()
    same = range(min(len(old), len(new)))
    start = next((number for number in same if old[number] != new[number]), len(same))
    end = next((number for number in same[: len(same) - start] if old[-1 - number] != new[-1 - number]), None)
    end = len(same) - start if end is None else end
    if (len(old) - start - end) * (len(new) - start - end) > _MAX_PAIRS:
        return None
    shown: list[int] = []
    removed = 0
    middle = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False)
    for kind, first, last, new_first, new_last in middle.get_opcodes():
        if kind != "equal":
            removed += max(0, (last - first) - (new_last - new_first))
            shown += range(start + new_first, start + new_last)
    text = with_parents(new, shown)
    if removed:
        text = f"[{removed} line{'s' if removed > 1 else ''} fewer than before.]\n{text}"
    return text if len(text) < _WORTH * len(after) else None


def with_parents(lines: list[str], numbers: Iterable[int]) -> str:
    """These lines, each below those in which it is nested."""
    wanted = set(numbers)
    shown: set[int] = set()
    nested: list[tuple[int, int]] = []  # depth and number of the lines in which the current one is, the outermost first
    for number, line in enumerate(lines):
        depth = len(line) - len(line.lstrip(" "))
        while nested and nested[-1][0] >= depth:
            nested.pop()
        nested.append((depth, number))
        if number in wanted:
            for _, each in reversed(nested):
                if each in shown:
                    break  # with its own parents
                shown.add(each)
    return "\n".join(lines[number] for number in sorted(shown))
