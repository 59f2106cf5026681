"""Replaces the rows of a new profile with those of another one, inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Callable

from hatbox.errors import ProfileError
from hatbox.store.profile_copy import CopyProgress, CopySource, ProfileDump
from hatbox.store.tables.change_log import SqlChangeLog
from hatbox.store.tables.new_profile import is_unchanged
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import HEAD, IDENTITIES, PROFILE, Table

__all__ = ["fill", "require_fillable"]

_NOTHING = "Nothing was copied."


def require_fillable(label: str, rows: Callable[[Table], Rows], source: CopySource) -> None:
    """Refuse a target that is the source, or was changed since it was created. `rows` gives access to its tables."""
    profile = rows(PROFILE).get(1)
    if profile is not None and profile[0] == source.uuid:
        raise ProfileError(label, "source and target are the same profile", f"{_NOTHING} Name another target.")
    if not is_unchanged(rows):
        problem = "it was changed since it was created, and a copy would replace what it contains"
        raise ProfileError(label, problem, f"{_NOTHING} Name a profile that is new or does not exist.")


def fill(
    label: str,
    rows: Callable[[Table], Rows],
    log: SqlChangeLog,
    source: ProfileDump,
    *,
    plain: bool,
    progress: CopyProgress,
) -> None:
    """Replace the rows of an unchanged profile with those of `source`. Its id, its key and its log stay its own."""
    _require_encryption(label, rows, source, plain=plain)
    for table in (HEAD, IDENTITIES):  # the only ones with rows
        rows(table).delete("id > ?", (0,))
    total, done = sum(source.rows.values()), 0
    progress(done, total)
    for table, batch in source.batches:
        rows(table).put(batch)
        done += len(batch)
        progress(done, total)
    log.write_resync()


def _require_encryption(label: str, rows: Callable[[Table], Rows], source: ProfileDump, *, plain: bool) -> None:
    """Refuse to write what is encrypted in the source as plain text, unless the user wants it."""
    profile = rows(PROFILE).get(1)
    if source.is_encrypted and not plain and (profile is None or profile[1] is None):
        problem = f"it is not encrypted, but the source is ({source.label})"
        raise ProfileError(label, problem, f"{_NOTHING} To store everything as plain text, pass --plain (plain=True).")
