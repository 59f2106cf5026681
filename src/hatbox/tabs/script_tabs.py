"""Tabs that belong to a script: closed when its engine stops, or after its process was killed. Transaction functions.

Each run of an engine has one record, with its process and the ids of its tabs. Tabs of users have none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from hatbox.store.base import Transaction
from hatbox.store.processes import ProcessId
from hatbox.tabs.strip import close_rows

__all__ = [
    "add_script_tab",
    "close_abandoned_script_tabs",
    "close_script_tabs",
    "has_abandoned_script_tabs",
    "inherit_script",
]

_NO_EXTENSION: Final = ""
_KIND: Final = "tabs.scripts"


class ScriptRun(msgspec.Struct, frozen=True):
    """One run of an engine by a script."""

    process: ProcessId
    tabs: tuple[int, ...]
    """Ids of tabs. Some may be closed: ids are never reused."""


def add_script_tab(transaction: Transaction, run: str, tab_id: int) -> None:
    """Record that a tab belongs to a run in this process. `run` is unique in the profile."""
    known = _get(transaction, run)
    open_tabs = [row.id for row in transaction.tabs.get_many(known.tabs)] if known else []
    _put(transaction, run, ScriptRun(transaction.processes.current, (*open_tabs, tab_id)))


def inherit_script(transaction: Transaction, opener_id: int, tab_id: int) -> None:
    """A page has opened a tab: the tab belongs to the script of the page, if it has one."""
    for run, record in _runs(transaction):
        if opener_id in record.tabs:
            _put(transaction, run, ScriptRun(record.process, (*record.tabs, tab_id)))


def close_script_tabs(transaction: Transaction, run: str) -> None:
    """Close the tabs of a run that has ended."""
    record = _get(transaction, run)
    if record is not None:
        _close(transaction, record.tabs)
        transaction.extensions.delete(_NO_EXTENSION, _KIND, run)


def has_abandoned_script_tabs(transaction: Transaction) -> bool:
    """Whether a process with such tabs was killed."""
    return any(not transaction.processes.is_running(record.process) for _, record in _runs(transaction))


def close_abandoned_script_tabs(transaction: Transaction) -> None:
    """Close the tabs of runs whose process was killed."""
    for run, record in _runs(transaction):
        if not transaction.processes.is_running(record.process):
            close_script_tabs(transaction, run)


def _close(transaction: Transaction, tab_ids: Iterable[int]) -> None:
    close_rows(transaction, transaction.tabs.get_many(tuple(tab_ids)))


def _runs(transaction: Transaction) -> list[tuple[str, ScriptRun]]:
    return [(run, _decode(value)) for _, run, value in transaction.extensions.find(_KIND, _NO_EXTENSION)]


def _get(transaction: Transaction, run: str) -> ScriptRun | None:
    value = transaction.extensions.get(_NO_EXTENSION, _KIND, run)
    return None if value is None else _decode(value)


def _put(transaction: Transaction, run: str, record: ScriptRun) -> None:
    transaction.extensions.put(_NO_EXTENSION, _KIND, run, msgspec.json.encode(record))


_decode = msgspec.json.Decoder(ScriptRun).decode
