"""Tabs that belong to a script: closed when its engine stops, or after its process was killed. Transaction functions.

Each run of an engine has one record, with its process and the ids of its tabs. Tabs of users have none.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.store.base import Transaction
from hatbox.store.processes import ProcessId
from hatbox.tabs.program_records import ProgramRecord, delete_record, find_records, get_record, put_record
from hatbox.tabs.strip import close_rows

__all__ = [
    "add_script_tab",
    "close_script_tabs",
    "inherit_script",
    "is_script_tab",
    "keep_script_tab",
    "move_script_tab",
    "run_key",
]

_PREFIX: Final = "run:"


def run_key(run: str) -> str:
    """The key of the record of a run."""
    return _PREFIX + run


def add_script_tab(transaction: Transaction, run: str, tab_id: int, process: ProcessId | None = None) -> None:
    """Record that a tab belongs to a run, of this process or another one. `run` is unique in the profile."""
    known = get_record(transaction, run_key(run))
    open_tabs = [row.id for row in transaction.tabs.get_many(known.tabs)] if known else []
    put_record(transaction, run_key(run), ProgramRecord(process or transaction.processes.current, (*open_tabs, tab_id)))


def move_script_tab(transaction: Transaction, run: str, process: ProcessId, tab_id: int) -> None:
    """Record that a tab belongs to a run of another process, and to no other run."""
    keep_script_tab(transaction, tab_id)
    add_script_tab(transaction, run, tab_id, process)


def is_script_tab(transaction: Transaction, run: str, tab_id: int) -> bool:
    """Whether a tab belongs to a run."""
    known = get_record(transaction, run_key(run))
    return known is not None and tab_id in known.tabs


def keep_script_tab(transaction: Transaction, tab_id: int) -> None:
    """Make a tab of a script one of the user: it stays open."""
    for key, record in find_records(transaction):
        if tab_id in record.tabs:
            tabs = tuple(each for each in record.tabs if each != tab_id)
            put_record(transaction, key, msgspec.structs.replace(record, tabs=tabs))


def inherit_script(transaction: Transaction, opener_id: int, tab_id: int) -> None:
    """A page has opened a tab: the tab belongs to the script of the page, if it has one."""
    for key, record in find_records(transaction):
        if opener_id in record.tabs:
            put_record(transaction, key, ProgramRecord(record.process, (*record.tabs, tab_id)))


def close_script_tabs(transaction: Transaction, key: str) -> None:
    """Close the tabs of a run that has ended, by the key of its record."""
    record = get_record(transaction, key)
    if record is not None:
        close_rows(transaction, transaction.tabs.get_many(record.tabs))
        delete_record(transaction, key)  # last: closed tabs of scripts are not recorded
