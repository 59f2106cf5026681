"""The results of a check and of a repair, the same for every store."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Problem", "Repair", "Report"]


class Problem(NamedTuple):
    """One instance of damage: its place and a description."""

    place: str
    problem: str


class Report(NamedTuple):
    """The result of a check."""

    label: str
    """The profile's name; see Store.label."""
    format: int
    rows: dict[str, int]
    """The number of rows with a valid checksum, by table."""
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    """What could not be checked, and why."""

    @property
    def is_sound(self) -> bool:
        """Whether no damage was found."""
        return not self.problems


class Repair(NamedTuple):
    """The result for each table, without the change log, which only open programs read."""

    into: str
    """The name of the new profile; see Store.label."""
    saved: dict[str, int]
    lost: dict[str, int]
    unreadable: int
    """Unreadable cells that may have been rows of any table."""
    replaced: dict[str, int]
    """Lost identities and windows that have cookies, site data or tabs: new rows replace them."""
    undecryptable: dict[str, int]
    """Rows that were not saved, because they cannot be decrypted."""
    without_settings: int
    """Identities whose settings may be lost. Their requests are refused until the user sets or unsets their proxy."""
