"""A lock of a profile that lets every program wait that writes, as a long transaction of another program does."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.postgres import is_on_server, schema_for, shared_cluster

__all__ = ["locked_profile"]


@contextmanager
def locked_profile(path: Path) -> Iterator[Callable[[], object]]:
    """Lock a profile until the end of the body, which gets a function that unlocks it earlier."""
    if is_on_server():
        import psycopg

        cluster = shared_cluster()
        with psycopg.connect(f"host={cluster.folder} port={cluster.port} user=hatbox dbname=postgres") as server:
            server.execute(f"SELECT FROM {schema_for(path)}.head FOR UPDATE".encode())
            yield server.rollback
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("BEGIN IMMEDIATE")
        yield file.rollback
