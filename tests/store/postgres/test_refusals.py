"""Servers and databases that cannot be used: each error names host and database and what to do, and nothing is lost."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

import hatbox
from hatbox.errors import (
    DiskFull,
    NotAProfile,
    ProfileCorrupt,
    ProfileError,
    ProfileLocked,
    ProfileReadOnly,
    ProfileTooNew,
    ProfileUnavailable,
)
from hatbox.store.postgres import connection as connection_module
from hatbox.store.postgres import leases, open_lock
from hatbox.store.postgres.address import PostgresAddress
from hatbox.store.postgres.connection import Statement
from hatbox.store.registry import store_at
from tests.marks import starts
from tests.postgres import Cluster, running_cluster, shared_cluster
from tests.store.in_loop import in_loop
from tests.store.postgres.test_lost_connections import add, names, opened
from tests.waiting import until_awaited

USE = ("USAGE ON SCHEMA {0}", "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {0}")
"""The privileges of a role that uses a profile, and owns nothing. The documentation has the same."""


@pytest.fixture
@starts("server")
def cluster() -> Cluster:
    return shared_cluster()


class Role(NamedTuple):
    name: str
    address: str
    schema: str


@pytest.fixture
@starts("server")
def role(cluster: Cluster) -> Role:
    """A new role without any privilege, and the address of a profile that does not exist."""
    name, schema = f"r{uuid.uuid4().hex[:10]}", f"p{uuid.uuid4().hex[:10]}"
    cluster.sql(f"CREATE ROLE {name} LOGIN")
    cluster.sql("REVOKE CREATE ON DATABASE postgres FROM PUBLIC")
    address = cluster.address(schema=schema).replace("hatbox@", f"{name}@")
    return Role(name, address, schema)


def create(cluster: Cluster, schema: str) -> None:
    with hatbox.open_sync(cluster.address(schema=schema)):
        pass


def refusal(address: str, kind: type[ProfileError] = ProfileUnavailable) -> str:
    """The message of the error when this profile is opened."""
    with pytest.raises(kind) as caught:
        hatbox.open_sync(address).open()
    assert type(caught.value) is kind
    return str(caught.value)


def address_at(host: str, **options: str) -> str:
    query = "&".join(f"{name}={value}" for name, value in options.items())
    return f"postgresql://hatbox@{host}/identities?{query}"


# ── No connection ──


def test_a_host_that_does_not_exist() -> None:
    message = refusal(address_at("nosuch.invalid"))
    assert message.startswith("postgresql://nosuch.invalid/identities: no connection to the server: ")
    assert message.endswith("Nothing was changed. Check the name of the host.")


def test_a_server_that_refuses_connections() -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        message = refusal(address_at(f"127.0.0.1:{unused.getsockname()[1]}"))
    assert message.startswith("postgresql://127.0.0.1:")
    assert "refused" in message
    assert message.endswith("Check that the server runs and can be reached, then try again.")


def test_a_server_that_is_not_postgresql() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def answer() -> None:
            with closing(server.accept()[0]) as client:
                client.recv(100)
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        message = refusal(address_at(f"127.0.0.1:{server.getsockname()[1]}", sslmode="disable"))
        thread.join()
    assert message.startswith("postgresql://127.0.0.1:")


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers the first messages with these; its address, and what it got."""
    received: list[bytes] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def answer() -> None:
            with closing(server.accept()[0]) as client:
                client.settimeout(10)
                for each in answers:
                    received.append(client.recv(4096))
                    client.sendall(each)
                received.append(client.recv(4096))

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"postgresql://u:secret@127.0.0.1:{server.getsockname()[1]}/db?sslmode=disable", received
        thread.join()


@pytest.mark.parametrize("asks", [struct.pack("!I", 3), struct.pack("!I", 5) + b"salt"])
def test_a_server_that_asks_for_the_password_itself_or_as_md5_does_not_get_it(asks: bytes) -> None:
    with answering(_message(b"R", asks)) as (address, received):
        message = refusal(address)
    assert "?require_auth=md5" in message
    assert not received[-1].startswith(b"p")


