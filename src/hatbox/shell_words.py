"""Words of shell commands that messages propose."""

from __future__ import annotations

__all__ = ["shell_word"]


def shell_word(text: str) -> str:
    """The text in quotes, as one word of a POSIX shell, in which nothing has a special meaning."""
    return "'" + text.replace("'", "'\\''") + "'"
