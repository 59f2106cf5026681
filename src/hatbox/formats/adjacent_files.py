"""Data of a profile that no export format contains yet, so that every export can report it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from hatbox.extension_data import installed_extensions as installed
from hatbox.formats.base import Tally
from hatbox.store.base import Transaction
from hatbox.tabs.site_data import DATABASES, LOCAL_STORAGE, parts_of

__all__ = ["EXTENSIONS", "INDEXED_DB", "NEVER_CARRIED", "SITE_STORAGE", "TABS", "count_beside"]

SITE_STORAGE: Final = "localStorage of sites"
INDEXED_DB: Final = "IndexedDB of sites"
TABS: Final = "open tabs"
EXTENSIONS: Final = "extensions, with their permissions and what they store"
NEVER_CARRIED: Final = (SITE_STORAGE, INDEXED_DB, TABS, EXTENSIONS)


def count_beside(transaction: Transaction, stores: Iterable[int], *, whole: bool) -> Tally:
    """Count this data of these cookie stores: sites and tabs. Extensions count only for the `whole` profile."""
    found: Tally = Counter()
    for number in stores:
        for _, data in transaction.site_data.load(number):
            parts = parts_of(data)
            found[SITE_STORAGE] += LOCAL_STORAGE in parts
            found[INDEXED_DB] += DATABASES in parts
        found[TABS] += len(transaction.tabs.find(store=number))
    if whole:
        found[EXTENSIONS] = len(installed.get_all(transaction))
    return +found
