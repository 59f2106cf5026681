"""PgBouncer between a program and the server: refused in transaction mode, used in session mode."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import hatbox
from hatbox.errors import ProfileUnavailable
from tests.postgres import Cluster, shared_cluster
from tests.store.postgres.test_lost_connections import add, names, opened, recorded
from tests.waiting import block_until

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
PORT = 6432

if PROGRAM is None and os.environ.get("HATBOX_REQUIRE_BROWSERS"):
    pytest.fail("PgBouncer is not installed", pytrace=False)
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed")


@contextmanager
def pooler(cluster: Cluster, mode: str, size: int) -> Iterator[Path]:
    """A pooler before the cluster; the folder of its socket."""
    folder = Path(tempfile.mkdtemp(prefix="hatbox-pool-"))
    (folder / "users.txt").write_text('"hatbox" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\npostgres = host={cluster.folder} port={cluster.port}\n"
        f"[pgbouncer]\nunix_socket_dir = {folder}\nlisten_port = {PORT}\nauth_type = trust\n"
        f"auth_file = {folder}/users.txt\npool_mode = {mode}\ndefault_pool_size = {size}\n"
    )
    folder.chmod(0o755)
    command = [PROGRAM or "", str(folder / "pgbouncer.ini")]
    if os.getuid() == 0:
        shutil.chown(folder, "nobody")
        command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        block_until(lambda: is_listening(folder / f".s.PGSQL.{PORT}") or process.poll() is not None, "the pooler")
        yield folder
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def is_listening(path: Path) -> bool:
    with closing(socket.socket(socket.AF_UNIX)) as client:
        return client.connect_ex(str(path)) == 0


def address_through(folder: Path, schema: str) -> str:
    return f"postgresql://hatbox@/postgres?host={folder}&port={PORT}&schema={schema}"


@pytest.mark.server
@pytest.mark.parametrize("size", [1, 5])
def test_a_pooler_in_transaction_mode_is_refused_and_nothing_is_created(size: int) -> None:
    cluster = shared_cluster()
    schema = cluster.new_address().rpartition("=")[2]
    with pooler(cluster, "transaction", size) as folder:
        for _ in range(3):
            with pytest.raises(ProfileUnavailable) as caught:
                hatbox.open_sync(address_through(folder, schema)).open()
            assert "a pooler in transaction mode is between this program and the server" in str(caught.value)
            assert "Connect to the server itself, or use pool_mode = session." in str(caught.value)
    assert cluster.sql(f"SELECT 1 FROM pg_namespace WHERE nspname = '{schema}'") == []


@pytest.mark.server
def test_a_pooler_in_session_mode_is_used() -> None:
    cluster = shared_cluster()
    schema = cluster.new_address().rpartition("=")[2]

    async def story(address: str) -> None:
        async with opened(address) as store, opened(cluster.address(schema=schema)) as other:
            heard = recorded(store)
            lease = store.lease("engine")
            assert await lease.acquire("test") is None
            await store.write(add("here"))
            await other.write(add("there"))
            await store.deliver_pending_changes()
            assert [payload for _, payload in heard] == [b'"here"', b'"there"']
            holder = await other.lease("engine").holder()
            assert holder
            assert holder.pid == os.getpid()
            assert await names(store) == ["here", "there"]

    with pooler(cluster, "session", 10) as folder:
        for _ in range(2):
            asyncio.run(asyncio.wait_for(story(address_through(folder, schema)), 60))
            cluster.sql(f"DELETE FROM {schema}.identities WHERE id > 4")


@pytest.mark.server
def test_a_pooler_in_session_mode_without_a_free_session_does_not_hang() -> None:
    cluster = shared_cluster()
    schema = cluster.new_address().rpartition("=")[2]
    with pooler(cluster, "session", 1) as folder, pytest.raises(ProfileUnavailable) as caught:
        hatbox.open_sync(address_through(folder, schema)).open()
    assert "a pooler is between this program and the server, and it has no free session" in str(caught.value)
    assert "with 4 sessions for each process" in str(caught.value)
