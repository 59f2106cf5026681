"""Fills profiles with rows of every kind, and reads them for comparisons."""

from __future__ import annotations

from typing import Any

import msgspec

from hatbox.maintenance import profile_info
from hatbox.store.base import CookieRow, Transaction
from hatbox.store.record_tables import BookmarkRow, PageRow, VisitRow
from hatbox.store.registry import dump_at
from hatbox.store.tables.bookmark_tree import UNFILED, root_rows
from hatbox.tabs.opening import open_tab
from hatbox.tabs.pages import PageState, update_page

__all__ = ["cookie", "fill_identity", "fill_profile", "rows_of", "uuid_of"]


def cookie(name: str, value: str = "value", domain: str = "site.example") -> CookieRow:
    """A cookie."""
    return (domain, 1, "/", name, "", value, 1, 0, "lax", 2e9, 7, 1e9, 1.5e9)


def open_page(transaction: Transaction, number: int, url: str, title: str, **options: Any) -> int:
    """Open a tab with a loaded page and its snapshot."""
    store = f"firefox-container-{number}" if number else "firefox-default"
    tab = open_tab(transaction, url, cookie_store_id=store, **options)
    update_page(transaction, tab.id, tab.navigation_id, PageState(url, title, http_status=200))
    transaction.tabs.save_page_snapshot(tab.id, f"snapshot of {url}".encode())
    return tab.id


def fill_identity(transaction: Transaction, number: int, mark: str = "a") -> None:
    """Give an identity, or the default store, rows of every kind."""
    transaction.cookies.put(number, [cookie(f"{mark}{each}", f"value {number}") for each in range(3)])
    transaction.site_data.put(number, "https://site.example", f'{{"local":[["{mark}","{number}"]]}}'.encode())
    transaction.site_data.put(number, "https://other.example", b'{"local":[["b","c"]]}')
    if number:
        transaction.settings.put(number, "settings", msgspec.json.encode({"locale": f"de-{mark}"}))
        rule = {"pattern": f"{mark}.site{number}.example", "identities": [f"firefox-container-{number}"]}
        transaction.rules.insert(msgspec.json.encode(rule))
    first = open_page(transaction, number, f"https://site.example/{mark}", f"Page {mark}")
    open_page(transaction, number, "https://site.example/pinned", "Pinned", pinned=True)
    tab = open_page(transaction, number, "https://site.example/child", "Child", opener_id=first)
    transaction.extensions.put("one@example", f"session.tab:{tab}", "key", b'"tab value"')
    transaction.history.put(PageRow(10, number, f"https://site.example/{mark}", f"Page {mark}", 2, 1, 1.6e9))
    transaction.history.put_visits(
        [VisitRow(11, number, 10, 1.5e9, "typed", 0), VisitRow(12, number, 10, 1.6e9, "link", 11)]
    )


def fill_profile(transaction: Transaction) -> None:
    """Rows in every table, in three windows."""
    for number in (0, 1, 2, 4):
        fill_identity(transaction, number)
        if number == 1:
            transaction.windows.focus(transaction.windows.insert(title_preface="second"))
    transaction.identities.delete(3)
    transaction.identities.insert("Späte Gäste \0", "pet", "red")
    transaction.identities.move([4], 0)
    transaction.settings.put(0, "other", b'{"days":30}')
    transaction.extensions.put("one@example", "local", "key", b'{"a":1}')
    transaction.extensions.put("two@example", "sync", "key", b'{"a":2}')
    transaction.packages.put("0" * 64, b"package")
    transaction.cookie_time.put(1.6e9, None, None)
    transaction.bookmarks.put(root_rows(1.6e9))
    transaction.bookmarks.put(
        [BookmarkRow("bookmark____", UNFILED, 0, "bookmark", "https://site.example/", "Site \0", 1.6e9, 1.6e9)]
    )
    transaction.closed_tabs.insert(None, 1, 1.6e9, b"a closed tab")


def uuid_of(transaction: Transaction, number: int) -> str:
    """The UUID of an identity that exists."""
    found = transaction.identities.uuid(number)
    assert found is not None
    return found


def rows_of(address: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table that a copy has."""
    found: dict[str, list[tuple[Any, ...]]] = {name: [] for name in profile_info(address).rows}
    with dump_at(address) as dumped:
        for table, batch in dumped.batches:
            found[table.name] += batch
    del found["profile"], found["changes"], found["grants"], found["activity"]
    return found
