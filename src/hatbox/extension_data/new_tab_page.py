"""The page that a running extension shows in new tabs (chrome_url_overrides). Transaction functions.

One row names the extension, so that a store on a network reads it together with what else a new tab needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from hatbox.store.base import Transaction

if TYPE_CHECKING:
    from hatbox.extension_data.run_records import RunRecord

__all__ = ["NEW_TAB_ROW", "new_tab_page", "record_new_tab_page"]

NEW_TAB_ROW: Final = ("", "newTab", "")
"""The extension, kind and key of the row, for Transaction.load()."""


def new_tab_page(transaction: Transaction) -> str | None:
    """The moz-extension:// URL of the page; None without such an extension. Of several, the last one wins."""
    area = transaction.extensions.get(*NEW_TAB_ROW)
    if area is None:
        return None
    from hatbox.extension_data import run_records  # imports this module

    record = run_records.get(transaction, area.decode())
    return _page_of(record) if record is not None else None


def record_new_tab_page(transaction: Transaction, running: Iterable[RunRecord]) -> None:
    """Store which of the running extensions has such a page."""
    areas = [record.id for record in running if _page_of(record)]
    stored = transaction.extensions.get(*NEW_TAB_ROW)
    if areas:
        if stored != areas[-1].encode():
            transaction.extensions.put(*NEW_TAB_ROW, areas[-1].encode())
    elif stored is not None:
        transaction.extensions.delete(*NEW_TAB_ROW)


def _page_of(record: RunRecord) -> str | None:
    return (record.manifest.get("chrome_url_overrides") or {}).get("newtab")
