"""Encrypted profiles on a server: what its tables contain, and who can open them (store/postgres/profile_key.py)."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable
from pathlib import Path

import pytest

import hatbox
from hatbox.maintenance import change_profile_key, copy_profile, create_profile, profile_info
from hatbox.store.keys import Key
from hatbox.store.postgres.store import PostgresStore
from hatbox.store.tables.schema import TABLES
from tests.marks import starts
from tests.postgres import Cluster, address_for, shared_cluster
from tests.store.in_loop import in_loop
from tests.store.test_encrypted_profiles import FILLED, SECRETS, contents, fill, values
from tests.waiting import until

pytestmark = pytest.mark.server

ONE, TWO = Key(bytes(range(32))), Key(bytes(range(1, 33)))
SetKey = Callable[[Key | None], None]


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> SetKey:
    def use_key(key: Key | None) -> None:
        for name in ("HATBOX_KEY", "HATBOX_KEY_FILE"):
            monkeypatch.delenv(name, raising=False)
        if key is not None:
            monkeypatch.setenv("HATBOX_KEY", key.text)

    use_key(ONE)
    return use_key


@pytest.fixture
def address(tmp_path: Path) -> str:
    return address_for(tmp_path)


@pytest.fixture
@starts("server")
def cluster() -> Cluster:
    return shared_cluster()


def schema_of(address: str) -> str:
    return urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)["schema"][0]


def secrets_in(cluster: Cluster, address: str) -> set[bytes]:
    schema = schema_of(address)
    stored = b"".join(
        bytes(value) if isinstance(value, bytes) else str(value).encode()
        for table in TABLES
        for row in cluster.sql(f'SELECT * FROM "{schema}".{table.name}')
        for value in row
    )
    return {secret for secret in SECRETS if secret in stored}


@in_loop
async def test_no_value_is_in_any_table(address: str, cluster: Cluster, use: SetKey) -> None:
    async with hatbox.open(address) as profile:
        await fill(profile)
        assert profile.store.is_encrypted
        assert await contents(profile) == FILLED
        assert secrets_in(cluster, address) == set()
    async with hatbox.open(address) as profile:
        assert await contents(profile) == FILLED


@pytest.mark.server
@in_loop
async def test_a_wrong_or_missing_key_does_not_open_it(address: str, use: SetKey) -> None:
    async with hatbox.open(address) as profile:
        await fill(profile)
    for key, problem in ((TWO, "encrypted with another key"), (None, "no key is set")):
        use(key)
        with pytest.raises(hatbox.WrongKey, match=problem):
            async with hatbox.open(address):
                pass
    use(ONE)
    async with hatbox.open(address) as profile:
        assert await contents(profile) == FILLED


@pytest.mark.server
@in_loop
async def test_changes_reach_another_store(address: str, use: SetKey) -> None:
    created: list[str] = []
    async with hatbox.open(address) as one, hatbox.open(address) as two:
        two.identities.on_created.add_listener(lambda identity: created.append(identity.name))
        await one.identities.create("from one", color="red", icon="pet")
        await until(lambda: created == ["from one"])
        await two.identities.create("from two", color="red", icon="pet")
        assert created == ["from one", "from two"]


@in_loop
async def test_a_cookie_moved_to_another_identity_is_not_sent(address: str, cluster: Cluster, use: SetKey) -> None:
    async with hatbox.open(address) as profile:
        await fill(profile)
    schema = schema_of(address)
    cluster.sql(f'DELETE FROM "{schema}".cookies WHERE store = 1')
    cluster.sql(f'UPDATE "{schema}".cookies SET store = 1')
    async with hatbox.open(address) as profile:
        with pytest.raises(hatbox.DecryptionError, match="table cookies cannot be decrypted"):
            await profile.cookie_store("Personal")
        assert await values(profile, "Work") == []


@in_loop
async def test_encrypt_rekey_and_decrypt(address: str, cluster: Cluster, use: SetKey) -> None:
    use(None)
    async with hatbox.open(address) as profile:
        await fill(profile)
        with pytest.raises(hatbox.ProfileLocked, match="only while no program has it open"):
            change_profile_key(address, None, ONE)
    assert secrets_in(cluster, address) != set()
    rewritten = change_profile_key(address, None, ONE)
    assert rewritten
    assert change_profile_key(address, None, ONE) is None
    assert secrets_in(cluster, address) == set()
    with pytest.raises(hatbox.WrongKey, match="hatbox profile rekey"):
        change_profile_key(address, None, TWO)
    with pytest.raises(hatbox.WrongKey, match="another key"):
        change_profile_key(address, TWO, None)
    assert change_profile_key(address, ONE, TWO) == rewritten
    use(TWO)
    async with hatbox.open(address) as profile:
        assert await contents(profile) == FILLED
    assert change_profile_key(address, TWO, None) == rewritten
    use(None)
    async with hatbox.open(address) as profile:
        assert await contents(profile) == FILLED


@in_loop
async def test_dead_rows_are_not_in_the_files_of_the_tables(address: str, cluster: Cluster, use: SetKey) -> None:
    use(None)
    async with hatbox.open(address) as profile:
        await fill(profile)
    change_profile_key(address, None, ONE)
    cluster.sql("CHECKPOINT")
    schema = schema_of(address)
    for table in TABLES:
        if table.secret:
            [(name,)] = cluster.sql(f"SELECT pg_relation_filepath('\"{schema}\".{table.name}')")
            content = (cluster.data / str(name)).read_bytes()
            assert not [secret for secret in SECRETS if secret in content], table.name


@in_loop
async def test_a_store_that_lost_its_connection_does_not_go_on_with_the_old_key(
    address: str, cluster: Cluster, use: SetKey
) -> None:
    async with hatbox.open(address) as profile:
        await fill(profile)
    store = PostgresStore(address)
    await store.open()
    try:
        pid = store._require_open().backend_pid
        cluster.sql(f"SELECT pg_terminate_backend({pid}, 5000)")
        assert change_profile_key(address, ONE, TWO)
        for _ in range(2):
            with pytest.raises(hatbox.WrongKey, match="its key was changed"):
                await store.write(lambda each: each.site_data.put(1, "https://site.example", b"new"))
    finally:
        await store.close()


def test_a_profile_that_does_not_exist_is_not_created(address: str, cluster: Cluster, use: SetKey) -> None:
    with pytest.raises(hatbox.ProfileError, match="no profile exists"):
        change_profile_key(address, None, ONE)
    assert cluster.sql(f"SELECT FROM pg_namespace WHERE nspname = '{schema_of(address)}'") == []


@in_loop
async def test_copies_between_a_file_and_a_server_stay_encrypted(
    address: str, tmp_path: Path, cluster: Cluster, use: SetKey
) -> None:
    source, back = tmp_path / "source.db", tmp_path / "back.db"
    async with hatbox.open(source) as profile:
        await fill(profile)
    copy_profile(source, address)
    assert profile_info(address).is_encrypted
    assert secrets_in(cluster, address) == set()
    copy_profile(address, back)
    for each in (address, back):
        async with hatbox.open(each) as profile:
            assert await contents(profile) == FILLED
    other = address_for(tmp_path / "other")
    copy_profile(address, other, plain=True)
    assert secrets_in(cluster, other) != set()
    use(None)
    async with hatbox.open(other) as profile:
        assert await contents(profile) == FILLED
    with pytest.raises(hatbox.WrongKey, match="no key is set"):
        copy_profile(address, tmp_path / "third.db")


@in_loop
async def test_a_plain_profile_on_a_server_gets_no_encrypted_values_unless_the_user_wants_it(
    address: str, tmp_path: Path, cluster: Cluster, use: SetKey
) -> None:
    source = tmp_path / "source.db"
    async with hatbox.open(source) as profile:
        await fill(profile)
    use(None)
    create_profile(address)
    use(ONE)
    with pytest.raises(hatbox.ProfileError, match="pass --plain"):
        copy_profile(source, address)
    assert secrets_in(cluster, address) == set()
