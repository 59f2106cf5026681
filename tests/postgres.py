"""A PostgreSQL server for tests: one cluster per test session, on a Unix socket in a temporary folder.

Looks for `initdb` on PATH and in Debian's versioned folders. As root, the server runs as another user: PostgreSQL
refuses to run as root.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import subprocess
import tempfile
import urllib.parse
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = [
    "Cluster",
    "address_for",
    "address_of",
    "find_programs",
    "required_programs",
    "running_cluster",
    "shared_cluster",
    "sqlite_file",
]

_SHARED = "HATBOX_TEST_POSTGRES"  # the folder of the cluster that this test session has started

_PORT = 5432
_UNPRIVILEGED = "nobody"
_FAST = {  # durability of the machine itself is not what these tests are about: a killed server loses nothing
    "shared_buffers": "16MB",
    "max_connections": "200",
    "listen_addresses": "",
    "log_min_messages": "fatal",
}


def find_programs() -> Path | None:
    """The folder with initdb and pg_ctl, or None."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return versions[-1].parent if versions else None


def required_programs() -> Path:
    """The folder with initdb and pg_ctl. Skips the test without, and fails it in CI."""
    if os.environ.get("HATBOX_QUICK_TESTS"):
        pytest.fail("mark it: it needs a PostgreSQL server, and has no marker that says so (tests/marks.py).")
    programs = find_programs()
    if programs is None:
        if os.environ.get("HATBOX_REQUIRE_BROWSERS"):
            pytest.fail("PostgreSQL is not installed: no initdb was found")
        pytest.skip("PostgreSQL is not installed: no initdb was found")
    return programs


class Cluster:
    """A PostgreSQL server that this process has started."""

    def __init__(self, programs: Path, folder: Path, settings: dict[str, str] | None = None, port: int = _PORT) -> None:
        self.programs = programs
        self.folder = folder
        self.data = folder / "data"
        self.settings = {**_FAST, **(settings or {})}
        self.port = port  # of the name of the socket; the server listens on no TCP port unless a test says so

    def create(self) -> None:
        """Initialise the cluster."""
        if os.getuid() == 0:
            shutil.chown(self.folder, _UNPRIVILEGED)
        self.run("initdb", "-D", str(self.data), "-U", "hatbox", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.configure(self.settings)

    def configure(self, settings: dict[str, str]) -> None:
        """Append settings to the configuration file."""
        lines = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(lines)

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        options = f"-k {self.folder} -p {self.port}"
        self.run("pg_ctl", "start", "-w", "-D", str(self.data), "-l", str(self.folder / "log"), "-o", options)

    def stop(self, mode: str = "fast") -> None:
        """Stop the server. `immediate` is a crash."""
        self.run("pg_ctl", "stop", "-w", "-D", str(self.data), "-m", mode)

    def run(self, program: str, *arguments: str) -> str:
        """Run a program of PostgreSQL as the user of the server."""
        command: Sequence[str] = [str(self.programs / program), *arguments]
        if os.getuid() == 0:
            command = ["setpriv", f"--reuid={_UNPRIVILEGED}", "--regid=nogroup", "--clear-groups", *command]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, check=False)
        if done.returncode:
            log = self.folder / "log"
            tail = log.read_text(errors="replace")[-2000:] if log.exists() else ""
            raise RuntimeError(f"{program} failed: {done.stderr or done.stdout}{tail}")
        return done.stdout

    def address(self, database: str = "postgres", **options: str) -> str:
        """The address of a profile in a database of this server."""
        query = urllib.parse.urlencode(
            {"host": str(self.folder), "port": str(self.port), **options}, quote_via=urllib.parse.quote
        )
        return f"postgresql://hatbox@/{database}?{query}"

    def new_address(self, **options: str) -> str:
        """The address of a profile that does not exist: in a schema of its own."""
        return self.address(**{"schema": f"p{uuid.uuid4().hex[:12]}", **options})

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run a statement, on a connection of its own."""
        import psycopg

        conninfo = f"host={self.folder} port={self.port} user=hatbox dbname={database}"
        with psycopg.connect(conninfo, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


@contextmanager
def running_cluster(settings: dict[str, str] | None = None, *, port: int = _PORT) -> Iterator[Cluster]:
    """A server in a temporary folder, stopped and removed at the end. Skips the test where none can be had."""
    programs = required_programs()
    folder = Path(tempfile.mkdtemp(prefix="hatbox-pg-"))  # a short path: that of a socket is limited to 107 bytes
    cluster = Cluster(programs, folder, settings, port)
    try:
        cluster.create()
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def shared_cluster() -> Cluster:
    """The server of this test session, also for the processes that tests start. Skips the test where none can be had.

    Tests that stop or configure a server start one of their own, with `running_cluster`.
    """
    programs = required_programs()
    if _SHARED not in os.environ:
        context = running_cluster({"fsync": "off"})
        os.environ[_SHARED] = str(context.__enter__().folder)
        atexit.register(context.__exit__, None, None, None)
    return Cluster(programs, Path(os.environ[_SHARED]))


def address_of(path: Path) -> str:
    """The address of the profile that a test opens by a path, for another process: see tests/conftest.py."""
    return address_for(path) if is_on_server() else str(path)


def is_on_server() -> bool:
    """Whether profiles that tests open by a path are in PostgreSQL."""
    return os.environ.get("HATBOX_TEST_STORE") == "postgres"


def sqlite_file(path: Path) -> Path:
    """The path of a profile, for a test that reads or edits its file. Skips the test if profiles are in PostgreSQL."""
    if is_on_server():
        pytest.skip("it reads or edits the file of a SQLite profile")
    return path


def address_for(folder: Path) -> str:
    """The address of a profile that belongs to a test: one for each folder."""
    return shared_cluster().address(schema=schema_for(folder))


def schema_for(folder: Path) -> str:
    """The schema of a profile that belongs to a test."""
    return f"p{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
