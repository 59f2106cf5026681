"""The topic of changes of what users see of a running extension: its buttons, menus, commands and sidebar.

One record per call that changes something. It names the extension only: a reader reads the values that it shows.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.store.base import Transaction

__all__ = ["UI_CHANGED", "record_ui_change"]

UI_CHANGED: Final = "extensions.uiChanged"
"""The payload is a data area."""


def record_ui_change(transaction: Transaction, area: str) -> None:
    """Notify every process that the UI of an extension has changed."""
    transaction.changes.append(UI_CHANGED, msgspec.json.encode(area))
