"""What is known about the trash without reading it: its size, and when something in it expires. Transaction functions.

Read whenever a profile is opened, so it imports little.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Final

import msgspec

from hatbox.store.base import Transaction
from hatbox.store.profile_settings import PROFILE, ProfileSettings, load_profile_settings

__all__ = ["TrashState", "earliest_removal", "is_due", "load_state", "may_expire", "note_expiry", "put_state"]

_NAME: Final = "trash"  # of the setting of the profile
_SEEN: Final = "trash_expiry"  # a setting: when the clock first showed that something has expired
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
    seen = _seen(stored)
    if state.oldest is None:
        return seen is not None
    settings = load_profile_settings(stored)
    if state.bytes > settings.trash_bytes:
        return True
    if state.oldest >= earliest_removal(transaction, settings):
        return seen is not None
    return at_once or seen is None or may_expire(transaction) or transaction.time() < seen


def may_expire(transaction: Transaction) -> bool:
    """Whether the clock is trusted enough to delete for ever. One wrong reading of it must not empty the trash.

    It is, if it is at most a day past the high-water time of cookies, or has shown for a day that something expired.
    """
    now = transaction.time()
    mark = transaction.cookie_time.get()
    if mark is not None and mark[1] is None and now <= mark[0] + _DAY:
        return True
    stored = dict(transaction.settings.load(PROFILE))
    seen = _seen(stored)
    return load_profile_settings(stored).trash_days == 0 or (seen is not None and now >= seen + _DAY)


def note_expiry(transaction: Transaction, *, is_waiting: bool) -> None:
    """Note when the clock first showed that something has expired, or that nothing waits to be deleted any more."""
    now = transaction.time()
    seen = _seen(dict(transaction.settings.load(PROFILE)))
    if not is_waiting:
        transaction.settings.delete(PROFILE, _SEEN)
    elif seen is None or now < seen:
        transaction.settings.put(PROFILE, _SEEN, msgspec.json.encode(now))


def _seen(stored: Mapping[str, bytes]) -> float | None:
    try:
        return msgspec.json.decode(stored[_SEEN], type=float) if _SEEN in stored else None
    except (msgspec.MsgspecError, UnicodeDecodeError):  # of another program: as if the clock was set back
        return inf


def earliest_removal(transaction: Transaction, settings: ProfileSettings) -> float:
    """What was removed before this time has expired."""
    return transaction.time() - settings.trash_days * _DAY


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(TrashState).decode
