"""Creates, describes, copies and checks profiles, and saves the undamaged rows. Needs no open profile."""

from __future__ import annotations

from hatbox.errors import NotAProfile
from hatbox.store.check_results import Problem, Repair, Report
from hatbox.store.keys import Key, configured_key, read_key_file
from hatbox.store.profile_copy import CopyProgress, CopyResult
from hatbox.store.profile_info import LastChange, ProfileInfo
from hatbox.store.registry import Address, change_key_at, check_at, copy_at, create_at, info_at, repair_at

__all__ = [
    "CopyProgress",
    "CopyResult",
    "Key",
    "LastChange",
    "ProfileInfo",
    "Repair",
    "Report",
    "change_profile_key",
    "check_profile",
    "configured_key",
    "copy_profile",
    "create_profile",
    "profile_info",
    "read_key_file",
    "repair_profile",
]


def create_profile(address: Address) -> bool:
    """Create a profile, with four identities. False if one exists already: it is not changed. Raises ProfileError."""
    return create_at(address)


def profile_info(address: Address) -> ProfileInfo:
    """Describe a profile, without changing it. Raises ProfileError, also if no profile exists there."""
    return info_at(address)


def copy_profile(
    source: Address, target: Address, *, plain: bool = False, progress: CopyProgress = lambda _done, _total: None
) -> CopyResult:
    """Copy a profile into one that is new or unchanged since it was created, in any store. All or nothing.

    The copy has everything except the change log: ids, counters and the order too. It has an id of its own. Other
    programs may use the source: the copy is its state at one commit. With `plain`, what is encrypted in the source may
    become plain text. `progress` is called with the number of rows that were copied, and of all.

    Raises ProfileError.
    """
    return copy_at(source, target, plain=plain, progress=progress)


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