def test_a_password_for_another_machine_is_bound_to_its_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    def bound(url: str) -> bool:
        return "channel_binding=require" in PostgresAddress.parse(url).conninfo

    assert bound("postgresql://u:p@db.example/x")
    assert bound("postgresql://u:p@db.example/x?sslmode=verify-ca")
    for other in ("u@db.example/x", "u:p@localhost/x", "u:p@db.example/x?sslmode=verify-full"):
        assert not bound(f"postgresql://{other}")
    assert not bound("postgresql://u:p@db.example/x?channel_binding=prefer")
    (tmp_path / ".pgpass").touch()
    assert bound("postgresql://u@db.example/x")


@pytest.mark.parametrize("is_named", [True, False])
def test_a_password_of_a_service_file_is_bound_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_named: bool
) -> None:
    file = tmp_path / "services"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    if not is_named:
        monkeypatch.setenv("PGSERVICE", "work")
    for options, expected in (
        ("host=db.example\nhostaddr=192.0.2.1\npassword=p", {"sslmode=require", "channel_binding=require"}),
        ("hostaddr=192.0.2.1\npassword=p\nsslmode=verify-full", set()),
        ("hostaddr=192.0.2.1", {"sslmode=require"}),
        ("host=/tmp\npassword=p", set()),
    ):
        file.write_text(f"[work]\n{options}\n")
        used = PostgresAddress.parse("postgresql:///x" + "?service=work" * is_named).with_service().split()
        assert {each for each in used if each.startswith(("sslmode", "channel_binding"))} == expected
        assert "password=p" not in used


@pytest.mark.parametrize(
    ("name", "value", "server"),
    [(b"crdb_version", b"v24", "CockroachDB"), (b"server_version", b"15.2-YB-2", "YugabyteDB")],
)
def test_a_server_whose_locks_lock_nothing_is_named(name: bytes, value: bytes, server: str) -> None:
    status = [(b"server_version", b"15.2"), (name, value)]
    started = b"".join(_message(b"S", each + b"\0" + text + b"\0") for each, text in status)
    with answering(_message(b"R", struct.pack("!I", 0)) + started + _message(b"Z", b"I")) as (address, _):
        assert f"the server is {server}" in refusal(address)


@in_loop
async def test_a_server_that_grants_a_lock_to_two_sessions_gives_no_lease(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_lock, "_LOCK_ALONE_IN_TRANSACTION", "SELECT length($1::bytea) > 0")
    async with hatbox.open(cluster.new_address()) as profile:
        assert await profile.store.lease("a").acquire("test") is None, "one lost connection is no such server"
    monkeypatch.setattr(leases, "_TRY_LOCK", "SELECT length($1::bytea) > 0")
    async with hatbox.open(cluster.new_address()) as profile:
        with pytest.raises(ProfileUnavailable, match="its advisory locks lock nothing"):
            await profile.store.lease("a").acquire("test")


