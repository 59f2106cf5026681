from __future__ import annotations

import pytest

from hatbox.extensions.package.manifest_formats import is_shortcut

# The manifests that were recorded with Firefox hold more of them.


@pytest.mark.parametrize(
    "text", ["", "+", "X", "Shift+X", "Ctrl", "Ctrl+", "Ctrl+x", "Ctrl+Command+X", "Ctrl+F20", "Ctrl+É", "F13"]
)
def test_what_is_no_combination(text: str) -> None:
    assert not is_shortcut(text)


@pytest.mark.parametrize("text", ["Ctrl+X", "Alt+Shift+PageUp", "F1", "F12", "Shift+F2", " MediaStop ", "MacCtrl+0"])
def test_what_is_a_combination(text: str) -> None:
    assert is_shortcut(text)


def test_a_user_may_choose_more_keys() -> None:
    assert is_shortcut("F13", by_user=True)
    assert is_shortcut("Ctrl+F19", by_user=True)
    assert is_shortcut("F10", by_user=True)
    assert not is_shortcut("F20", by_user=True)
