"""The processes that use a profile. Those in other containers share the file, but not the process ids."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from hatbox.store.processes import ProcessId, current_process
from hatbox.store.sqlite.file_lease import FileLease

__all__ = ["SqliteProcesses"]

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
        """Whether a process is running: by its process id if it is local, by its lease if not."""
        if process.is_local and process.is_running:
            return True
        holder = FileLease(self._path_of(process)).read_holder()  # also removes the file that a killed process left
        return not process.is_local and holder is not None and holder.process == process

    async def register(self) -> None:
        """Acquire the lease of this process. All stores of a process that have one profile open share it."""
        if self._registered is None:
            self._registered = path = self._path_of(self.current)
            lease, count = _leases.get(path) or (FileLease(path), 0)
            _leases[path] = lease, count + 1
            await lease.acquire("process")

    async def unregister(self) -> None:
        """Release the lease of this process, unless another store of the process needs it."""
        if self._registered is not None:
            lease, count = _leases.pop(self._registered)
            if count > 1:
                _leases[self._registered] = lease, count - 1
            else:
                await lease.release()
            self._registered = None

    def _path_of(self, process: ProcessId) -> Path:
        digest = hashlib.sha256(process.host.encode()).hexdigest()[:_DIGEST_LENGTH]
        return self._profile.with_name(f"{self._profile.name}-process-{process.pid}-{digest}")


_leases: Final[dict[Path, tuple[FileLease, int]]] = {}
"""The leases of this process, by path, and how many stores have registered with each."""
