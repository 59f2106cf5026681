"""Keyboard shortcuts of commands, as Firefox parses them. Pure text."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_shortcut"]

_MEDIA: Final = frozenset({"MediaNextTrack", "MediaPlayPause", "MediaPrevTrack", "MediaStop"})
_FUNCTION: Final = re.compile(r"F([1-9]|1[0-2])")
_USER_FUNCTION: Final = re.compile(r"F(1?[1-9]|10)")
_KEY: Final = re.compile(
    r"[A-Z0-9]|Comma|Period|Home|End|PageUp|PageDown|Space|Insert|Delete|Up|Down|Left|Right", re.ASCII
)
# Ctrl and Command are the same modifier, which may occur once.
_MODIFIERS: Final = {
    "Alt": "alt",
    "Command": "accel",
    "Ctrl": "accel",
    "MacCtrl": "control",
    "Shift": "shift",
}


def is_shortcut(text: str, *, by_user: bool = False) -> bool:
    """Whether the text is a shortcut such as Ctrl+Shift+Y. A user may also choose F13 to F19."""
    if text.strip() in _MEDIA:
        return True
    *names, key = (part.strip() for part in text.split("+"))
    modifiers = [_MODIFIERS.get(name) for name in names]
    is_function = (_USER_FUNCTION if by_user else _FUNCTION).fullmatch(key) is not None
    if None in modifiers or len(set(modifiers)) < len(modifiers) or len(modifiers) > 2:
        return False
    return is_function or (modifiers not in ([], ["shift"]) and _KEY.fullmatch(key) is not None)
