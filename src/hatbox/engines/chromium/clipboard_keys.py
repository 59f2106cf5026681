"""Which keys use the clipboard. It belongs to the user and to all identities, so programs and agents may not. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

__all__ = ["is_clipboard_shortcut", "is_paste"]

_V: Final = frozenset({86, "KeyV", "v", "V"})
_INSERT: Final = frozenset({45, "Insert"})
_WITH_CONTROL: Final = frozenset({"KeyC", "c", "C", "KeyX", "x", "X", "Insert", "Numpad0"})  # copies or cuts
_WITH_SHIFT: Final = frozenset({"Delete", "NumpadDecimal", "Numpad0"})  # cuts or pastes
_YANK: Final = frozenset({"KeyY", "y", "Y"})  # on macOS, with Control


def is_paste(keys: Collection[object], *, has_control: bool, has_shift: bool) -> bool:
    """Whether a key pastes. `keys` are its names and codes; Meta counts as Control."""
    return (has_control and not _V.isdisjoint(keys)) or (has_shift and not _INSERT.isdisjoint(keys))


def is_clipboard_shortcut(shortcut: str) -> bool:
    """Whether a shortcut of Playwright, such as Control+V, pastes, copies or cuts."""
    pressed = _pressed(shortcut)
    has_control = any(each.startswith(("Control", "Meta")) for each in pressed)
    has_shift = any(each.startswith("Shift") for each in pressed)
    return (
        is_paste(pressed, has_control=has_control, has_shift=has_shift)
        or (has_control and not pressed.isdisjoint(_WITH_CONTROL | _YANK))
        or (has_shift and not pressed.isdisjoint(_WITH_SHIFT))
    )


def _pressed(shortcut: str) -> set[str]:
    """The keys of a shortcut, divided as Playwright does: a plus sign at the start of a key is that key."""
    keys = [""]
    for each in shortcut:
        if each == "+" and keys[-1]:
            keys.append("")
        else:
            keys[-1] += each
    return set(keys)
