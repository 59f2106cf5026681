"""Whether a profile still has only the rows of a new one."""

from __future__ import annotations

from collections.abc import Callable

from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import CHANGES, HEAD, IDENTITIES, PROFILE, TABLES, Table
from hatbox.store.tables.seed import NEW_HEAD, NEW_IDENTITIES

__all__ = ["is_unchanged"]


def is_unchanged(rows: Callable[[Table], Rows]) -> bool:
    """Whether nothing was written to a profile since it was created. `rows` gives access to the rows of a table."""
    if rows(HEAD).get(1) != NEW_HEAD:
        return False
    # One more than a new profile has: a profile may have a million.
    limit = len(NEW_IDENTITIES) + 1
    if tuple(rows(IDENTITIES).find("ORDER BY id LIMIT ?", (limit,))) != NEW_IDENTITIES:
        return False
    others = (table for table in TABLES if table not in (HEAD, PROFILE, IDENTITIES, CHANGES))
    return not any(rows(table).select("1", "LIMIT 1") for table in others)
