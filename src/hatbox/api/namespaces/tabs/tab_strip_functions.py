"""Functions of the namespace tabs about several tabs of a window: highlighting, succession, groups, discarding.

Transaction functions. Error messages match Firefox. `details` are normalized by the schema.
"""

from __future__ import annotations

from collections.abc import Sequence

from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.api.namespaces.tabs.tab_functions import Details, resolve_window_id
from hatbox.api.namespaces.tabs.tab_query import CURRENT_WINDOW
from hatbox.api.namespaces.tabs.tab_views import NO_TAB
from hatbox.api.namespaces.windows.window_views import WindowView
from hatbox.errors import ApiError, InvalidWindow
from hatbox.store.base import TabRow, Transaction
from hatbox.tabs.discarding import discard_tabs
from hatbox.tabs.grouping import add_to_group, group_tabs, ungroup_tabs
from hatbox.tabs.highlighting import highlight_tabs
from hatbox.tabs.strip import row_of, rows_of
from hatbox.tabs.succession import move_in_succession as chain_tabs
from hatbox.tabs.tab_groups import TabGroup, get_group
from hatbox.tabs.tab_model import all_tabs, tab_of
from hatbox.tabs.windows import get_window

__all__ = [
    "discard_tabs",
    "find_group",
    "group",
    "highlight",
    "move_in_succession",
    "ungroup",
    "warmup",
    "window_of_argument",
]


def highlight(transaction: Transaction, access: TabAccess, details: Details) -> WindowView:
    """Highlight the tabs with these indexes, and activate the first."""
    window = window_of_argument(transaction, details["windowId"])
    indexes = [details["tabs"]] if isinstance(details["tabs"], int) else details["tabs"]
    if not indexes:
        raise ApiError("No highlighted tab.")
    rows = transaction.tabs.find(window=window)
    highlight_tabs(transaction, [_row_at(rows, index) for index in indexes])
    tabs = all_tabs(transaction, window)
    if details["populate"] is not False:
        return WindowView(get_window(transaction, window), tabs, access, populate=True)
    return WindowView(get_window(transaction, window), [tab for tab in tabs if tab.active], access)


def _row_at(rows: Sequence[TabRow], index: int) -> TabRow:
    if not 0 <= index < len(rows):
        raise ApiError(f"No tab at index: {index}")
    return rows[index]


def window_of_argument(transaction: Transaction, window_id: int | None) -> int:
    """The id of an open window; without an argument, of the last focused one. Raises InvalidWindow."""
    wanted = CURRENT_WINDOW if window_id is None else window_id
    resolved = resolve_window_id(transaction, wanted)
    if resolved is None or transaction.windows.get(resolved) is None:
        raise InvalidWindow(wanted)
    return resolved


def warmup(transaction: Transaction, tab_id: int) -> None:
    """Check that the tab exists. It is only a hint that the tab will be activated."""
    tab_of(transaction, row_of(transaction, tab_id))


def move_in_succession(
    transaction: Transaction, tab_ids: Sequence[int], tab_id: int | None, options: Details | None
) -> None:
    """Take tabs out of their lines of succession, and chain them before or after another tab."""
    append, insert = (bool(options["append"]), bool(options["insert"])) if options else (False, False)
    if len(set(tab_ids)) < len(tab_ids):
        raise ApiError("IDs must not occur more than once in tabIds")
    if (append or insert) and tab_id in tab_ids:
        raise ApiError("Value of tabId must not occur in tabIds if append or insert is true")
    reference = transaction.tabs.get(NO_TAB if tab_id is None else tab_id)
    chain_tabs(transaction, tab_ids, reference, append=append, insert=insert)


def group(transaction: Transaction, tab_ids: Sequence[int], options: Details) -> int:
    """Add tabs to a group, or to a new one. Returns its id."""
    rows = rows_of(transaction, tab_ids)
    properties = options["createProperties"]
    window = window_of_argument(transaction, properties["windowId"] if properties else None)
    if options["groupId"] is None:
        return group_tabs(transaction, rows, window).id
    found = find_group(transaction, options["groupId"])
    add_to_group(transaction, rows, found)
    return found.id


def ungroup(transaction: Transaction, tab_ids: Sequence[int]) -> None:
    """Take tabs out of their groups."""
    ungroup_tabs(transaction, rows_of(transaction, tab_ids))


def find_group(transaction: Transaction, group_id: int) -> TabGroup:
    """The group with this id. Raises ApiError."""
    found = get_group(transaction, group_id)
    if found is None:
        raise ApiError(f"No group with id: {group_id}")
    return found
