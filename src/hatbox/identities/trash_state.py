"""What is known about the trash without reading it: its size, and when something in it expires. Transaction functions.

Read whenever a profile is opened, so it imports little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from hatbox.store.base import Transaction
from hatbox.store.profile_settings import PROFILE, ProfileSettings, load_profile_settings

__all__ = ["TrashState", "earliest_removal", "is_due", "load_state", "put_state"]

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


def is_due(transaction: Transaction) -> bool:
    """Whether identities in the trash may have expired, or have no room."""
    stored = dict(transaction.settings.load(PROFILE))
    state = load_state(stored)
    if state.oldest is None:
        return False
    settings = load_profile_settings(stored)
    return state.oldest < earliest_removal(transaction, settings) or state.bytes > settings.trash_bytes


def earliest_removal(transaction: Transaction, settings: ProfileSettings) -> float:
    """What was removed before this time has expired."""
    return transaction.time() - settings.trash_days * _DAY


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(TrashState).decode
