"""Shortcuts that use the clipboard."""

from __future__ import annotations

import pytest

from hatbox.engines.chromium.clipboard_keys import is_clipboard_shortcut


@pytest.mark.parametrize("control", ["Control", "ControlOrMeta", "ControlLeft", "Meta", "MetaRight", "Shift+Control"])
@pytest.mark.parametrize("key", ["v", "V", "KeyV", "c", "KeyC", "x", "X", "Insert", "Numpad0", "y"])
def test_shortcuts_of_the_clipboard_are_found(control: str, key: str) -> None:
    assert is_clipboard_shortcut(f"{control}+{key}")
    assert is_clipboard_shortcut(f"{key}+{control}+a")


@pytest.mark.parametrize("shortcut", ["Shift+Insert", "ShiftRight+Insert", "Shift+Numpad0", "Shift+Delete"])
def test_shortcuts_with_shift_are_found(shortcut: str) -> None:
    assert is_clipboard_shortcut(shortcut)


@pytest.mark.parametrize("shortcut", ["v", "C", "Control+a", "Control++", "+", "Shift+V", "Insert", "Control"])
def test_other_shortcuts_are_allowed(shortcut: str) -> None:
    assert not is_clipboard_shortcut(shortcut)
