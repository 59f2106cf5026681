"""The processes that use a profile. Those in other containers share the file, but not the process ids."""

from __future__ import annotations

import contextlib
import glob
import hashlib
from pathlib import Path
from typing import Final

from hatbox.errors import ProfileLocked
from hatbox.store.processes import ProcessId, current_process
from hatbox.store.sqlite.file_lease import FileLease

__all__ = ["PROCESS_SUFFIX", "SqliteProcesses"]

PROCESS_SUFFIX: Final = "-process-"
"""Starts the names of the lease files of processes, after the name of the profile."""

_DIGEST_LENGTH: Final = 12


class SqliteProcesses:
    """The processes of one profile. A registered process has a lease of its own."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._registered: Path | None = None

    @property
    def current(self) -> ProcessId:
        """This process."""
        return current_process()

    def is_running(self, process: ProcessId) -> bool:
        """Whether a process is running: by its process id if it is local, by its lease if not. Changes nothing."""
        if process.is_local:
            return process.is_running
        holder = FileLease(self._path_of(process)).probe_holder()
        return holder is not None and holder.process == process

    async def register(self) -> None:
        """Acquire the lease of this process. All stores of a process that have one profile open share it."""
        if self._registered is not None:
            return
        self.remove_stale_leases()
        self._registered = path = self._path_of(self.current)
        lease, count = _leases.get(path) or (FileLease(path), 0)
        _leases[path] = lease, count + 1
        try:
            holder = await lease.acquire("process")
            if holder is not None and holder.process != self.current:
                problem = f"cannot register this process: {holder.process or 'another process'} has locked {path.name}"
                raise ProfileLocked(self._profile, problem, "Try again. Machines need different host names.")
        except BaseException:
            await self.unregister()
            raise

    async def unregister(self) -> None:
        """Release the lease of this process, unless another store of the process needs it."""
        if self._registered is not None:
            lease, count = _leases.pop(self._registered)
            if count > 1:
                _leases[self._registered] = lease, count - 1
            else:
                await lease.release()
            self._registered = None

    def remove_stale_leases(self) -> None:
        """Remove the lease files of killed processes. Not for transaction functions, which have no such effect."""
        with contextlib.suppress(OSError):  # the folder cannot be listed
            for path in self._profile.parent.glob(f"{glob.escape(self._profile.name)}{PROCESS_SUFFIX}*"):
                FileLease(path).read_holder()

    def _path_of(self, process: ProcessId) -> Path:
        digest = hashlib.sha256(process.host.encode()).hexdigest()[:_DIGEST_LENGTH]
        return self._profile.with_name(f"{self._profile.name}{PROCESS_SUFFIX}{process.pid}-{digest}")


_leases: Final[dict[Path, tuple[FileLease, int]]] = {}
"""The leases of this process, by path, and how many stores have registered with each."""