@pytest.mark.parametrize("seconds", [0, 30])
def test_a_server_that_is_starting_is_waited_for(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    connect = psycopg.Connection.connect
    refused: list[psycopg.Error] = []

    def starting(*arguments: Any, **named: Any) -> Any:
        if len(refused) < 2:
            refused.append(psycopg.OperationalError("FATAL:  the database system is starting up"))
            raise refused[-1]
        return connect(*arguments, **named)

    monkeypatch.setattr(psycopg.Connection, "connect", starting)
    address = f"{cluster.new_address()}&reconnect_seconds={seconds}"
    if seconds:
        with hatbox.open_sync(address) as profile:
            assert len(profile.identities.query()) == 4
    else:
        assert "is starting up" in refusal(address)


def test_a_database_that_does_not_exist(cluster: Cluster) -> None:
    message = refusal(cluster.address("nosuch"))
    assert message.startswith(f"postgresql://{cluster.folder}/nosuch: no connection to the server: ")
    assert 'database "nosuch" does not exist' in message
    assert message.endswith("Create the database with: createdb NAME, or name another one in the address.")


def test_a_role_that_does_not_exist(cluster: Cluster) -> None:
    message = refusal(cluster.new_address().replace("hatbox@", "nosuch@"))
    assert 'role "nosuch" does not exist. Nothing was changed. Create the role, or name another one' in message


def test_a_server_that_is_too_old(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "_MIN_VERSION", 990000)
    message = refusal(cluster.new_address())
    assert ", and 99 is the oldest that works. Nothing was changed. Update the server, or use another one." in message


@pytest.mark.server
def test_a_wrong_password_and_too_many_connections() -> None:
    with running_cluster({"fsync": "off", "max_connections": "8", "superuser_reserved_connections": "2"}) as cluster:
        cluster.sql("CREATE ROLE alice LOGIN PASSWORD 'right'")
        cluster.sql("GRANT CREATE ON DATABASE postgres TO alice")
        (cluster.data / "pg_hba.conf").write_text("local all hatbox trust\nlocal all all scram-sha-256\n")
        cluster.sql("SELECT pg_reload_conf()")
        address = cluster.address()
        for given in ("alice@", "alice:wr%20ong@"):
            message = refusal(address.replace("hatbox@", given))
            assert "Nothing was changed. Check the user name and the password" in message
            assert "ong" not in message
        alice = address.replace("hatbox@", "alice:right@")
        with hatbox.open_sync(alice) as profile:
            profile.identities.create("Here", color="red", icon="circle")
            connections = [hatbox.open_sync(alice) for _ in range(8)]
            try:
                with pytest.raises(ProfileUnavailable) as caught:
                    for each in connections:
                        each.open()
                assert "Raise max_connections of the server, or close other programs." in str(caught.value)
            finally:
                for each in connections:
                    each.close()
            assert profile.identities.query()[-1].name == "Here"


# ── Privileges ──


def test_a_role_that_may_not_create_the_profile(cluster: Cluster, role: Role) -> None:
    message = refusal(role.address, ProfileError)
    assert f"there is no profile in the schema {role.schema}, and this role may not create one" in message
    assert message.endswith("Create it with a role that may: hatbox profile create ADDRESS.")
    assert cluster.sql(f"SELECT 1 FROM pg_namespace WHERE nspname = '{role.schema}'") == []


def test_a_role_that_only_uses_the_profile_needs_four_privileges(cluster: Cluster, role: Role) -> None:
    create(cluster, role.schema)
    for privilege in USE:
        cluster.sql(f"GRANT {privilege.format(role.schema)} TO {role.name}")

    async def story() -> None:
        async with hatbox.open(role.address) as profile, opened(role.address) as store:
            identity = await profile.identities.create("Mine", color="red", icon="circle")
            cookies = await profile.cookies.open(identity.cookie_store_id)
            await cookies.receive(["a=1"], "https://site.example/")
            await profile.tabs.open("Mine", "https://site.example/")
            lease = store.lease("engine")
            assert await lease.acquire("test") is None
            await lease.release()
            await store.register_process()
            for _ in range(300):  # the log is pruned every 256 commits
                await store.write(lambda transaction: transaction.extensions.put("e", "k", "key", b"1"))
            await profile.identities.remove(identity.cookie_store_id)

    asyncio.run(asyncio.wait_for(story(), 60))


def test_a_role_that_may_only_read(cluster: Cluster, role: Role) -> None:
    create(cluster, role.schema)
    cluster.sql(f"GRANT USAGE ON SCHEMA {role.schema} TO {role.name}")
    message = refusal(role.address, ProfileReadOnly)
    assert "a privilege is missing (permission denied for table head). Nothing was changed. Grant this role" in message
    cluster.sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA {role.schema} TO {role.name}")
    with hatbox.open_sync(role.address) as profile:
        assert len(profile.identities.query()) == 4
        with pytest.raises(ProfileReadOnly, match="a privilege is missing"):
            profile.identities.create("Never", color="red", icon="circle")
        assert len(profile.identities.query()) == 4


def test_a_lease_that_cannot_be_signed_is_not_held(cluster: Cluster, role: Role) -> None:
    create(cluster, role.schema)
    cluster.sql(f"GRANT USAGE ON SCHEMA {role.schema} TO {role.name}")
    cluster.sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA {role.schema} TO {role.name}")

    async def story() -> None:
        async with opened(role.address) as reader, opened(cluster.address(schema=role.schema)) as owner:
            with pytest.raises(ProfileReadOnly):
                await reader.lease("engine").acquire("reader")
            assert await reader.lease("engine").holder() is None
            assert await owner.lease("engine").acquire("owner") is None

    asyncio.run(asyncio.wait_for(story(), 60))


# ── What is in the schema ──


def test_a_schema_with_other_tables(cluster: Cluster) -> None:
    schema = f"p{uuid.uuid4().hex[:10]}"
    cluster.sql(f"CREATE SCHEMA {schema}; CREATE TABLE {schema}.other (id int)")
    message = refusal(cluster.address(schema=schema), NotAProfile)
    assert f"the schema {schema} has other tables. It was left as it is. Name another with ?schema=NAME." in message
    assert cluster.sql(f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'") == [("other",)]


def test_a_profile_of_a_newer_version_also_while_it_is_open(cluster: Cluster) -> None:
    address = cluster.new_address()
    schema = address.rpartition("=")[2]
    with hatbox.open_sync(address) as profile:
        profile.identities.create("Mine", color="red", icon="circle")
        cluster.sql(f"UPDATE {schema}.head SET format = 99")
        for _ in range(2):
            with pytest.raises(ProfileTooNew, match="Update Hatbox"):
                profile.identities.create("Never", color="red", icon="circle")
        cluster.sql(f"UPDATE {schema}.head SET format = 1")
        assert profile.identities.query()[-1].name == "Mine"
        cluster.sql(f"UPDATE {schema}.head SET format = 99")
    assert "a newer version of Hatbox has written it (format 99" in refusal(address, ProfileTooNew)


@pytest.mark.parametrize("damage", ["DELETE FROM {0}.head", "INSERT INTO {0}.head SELECT * FROM {0}.head"])
def test_a_head_table_without_its_one_row(cluster: Cluster, damage: str) -> None:
    address = cluster.new_address()
    schema = address.rpartition("=")[2]
    create(cluster, schema)
    cluster.sql(f"DROP INDEX {schema}.head_key")
    cluster.sql(damage.format(schema))
    assert "the table head must have one row" in refusal(address, ProfileCorrupt)


def test_tables_that_are_missing(cluster: Cluster) -> None:
    address = cluster.new_address()
    schema = address.rpartition("=")[2]
    create(cluster, schema)
    cluster.sql(f"DROP TABLE {schema}.identities")
    with (
        hatbox.open_sync(address) as profile,
        pytest.raises(NotAProfile, match="does not contain the tables of a profile"),
    ):
        profile.identities.query()


# ── Limits of the server ──


@contextmanager
def set_for(cluster: Cluster, role: Role, setting: str) -> Iterator[None]:
    create(cluster, role.schema)
    for privilege in USE:
        cluster.sql(f"GRANT {privilege.format(role.schema)} TO {role.name}")
    cluster.sql(f"ALTER ROLE {role.name} SET {setting}")
    yield


def while_locked(cluster: Cluster, role: Role, check: Callable[[hatbox.SyncProfile], None]) -> None:
    """Call `check` while another session has the lock of the head row."""
    import psycopg

    with hatbox.open_sync(role.address) as profile:
        with psycopg.connect(f"host={cluster.folder} user=hatbox dbname=postgres") as other:
            other.execute(f"SELECT 1 FROM {role.schema}.head FOR UPDATE".encode())
            check(profile)
            other.rollback()
        assert profile.identities.create("After", color="red", icon="circle").cookie_store_id.endswith("-6")


@pytest.mark.parametrize("setting", ["statement_timeout = 300", "lock_timeout = 300"])
def test_a_timeout_of_the_server(cluster: Cluster, role: Role, setting: str) -> None:
    def check(profile: hatbox.SyncProfile) -> None:
        with pytest.raises(ProfileLocked, match="Nothing was changed"):
            profile.identities.create("Never", color="red", icon="circle")

    with set_for(cluster, role, setting):
        while_locked(cluster, role, check)


def test_a_session_that_was_idle_in_a_transaction_for_too_long_is_replaced(cluster: Cluster) -> None:
    @in_loop
    async def story() -> None:
        runs = 0

        def work(transaction: object) -> int:
            nonlocal runs
            runs += 1
            identities = transaction.identities  # type: ignore[attr-defined]
            number = identities.insert("slow", "circle", "red")
            identities.find("slow")
            if runs == 1:
                cluster.sql(f"SELECT pg_terminate_backend({pid})")
            return int(number)

        async with opened(cluster.new_address()) as store:
            assert store._worker
            pid = store._worker.backend_pid
            assert await store.write(work) == 6
            assert runs == 2
            assert await names(store) == ["slow"]

    story()


def test_a_session_that_the_server_ends_because_it_was_idle_is_replaced(cluster: Cluster) -> None:
    @in_loop
    async def story() -> None:
        async with opened(cluster.new_address()) as store:
            worker = store._worker
            assert worker
            assert worker._connection
            first = worker.backend_pid
            version = worker._connection.server_version
            setting = "idle_session_timeout" if version >= 140000 else "idle_in_transaction_session_timeout"
            worker._connection.run([Statement(f"SET {setting} = '100ms'")])
            if version >= 140000:
                session = f"SELECT 1 FROM pg_stat_activity WHERE pid = {first}"
                await until_awaited(lambda: asyncio.to_thread(lambda: not cluster.sql(session)))
            assert await store.write(add("after")) == 6
            assert (worker.backend_pid != first) == (version >= 140000)

    story()


def test_a_read_only_server(cluster: Cluster, role: Role) -> None:
    with set_for(cluster, role, "default_transaction_read_only = on"), hatbox.open_sync(role.address) as profile:
        assert len(profile.identities.query()) == 4
        with pytest.raises(
            ProfileReadOnly, match=r"the server is read-only. Nothing was changed. Connect to the primary"
        ):
            profile.identities.create("Never", color="red", icon="circle")


def test_a_full_disk(cluster: Cluster) -> None:
    """Here only its error: a trigger raises what PostgreSQL raises."""
    address = cluster.new_address()
    schema = address.rpartition("=")[2]
    create(cluster, schema)
    cluster.sql(
        f"CREATE FUNCTION {schema}.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
    )
    cluster.sql(f"CREATE TRIGGER t BEFORE INSERT ON {schema}.identities FOR EACH ROW EXECUTE FUNCTION {schema}.full()")
    with hatbox.open_sync(address) as profile:
        with pytest.raises(DiskFull, match=r"the disk of the server is full .* Nothing was changed. Free some space"):
            profile.identities.create("Never", color="red", icon="circle")
        cluster.sql(f"DROP TRIGGER t ON {schema}.identities")
        assert profile.identities.create("After", color="red", icon="circle").cookie_store_id.endswith("-6")


def test_an_asynchronous_server_commits_synchronously(cluster: Cluster, role: Role) -> None:
    """Success is reported for what is durable."""
    with set_for(cluster, role, "synchronous_commit = off"):

        @in_loop
        async def story() -> None:
            async with opened(role.address) as store:
                assert store._worker
                assert store._worker._connection
                found = store._worker._connection.run([Statement("SELECT current_setting('synchronous_commit')")])
                assert found == [[("on",)]]

        story()


@in_loop
async def test_a_vanished_client_is_noticed_by_the_server(cluster: Cluster) -> None:
    """By default a server keeps the locks of a machine that has vanished for two hours."""
    async with opened(cluster.new_address()) as store:
        assert store._worker
        assert store._worker._connection
        query = "SELECT current_setting('tcp_keepalives_idle'), current_setting('idle_in_transaction_session_timeout')"
        run = store._worker._connection.run
        assert run([Statement(query)])[0][0][1] == "1min"


def test_store_at_makes_no_connection() -> None:
    assert store_at(address_at("nosuch.invalid")).label == "postgresql://nosuch.invalid/identities"
