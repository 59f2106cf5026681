"""The JSON of opened menus in the change log (extension_data/menu_clicks.py, menu_contexts.py)."""

from __future__ import annotations

import msgspec

from hatbox.extension_data.menu_clicks import MenuShown
from hatbox.extension_data.menu_contexts import MenuContext


def test_programs_of_the_previous_version_can_read_the_change_log() -> None:
    shown = MenuShown(None, {"a@b": [1]}, MenuContext(tab=None, ui_context="tools_menu"))
    written = msgspec.json.encode(shown)
    assert msgspec.json.decode(written)["spot"]["outside"] == "tools_menu"
    assert msgspec.json.decode(written, type=MenuShown) == shown
