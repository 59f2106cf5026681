"""Records of running extensions in the profile, visible to every process. Transaction functions.

The record of a process that was killed is ignored, and deleted by the next `settle`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from hatbox.errors import ExtensionError, ExtensionNotFound
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import menu_items, notifications
from hatbox.extension_data.actions import ACTION, PAGE_ACTION
from hatbox.extension_data.background_type import is_event_page
from hatbox.store.base import Transaction
from hatbox.tabs.first_window import close_first_tab, open_first_window
from hatbox.tabs.visibility import show_abandoned

__all__ = ["RunRecord", "clean_up", "find", "find_area", "get", "get_all", "register_run", "reset_ui", "unregister_run"]

_KIND: Final = installed.RUNNING
_STARTED: Final = 19  # which field after the name of a process in /proc tells when it began
_QUERY: Final = 0x1000  # what Windows calls PROCESS_QUERY_LIMITED_INFORMATION
_CLEARED_AT_START: Final = (ACTION, PAGE_ACTION, *notifications.KINDS)


class RunRecord(msgspec.Struct, frozen=True):
    """A running extension: its process and manifest."""

    id: str
    """Its data area."""
    name: str
    process: int
    started_at: str = msgspec.field(name="since")
    """When the process began, as the system tells it: numbers of processes are used again."""
    manifest: Mapping[str, Any]
    """What runtime.getManifest() returns."""
    extension_id: str = ""
    """The extension id that other extensions see."""


def find_area(transaction: Transaction, name: str) -> str:
    """Find a data area by itself or by extension id: the installed extension first, then the running one."""
    if installed.get(transaction, name) is not None:
        return name
    areas = [each.area for each in installed.get_all(transaction) if each.id == name]
    running = [area for area in areas if get(transaction, area) is not None]
    for found in (running, areas):
        if len(found) == 1:
            return found[0]
    raise ExtensionNotFound(name)


def register_run(
    transaction: Transaction,
    extension: str,
    name: str,
    manifest: Mapping[str, Any],
    *,
    extension_id: str | None = None,
    is_same_version: bool,
) -> None:
    """Record that an extension runs in this process, and clear the UI of its last run.

    The menus of an event page stay: it creates them only when it is installed.
    """
    other = get(transaction, extension)
    if other is not None and other.process != os.getpid():
        raise ExtensionError(f"{name} is running already, in the process {other.process}. Stop it there first.")
    clean_up(transaction)
    clear_menus = not (is_event_page(manifest) and is_same_version)
    for kind in (*_CLEARED_AT_START, *((menu_items.KIND,) if clear_menus else ())):
        transaction.extensions.clear(extension, kind)
    running = RunRecord(extension, name, os.getpid(), _since(os.getpid()) or "", manifest, extension_id or extension)
    transaction.extensions.put(extension, _KIND, "", msgspec.json.encode(running))
    open_first_window(transaction)


def reset_ui(transaction: Transaction, extension: str) -> None:
    """Clear menus before a restart, unless the background is an event page: others create their menus at each start."""
    known = get(transaction, extension)
    if known is not None and not is_event_page(known.manifest):
        transaction.extensions.clear(extension, menu_items.KIND)


def unregister_run(transaction: Transaction, extension: str) -> None:
    """Delete the record of a run that has ended."""
    transaction.extensions.delete(extension, _KIND, "")
    clean_up(transaction)


def clean_up(transaction: Transaction) -> None:
    """Clean up after runs that have ended or were killed: show the tabs that they hid, close the first window."""
    alive = {each.id for each in get_all(transaction)}
    for extension, _, _ in transaction.extensions.find(_KIND):
        if extension not in alive:
            transaction.extensions.delete(extension, _KIND, "")
    show_abandoned(transaction, alive)
    if not alive:
        close_first_tab(transaction)


def get_all(transaction: Transaction) -> list[RunRecord]:
    """All running extensions."""
    found = [_decode(value) for _, _, value in transaction.extensions.find(_KIND)]
    return [record for record in found if _is_alive(record)]


def get(transaction: Transaction, extension: str) -> RunRecord | None:
    """The record of a running extension by data area, or None."""
    value = transaction.extensions.get(extension, _KIND, "")
    running = _decode(value) if value else None
    return running if running is not None and _is_alive(running) else None


def find(transaction: Transaction, name: str) -> RunRecord | None:
    """The record of a running extension by data area or extension id, or None."""
    exact = get(transaction, name)
    return exact or next((each for each in get_all(transaction) if each.extension_id == name), None)


def _is_alive(running: RunRecord) -> bool:
    return _since(running.process) == running.started_at


if sys.platform == "win32":

    def _since(process: int) -> str | None:
        """Empty, as the system does not tell; None if there is no such process."""
        import ctypes

        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(_QUERY, False, process)
        if not handle:
            return None
        kernel.CloseHandle(handle)
        return ""
else:

    def _since(process: int) -> str | None:
        """When a process began; empty where the system does not tell, None if there is no such process."""
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return None
        except PermissionError:
            pass  # it is somebody else's
        try:
            return Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[_STARTED]
        except OSError:
            return ""


_decode = msgspec.json.Decoder(RunRecord).decode
