"""Records of what belongs to a running program: the tabs of a script, a temporary identity. Transaction functions.

A record names the process. What belongs to a process that was killed is removed by the next program that opens the
profile, and by programs that have it open.
"""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.store.base import Transaction
from hatbox.store.processes import ProcessId

__all__ = [
    "ProgramRecord",
    "abandoned_records",
    "delete_record",
    "find_records",
    "get_record",
    "place_of_record",
    "put_record",
    "record_in",
]

_NO_EXTENSION: Final = ""
_KIND: Final = "programs"


class ProgramRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What belongs to a process. A record of a later version may have more fields, which are ignored."""

    process: ProcessId
    tabs: tuple[int, ...] = ()
    """Ids of tabs. Some may be closed: ids are never reused."""
    identity: str = ""
    """The UUID of a temporary identity."""
    until_last_tab: bool = False
    """Whether the identity exists as long as it has tabs, also after its process has ended."""


def place_of_record(key: str) -> tuple[str, str, str]:
    """Where a record is stored, for Transaction.load."""
    return _NO_EXTENSION, _KIND, key


def get_record(transaction: Transaction, key: str) -> ProgramRecord | None:
    """One record, or None."""
    value = transaction.extensions.get(*place_of_record(key))
    return None if value is None else _decoded(value)


def put_record(transaction: Transaction, key: str, record: ProgramRecord) -> None:
    """Store a record."""
    transaction.extensions.put(*place_of_record(key), _encode(record))


def delete_record(transaction: Transaction, key: str) -> None:
    """Delete a record."""
    transaction.extensions.delete(*place_of_record(key))


def find_records(transaction: Transaction) -> list[tuple[str, ProgramRecord]]:
    """All records by key, in the order in which they were first put."""
    found = ((key, _decoded(value)) for _, key, value in transaction.extensions.find(_KIND, _NO_EXTENSION))
    return [(key, record) for key, record in found if record is not None]


def abandoned_records(transaction: Transaction) -> list[tuple[str, ProgramRecord]]:
    """The records of processes that do not run any more, on this machine and on others."""
    is_running = transaction.processes.is_running
    return [(key, record) for key, record in find_records(transaction) if not is_running(record.process)]


def _decoded(value: bytes) -> ProgramRecord | None:
    """The record; None if this version cannot read it."""
    try:
        return _decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def record_in(extension: str, kind: str, value: bytes) -> ProgramRecord | None:
    """The record that a row of extension data has; None if it has none."""
    return _decoded(value) if (extension, kind) == (_NO_EXTENSION, _KIND) else None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ProgramRecord).decode
