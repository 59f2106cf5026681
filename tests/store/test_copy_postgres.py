"""Copies of profiles from and into PostgreSQL (store/postgres/offline.py)."""

from __future__ import annotations

import asyncio
import random
import signal
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import hatbox
from hatbox.errors import NotAProfile, ProfileCorrupt, ProfileError, ProfileTooNew, ProfileUnavailable
from hatbox.maintenance import copy_profile, create_profile, profile_info
from hatbox.store.base import ChangeRecord, Transaction
from hatbox.store.profile_copy import COPIED_TABLES
from hatbox.store.registry import store_at
from hatbox.store.tables import dump
from tests.marks import starts
from tests.postgres import Cluster, shared_cluster
from tests.store.copier import Copier, started_copier
from tests.store.fuzz import make
from tests.store.in_loop import in_loop
from tests.store.kill_count import kill_count
from tests.store.test_check import change, copied, files
from tests.store.test_copy import (
    create_and_remove,
    log_a_change,
    remove_an_identity,
    set_a_cookie,
    tables,
)
from tests.store.test_migrations import restore

KILLS = kill_count(20)


@pytest.fixture(scope="module")
@starts("server")
def cluster() -> Cluster:
    return shared_cluster()


@pytest.fixture
def address(cluster: Cluster) -> str:
    return cluster.new_address()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("copy") / "closed", "database")


@pytest.fixture
def source(filled: Path, tmp_path: Path) -> Path:
    return copied(filled, tmp_path)


def schema_of(address: str) -> str:
    return parse_qs(urlsplit(address).query)["schema"][0]


def exists(cluster: Cluster, address: str) -> bool:
    return bool(cluster.sql(f"SELECT 1 FROM pg_namespace WHERE nspname = '{schema_of(address)}'"))


def server_tables(cluster: Cluster, address: str) -> dict[str, list[Any]]:
    """Every row of every table that a copy has."""
    found = {}
    for table in COPIED_TABLES:
        columns = ", ".join(f'"{column}"' for column in table.columns)
        rows = cluster.sql(f"SELECT {columns} FROM {schema_of(address)}.{table.name}")
        found[table.name] = sorted(rows, key=repr)
    return found


def write(address: str, work: Callable[[Transaction], Any]) -> None:
    async def run() -> None:
        store = store_at(address)
        await store.open()
        await store.write(work)
        await store.close()

    asyncio.run(run())


def put_unusual_values(transaction: Transaction) -> None:
    """Values that databases store differently: NUL, text that is no ASCII, large integers, floats, empty blobs."""
    identity = transaction.identities.insert("a\0b \U0001f600 'quoted\" \\x41 %s ?", "pet", "red")
    transaction.cookies.put(
        identity,
        [
            ("site.example", 1, "/é", "n\0", "", "v" * 4000, 1, 0, "lax", 1.1, 2**62, 0.1 + 0.2, 5e-324),
            ("site.example", 0, "/", "", "https://a.example", "", 0, 1, "", None, -1, 1e308, 1794782787.4706130),
        ],
    )
    transaction.site_data.put(0, "https://site.example", b"")
    transaction.site_data.put(0, "", bytes(range(256)) * 100)
    transaction.extensions.put("", "", "", b"\xff\0")
    window = transaction.windows.insert(left=-5, top=None, title_preface="é")
    transaction.tabs.insert(window, 0, identity, url="", opener=None, last_accessed=-0.5)
    transaction.changes.append("unusual", b"{}")


def test_a_profile_is_the_same_after_a_copy_into_postgresql_and_back(
    source: Path, address: str, cluster: Cluster, tmp_path: Path
) -> None:
    write(str(source), put_unusual_values)
    before, whole = files(source), tables(source)
    done = copy_profile(source, address)
    assert files(source) == before
    assert done.is_new
    assert done.rows == {name: len(rows) for name, rows in whole.items()}
    assert "password" not in done.target
    on_server = server_tables(cluster, address)
    back = copy_profile(address, tmp_path / "back.db")
    assert tables(tmp_path / "back.db") == whole
    assert back.source == done.target
    assert server_tables(cluster, address) == on_server
    assert len({profile_info(each).uuid for each in (source, address, tmp_path / "back.db")}) == 3


