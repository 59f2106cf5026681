"""Settings of the profile itself, in the table of settings under identity 0. Transaction functions.

A value of a later version, or of a damaged copy, that this version cannot read counts as not set. It is not replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from hatbox.store.base import Transaction

__all__ = [
    "AUTO",
    "PROFILE",
    "URL_SECRET",
    "ProfileSettings",
    "load_profile_settings",
    "read_profile_settings",
    "write_profile_settings",
]

PROFILE: Final = 0
"""Stands for the profile in the table of settings."""
PROFILE_SETTINGS_CHANGED: Final = "profile.settings"
"""The topic of a change of these settings."""

URL_SECRET: Final = "extension_url_secret"  # noqa: S105 - a name
"""The name of the row with the secret of the UUIDs in moz-extension:// URLs, which users do not set."""

AUTO: Final = "auto"
"""The history is recorded while an extension with the permission is installed."""

_MAX_DAYS: Final = 36_500
_MAX_CLOSED_TABS: Final = 1_000
_HISTORY: Final = (AUTO, "on", "off")
_MAX_BYTES: Final = 2**40


class ProfileSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a profile, with their defaults."""

    trash_days: int = 30
    """How long removed identities stay in the trash. 0: no trash."""
    trash_bytes: int = 256 * 2**20
    """The size of the trash. The identities that were removed first are deleted for more. 0: no trash."""
    trash_skips_extensions: bool = True
    """Whether an identity that an extension has created and removes itself is deleted for ever."""

    history: str = AUTO
    """Whether visited pages are recorded: on, off, or auto: while an extension with the permission is installed."""
    closed_tabs: int = 0
    """How many closed tabs and windows can be restored. 0: none."""

    def __post_init__(self) -> None:
        limits = (("trash_days", _MAX_DAYS), ("trash_bytes", _MAX_BYTES), ("closed_tabs", _MAX_CLOSED_TABS))
        for name, highest in limits:
            value = getattr(self, name)
            if type(value) is not int or not 0 <= value <= highest:
                raise ValueError(f"{name} must be a whole number from 0 to {highest}, not {value!r}")
        if type(self.trash_skips_extensions) is not bool:
            raise ValueError(f"trash_skips_extensions must be True or False, not {self.trash_skips_extensions!r}")
        if self.history not in _HISTORY:
            raise ValueError(f"history must be {', '.join(_HISTORY[:-1])} or {_HISTORY[-1]}, not {self.history!r}")

    @property
    def has_trash(self) -> bool:
        """Whether removed identities go to the trash."""
        return self.trash_days > 0 and self.trash_bytes > 0


def load_profile_settings(stored: Mapping[str, bytes]) -> ProfileSettings:
    """The settings in the rows of the profile: name, value."""
    valid = ProfileSettings()
    for name in ProfileSettings.__struct_fields__:
        if name in stored:
            try:
                valid = msgspec.structs.replace(valid, **{name: msgspec.json.decode(stored[name])})
            except (msgspec.MsgspecError, ValueError):
                continue
    return valid


def read_profile_settings(transaction: Transaction) -> ProfileSettings:
    """The settings of the profile."""
    return load_profile_settings(dict(transaction.settings.load(PROFILE)))


def write_profile_settings(transaction: Transaction, changed: Mapping[str, int | bool | str]) -> ProfileSettings:
    """Change settings by name. Raises ValueError, and changes nothing, if a value is not valid."""
    settings = msgspec.structs.replace(read_profile_settings(transaction), **changed)
    for name in changed:
        transaction.settings.put(PROFILE, name, msgspec.json.encode(getattr(settings, name)))
    if "closed_tabs" in changed:  # a lower limit applies at once
        sessions = transaction.closed_tabs.sessions()
        transaction.closed_tabs.delete(sessions[: max(0, len(sessions) - settings.closed_tabs)])
    if changed:
        transaction.changes.append(PROFILE_SETTINGS_CHANGED, msgspec.json.encode(settings))
    return settings
