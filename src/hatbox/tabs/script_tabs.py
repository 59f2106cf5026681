"""Tabs that belong to a script: closed when its engine stops, or after its process was killed. Transaction functions.

Each run of an engine has one record, with its process and the ids of its tabs. Tabs of users have none.
"""

from __future__ import annotations

from typing import Final

from hatbox.store.base import Transaction
from hatbox.tabs.program_records import ProgramRecord, delete_record, find_records, get_record, put_record
from hatbox.tabs.strip import close_rows

__all__ = ["add_script_tab", "close_script_tabs", "inherit_script", "run_key"]

_PREFIX: Final = "run:"


def run_key(run: str) -> str:
    """The key of the record of a run."""
    return _PREFIX + run


def add_script_tab(transaction: Transaction, run: str, tab_id: int) -> None:
    """Record that a tab belongs to a run in this process. `run` is unique in the profile."""
    known = get_record(transaction, run_key(run))
    open_tabs = [row.id for row in transaction.tabs.get_many(known.tabs)] if known else []
    put_record(transaction, run_key(run), ProgramRecord(transaction.processes.current, (*open_tabs, tab_id)))


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
