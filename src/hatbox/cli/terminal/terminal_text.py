"""Text from users, made harmless: control characters could send commands to the terminal, and URLs have passwords."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

__all__ = ["harmless_json", "visible", "without_passwords"]

# Control, format (bidi overrides among them), surrogates, line and paragraph separators.
_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS: Final = "\u200c\u200d"  # harmless; Persian words and family emoji contain them

_PASSWORD: Final = re.compile(r"(://[^\s:/?#@]*:)[^\s/]*@|([?&](?:ssl)?password=)[^&\s]*", re.IGNORECASE)


def visible(text: str, encoding: str = "utf-8") -> str:
    """The text for a terminal with this encoding: one line, with control characters escaped."""
    text = _escape_unsafe(text, _python_escape)
    return text.encode(encoding, "backslashreplace").decode(encoding)


def without_passwords(text: str) -> str:
    """The text with … for the passwords in its URLs: of a user, or in the query as libpq takes it."""
    return _PASSWORD.sub(lambda found: f"{found[1]}…@" if found[1] else f"{found[2]}…", text)


def harmless_json(document: str, *, ascii_only: bool) -> str:
    """The same JSON document, with control characters escaped."""
    if not ascii_only:
        return _escape_unsafe(document, lambda character: character if character == "\n" else _json_escape(character))
    return "".join(character if character.isascii() else _json_escape(character) for character in document).replace(
        "\x7f", "\\u007f"
    )


def _escape_unsafe(text: str, escape: Callable[[str], str]) -> str:
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
