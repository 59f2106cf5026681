"""Values of actions: title, popup, badge and so on, set for a tab, a window or globally. The narrowest scope wins.

Values of a tab are stored with the page they were set for, and are ignored once the tab has another page. Those of a
sidebar stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from hatbox.extension_data.ui_changes import record_ui_change
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.strip import row_of

__all__ = [
    "GLOBAL",
    "SIDEBAR_ACTION",
    "ActionScope",
    "Defaults",
    "get_value",
    "has_narrow_scope",
    "set_value",
    "tab_scope",
]

Defaults: TypeAlias = Mapping[str, Any]

SIDEBAR_ACTION: Final = "sidebarAction"
"""The kind of the stored values of `sidebarAction`."""

_TAB, _WINDOW = "tab:", "window:"


class ActionScope(NamedTuple):
    """A tab, a window, or neither for the global scope."""

    tab: TabRow | None = None
    window: int | None = None

    @property
    def key(self) -> str:
        """The key of its stored values."""
        if self.tab is not None:
            return f"{_TAB}{self.tab.id}"
        return "" if self.window is None else f"{_WINDOW}{self.window}"

    @property
    def parent(self) -> ActionScope | None:
        """The next wider scope: tab, window, global."""
        if self.tab is not None:
            return ActionScope(window=self.tab.window)
        return None if self.window is None else GLOBAL


GLOBAL: Final = ActionScope()


class _StoredValues(msgspec.Struct, frozen=True):
    values: dict[str, Any]
    page: int = 0
    """For a tab: the navigation id of its page."""
    url: str = ""


def tab_scope(transaction: Transaction, tab_id: int) -> ActionScope:
    """The scope of a tab. Raises InvalidTab."""
    return ActionScope(tab=row_of(transaction, tab_id))


def has_narrow_scope(key: str) -> bool:
    """Whether a key of stored values is that of a tab or a window."""
    return key.startswith((_TAB, _WINDOW))


def get_value(
    transaction: Transaction, extension: str, kind: str, scope: ActionScope, name: str, defaults: Defaults
) -> Any:
    """The value in a scope or its nearest parent, or the default."""
    searched: ActionScope | None = scope
    while searched is not None:
        stored = _stored_values(transaction, extension, kind, searched)
        if name in stored:
            return stored[name]
        searched = searched.parent
    return defaults[name]


def set_value(transaction: Transaction, extension: str, kind: str, scope: ActionScope, name: str, value: Any) -> None:
    """Set a value in a scope; None deletes it."""
    before = _stored_values(transaction, extension, kind, scope)
    values = {**before, name: value}
    if value is None:
        del values[name]
    if values != before:
        record_ui_change(transaction, extension)
    _delete_closed_scopes(transaction, extension, kind)
    if not values:
        transaction.extensions.delete(extension, kind, scope.key)
        return
    tab = scope.tab
    stored = _StoredValues(values, _page(tab), tab.url) if tab else _StoredValues(values)
    transaction.extensions.put(extension, kind, scope.key, _encode(stored))


def _stored_values(transaction: Transaction, extension: str, kind: str, scope: ActionScope) -> dict[str, Any]:
    value = transaction.extensions.get(extension, kind, scope.key)
    if value is None:
        return {}
    stored = _decode(value)
    if scope.tab is None or kind == SIDEBAR_ACTION or _is_same_page(stored, scope.tab):
        return stored.values
    return {}


def _is_same_page(stored: _StoredValues, tab: TabRow) -> bool:
    """Whether a tab still has the page that values were stored for. A fragment navigation does not leave the page."""
    if _page(tab) <= stored.page:
        return True
    before, now = stored.url.partition("#"), tab.url.partition("#")
    return now[0] == before[0] and now[1] == "#" and now != before


def _page(tab: TabRow) -> int:
    """The navigation id of the committed page."""
    return tab.loaded if tab.target else tab.navigation


def _delete_closed_scopes(transaction: Transaction, extension: str, kind: str) -> None:
    for _, key, _value in transaction.extensions.find(kind, extension):
        is_closed = (key.startswith(_TAB) and transaction.tabs.get(int(key.removeprefix(_TAB))) is None) or (
            key.startswith(_WINDOW) and transaction.windows.get(int(key.removeprefix(_WINDOW))) is None
        )
        if is_closed:
            transaction.extensions.delete(extension, kind, key)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_StoredValues).decode
