"""Whether visits are recorded: only if the user says so, or an extension with the permission is installed.

Transaction functions. Reads few rows: this runs for every page that is loaded.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from hatbox.store.base import Transaction
from hatbox.store.processes import ProcessId, host_id
from hatbox.store.profile_settings import AUTO, PROFILE

__all__ = ["HISTORY_SETTING", "is_recorded"]

_PERMISSION: Final = "history"
HISTORY_SETTING: Final = (PROFILE, "history")
"""What is_recorded() reads first, for Transaction.load."""
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


class _Run(msgspec.Struct, frozen=True):
    process: int
    started_at: str = msgspec.field(name="since")
    host: str = ""


_decode_setting = msgspec.json.Decoder(str).decode
_decode_installed = msgspec.json.Decoder(_Installed).decode
_decode_granted: Any = msgspec.json.Decoder(_Permissions).decode
_decode_run = msgspec.json.Decoder(_Run).decode


def is_recorded(transaction: Transaction) -> bool:
    """Whether visits of pages are recorded now."""
    stored = transaction.settings.get(*HISTORY_SETTING)
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
        return installed.permanent or _is_running(transaction, area)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False


def _is_running(transaction: Transaction, area: str) -> bool:
    """Whether an extension runs. The record of a process that was killed stays until the next start."""
    value = transaction.extensions.get(area, _RUNNING, "")
    if value is None:
        return False
    run = _decode_run(value)
    return transaction.processes.is_running(ProcessId(run.host or host_id(), run.process, run.started_at))