def test_a_profile_is_the_same_after_a_copy_from_schema_to_schema(source: Path, address: str, cluster: Cluster) -> None:
    other = cluster.new_address()
    copy_profile(source, address)
    copy_profile(address, other)
    assert server_tables(cluster, other) == server_tables(cluster, address)


def test_an_unchanged_profile_is_filled(source: Path, address: str, cluster: Cluster, tmp_path: Path) -> None:
    assert create_profile(address) is True
    assert create_profile(address) is False
    uuid = profile_info(address).uuid
    with hatbox.open_sync(address) as profile:
        assert len(profile.identities.query()) == 4
    assert copy_profile(source, address).is_new is False
    assert profile_info(address).uuid == uuid
    copy_profile(address, tmp_path / "back.db")
    assert tables(tmp_path / "back.db") == tables(source)


@pytest.mark.parametrize("work", [remove_an_identity, create_and_remove, set_a_cookie, log_a_change])
def test_a_target_that_was_changed_is_refused(
    source: Path, address: str, cluster: Cluster, work: Callable[[Transaction], Any]
) -> None:
    write(address, work)
    before = server_tables(cluster, address)
    with pytest.raises(ProfileError, match="it was changed since it was created"):
        copy_profile(source, address)
    assert server_tables(cluster, address) == before


def test_a_profile_is_not_copied_into_itself(address: str, cluster: Cluster) -> None:
    create_profile(address)
    with pytest.raises(ProfileError, match="source and target are the same profile"):
        copy_profile(address, f"{address}&application_name=other")
    assert profile_info(address).rows["identities"] == 4


def test_an_address_without_a_profile_is_an_error_and_nothing_is_created(
    address: str, cluster: Cluster, tmp_path: Path
) -> None:
    for use in (profile_info, lambda each: copy_profile(each, tmp_path / "new.db")):
        with pytest.raises(ProfileError, match=r"no profile exists there.*hatbox profile create ADDRESS"):
            use(address)
    assert not exists(cluster, address)
    assert not (tmp_path / "new.db").exists()


def test_a_source_that_does_not_exist_creates_no_schema(address: str, cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="no profile exists there"):
        copy_profile(tmp_path / "none.db", address)
    assert not exists(cluster, address)


def test_a_damaged_row_ends_the_copy_and_nothing_is_written(source: Path, address: str, cluster: Cluster) -> None:
    change(source, "UPDATE packages SET checksum = checksum + 1")
    with pytest.raises(ProfileCorrupt, match="a row of the table packages has a wrong checksum") as caught:
        copy_profile(source, address)
    assert caught.value.label == str(source)
    assert not exists(cluster, address)
    create_profile(address)
    before = server_tables(cluster, address)
    with pytest.raises(ProfileCorrupt):
        copy_profile(source, address)
    assert server_tables(cluster, address) == before


def test_other_tables_and_newer_profiles_are_refused(source: Path, address: str, cluster: Cluster) -> None:
    cluster.sql(f"CREATE SCHEMA {schema_of(address)}")
    cluster.sql(f"CREATE TABLE {schema_of(address)}.other (a int)")
    with pytest.raises(NotAProfile, match="has other tables"):
        copy_profile(source, address)
    newer = cluster.new_address()
    create_profile(newer)
    cluster.sql(f"UPDATE {schema_of(newer)}.head SET format = 1000")
    for use in (profile_info, create_profile, lambda each: copy_profile(source, each)):
        with pytest.raises(ProfileTooNew, match="format 1000"):
            use(newer)


def test_a_profile_of_an_earlier_format_is_described_and_not_changed(
    source: Path, address: str, cluster: Cluster
) -> None:
    create_profile(address)
    cluster.sql(f"UPDATE {schema_of(address)}.head SET format = 0")
    assert create_profile(address) is False
    found = profile_info(address)
    assert (found.format, found.rows, found.uuid) == (0, {}, None)
    with pytest.raises(ProfileError, match="it has the earlier format 0, so it is not a new profile"):
        copy_profile(source, address)
    assert cluster.sql(f"SELECT format FROM {schema_of(address)}.head") == [(0,)]


