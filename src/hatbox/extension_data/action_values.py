"""What is set of an extension's button: for a tab, for a window, for all, or by the manifest. The nearest counts.

What is set for a tab is gone when the tab shows another page: it is kept with the page that it was set for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from hatbox.api.namespaces.tabs.tab_functions import window_id_of
from hatbox.errors import ApiError, InvalidWindow
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.strip import row_of
from hatbox.tabs.windows import get_window

__all__ = ["ALL", "ActionScope", "Defaults", "Details", "get_value", "set_value", "tab_target", "target_of"]

Details: TypeAlias = Mapping[str, Any]
Defaults: TypeAlias = Mapping[str, Any]

_TAB, _WINDOW = "tab:", "window:"


class ActionScope(NamedTuple):
    """What a value is set for: a tab, a window, or all of them."""

    tab: TabRow | None = None
    window: int | None = None

    @property
    def key(self) -> str:
        """Under which its values are kept."""
        if self.tab is not None:
            return f"{_TAB}{self.tab.id}"
        return "" if self.window is None else f"{_WINDOW}{self.window}"

    @property
    def parent(self) -> ActionScope | None:
        """Where to look for what it has not: of a tab in its window, of that in what is for all."""
        if self.tab is not None:
            return ActionScope(window=self.tab.window)
        return None if self.window is None else ALL


ALL: Final = ActionScope()


class _StoredValues(msgspec.Struct, frozen=True):
    values: dict[str, Any]
    page: int = 0
    """Of a tab: the load that has brought its page."""
    url: str = ""


def target_of(transaction: Transaction, details: Details) -> ActionScope:
    """What a script means by tabId and windowId; the words are Firefox's."""
    tab_id, window_id = details.get("tabId"), details.get("windowId")
    if tab_id is not None and window_id is not None:
        raise ApiError("Only one of tabId and windowId can be specified.")
    if tab_id is not None:
        return tab_target(transaction, tab_id)
    if window_id is None:
        return ALL
    meant = window_id_of(transaction, window_id)
    if meant is None:
        raise InvalidWindow(window_id)
    return ActionScope(window=get_window(transaction, meant).id)


def tab_target(transaction: Transaction, tab_id: int) -> ActionScope:
    """A tab."""
    return ActionScope(tab=row_of(transaction, tab_id))


def get_value(
    transaction: Transaction, extension: str, kind: str, target: ActionScope, name: str, defaults: Defaults
) -> Any:
    """The value that counts for a target."""
    where: ActionScope | None = target
    while where is not None:
        kept = _kept(transaction, extension, kind, where)
        if name in kept:
            return kept[name]
        where = where.parent
    return defaults[name]


def set_value(transaction: Transaction, extension: str, kind: str, target: ActionScope, name: str, value: Any) -> None:
    """Set a value for a target; None for that which counts without it."""
    values = {**_kept(transaction, extension, kind, target), name: value}
    if value is None:
        del values[name]
    _delete_closed_scopes(transaction, extension, kind)
    if not values:
        transaction.extensions.delete(extension, kind, target.key)
        return
    tab = target.tab
    kept = _StoredValues(values, _page(tab), tab.url) if tab else _StoredValues(values)
    transaction.extensions.put(extension, kind, target.key, _encode(kept))


def _kept(transaction: Transaction, extension: str, kind: str, target: ActionScope) -> dict[str, Any]:
    value = transaction.extensions.get(extension, kind, target.key)
    if value is None:
        return {}
    kept = _decode(value)
    return kept.values if target.tab is None or _is_same_page(kept, target.tab) else {}


def _is_same_page(kept: _StoredValues, tab: TabRow) -> bool:
    """Whether the page is the one that something was kept for: to go to a place in it is not to leave it."""
    if _page(tab) <= kept.page:
        return True
    before, now = kept.url.partition("#"), tab.url.partition("#")
    return now[0] == before[0] and now[1] == "#" and now != before


def _page(tab: TabRow) -> int:
    """The number of the load that has brought the page which is there now."""
    return tab.loaded if tab.target else tab.navigation


def _delete_closed_scopes(transaction: Transaction, extension: str, kind: str) -> None:
    for _, key, _value in transaction.extensions.find(kind, extension):
        gone = (key.startswith(_TAB) and transaction.tabs.get(int(key.removeprefix(_TAB))) is None) or (
            key.startswith(_WINDOW) and transaction.windows.get(int(key.removeprefix(_WINDOW))) is None
        )
        if gone:
            transaction.extensions.delete(extension, kind, key)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_StoredValues).decode
