"""Checks a profile for damage, and saves the undamaged rows of a damaged one. Needs no open profile."""

from __future__ import annotations

from pathlib import Path

from hatbox.errors import NotAProfile
from hatbox.store.sqlite.check import Problem, Report, check
from hatbox.store.sqlite.repair import Repair, repair

__all__ = ["Repair", "Report", "check_profile", "repair_profile"]


def check_profile(path: Path, *, any_file: bool = False) -> Report:
    """Check the profile at `path`. Raises ProfileError if the file is not a profile, or cannot be read.

    With `any_file`, a file that is not a profile is reported as damaged: a damaged header can make a profile look like
    another file.
    """
    try:
        return check(path)
    except NotAProfile as error:
        if not any_file:
            raise
        return Report(path, 0, {}, (Problem("header", error.problem),), ())


def repair_profile(path: Path, into: Path) -> Repair:
    """Save every undamaged row of the profile at `path` into a new profile. Raises ProfileError."""
    return repair(path, into)
