"""Passwords appear in no message, log or traceback; connections to other machines are encrypted."""

from __future__ import annotations

import logging
import shutil
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

import hatbox
from hatbox.errors import HatboxError, ProfileError, ProfileUnavailable
from hatbox.store.postgres import address as address_module
from hatbox.store.postgres import connection as connection_module
from hatbox.store.postgres.address import PostgresAddress, is_local
from hatbox.store.registry import store_at
from tests.postgres import Cluster, running_cluster, shared_cluster

SECRET = "s3cr3t"
WELL_FORMED = [
    "postgresql://alice:s3cr3t@{host}/nosuch",
    "postgresql://alice:s3cr3t%2F%40%3A%3Fs3cr3t@{host}/nosuch",
    "postgresql://alice@{host}/nosuch?password=s3cr3t",
    "postgresql://alice@{host}/nosuch?password=%20s3cr3t%27%5C%22&sslpassword=s3cr3t",
    "postgresql://alice:s3cr3t@{host},{host}/nosuch?target_session_attrs=read-write",
    "postgresql://alice:s3cr3t@{host}/nosuch?schema=s%22&reconnect_seconds=0",
]
MALFORMED = [
    "postgresql://alice:s3cr3t/x@{host}/nosuch",
    "postgresql://alice:x/s3cr3t@{host}/nosuch",
    "postgresql://alice:12/s3cr3t@{host}/nosuch",
    "postgresql://alice:x@s3cr3t@{host}/nosuch",
    "postgresql://alice:x?s3cr3t@{host}/nosuch",
    "postgresql://alice:12?a=s3cr3t@{host}/nosuch",
    "postgresql://alice:x#s3cr3t@{host}/nosuch",
    "postgresql://alice:%zzs3cr3t@{host}/nosuch",
    "postgresql://alice:s3cr3t@{host}/nosuch?nosuch=s3cr3t",
    "postgresql://alice:s3cr3t@{host}/nosuch?schema=",
    "postgresql://alice:s3cr3t@{host}/nosuch?reconnect_seconds=never",
    "postgresql://alice:s3cr3t@{host}:port/nosuch",
    "postgresql://alice:s3cr3t@[::1/nosuch",
]


def unused_port() -> int:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


