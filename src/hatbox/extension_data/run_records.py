"""Records of running extensions in the profile, visible to every process. Transaction functions.

The record of a process that was killed is ignored, and deleted by the next `settle`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.errors import ExtensionError, ExtensionNotFound
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import log_watching, menu_items, notifications, omnibox_input, run_problems
from hatbox.extension_data.action_values import SIDEBAR_ACTION
from hatbox.extension_data.actions import ACTION, PAGE_ACTION
from hatbox.extension_data.background_type import is_event_page
from hatbox.extension_data.new_tab_page import record_new_tab_page
from hatbox.extension_data.run_problems import RunProblem
from hatbox.extension_data.sidebars import close_sidebars_of, open_sidebars
from hatbox.extension_data.ui_changes import record_ui_change
from hatbox.store.base import Transaction
from hatbox.store.processes import ProcessId, host_id
from hatbox.tabs.first_window import close_first_tab, open_first_window
from hatbox.tabs.visibility import show_abandoned

__all__ = [
    "STARTED",
    "STOPPED",
    "STOP_REQUESTED",
    "RunChange",
    "RunRecord",
    "clean_up",
    "find",
    "find_area",
    "get",
    "get_all",
    "problem_of",
    "register_run",
    "request_stop",
    "reset_ui",
    "unregister_run",
]

STARTED, STOPPED = "extensions.started", "extensions.stopped"
"""The topics of runs. Their payload is a RunChange."""
STOP_REQUESTED: Final = "extensions.stopRequested"
"""The topic of a request to stop a run, in whichever process. The payload is a data area."""

_KIND: Final = installed.RUNNING
_CLEARED_AT_START: Final = (
    *(ACTION, PAGE_ACTION, SIDEBAR_ACTION, *notifications.KINDS, omnibox_input.KIND),
    *log_watching.RUN_KINDS,
    run_problems.KIND,
)


class RunRecord(msgspec.Struct, frozen=True):
    """A running extension: its process and manifest."""

    id: str
    """Its data area."""
    name: str
    process: int
    started_at: str = msgspec.field(name="since")
    """The start time of the process: process ids are reused."""
    manifest: Mapping[str, Any]
    """What runtime.getManifest() returns."""
    extension_id: str = ""
    """The extension id that other extensions see."""
    host: str = ""
    """The machine of the process; see ProcessId. Empty in records of earlier versions: this machine."""
    opens_browser: bool = False
    """Whether its process starts a browser when a page of the extension is requested."""

    @property
    def process_id(self) -> ProcessId:
        """The process, with its machine."""
        return ProcessId(self.host or host_id(), self.process, self.started_at)


class RunChange(msgspec.Struct, frozen=True):
    """An extension was started or has stopped."""

    extension: str
    """Its data area."""
    name: str


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
    opens_browser: bool = False,
) -> None:
    """Record that an extension runs in this process, and clear the UI of its last run.

    The menus of an event page stay: it creates them only when it is installed.
    """
    other = get(transaction, extension)
    process = transaction.processes.current
    if other is not None and other.process_id != process:
        raise ExtensionError(f"{name} is already running ({other.process_id}). Stop it first.")
    clean_up(transaction)
    clear_menus = not (is_event_page(manifest) and is_same_version)
    for kind in (*_CLEARED_AT_START, *((menu_items.KIND,) if clear_menus else ())):
        transaction.extensions.clear(extension, kind)
    running = RunRecord(
        extension,
        name,
        process.pid,
        process.started_at,
        manifest,
        extension_id or extension,
        process.host,
        opens_browser or (other is not None and other.opens_browser),
    )
    transaction.extensions.put(extension, _KIND, "", msgspec.json.encode(running))
    transaction.changes.append(STARTED, msgspec.json.encode(RunChange(extension, name)))
    record_new_tab_page(transaction, get_all(transaction))
    open_first_window(transaction)


def reset_ui(transaction: Transaction, extension: str) -> None:
    """Clear menus before a restart, unless the background is an event page: others create their menus at each start."""
    known = get(transaction, extension)
    if known is not None and not is_event_page(known.manifest):
        transaction.extensions.clear(extension, menu_items.KIND)
        record_ui_change(transaction, extension)


def unregister_run(transaction: Transaction, extension: str) -> None:
    """Delete the record of a run that has ended."""
    run_problems.clear_problem_of_run(transaction, extension, is_installed=_is_installed(transaction, extension))
    _delete(transaction, extension)
    clean_up(transaction)


def request_stop(transaction: Transaction, extension: str) -> RunRecord | None:
    """Have the process of an extension stop it, by data area. Returns the record of the run; None without one."""
    running = get(transaction, extension)
    if running is not None:
        transaction.changes.append(STOP_REQUESTED, msgspec.json.encode(extension))
    return running


def clean_up(transaction: Transaction) -> None:
    """Clean up after runs that have ended or were killed: show the tabs that they hid, close the first window."""
    running = get_all(transaction)
    record_new_tab_page(transaction, running)
    alive = {each.id for each in running}
    for extension, _, _ in transaction.extensions.find(_KIND):
        if extension not in alive:
            _record_kill(transaction, extension)
            _delete(transaction, extension)
    log_watching.end_unused_logs(transaction, alive)
    show_abandoned(transaction, alive)
    for extension in {each.extension for each in open_sidebars(transaction)} - alive:
        close_sidebars_of(transaction, extension)
    if not alive:
        close_first_tab(transaction)


def problem_of(transaction: Transaction, extension: str) -> RunProblem | None:
    """What is wrong with the run of an extension, or why the last one has ended unexpectedly."""
    value = transaction.extensions.get(extension, _KIND, "")
    if value and _decode(value).name and get(transaction, extension) is None:
        return run_problems.KILLED
    return run_problems.read_problem(transaction, extension)


def _record_kill(transaction: Transaction, extension: str) -> None:
    """The process of an extension was killed: the user did not stop it."""
    if problem_of(transaction, extension) == run_problems.KILLED and _is_installed(transaction, extension):
        run_problems.store_problem(transaction, extension, run_problems.KILLED)


def _is_installed(transaction: Transaction, extension: str) -> bool:
    known = installed.get(transaction, extension)
    return known is not None and known.permanent


def _delete(transaction: Transaction, extension: str) -> None:
    value = transaction.extensions.get(extension, _KIND, "")
    transaction.extensions.delete(extension, _KIND, "")
    if value and (name := _decode(value).name):
        transaction.changes.append(STOPPED, msgspec.json.encode(RunChange(extension, name)))


def get_all(transaction: Transaction) -> list[RunRecord]:
    """All running extensions."""
    found = [_decode(value) for _, _, value in transaction.extensions.find(_KIND)]
    return [record for record in found if transaction.processes.is_running(record.process_id)]


def get(transaction: Transaction, extension: str) -> RunRecord | None:
    """The record of a running extension by data area, or None."""
    value = transaction.extensions.get(extension, _KIND, "")
    running = _decode(value) if value else None
    return running if running is not None and transaction.processes.is_running(running.process_id) else None


def find(transaction: Transaction, name: str) -> RunRecord | None:
    """The record of a running extension by data area or extension id, or None."""
    exact = get(transaction, name)
    return exact or next((each for each in get_all(transaction) if each.extension_id == name), None)


_decode = msgspec.json.Decoder(RunRecord).decode
