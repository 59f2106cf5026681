"""Values that extensions attach to tabs and windows (sessions.setTabValue). Duplicated and deleted with the tab."""

from __future__ import annotations

from typing import Final

from hatbox.store.base import Transaction

__all__ = ["copy_values", "drop_values", "kind_of_tab", "kind_of_window", "tab_of_kind"]

_TAB: Final = "session.tab:"


def kind_of_tab(tab_id: int) -> str:
    """The kind of extension row for the values of a tab."""
    return f"{_TAB}{tab_id}"


def tab_of_kind(kind: str) -> int | None:
    """The tab whose values have this kind; None for other kinds."""
    number = kind.removeprefix(_TAB)
    return int(number) if kind.startswith(_TAB) and number.isdecimal() else None


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
