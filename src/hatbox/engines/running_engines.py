"""The engines that are running for a profile: for which identities, on which machine, and since when.

Each engine has leases, and a record in the profile. The record of an engine whose process has ended is ignored, and
deleted by the next engine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from hatbox.engines.base import EngineOptions
from hatbox.errors import EngineAlreadyRunning, EngineBusy
from hatbox.identity.ids import user_context_id_of
from hatbox.store.base import Store, Transaction
from hatbox.store.processes import ProcessId

__all__ = [
    "BACKGROUND_VARIABLE",
    "ENGINES_CHANGED",
    "RunningEngine",
    "already_running",
    "busy",
    "delete_record",
    "engine_for",
    "find_records",
    "has_lease",
    "is_same_engine",
    "lease_names",
    "put_record",
    "running_engines",
]

ENGINES_CHANGED: Final = "engines.changed"
"""The topic of a change of the records."""

BACKGROUND_VARIABLE: Final = "HATBOX_BACKGROUND"
"""Set in the environment of a background engine."""

_NO_EXTENSION: Final = ""
_KIND: Final = "engines"
_LEASE: Final = "engine"


class RunningEngine(msgspec.Struct, frozen=True):
    """An engine that opens the tabs of a profile, in any process."""

    engine: str
    """Its name in messages."""
    process: ProcessId | None
    """Its process; None while the process acquires its lease."""
    identities: tuple[str, ...] | None
    """The cookieStoreIds of its identities. None: all identities that no other engine has."""
    since: float | None
    """When it was started, in seconds since 1970; None if that is not known."""
    waiting: bool = False
    """Whether another engine is still closing the pages of these identities."""
    background: bool = False
    """Whether it runs in a process of its own, which `hatbox open` has started."""
    has_windows: bool | None = None
    """Whether it shows windows; None if that is not known."""
    user: str = ""
    """The user of its process, on its machine; empty for a version of Hatbox to which programs cannot attach."""
    program: str = ""
    """The name of the program that runs it."""
    options: EngineOptions | None = None
    """Its options; None if they are not known."""
    ends_person_windows: bool = False
    """Whether its version of Hatbox can empty a window for a person: see OpenPersonWindow.end."""

    @property
    def pid(self) -> int | None:
        """The process id, on its machine."""
        return self.process and self.process.pid

    @property
    def machine(self) -> str:
        """The host name of its machine; empty if that is not known."""
        return self.process.machine if self.process else ""


def lease_names(identities: Sequence[str] | None) -> list[str]:
    """The leases that an engine needs: one for each identity, or the one of the engine for all others."""
    if identities is None:
        return [_LEASE]
    return [f"{_LEASE}-{number}" for number in sorted(user_context_id_of(each) or 0 for each in identities)]


async def running_engines(store: Store) -> list[RunningEngine]:
    """The running engines, in the order in which they were started."""
    records = await store.read(find_records)
    alive = await asyncio.gather(*(has_lease(store, each) for each in records))
    found = [each for each, is_alive in zip(records, alive, strict=True) if is_alive]
    if all(each.identities is not None for each in found):
        holder = await store.lease(_LEASE).holder()
        if holder is not None:  # it has not stored its record yet
            found.append(RunningEngine(holder.purpose, holder.process, None, None))
    return found


async def engine_for(store: Store, cookie_store_id: str) -> RunningEngine | None:
    """The running engine that opens the tabs of an identity; None if none is running."""
    found = await running_engines(store)
    own = (each for each in found if each.identities is not None and cookie_store_id in each.identities)
    return next(own, None) or next((each for each in found if each.identities is None), None)


async def has_lease(store: Store, record: RunningEngine) -> bool:
    """Whether the engine of a record is running."""
    holder = await store.lease(_key(record)).holder()
    return holder is not None and holder.process in (None, record.process)


def already_running(
    engine: str, process: ProcessId | None, *, identity: str = "", name: str = "", problem: str = ""
) -> EngineAlreadyRunning:
    """The error of a program that needs what the engine of another process has."""
    pid, label, machine = (process.pid, str(process), process.machine) if process else (None, "", "")
    engine = engine or "unknown"  # its process has not signed the lease yet
    return EngineAlreadyRunning(engine, pid, label, machine=machine, identity=identity, name=name, problem=problem)


def busy(engine: RunningEngine, reason: str, *, identity: str = "", identity_name: str = "") -> EngineBusy:
    """The error of a program that cannot use the running engine that has what it needs."""
    process, name = engine.process, engine.engine or "unknown"
    pid, label, machine = (process.pid, str(process), process.machine) if process else (None, "", "")
    return EngineBusy(
        name,
        pid,
        label,
        reason=reason,
        program=engine.program,
        machine=machine,
        identity=identity,
        name=identity_name,
    )


def is_same_engine(one: RunningEngine, other: RunningEngine) -> bool:
    """Whether both are records of one run of an engine."""
    return (one.process, one.since) == (other.process, other.since)


def find_records(transaction: Transaction) -> list[RunningEngine]:
    """All records, in the order in which the engines were started."""
    found = [_decode(value) for _, _, value in transaction.extensions.find(_KIND, _NO_EXTENSION)]
    return sorted(found, key=lambda each: each.since or 0)


def put_record(transaction: Transaction, record: RunningEngine) -> None:
    """Store the record of an engine, which has its leases."""
    before = transaction.extensions.get(_NO_EXTENSION, _KIND, _key(record))
    transaction.extensions.put(_NO_EXTENSION, _KIND, _key(record), msgspec.json.encode(record))
    is_new = before is None or not is_same_engine(_decode(before), record)
    _record_change(transaction, "started" if is_new else "changed", record)


def delete_record(transaction: Transaction, record: RunningEngine) -> None:
    """Delete a record, unless another engine has replaced it."""
    value = transaction.extensions.get(_NO_EXTENSION, _KIND, _key(record))
    if value is not None and is_same_engine(_decode(value), record):
        transaction.extensions.delete(_NO_EXTENSION, _KIND, _key(record))
        _record_change(transaction, "stopped", record)


def _record_change(transaction: Transaction, event: str, record: RunningEngine) -> None:
    transaction.changes.append(ENGINES_CHANGED, msgspec.json.encode({"event": event, "name": record.engine}))


def _key(record: RunningEngine) -> str:
    return lease_names(record.identities)[0]


_decode = msgspec.json.Decoder(RunningEngine).decode
