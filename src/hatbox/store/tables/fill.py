"""Replaces the rows of a new profile with those of another one, inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from hatbox.errors import ProfileError
from hatbox.store.base import RESYNC
from hatbox.store.profile_copy import CopyProgress, CopySource, NotNew, ProfileDump
from hatbox.store.tables.new_profile import is_unchanged
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import HEAD, IDENTITIES, PROFILE, Table

__all__ = ["LogWriter", "fill", "require_fillable"]

LogWriter: TypeAlias = Callable[[int, int, bytes], None]
"""Writes a row of the change log: its number, the bytes that were ever logged, the changes as JSON."""

_NOTHING: Final = "Nothing was copied."
# Subscribers of programs that have the profile open reload their state.
_RESYNC: Final = msgspec.json.encode([(RESYNC, None)])


def require_fillable(label: str, rows: Callable[[Table], Rows], source: CopySource) -> None:
    """Refuse a target that is the source, or was changed since it was created. `rows` gives access to its tables."""
    profile = rows(PROFILE).get(1)
    if profile is not None and profile[0] == source.uuid:
        raise ProfileError(label, "source and target are the same profile", f"{_NOTHING} Name another target.")
    if not is_unchanged(rows):
        problem = "it was changed since it was created, and a copy would replace what it contains"
        raise NotNew(label, problem, f"{_NOTHING} Name a profile that is new or does not exist.")


def fill(
    label: str,
    rows: Callable[[Table], Rows],
    log: LogWriter,
    source: ProfileDump,
    *,
    plain: bool,
    progress: CopyProgress,
) -> None:
    """Replace the rows of an unchanged profile with those of `source`. Its id, its key and its log stay its own."""
    _require_encryption(label, rows, source, plain=plain)
    rows(IDENTITIES).delete("id > ?", (0,))
    total, done = sum(source.rows.values()), 0
    progress(done, total)
    for table, batch in source.batches:
        if table.name == HEAD.name:  # updated: a store may have more columns in it
            head = dict(zip(table.columns, batch[0], strict=True))
            rows(table).update((head.pop("id"),), head)
        else:
            rows(table).put(batch)
        done += len(batch)
        progress(done, total)
    if head["changes"]:  # else nothing was ever changed, and subscribers have the state of a new profile
        log(head["changes"], head["logged"], _RESYNC)


def _require_encryption(label: str, rows: Callable[[Table], Rows], source: ProfileDump, *, plain: bool) -> None:
    """Refuse to write what is encrypted in the source as plain text, unless the user wants it."""
    profile = rows(PROFILE).get(1)
    if source.is_encrypted and not plain and (profile is None or profile[1] is None):
        problem = f"it is not encrypted, but the source is ({source.label})"
        raise ProfileError(label, problem, f"{_NOTHING} To store everything as plain text, pass --plain (plain=True).")