@pytest.mark.parametrize("url", [*WELL_FORMED, *MALFORMED])
def test_a_password_is_in_no_error_log_or_traceback(url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    address = url.format(host=f"127.0.0.1:{unused_port()}")
    shown = []
    try:
        profile = hatbox.open_sync(address)
        shown += [repr(profile), repr(PostgresAddress.parse(address)), repr(store_at(address)), store_at(address).label]
        profile.open()
    except ProfileError as error:
        shown += [str(error), repr(error), repr(error.args), traceback.format_exc(), error.label, repr(vars(error))]
    assert len(shown) >= 6
    assert SECRET not in "\n".join([*shown, caplog.text])
    if url in MALFORMED:
        assert any("postgresql://" in each for each in shown)


@pytest.mark.process
@pytest.mark.parametrize("command", ["list", "status", "profile info", "profile create", "check", "create Work"])
def test_a_password_is_in_no_output_of_a_command(command: str, tmp_path: Path) -> None:
    address = f"postgresql://alice:{SECRET}@127.0.0.1:{unused_port()}/nosuch?password={SECRET}"
    for options in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "hatbox", *command.split(), *(options if command != "check" else [])],
            env={
                "HATBOX_PROFILE": address,
                "HATBOX_DEBUG": "1",
                "HOME": str(tmp_path),
                "PYTHONPATH": ":".join(sys.path),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode
        assert SECRET not in done.stdout + done.stderr
        assert "postgresql://127.0.0.1" in done.stdout + done.stderr


@pytest.mark.server
def test_a_password_is_in_no_error_of_a_server_that_asks_for_one(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    cluster = shared_cluster()
    password = "p/a@s:s?w#o r'd\\%"
    encoded = "p%2Fa%40s%3As%3Fw%23o%20r%27d%5C%25"
    address = cluster.address("nosuch").replace("hatbox@", f"hatbox:{encoded}@")
    with pytest.raises(ProfileUnavailable) as caught:
        hatbox.open_sync(address).open()
    text = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert password not in text
    assert encoded not in text
    assert PostgresAddress.parse(address).conninfo.count("password=") == 1


# ── TLS ──


@pytest.mark.parametrize("host", ["", "/tmp", "@abstract", "localhost", "127.0.0.1", "127.1.2.3", "::1"])
def test_local_hosts(host: str) -> None:
    assert is_local(host)


@pytest.mark.parametrize("host", ["db.example", "10.0.0.1", "127.example", "localhost.example", "::2", "0.0.0.0"])
def test_other_hosts(host: str) -> None:
    assert not is_local(host)


@pytest.mark.parametrize(
    ("url", "mode"),
    [
        ("postgresql://db.example/x", "sslmode=require"),
        ("postgresql://localhost,db.example/x", "sslmode=require"),
        ("postgresql://localhost/x?hostaddr=10.0.0.1", "sslmode=require"),
        ("postgresql://db.example/x?sslmode=verify-full", "sslmode=verify-full"),
        ("postgresql://db.example/x?sslmode=disable", "sslmode=disable"),
        ("postgresql://localhost/x", ""),
    ],
)
def test_tls_is_required_for_other_hosts(url: str, mode: str) -> None:
    conninfo = PostgresAddress.parse(url).conninfo
    assert [each for each in conninfo.split() if each.startswith("sslmode")] == ([mode] if mode else [])


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The loopback address counts as another machine."""
    monkeypatch.setattr(address_module, "is_local", lambda _: False)
    monkeypatch.setattr(connection_module, "is_local", lambda _: False)
    yield


@pytest.mark.server
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
@pytest.mark.usefixtures("remote")
def test_a_connection_to_another_machine_is_encrypted_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    port = unused_port()
    with running_cluster({"fsync": "off", "listen_addresses": "127.0.0.1"}, port=port) as cluster:
        address = f"postgresql://hatbox@127.0.0.1:{port}/postgres"
        with pytest.raises(ProfileUnavailable, match=r"server does not support SSL.* Set up TLS on the server"):
            hatbox.open_sync(address).open()
        monkeypatch.setenv("PGSSLMODE", "prefer")
        with pytest.raises(ProfileUnavailable, match=r"127\.0\.0\.1 is not encrypted.*allow it with .sslmode=disable"):
            hatbox.open_sync(address).open()
        monkeypatch.delenv("PGSSLMODE")
        with hatbox.open_sync(address + "?sslmode=disable") as profile:
            assert len(profile.identities.query()) == 4
        make_certificate(cluster)
        cluster.configure({"ssl": "on"})
        cluster.stop()
        cluster.start()
        with hatbox.open_sync(address) as profile:
            assert len(profile.identities.query()) == 4
            used = cluster.sql("SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_port > 0")
            assert used
            assert set(used) == {(True,)}
        root = cluster.data / "server.crt"
        with hatbox.open_sync(f"{address}?sslmode=verify-ca&sslrootcert={root}") as profile:
            assert len(profile.identities.query()) == 4
        with pytest.raises(HatboxError, match="Check sslrootcert"):
            hatbox.open_sync(f"{address}?sslmode=verify-full&sslrootcert={root}").open()


def make_certificate(cluster: Cluster) -> None:
    arguments = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=db.example -keyout server.key -out server.crt"
    subprocess.run(["openssl", *arguments.split()], cwd=cluster.data, check=True, capture_output=True)
    (cluster.data / "server.key").chmod(0o600)
    for name in ("server.key", "server.crt"):
        owner = (cluster.data / "postgresql.conf").stat()
        shutil.chown(cluster.data / name, owner.st_uid, owner.st_gid)


def test_parameters_are_read_as_libpq_reads_them() -> None:
    """A plus is a plus, also in a password."""
    url = (
        "postgresql://a%20b:x+y@db.example/z?options=-c%20a%3D1+2&schema=s%20t&application_name=+&reconnect_seconds=1.5"
    )
    address = PostgresAddress.parse(url)
    found = conninfo_to_dict(address.conninfo)
    assert (found["user"], found["password"], found["options"]) == ("a b", "x+y", "-c a=1+2")
    assert found["application_name"] == "+"
    assert (address.schema, address.reconnect_seconds) == ("s t", 1.5)
    assert "reconnect_seconds" not in address.conninfo
