"""The one server of a profile for each user of a machine: another `hatbox ui` finds it, and creates a link to it.

A lock, which the system releases however the process ends, says whether a server runs; a record says where. A server
that is about to end withdraws its record first, so that no link to a stopped server is created.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from typing import Final

import msgspec

from hatbox.errors import ProfileError
from hatbox.store.base import Store
from hatbox.store.sqlite.file_lease import FileLease
from hatbox.ui.access_keys import hash_of
from hatbox.ui.link_grants import LinkGrants
from hatbox.ui.private_files import private_path, read_private, write_private
from hatbox.ui.request_checks import ADDRESS
from hatbox.ui.stored_keys import KeyFile
from hatbox.ui.web_app import OPEN

__all__ = ["ServedProfile", "ServerRecord"]

logger = logging.getLogger("hatbox.ui")

_WAIT_SECONDS: Final = 150.0  # for a server that starts or ends: a write may wait 90 s for a lock of its store
_NOTICE_SECONDS: Final = 1.0
_RETRY_SECONDS: Final = 0.05
_TOKEN_BYTES: Final = 32


class ServerRecord(msgspec.Struct, frozen=True):
    """A running server."""

    port: int
    """Its port on loopback."""
    process: int
    """Its process id."""
    stays: bool
    """Whether it goes on when its last page was closed."""


class ServedProfile:
    """What the servers of a profile, and the processes that look for one, have in common."""

    def __init__(self, store: Store) -> None:
        self._label = store.label
        self._lock_path = private_path(store, "lock")
        self._record_path = private_path(store, "server.json")
        self._lease = FileLease(self._lock_path)
        self.keys = KeyFile(private_path(store, "keys.json"))
        """The port and the keys of the last server."""
        self.grants = LinkGrants(private_path(store, "link-"))
        """The links that other processes have created."""

    async def take(self, on_wait: Callable[[str], None] = lambda _: None) -> ServerRecord | None:
        """Become the server of the profile; returns None, or the one that is running. Raises ProfileError.

        Waits while another process starts or ends its server. If that takes a while, `on_wait` gets its name.
        """
        self._lock_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        loop = asyncio.get_running_loop()
        start, is_noted = loop.time(), False
        while (holder := await self._lease.acquire("hatbox ui")) is not None:
            record = self._read()
            if record is not None and record.process == holder.pid:  # not that of a killed server
                return record
            process = f"process {holder.pid}" if holder.pid else "another process"
            waited = loop.time() - start
            if waited > _WAIT_SECONDS:
                problem = f"{process} has not finished starting or ending its manager page within {_WAIT_SECONDS:g} s"
                raise ProfileError(self._label, problem, "Wait until it has ended, or end it.")
            if waited > _NOTICE_SECONDS and not is_noted:
                is_noted = True
                on_wait(process)
            await asyncio.sleep(_RETRY_SECONDS)
        _taken.add(self)
        return None

    def create_link(self, record: ServerRecord) -> str | None:
        """A link to a running server; None if it is about to end. Raises OSError."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self.grants.create(hash_of(token))
        if self._read() != record:
            self.grants.take(hash_of(token))
            return None
        return f"http://{ADDRESS}:{record.port}{OPEN}{token}"

    def announce(self, record: ServerRecord) -> None:
        """From now on, other processes may create links to this server."""
        try:
            write_private(self._record_path, msgspec.json.encode(record))
        except OSError as error:
            logger.warning("manager page: writing %s failed: %s", self._record_path, error)

    def withdraw(self) -> None:
        """Other processes wait until this server has ended."""
        try:
            self._record_path.unlink(missing_ok=True)
        except OSError as error:
            logger.warning("manager page: deleting %s failed: %s", self._record_path, error)

    async def release(self) -> None:
        """Let another process become the server. May be called twice.

        Only after the profile was closed. Without this call, the lock is released when the process has ended.
        """
        await self._lease.release()
        _taken.discard(self)

    def _read(self) -> ServerRecord | None:
        try:
            return _decode(read_private(self._record_path))
        except (OSError, msgspec.DecodeError):
            return None


_taken: Final[set[ServedProfile]] = set()  # else the garbage collector could release the lock earlier
_decode = msgspec.json.Decoder(ServerRecord).decode
