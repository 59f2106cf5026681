"""Checks a profile for damage, and saves the undamaged rows of a damaged one. Needs no open profile."""

from __future__ import annotations

from hatbox.errors import NotAProfile
from hatbox.store.check_results import Problem, Repair, Report
from hatbox.store.keys import Key, configured_key, read_key_file
from hatbox.store.registry import Address, change_key_at, check_at, repair_at

__all__ = [
    "Key",
    "Repair",
    "Report",
    "change_profile_key",
    "check_profile",
    "configured_key",
    "read_key_file",
    "repair_profile",
]


def check_profile(address: Address, *, any_file: bool = False) -> Report:
    """Check a profile. Raises ProfileError if it is not a profile, cannot be read, or its store has no check.

    With `any_file`, a file that is not a profile is reported as damaged: a damaged header can make a profile look like
    another file.
    """
    try:
        return check_at(address)
    except NotAProfile as error:
        if not any_file:
            raise
        return Report(error.label, 0, {}, (Problem("header", error.problem),), ())


def repair_profile(address: Address, into: Address) -> Repair:
    """Save every undamaged row of a profile into a new profile. Raises ProfileError."""
    return repair_at(address, into)


def change_profile_key(address: Address, old: Key | None, new: Key | None) -> int | None:
    """Encrypt a profile (`old` is None), change its key, or decrypt it (`new` is None). No program may have it open.

    All or nothing. Returns the number of values that were rewritten, or None if the profile has the new key already.
    Raises WrongKey if `old` is not its key, and other ProfileErrors.
    """
    return change_key_at(address, old, new)
