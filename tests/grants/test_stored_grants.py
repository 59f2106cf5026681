"""Grants and the activity log in the files of profiles: encrypted, changed by other programs, repaired, upgraded."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

import hatbox
from hatbox import DecryptionError, GrantRefused, Profile, ProfileCorrupt
from hatbox.grants.grant_service import digest_of, new_token
from hatbox.maintenance import change_profile_key, create_profile
from hatbox.store.keys import Key
from hatbox.store.postgres import schema
from hatbox.store.registry import store_at
from hatbox.store.sqlite.check import check
from hatbox.store.sqlite.repair import repair
from tests.postgres import shared_cluster
from tests.store.in_loop import in_loop
from tests.store.sealing import edited
from tests.store.test_contract import add, names, opened
from tests.store.test_migrations import restore

KEY = Key(bytes(range(32))).text
OTHER_KEY = Key(bytes(range(1, 33))).text
SECRETS = (b"purpose-secret", b"host-secret.example", b"visited-secret.example")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.fixture
def encrypted(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("HATBOX_KEY_FILE", raising=False)
    monkeypatch.setenv("HATBOX_KEY", KEY)
    return path


async def fill(profile: Profile) -> tuple[str, str]:
    """A grant with an entry in the log; returns its id and token."""
    grant, token = await profile.grants.create("purpose-secret", identities="Work", hosts=["host-secret.example"])
    profile.activity_log.record("firefox-container-2", "fetch", host="visited-secret.example", grant=grant.id)
    await profile.activity_log.flush()
    return grant.id, token


def secrets_in(folder: Path) -> set[bytes]:
    return {secret for secret in SECRETS for file in folder.iterdir() if secret in file.read_bytes()}


@in_loop
async def test_purpose_and_hosts_are_in_no_file_of_an_encrypted_profile(encrypted: Path) -> None:
    async with hatbox.open(encrypted) as profile:
        grant_id, token = await fill(profile)
        assert secrets_in(encrypted.parent) == set()
    assert secrets_in(encrypted.parent) == set()
    async with hatbox.open(encrypted) as profile:
        grant = await profile.grants.verify(token)
        assert (grant.purpose, grant.hosts) == ("purpose-secret", ("*://host-secret.example/*",))
        (entry,) = await profile.activity_log.query(grant=grant_id)
        assert entry.host == "visited-secret.example"


@in_loop
async def test_a_token_stays_valid_when_the_profile_is_encrypted_and_decrypted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HATBOX_KEY", raising=False)
    monkeypatch.delenv("HATBOX_KEY_FILE", raising=False)
    async with hatbox.open(path) as profile:
        grant_id, token = await fill(profile)
    for old, new in ((None, KEY), (KEY, OTHER_KEY), (OTHER_KEY, None)):
        change_profile_key(path, Key.parse(old) if old else None, Key.parse(new) if new else None)
        assert secrets_in(path.parent) == (set() if new else set(SECRETS))
        async with hatbox.open(path, key=new) as profile:
            assert (await profile.grants.verify(token)).id == grant_id
            (entry,) = await profile.activity_log.query(grant=grant_id)
            assert entry.host == "visited-secret.example"


@in_loop
async def test_a_plain_profile_contains_them(path: Path) -> None:
    """The test above finds what it looks for."""
    async with hatbox.open(path) as profile:
        await fill(profile)
    assert secrets_in(path.parent) == set(SECRETS)


@pytest.mark.parametrize(
    "change", ["digest = ?", "digest = ?, expires = NULL", "digest = ?, revoked = NULL", "digest = ?, id = 'another'"]
)
@in_loop
async def test_a_server_cannot_give_a_grant_of_an_encrypted_profile_another_token(encrypted: Path, change: str) -> None:
    async with hatbox.open(encrypted) as profile:
        await fill(profile)
    forged = new_token()
    with edited(encrypted) as connection:
        connection.execute(f"UPDATE grants SET {change}", (digest_of(forged),))
    async with hatbox.open(encrypted) as profile:
        with pytest.raises(DecryptionError, match="table grants cannot be decrypted"):
            await profile.grants.verify(forged)


@pytest.mark.parametrize("change", ["expires = expires + 86400", "expires = NULL", "created = created - 1"])
@in_loop
async def test_a_server_cannot_extend_a_grant_of_an_encrypted_profile(encrypted: Path, change: str) -> None:
    async with hatbox.open(encrypted) as profile:
        _, token = await fill(profile)
    with edited(encrypted) as connection:
        connection.execute(f"UPDATE grants SET {change}")
    async with hatbox.open(encrypted) as profile:
        with pytest.raises(DecryptionError):
            await profile.grants.verify(token)


@in_loop
async def test_a_revocation_cannot_be_taken_back_in_an_encrypted_profile(encrypted: Path) -> None:
    async with hatbox.open(encrypted) as profile:
        grant_id, token = await fill(profile)
        await profile.grants.revoke(grant_id)
    with edited(encrypted) as connection:
        connection.execute("UPDATE grants SET revoked = NULL")
    async with hatbox.open(encrypted) as profile:
        with pytest.raises(DecryptionError):
            await profile.grants.verify(token)


@in_loop
async def test_entries_of_an_encrypted_log_cannot_be_changed(encrypted: Path) -> None:
    async with hatbox.open(encrypted) as profile:
        await fill(profile)
    with edited(encrypted) as connection:
        connection.execute("UPDATE activity SET grant_id = 'another'")
    async with hatbox.open(encrypted) as profile:
        with pytest.raises(DecryptionError, match="table activity"):
            await profile.activity_log.query()


@in_loop
async def test_a_changed_row_of_a_plain_profile_is_damage(path: Path) -> None:
    async with hatbox.open(path) as profile:
        _, token = await fill(profile)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE grants SET expires = NULL")
    assert not check(path).is_sound
    async with hatbox.open(path) as profile:
        with pytest.raises(ProfileCorrupt):
            await profile.grants.verify(token)


@in_loop
async def test_a_repair_saves_no_grants_because_an_earlier_row_could_be_valid_again(path: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.db"
    async with hatbox.open(path) as profile:
        grant_id, token = await fill(profile)
        await profile.grants.revoke(grant_id)
    done = repair(path, new)
    assert "grants" not in done.saved
    assert done.saved["activity"] == 1
    async with hatbox.open(new) as profile:
        assert await profile.grants.list() == []
        with pytest.raises(GrantRefused):
            await profile.grants.verify(token)
        (entry,) = await profile.activity_log.query()
        assert entry.grant == grant_id
        assert len(await profile.identities.query()) == 4
    assert check(new).is_sound


@pytest.mark.parametrize("version", range(1, 10))
@in_loop
async def test_a_profile_of_every_earlier_format_can_have_grants(version: int, path: Path) -> None:
    restore(version, path)
    async with hatbox.open(path) as profile:
        before = [grant.id for grant in await profile.grants.list()]
        assert before == (["grant000"] if version == 9 else [])
        assert [entry.grant for entry in await profile.activity_log.query()] == before
        work = next(each for each in await profile.identities.query() if each.name == "Work")
        grant, token = await profile.grants.create(identities=work)
        assert await profile.grants.verify(token) == grant
    assert check(path).is_sound


@pytest.mark.server
@in_loop
async def test_a_profile_of_the_format_before_on_a_server_is_upgraded(monkeypatch: pytest.MonkeyPatch) -> None:
    address = shared_cluster().new_address()
    with monkeypatch.context() as before:
        before.setattr(schema, "FORMAT", 3)
        before.setattr("hatbox.store.postgres.transaction.FORMAT", 3)
        async with opened(store_at(address)) as store:
            await store.write(add("before"))
    async with hatbox.open(address) as profile:
        assert "before" in await profile.store.read(names)
        grant, token = await profile.grants.create(identities="before")
        assert await profile.grants.verify(token) == grant
    with monkeypatch.context() as earlier:
        earlier.setattr(schema, "FORMAT", 3)
        with pytest.raises(hatbox.ProfileTooNew, match="format 4"):
            await store_at(address).open()


def test_an_earlier_version_refuses_a_profile_with_grants(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_profile(path)
    before = path.read_bytes()
    for module in ("profile_file", "header", "info"):
        with contextlib.suppress(AttributeError):
            monkeypatch.setattr(f"hatbox.store.sqlite.{module}.FORMAT", 8)
    with pytest.raises(hatbox.ProfileTooNew, match="format 9"), hatbox.open_sync(path):
        pass
    assert path.read_bytes() == before
