"""What one store reads for a copy or a backup of a profile, and another one writes. The same for every store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

from hatbox.errors import ProfileError
from hatbox.store.tables.schema import (
    BOOKMARKS,
    CLOSED_TABS,
    COOKIE_TIME,
    COOKIES,
    EXTENSION_DATA,
    HEAD,
    HISTORY,
    IDENTITIES,
    PACKAGES,
    RULES,
    SETTINGS,
    SITE_DATA,
    TAB_COUNTS,
    TAB_PAGES,
    TABS,
    TRASH,
    VISITS,
    WINDOWS,
    Table,
)

__all__ = [
    "COPIED_TABLES",
    "CopyProgress",
    "CopyResult",
    "CopySource",
    "NotNew",
    "ProfileDump",
    "Table",
    "copied_table",
    "selected",
]

COPIED_TABLES: Final = (
    *(HEAD, IDENTITIES, SETTINGS, RULES, COOKIES, SITE_DATA, COOKIE_TIME, WINDOWS, TABS, TAB_COUNTS, TAB_PAGES),
    *(EXTENSION_DATA, PACKAGES, TRASH, HISTORY, VISITS, BOOKMARKS, CLOSED_TABS),
)
"""The tables that a copy has, identities first: a restore has to know them before what belongs to them.

All except four: a copy is another profile, with its own id, and its change log starts empty. It has no grants, because
a token must not become valid in another profile, nor again by a restore after it was revoked. The activity log says
what happened in this profile, and names its grants.
"""


def copied_table(name: str) -> Table:
    """A table that a copy has, by name."""
    return _BY_NAME[name]


def selected(table: Table, rows: Iterable[Sequence[Any]], *columns: str) -> Iterator[tuple[Any, ...]]:
    """The values of some columns of rows, in this order."""
    first, *others = (table.place(column) for column in columns)
    if not others:
        return ((row[first],) for row in rows)
    return map(itemgetter(first, *others), rows)


_BY_NAME: Final = {table.name: table for table in COPIED_TABLES}


class NotNew(ProfileError):
    """A copy is refused, because the target was changed since it was created."""


class ProfileDump(NamedTuple):
    """All rows of a profile, as of one commit, except those of the tables that a copy does not have.

    Values are decrypted. Valid until its context manager ends.
    """

    label: str
    """The profile's name; see Store.label."""
    uuid: str
    is_encrypted: bool
    rows: dict[str, int]
    """The number of rows, by table."""
    batches: Iterator[tuple[Table, list[tuple[Any, ...]]]]
    """Rows of one table each, in the order of its key. Can be read once. Raises ProfileError."""


class CopySource(NamedTuple):
    """The profile to copy."""

    uuid: str | None
    """None in formats before 6."""
    open: Callable[[], AbstractContextManager[ProfileDump]]
    """Reads its rows. A profile of an earlier format is upgraded first, as by any program that opens it."""


CopyProgress: TypeAlias = Callable[[int, int], None]
"""Called with the number of rows that were copied, and of all."""


class CopyResult(NamedTuple):
    """The result of a copy."""

    source: str
    """The name of the profile that was copied; see Store.label."""
    target: str
    """The name of the copy."""
    is_new: bool
    """Whether the target was created."""
    rows: dict[str, int]
    """The number of rows that were copied, by table."""
