"""What is known about the trash without reading it: its size, and when something in it expires. Transaction functions.

Read whenever a profile is opened, so it imports little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from hatbox.identities.expiry import ExpiryMark, trusted_time
from hatbox.store.base import Transaction
from hatbox.store.profile_settings import PROFILE, ProfileSettings, load_profile_settings

__all__ = ["TRASH_EXPIRY", "TrashState", "deletion_limit", "expiry_limit", "is_due", "load_state", "put_state"]

TRASH_EXPIRY: Final = ExpiryMark("trash_expiry")
"""When the clock first showed that something in the trash has expired."""

_NAME: Final = "trash"  # of the setting of the profile
_DAY: Final = 86_400


class TrashState(msgspec.Struct, frozen=True):
    """The size of all archives, and when the first one was added."""

    bytes: int = 0
    oldest: float | None = None
    """When the first one was removed, or earlier. None without any."""


def load_state(stored: Mapping[str, bytes]) -> TrashState:
    """The state in the settings of the profile: name, value."""
    if _NAME not in stored:
        return TrashState()
    try:
        return _decode(stored[_NAME])
    except (msgspec.MsgspecError, UnicodeDecodeError):  # of another program: the trash is read, and counted again
        return TrashState(oldest=0.0)


def put_state(transaction: Transaction, state: TrashState) -> None:
    """Store the state."""
    transaction.settings.put(PROFILE, _NAME, _encode(state))


def is_due(transaction: Transaction, *, at_once: bool = False) -> bool:
    """Whether the trash has to be looked at: identities in it may have expired, or have no room."""
    stored = dict(transaction.settings.load(PROFILE))
    state = load_state(stored)
    seen = TRASH_EXPIRY.of(stored)
    if state.oldest is None:
        return seen is not None
    settings = load_profile_settings(stored)
    if state.bytes > settings.trash_bytes:
        return True
    now = transaction.time()
    if state.oldest >= expiry_limit(now, settings):
        return seen is not None
    return seen is None or now < seen or deletion_limit(transaction, now, settings, at_once=at_once) is not None


def expiry_limit(now: float, settings: ProfileSettings) -> float:
    """What was removed before this time has expired."""
    return now - settings.trash_days * _DAY


def deletion_limit(
    transaction: Transaction, now: float, settings: ProfileSettings, *, at_once: bool = False
) -> float | None:
    """What was removed before this time may be deleted. None for nothing: the clock is not trusted yet."""
    if at_once or settings.trash_days == 0:
        return expiry_limit(now, settings)
    time = trusted_time(transaction, now, TRASH_EXPIRY.get(transaction))
    return None if time is None else expiry_limit(time, settings)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(TrashState).decode
