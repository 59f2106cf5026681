"""Which extensions run, in whichever process: noted in the profile, so that everybody can see them and what they show.

Plain functions of a transaction. A process that has ended without a word is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.api.namespaces import browser_action as button
from hatbox.api.namespaces import notifications
from hatbox.api.namespaces import page_action as page
from hatbox.api.namespaces.tabs.clicked_tab import is_event_page
from hatbox.errors import ExtensionError, ExtensionNotFound
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import menu_items as items
from hatbox.store.base import Transaction
from hatbox.store.processes import ProcessId, host_id
from hatbox.tabs.first_window import close_first_tab, open_first_window
from hatbox.tabs.visibility import show_abandoned

__all__ = ["RunRecord", "area_named", "find", "get", "get_all", "register_run", "reset_ui", "settle", "unregister_run"]

_KIND: Final = installed.RUNNING
_OF_ONE_RUN: Final = (button.KIND, page.KIND, *notifications.KINDS)


class RunRecord(msgspec.Struct, frozen=True):
    """An extension that runs: in which process, and what its manifest says."""

    id: str
    """Its data area."""
    name: str
    process: int
    started_at: str = msgspec.field(name="since")
    """The start time of the process: process ids are reused."""
    manifest: Mapping[str, Any]
    """What runtime.getManifest() returns."""
    extension_id: str = ""
    """Its id, as others see it."""
    host: str = ""
    """The machine of the process; see ProcessId. Empty in records of earlier versions: this machine."""

    @property
    def process_id(self) -> ProcessId:
        """The process, with its machine."""
        return ProcessId(self.host or host_id(), self.process, self.started_at)


def area_named(transaction: Transaction, name: str) -> str:
    """The data area of the extension with this id, or with this area: the installed one, else the one that runs."""
    if installed.get(transaction, name) is not None:
        return name
    areas = [each.area for each in installed.get_all(transaction) if each.id == name]
    at_work = [area for area in areas if get(transaction, area) is not None]
    for found in (at_work, areas):
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
    """Note that an extension runs in this process. What it showed when it last ran is gone.

    But for the menus of one that sleeps: those are made only once.
    """
    other = get(transaction, extension)
    process = transaction.processes.current
    if other is not None and other.process_id != process:
        raise ExtensionError(f"{name} is already running ({other.process_id}). Stop it first.")
    settle(transaction)
    forget_menus = not (is_event_page(manifest) and is_same_version)
    for kind in (*_OF_ONE_RUN, *((items.KIND,) if forget_menus else ())):
        transaction.extensions.clear(extension, kind)
    running = RunRecord(
        extension, name, process.pid, process.started_at, manifest, extension_id or extension, process.host
    )
    transaction.extensions.put(extension, _KIND, "", msgspec.json.encode(running))
    open_first_window(transaction)


def reset_ui(transaction: Transaction, extension: str) -> None:
    """Its scripts begin anew. If they do so whenever they start, they make their menus again."""
    known = get(transaction, extension)
    if known is not None and not is_event_page(known.manifest):
        transaction.extensions.clear(extension, items.KIND)


def unregister_run(transaction: Transaction, extension: str) -> None:
    """Note that an extension has ended."""
    transaction.extensions.delete(extension, _KIND, "")
    settle(transaction)


def settle(transaction: Transaction) -> None:
    """Clean up after runs that have ended or were killed: show the tabs that they hid, close the first window."""
    alive = {each.id for each in get_all(transaction)}
    for extension, _, _ in transaction.extensions.find(_KIND):
        if extension not in alive:
            transaction.extensions.delete(extension, _KIND, "")
    show_abandoned(transaction, alive)
    if not alive:
        close_first_tab(transaction)


def get_all(transaction: Transaction) -> list[RunRecord]:
    """All that run."""
    found = [_decode(value) for _, _, value in transaction.extensions.find(_KIND)]
    return [each for each in found if transaction.processes.is_running(each.process_id)]


def get(transaction: Transaction, extension: str) -> RunRecord | None:
    """An extension, if it runs."""
    value = transaction.extensions.get(extension, _KIND, "")
    running = _decode(value) if value else None
    return running if running is not None and transaction.processes.is_running(running.process_id) else None


def find(transaction: Transaction, name: str) -> RunRecord | None:
    """An extension that runs, by its data area or its id."""
    exact = get(transaction, name)
    return exact or next((each for each in get_all(transaction) if each.extension_id == name), None)


_decode = msgspec.json.Decoder(RunRecord).decode
