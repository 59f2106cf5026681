"""What extensions have attached to tabs and windows. It goes with them, and a copy of a tab has a copy of it."""

from __future__ import annotations

from hatbox.store.base import Transaction

__all__ = ["copy_values", "drop_values", "kind_of_tab", "kind_of_window"]


def kind_of_tab(tab_id: int) -> str:
    """Where the values of a tab are kept."""
    return f"session.tab:{tab_id}"


def kind_of_window(window_id: int) -> str:
    """Where the values of a window are kept."""
    return f"session.window:{window_id}"


def drop_values(transaction: Transaction, kind: str) -> None:
    """Drop all values, of every extension."""
    for extension, key, _ in transaction.extensions.find(kind):
        transaction.extensions.delete(extension, kind, key)


def copy_values(transaction: Transaction, kind: str, to: str) -> None:
    """Keep all values, of every extension, once more."""
    for extension, key, value in transaction.extensions.find(kind):
        transaction.extensions.put(extension, to, key, value)
