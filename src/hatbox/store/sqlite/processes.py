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
        self._registered: FileLease | None = None

    @property
    def current(self) -> ProcessId:
        """This process."""
        return current_process()

    def is_running(self, process: ProcessId) -> bool:
        """Whether a process is running: by its process id if it is local, by its lease if not."""
        if process.is_local and process.is_running:
            return True
        holder = self._lease(process).read_holder()  # also removes the file that a killed process left
        return not process.is_local and holder is not None and holder.process == process

    async def register(self) -> None:
        """Acquire the lease of this process."""
        if self._registered is None:
            self._registered = self._lease(self.current)
        await self._registered.acquire("process")

    async def unregister(self) -> None:
        """Release the lease of this process."""
        if self._registered is not None:
            await self._registered.release()
            self._registered = None

    def _lease(self, process: ProcessId) -> FileLease:
        digest = hashlib.sha256(process.host.encode()).hexdigest()[:_DIGEST_LENGTH]
        return FileLease(self._profile.with_name(f"{self._profile.name}-process-{process.pid}-{digest}"))
