"""A description of a profile, the same for every store."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LastChange", "ProfileInfo"]


class LastChange(NamedTuple):
    """The newest row of the change log: when it was committed, and by which process of which machine."""

    at: float
    """In seconds since 1970."""
    program: str
    process: int
    machine: str


class ProfileInfo(NamedTuple):
    """A profile: its place, its format, and how much it contains."""

    store: str
    """The name of the database program, such as SQLite."""
    label: str
    """The profile's name; see Store.label."""
    place: str
    """What contains the profile, for a sentence: the file or the schema, with its name."""
    format: int
    uuid: str | None
    """The id of the profile; None in formats before 6."""
    rows: dict[str, int]
    """The number of rows, by table. Empty for an earlier format."""
    extensions: int
    """The number of installed extensions."""
    size: int | None
    """In bytes; None if the store does not know it."""
    is_encrypted: bool
    programs: tuple[str, ...] | None
    """The programs that have the profile open; None if that is not known."""
    last_change: LastChange | None
    """None if the change log is empty."""
