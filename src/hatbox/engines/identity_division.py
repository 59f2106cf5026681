"""Divides the identities of a profile among its engines, so that no identity has pages in two of them.

An engine for some identities has a lease for each of them. An engine without a list has the lease "engine", and serves
all identities that no other engine has: it reads the records of the others. When another engine starts for some of its
identities, it closes their pages and then confirms in the record of that engine, which waits for this. When that engine
ends, it serves these identities again. Knows nothing of tabs.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from hatbox.engines.base import EngineOptions
from hatbox.engines.running_engines import (
    BACKGROUND_VARIABLE,
    ENGINES_CHANGED,
    RunningEngine,
    already_running,
    delete_record,
    find_records,
    has_lease,
    lease_names,
    put_record,
)
from hatbox.errors import EngineError, ProfileError
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.store.lease import Lease
from hatbox.store.processes import current_process, current_user, program_name
from hatbox.tasks import Tasks

__all__ = ["IdentityDivision"]

logger = logging.getLogger("hatbox.engines")

_RELEASE_TIMEOUT: Final = 30.0  # seconds; an engine closes a page that does not respond after 5 to 20
_GRACE_SECONDS: Final = 10.0  # an engine that has lost its lease needs some seconds to close its pages
_POLL_SECONDS: Final = 1.0  # between two checks whether the process of another engine has ended


class IdentityDivision:
    """The identities of one engine, from `join` to `leave`."""

    def __init__(
        self,
        store: Store,
        engine_name: str,
        on_lost: Callable[[str], None],
        *,
        has_windows: bool = False,
        options: Callable[[], EngineOptions] = EngineOptions,
    ) -> None:
        self._store = store
        self._engine_name = engine_name
        self._has_windows = has_windows
        self._options = options
        self._on_lost = on_lost
        self._leases: list[Lease] = []
        self._record: RunningEngine | None = None
        self._own: frozenset[str] | None = None
        self._others: frozenset[str] = frozenset()
        self._missed: dict[RunningEngine, float] = {}  # since when other engines are without their leases
        self._tasks = Tasks()

    @property
    def identities(self) -> tuple[str, ...] | None:
        """The cookieStoreIds that the engine has joined with; None for all that no other engine has."""
        return self._record.identities if self._record else None

    @property
    def since(self) -> float | None:
        """When the engine has joined, as its record says; None before."""
        return self._record.since if self._record else None

    @property
    def has_rest(self) -> bool:
        """Whether the engine serves all identities that no other engine has."""
        return self._own is None

    def serves(self, cookie_store_id: str) -> bool:
        """Whether the engine opens the tabs of an identity."""
        return cookie_store_id not in self._others if self._own is None else cookie_store_id in self._own

    async def join(self, identities: Mapping[str, str] | None) -> None:
        """Acquire these identities, given as cookieStoreIds with their names, or all that no other engine has.

        Returns when no other engine has pages of them. Raises EngineAlreadyRunning.
        """
        ids = None if identities is None else tuple(identities)
        self._own = None if ids is None else frozenset(ids)
        try:
            await self._acquire(identities)
            await self._delete_stale_records()
            background = bool(os.environ.get(BACKGROUND_VARIABLE))
            record = RunningEngine(
                self._engine_name,
                current_process(),
                ids,
                time.time(),
                background=background,
                has_windows=self._has_windows,
                user=current_user(),
                program=program_name(),
                options=self._options(),
                ends_person_windows=True,
            )
            registered, rest = await self._store.write(lambda each: _register(each, record))
            self._record = registered
            self.apply(await self._store.read(find_records))
            if rest is not None:
                await self._wait_for_release(registered, rest)
        except BaseException:
            await self.leave()
            raise
        if self.has_rest:
            self._tasks.spawn(self._watch_others())

    async def leave(self, *, lost: bool = False) -> None:
        """Release the identities. After a lost lease, nothing is written to the profile. May be called twice."""
        self._tasks.cancel()
        record, self._record = self._record, None
        try:
            if record is not None and not lost:
                await self._store.write(lambda each: delete_record(each, record))
        except ProfileError as error:
            logger.debug("the record of the %s engine was not deleted: %s", self._engine_name, error)
        finally:
            leases, self._leases = self._leases, []
            for lease in leases:
                await lease.release()

    def apply(self, records: Sequence[RunningEngine]) -> list[RunningEngine]:
        """Stop serving the identities of these engines. Returns the engines that wait until their pages are closed."""
        if not self.has_rest:
            return []
        others = [each for each in records if each.identities is not None]
        self._others = frozenset(cookie_store_id for each in others for cookie_store_id in each.identities or ())
        return [each for each in others if each.waiting]

    async def confirm(self, waiting: RunningEngine) -> None:
        """No page of the identities of another engine is open here any more."""

        def confirm(transaction: Transaction) -> None:
            if waiting in find_records(transaction):
                put_record(transaction, msgspec.structs.replace(waiting, waiting=False))

        await self._store.write(confirm)

    async def _acquire(self, identities: Mapping[str, str] | None) -> None:
        by_lease = {lease_names([each])[0]: each for each in identities or ()}
        for name in lease_names(None if identities is None else tuple(identities)):
            lease = self._store.lease(name)
            lease.on_lost(self._on_lost)
            try:
                holder = await lease.acquire(self._engine_name)
            except ProfileError as error:
                raise EngineError(str(error)) from error
            if holder is not None:
                identity = by_lease.get(name, "")
                known = (identities or {}).get(identity, "")
                raise already_running(holder.purpose, holder.process, identity=identity, name=known)
            self._leases.append(lease)

    async def _delete_stale_records(self) -> None:
        now = time.monotonic()
        for each in await self._store.read(find_records):
            if await has_lease(self._store, each):
                self._missed.pop(each, None)
            elif _has_ended(each) or now - self._missed.setdefault(each, now) > _GRACE_SECONDS:
                await self._store.write(partial(delete_record, record=each))

    async def _wait_for_release(self, record: RunningEngine, rest: RunningEngine) -> None:
        """Wait until the engine for all other identities has closed the pages of these, or has ended."""
        changed = asyncio.Event()

        def on_change(change: ChangeRecord) -> None:
            if change.topic in (ENGINES_CHANGED, RESYNC):
                changed.set()

        self._store.subscribe(on_change)
        try:
            async with asyncio.timeout(_RELEASE_TIMEOUT):
                while True:
                    records = await self._store.read(find_records)
                    current = next((each for each in records if each.identities is None), None)
                    if record not in records:
                        return  # confirmed
                    if current is None or not await has_lease(self._store, current):
                        await self.confirm(record)  # in its place
                        return
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(_POLL_SECONDS):
                            await changed.wait()
                    changed.clear()
        except TimeoutError:
            identity = next(iter(record.identities or ()))
            problem = f"has not closed its pages within {_RELEASE_TIMEOUT:g} seconds"
            raise already_running(rest.engine, rest.process, identity=identity, problem=problem) from None
        finally:
            self._store.unsubscribe(on_change)

    async def _watch_others(self) -> None:
        """Serve the identities of engines whose processes were killed. An engine that stops deletes its record."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            if self._others:
                try:
                    await self._delete_stale_records()
                except ProfileError as error:
                    logger.debug("checking the other engines failed: %s", error)


def _has_ended(record: RunningEngine) -> bool:
    """Whether the process of an engine is known to have ended. Of another machine that is not known."""
    process = record.process
    return process is not None and process.is_local and not process.is_running


def _register(transaction: Transaction, record: RunningEngine) -> tuple[RunningEngine, RunningEngine | None]:
    """Store the record of an engine that has its leases. Returns it, and the engine for all other identities.

    Records with the same identities are of engines that have ended.
    """
    rest: RunningEngine | None = None
    for other in find_records(transaction):
        if record.identities is None or other.identities is None:
            is_stale = record.identities == other.identities
        else:
            is_stale = not set(record.identities).isdisjoint(other.identities)
        if is_stale:
            delete_record(transaction, other)
        elif other.identities is None:
            rest = other
    record = msgspec.structs.replace(record, waiting=rest is not None)
    put_record(transaction, record)
    return record, rest
