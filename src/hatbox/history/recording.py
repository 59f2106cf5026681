"""Whether visits are recorded: only if the user says so, or an extension with the permission is installed.

Transaction functions. Reads few rows: this runs for every page that is loaded.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from hatbox.store.base import Transaction
from hatbox.store.profile_settings import AUTO, PROFILE

__all__ = ["is_recorded"]

_PERMISSION: Final = "history"
_SETTING: Final = "history"
# The kinds of rows that hatbox.extension_data writes.
_INSTALLED: Final = "installed"
_GRANTED: Final = "granted"
_RUNNING: Final = "running"


class _Permissions(msgspec.Struct, frozen=True):
    permissions: tuple[str, ...] = ()


class _About(msgspec.Struct, frozen=True):
    required: _Permissions = _Permissions()


class _Installed(msgspec.Struct, frozen=True):
    permanent: bool = msgspec.field(default=True, name="kept")
    enabled: bool = True
    about: _About = _About()


_decode_setting = msgspec.json.Decoder(str).decode
_decode_installed = msgspec.json.Decoder(_Installed).decode
_decode_granted: Any = msgspec.json.Decoder(_Permissions).decode


def is_recorded(transaction: Transaction) -> bool:
    """Whether visits of pages are recorded now."""
    stored = transaction.settings.get(PROFILE, _SETTING)
    try:
        setting = AUTO if stored is None else _decode_setting(stored)
    except (msgspec.MsgspecError, UnicodeDecodeError):  # of a later version: as if it was not set
        setting = AUTO
    if setting in ("on", "off"):
        return setting == "on"
    return any(_wants_history(transaction, area, value) for area, _, value in transaction.extensions.find(_INSTALLED))


def _wants_history(transaction: Transaction, area: str, value: bytes) -> bool:
    """Whether an installed extension may read the history. A temporary installation counts while it runs."""
    try:
        installed = _decode_installed(value)
        if not installed.enabled:
            return False
        if _PERMISSION not in installed.about.required.permissions:
            granted = transaction.extensions.get(area, _GRANTED, "")
            if granted is None or _PERMISSION not in _decode_granted(granted).permissions:
                return False
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return installed.permanent or transaction.extensions.get(area, _RUNNING, "") is not None
