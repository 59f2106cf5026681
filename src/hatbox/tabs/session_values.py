"""Values that extensions attach to tabs and windows (sessions.setTabValue). Duplicated and deleted with the tab."""

from __future__ import annotations

from hatbox.store.base import Transaction

__all__ = ["copy_values", "drop_values", "kind_of_tab", "kind_of_window"]


def kind_of_tab(tab_id: int) -> str:
    """The kind of extension row for the values of a tab."""
    return f"session.tab:{tab_id}"


def kind_of_window(window_id: int) -> str:
    """The kind of extension row for the values of a window."""
    return f"session.window:{window_id}"


def drop_values(transaction: Transaction, kind: str) -> None:
    """Delete the values of all extensions."""
    transaction.extensions.clear_kind(kind)


def copy_values(transaction: Transaction, kind: str, to: str) -> None:
    """Copy the values of all extensions."""
    for extension, key, value in transaction.extensions.find(kind):
        transaction.extensions.put(extension, to, key, value)
