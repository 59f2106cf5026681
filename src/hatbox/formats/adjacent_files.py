"""Data of a profile beside the cookies, counted so that every export reports what its format does not contain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from hatbox.extension_data import installed_extensions as installed
from hatbox.formats.base import Tally
from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.base import Transaction
from hatbox.tabs.site_data import DATABASES, LOCAL_STORAGE, parts_of

__all__ = [
    "EXTENSIONS",
    "INDEXED_DB",
    "NEVER_CARRIED",
    "RULES",
    "SETTINGS",
    "SITE_DATA",
    "SITE_STORAGE",
    "TABS",
    "count_beside",
]

SITE_STORAGE: Final = "localStorage of sites"
INDEXED_DB: Final = "IndexedDB of sites"
SITE_DATA: Final = (SITE_STORAGE, INDEXED_DB)
TABS: Final = "open tabs"
SETTINGS: Final = "settings of identities"
RULES: Final = "site rules"
EXTENSIONS: Final = "extensions, with their permissions and what they store"
NEVER_CARRIED: Final = (TABS, SETTINGS, RULES, EXTENSIONS)
"""What no file of cookies has."""

_SETTINGS: Final = "settings"
_EMPTY: Final = (None, b"", b"{}")


def count_beside(transaction: Transaction, stores: Iterable[int], *, whole: bool) -> Tally:
    """Count this data of these cookie stores: sites, tabs, settings and rules.

    Extensions, and rules about no identity, count only for the `whole` profile.
    """
    found: Tally = Counter()
    rules = [rule for _, rule in transaction.rules.find()]
    named: set[int] = set()
    for number in stores:
        for _, data in transaction.site_data.load(number):
            parts = parts_of(data)
            found[SITE_STORAGE] += LOCAL_STORAGE in parts
            found[INDEXED_DB] += DATABASES in parts
        found[TABS] += len(transaction.tabs.find(store=number))
        found[SETTINGS] += transaction.settings.get(number, _SETTINGS) not in _EMPTY if number else 0
        quoted = f'"{cookie_store_id_of(number)}"'.encode()
        named.update(place for place, rule in enumerate(rules) if quoted in rule)
    found[RULES] = len(rules) if whole else len(named)
    if whole:
        found[EXTENSIONS] = len(installed.get_all(transaction))
    return +found
