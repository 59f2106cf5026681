"""The page that a running extension shows in new tabs (chrome_url_overrides). A transaction function."""

from __future__ import annotations

from hatbox.extension_data import run_records
from hatbox.store.base import Transaction

__all__ = ["new_tab_page"]


def new_tab_page(transaction: Transaction) -> str | None:
    """The moz-extension:// URL of the page; None without such an extension. Of several, the last one wins."""
    page = None
    for record in run_records.get_all(transaction):
        page = (record.manifest.get("chrome_url_overrides") or {}).get("newtab") or page
    return page
