"""The lease for engines: one engine at a time opens pages for the tabs of a profile."""

from __future__ import annotations

from typing import Final

from hatbox.errors import EngineAlreadyRunning, EngineError, ProfileError
from hatbox.store.base import Store
from hatbox.store.lease import Lease, LeaseHolder

__all__ = ["LeaseHolder", "acquire", "engine_lease", "running_engine"]

_NAME: Final = "engine"


def engine_lease(store: Store) -> Lease:
    """The lease that an engine of this profile needs."""
    return store.lease(_NAME)


async def acquire(lease: Lease, engine: str) -> None:
    """Acquire the lease for the engine with this name. Raises EngineAlreadyRunning, or EngineError."""
    try:
        holder = await lease.acquire(engine)
    except ProfileError as error:
        raise EngineError(str(error)) from error
    if holder is not None:
        raise EngineAlreadyRunning(holder.purpose, holder.pid, str(holder.process or ""))


async def running_engine(store: Store) -> LeaseHolder | None:
    """The engine that is running for this profile, in any process; its `purpose` is the engine's name."""
    return await engine_lease(store).holder()
