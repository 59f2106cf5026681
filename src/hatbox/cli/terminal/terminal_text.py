"""Text from users on its way to a terminal: whatever could steer the terminal is shown as an escape instead.

Knows nothing of streams or of what the text means.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final

__all__ = ["harmless_json", "visible"]

# Control, format (bidi overrides among them), surrogates, line and paragraph separators.
_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS: Final = "\u200c\u200d"  # Persian words and family emoji are written with these, and they do no harm


def visible(text: str, encoding: str = "utf-8") -> str:
    """The text for a terminal with this encoding: one line, in which nothing is an instruction to the terminal."""
    text = _replaced(text, _python_escape)
    return text.encode(encoding, "backslashreplace").decode(encoding)


def harmless_json(document: str, *, ascii_only: bool) -> str:
    """The same JSON document, with everything escaped that a terminal could take for an instruction."""
    if not ascii_only:
        return _replaced(document, lambda character: character if character == "\n" else _json_escape(character))
    return "".join(character if character.isascii() else _json_escape(character) for character in document).replace(
        "\x7f", "\\u007f"
    )


def _replaced(text: str, escape: Callable[[str], str]) -> str:
    if text.isprintable():
        return text
    return "".join(escape(character) if _is_unsafe(character) else character for character in text)


def _is_unsafe(character: str) -> bool:
    return unicodedata.category(character) in _UNSAFE and character not in _JOINERS


def _python_escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))
