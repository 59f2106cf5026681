"""A proxy before a PostgreSQL server, on a Unix socket, that cuts connections: `with CuttingProxy(cluster) as proxy`.

It cuts at random moments, also in the middle of a message, or at a commit: before or after the server has received it,
or so that the server receives it only when the client has a new connection.
"""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import socket
import tempfile
import threading
import urllib.parse
import uuid
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.postgres import Cluster

_PORT: Final = 5432
_PARSE_COMMIT: Final = re.compile(rb"P.{4}(s\d+)\0COMMIT\0", re.DOTALL)
_PARSE_INSERT: Final = re.compile(rb"P.{4}(s\d+)\0INSERT INTO changes ", re.DOTALL)


class CuttingProxy:
    """The proxy, running while it is entered."""

    def __init__(self, cluster: Cluster) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="hatbox-proxy-"))
        self._target = str(cluster.folder / f".s.PGSQL.{cluster.port}")
        self._lock = threading.Lock()
        self._connections: list[_Connection] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._on_commit: list[Callable[[_Connection, bytes], bool]] = []
        self.refuses = False
        """Whether new connections are closed at once."""
        self.refusals = 0
        self.cuts = 0
        """How many connections it has cut."""

    def address(self, schema: str = "", **options: str) -> str:
        """The address of a profile, through this proxy."""
        options = {"host": str(self.folder), "schema": schema or f"p{uuid.uuid4().hex[:12]}", **options}
        return f"postgresql://hatbox@/postgres?{urllib.parse.urlencode(options)}"

    def cut_before_commit(self) -> None:
        """Cut the connection of the next commit: the server does not receive it."""
        self._on_commit.append(lambda connection, _: self._cut(connection))

    def cut_after_commit(self, *, refuse: bool = False, keep: Callable[[bytes], bytes] = lambda _: b"") -> None:
        """Cut the connection of the next commit when the server has answered it, before the client gets the answer.

        With `refuse`, new connections are closed too. The client gets the part of the answer that `keep` returns.
        """

        def cut(connection: _Connection, data: bytes) -> bool:
            connection.keep = keep
            self.refuses = self.refuses or refuse
            connection.server.sendall(data)
            return False

        self._on_commit.append(cut)

    def delay_commit(self) -> Callable[[], None]:
        """Cut the client's end at the next commit. The server receives the commit when the result is called."""
        kept: list[tuple[_Connection, bytes]] = []

        def delay(connection: _Connection, data: bytes) -> bool:
            with self._lock:
                self._connections.remove(connection)
                self.cuts += 1
            kept.append((connection, data))
            connection.close_client()
            return True

        def go_on() -> None:
            for connection, data in kept:
                connection.server.sendall(data)
                connection.server.shutdown(socket.SHUT_WR)
                with contextlib.suppress(OSError):
                    while connection.server.recv(65536):
                        pass
                connection.close()

        self._on_commit.append(delay)
        return go_on

    def cut_answer(self, size: int) -> None:
        """Cut the newest connection after that many bytes of the next answer of the server."""
        self._connections[-1].keep = lambda answer: answer[:size]

    def cut_all(self) -> None:
        """Cut every connection."""
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            self._cut(connection)

    def cut_one(self, choose: random.Random) -> None:
        """Cut one connection: at once, or in the middle of what either side sends next."""
        with self._lock:
            connections = [each for each in self._connections if each.cut_at is None]
        if connections:
            connection = choose.choice(connections)
            if choose.random() < 0.3:
                self._cut(connection)
            else:
                connection.cut_at = choose.choice([0, 1, 5, 20, 100, 300, 1000, 3000])

    def _cut(self, connection: _Connection) -> bool:
        with self._lock:
            if connection not in self._connections:
                return True
            self._connections.remove(connection)
            self.cuts += 1
        connection.close()
        return True

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                self.refusals += 1
                continue
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._target)
            except OSError:
                client.close()
                server.close()
                continue
            connection = _Connection(client, server)
            with self._lock:
                self._connections.append(connection)
            for source, target, watch in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._copy, args=(connection, source, target, watch), daemon=True).start()

    def _copy(self, connection: _Connection, source: socket.socket, target: socket.socket, watch: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if watch and connection.has_commit(data) and self._on_commit:
                    if self._on_commit.pop(0)(connection, data):
                        return
                    continue
                if not watch and connection.keep is not None:
                    target.sendall(connection.keep(data))
                    self._cut(connection)
                    return
                if connection.cut_at is not None:
                    target.sendall(data[: connection.cut_at])
                    self._cut(connection)
                    return
                target.sendall(data)
        with self._lock:
            if connection not in self._connections:
                return
            self._connections.remove(connection)
        connection.close()

    def __enter__(self) -> Self:
        self._listener.bind(str(self.folder / f".s.PGSQL.{_PORT}"))
        self._listener.listen(100)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut_all()
        shutil.rmtree(self.folder, ignore_errors=True)


class _Connection:
    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.cut_at: int | None = None
        """Cut it after that many bytes of what is sent next."""
        self.keep: Callable[[bytes], bytes] | None = None
        """Cut it at the next answer of the server, of which the client gets this part."""
        self._statements: dict[str, bytes] = {}

    def has_commit(self, data: bytes) -> bool:
        """Whether this is sent to commit changes."""
        for kind, pattern in (("commit", _PARSE_COMMIT), ("insert", _PARSE_INSERT)):
            if found := pattern.search(data):
                self._statements[kind] = found[1]
        return len(self._statements) == 2 and all(b"\0%s\0" % name in data for name in self._statements.values())

    def close_client(self) -> None:
        with contextlib.suppress(OSError):
            self.client.shutdown(socket.SHUT_RDWR)
        self.client.close()

    def close(self) -> None:
        self.close_client()
        with contextlib.suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
