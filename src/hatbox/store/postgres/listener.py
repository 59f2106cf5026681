"""The thread that waits for notifications: other processes send one after each commit. They only wake subscribers.

A notification can be lost, so the store also polls once a second.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Callable
from typing import Final

from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import PostgresConnection, Statement
from hatbox.store.postgres.failures import ConnectionLost, ServerError
from hatbox.store.postgres.sql import quoted

__all__ = ["NotificationListener", "channel_of"]

_RETRY_SECONDS: Final = 1.0
_MAX_NAME_BYTES: Final = 63


def channel_of(schema: str) -> str:
    """The channel on which the processes of a profile notify each other."""
    return f"hatbox {schema}".encode()[:_MAX_NAME_BYTES].decode("utf-8", "ignore")


class NotificationListener:
    """Calls `notified` in its thread for each notification. `ignored` is the backend of this process's own commits."""

    def __init__(self, address: PostgresAddress, notified: Callable[[], None], ignored: Callable[[], int]) -> None:
        self._address = address
        self._notified = notified
        self._ignored = ignored
        self._stopping, self._stop = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="hatbox-listener", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread, soon."""
        with contextlib.suppress(OSError):
            self._stop.send(b".")

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._stopping, select.POLLIN)
        try:
            while True:
                with contextlib.suppress(ConnectionLost, ServerError):
                    self._listen()
                    return
                if poll.poll(_RETRY_SECONDS * 1000):
                    return
        finally:
            self._stopping.close()
            self._stop.close()

    def _listen(self) -> None:
        """Returns when the thread has to end. Raises ConnectionLost."""
        connection = PostgresConnection(self._address)
        try:
            connection.run([Statement(f"LISTEN {quoted(channel_of(self._address.schema))}")])
            self._notified()  # what was committed before is found in the log
            poll = select.poll()
            poll.register(connection.socket, select.POLLIN)
            poll.register(self._stopping, select.POLLIN)
            while all(descriptor != self._stopping.fileno() for descriptor, _ in poll.poll()):
                if any(pid != self._ignored() for pid in connection.take_notifications()):
                    self._notified()
        finally:
            connection.close()