def test_a_source_of_an_earlier_format_is_copied(address: str, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    restore(5, old)
    copy_profile(old, address)
    copy_profile(address, tmp_path / "back.db")
    assert tables(tmp_path / "back.db") == tables(old)


def test_a_copy_is_the_state_of_one_commit_while_other_programs_write(
    source: Path, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_profile(source, address)
    monkeypatch.setattr(dump, "_MAX_ROWS", 20)
    writes = 0

    def write_between(done: int, total: int) -> None:
        nonlocal writes
        if 0 < done < total and done % 3 == 0:
            writes += 1
            for work in (set_a_cookie, remove_an_identity, log_a_change):
                write(address, work)

    copy_profile(address, tmp_path / "back.db", progress=write_between)
    assert writes > 1
    assert tables(tmp_path / "back.db") == tables(source)


def test_ten_thousand_identities_are_copied_in_little_memory(tmp_path: Path, address: str) -> None:
    source = tmp_path / "large.db"

    def grow(transaction: Transaction) -> None:
        for number in range(10_000):
            identity = transaction.identities.insert(f"identity {number}", "pet", "red")
            row = ("site.example", 1, "/", "session", "", "v" * 200, 1, 0, "lax", 2e9, number, 1e9, 1e9)
            transaction.cookies.put(identity, [row])
        window = transaction.windows.insert()
        for number in range(12):
            tab = transaction.tabs.insert(window, number, 0, url="https://site.example/")
            transaction.tabs.save_page_snapshot(tab.id, b"x" * 2**20)
        transaction.changes.append("grown", b"{}")

    write(str(source), grow)
    for one, other in ((str(source), address), (address, str(tmp_path / "back.db"))):
        tracemalloc.start()
        try:
            copy_profile(one, other)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 10 * 2**20  # the profile has 17 MB
    assert tables(tmp_path / "back.db") == tables(source)


@in_loop
async def test_a_program_that_has_the_target_open_reloads_it(source: Path, address: str) -> None:
    async with hatbox.open(address) as profile:
        topics: list[ChangeRecord] = []
        profile.store.subscribe(topics.append)
        await asyncio.to_thread(copy_profile, source, address)
        await profile.store.deliver_pending_changes()
        assert {each.topic for each in topics} == {"resync"}
        assert len(await profile.identities.query()) == 16
        created = await profile.identities.create("after")
        assert created.cookie_store_id == "firefox-container-18"
        assert [each.topic for each in topics][-1] != "resync"


@pytest.fixture
@starts("process")
def copier() -> Iterator[Copier]:
    with started_copier() as copier:
        yield copier


def test_a_copy_that_is_killed_is_complete_or_did_not_happen(copier: Copier, source: Path, cluster: Cluster) -> None:
    first = cluster.new_address()
    calls = copier.count(source, first)
    whole = server_tables(cluster, first)
    choose = random.Random(5)
    moments = [*range(calls - 60, calls, 12), *(choose.randrange(1, calls) for _ in range(max(1, KILLS - 5)))]
    completed = 0
    for moment in moments:
        target = cluster.new_address()
        assert copier.copy_and_kill(source, target, moment) in (-signal.SIGKILL, 0)
        if exists(cluster, target):
            completed += 1
        else:
            copy_profile(source, target)
        assert server_tables(cluster, target) == whole
    assert 0 < completed < len(moments)


def test_a_server_that_is_not_there_is_an_error_with_its_name_and_without_the_password(tmp_path: Path) -> None:
    create_profile(tmp_path / "a.db")
    address = f"postgresql://u:s3cret@/db?host={tmp_path}"
    for use in (profile_info, create_profile, lambda each: copy_profile(tmp_path / "a.db", each)):
        with pytest.raises(ProfileUnavailable, match=f"^postgresql://{tmp_path}/db: no connection") as caught:
            use(address)
        assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("hosts", "shown"),
    [("a", "a"), ("a:1", "a:1"), ("a:5432", "a"), ("a,b", "a,b"), ("a:5432,b", "a,b"), ("a:1,b:2", "a,b:1,2")],
)
def test_messages_name_the_hosts(hosts: str, shown: str) -> None:
    assert store_at(f"postgresql://u:s3cret@{hosts}/db").label == f"postgresql://{shown}/db"


def test_info_describes_a_profile(source: Path, address: str) -> None:
    copy_profile(source, address)
    found = profile_info(address)
    assert (found.store, found.place) == (
        "PostgreSQL",
        f"the schema {schema_of(address)} in {found.label.partition('?')[0]}",
    )
    assert (found.rows["cookies"], found.rows["identities"], found.is_encrypted) == (178, 16, False)
    assert found.size
    assert found.size > 100_000
    assert found.last_change
    assert found.last_change.process > 0
