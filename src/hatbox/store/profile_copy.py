"""What one store reads for a copy of a profile, and another one writes. The same for every store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeAlias

from hatbox.store.tables.schema import Table

__all__ = ["CopyProgress", "CopyResult", "CopySource", "ProfileDump"]


class ProfileDump(NamedTuple):
    """All rows of a profile, as of one commit, except those of the tables `profile` and `changes`.

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
