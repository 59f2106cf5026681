"""The rows of a new profile, the same in every store, and whether a profile still has no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hatbox.store.tables.identity_tables import new_uuid
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import CHANGES, HEAD, IDENTITIES, PROFILE, TABLES, Table

__all__ = ["NEW_HEAD", "NEW_IDENTITIES", "is_unchanged", "new_identities"]

NEW_IDENTITIES: Final = (
    (1, "Personal", "fingerprint", "blue", 0, 1048576),
    (2, "Work", "briefcase", "orange", 0, 2097152),
    (3, "Banking", "dollar", "green", 0, 3145728),
    (4, "Shopping", "cart", "pink", 0, 4194304),
)
"""The identities of a new profile: their rows without the UUID."""
# Firefox keeps 5 for itself, so the first identity that a user creates is 6, there and here.
NEW_HEAD: Final = (1, 5, 0, 0, 0, 0, 0, NEW_IDENTITIES[-1][-1], 0)
"""The counters of a new profile, in the order of the columns of the table."""


def new_identities() -> list[tuple[Any, ...]]:
    """The identities of a new profile, in the order of the columns of the table."""
    return [(*row, new_uuid()) for row in NEW_IDENTITIES]


def is_unchanged(rows: Callable[[Table], Rows]) -> bool:
    """Whether nothing was written to a profile since it was created. `rows` gives access to the rows of a table."""
    if rows(HEAD).get(1) != NEW_HEAD:
        return False
    # One more than a new profile has: a profile may have a million.
    found = rows(IDENTITIES).find("ORDER BY id LIMIT ?", (len(NEW_IDENTITIES) + 1,))
    if tuple(row[:-1] for row in found) != NEW_IDENTITIES:
        return False
    others = (table for table in TABLES if table not in (HEAD, PROFILE, IDENTITIES, CHANGES))
    return not any(rows(table).select("1", "LIMIT 1") for table in others)
