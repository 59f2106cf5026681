"""Leases: named locks of a profile, across processes and machines. A lease ends with the process that has it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

from hatbox.store.processes import ProcessId

__all__ = ["Lease", "LeaseHolder"]


class LeaseHolder(NamedTuple):
    """The process that has a lease, and the purpose it gave: the name of its engine."""

    purpose: str
    process: ProcessId | None
    """None while another process is acquiring the lease and has not signed it yet."""

    @property
    def pid(self) -> int | None:
        """The process id of the holder, on its machine."""
        return self.process and self.process.pid


class Lease(ABC):
    """One lease of a profile. At most one process has it."""

    @abstractmethod
    async def acquire(self, purpose: str) -> LeaseHolder | None:
        """Acquire the lease. Returns None, or the holder that has it already. Raises ProfileError."""

    @abstractmethod
    async def holder(self) -> LeaseHolder | None:
        """The holder; None if no process has the lease."""

    @abstractmethod
    async def release(self) -> None:
        """Release the lease. May be called twice, and after the lease was lost."""

    @abstractmethod
    def on_lost(self, callback: Callable[[str], None]) -> None:
        """Call `callback` with the reason, once and on the event loop, if the acquired lease is lost.

        A lease on a server is lost with the connection. Another process may have it from then on, so the holder must
        stop at once what the lease protects. A callback replaces the one set before.
        """
