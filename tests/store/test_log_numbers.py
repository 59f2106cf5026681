"""An older copy that is put in the place of a profile is not mixed with the WAL that is beside it."""

# ruff: noqa: ASYNC240 - these tests are about files

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

import hatbox
from hatbox.store.sqlite.check import check
from tests.store.in_loop import in_loop


@in_loop
async def test_a_copy_beside_the_log_of_a_killed_program_is_refused_and_opens_without_the_log(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    wal = tmp_path / "profile.db-wal"
    old = await _created(path, "old")
    await _created(path, "between")
    async with hatbox.open(path) as profile:
        await profile.identities.create("new", color="red", icon="pet")
        killed = path.read_bytes(), wal.read_bytes()
    for database, names in ((killed[0], ["old", "between", "new"]), (old, ["old"])):
        path.write_bytes(database)
        wal.write_bytes(killed[1])
        if database is old:
            with pytest.raises(hatbox.ProfileCorrupt, match="not the file that its write-ahead log"):
                await hatbox.open(path)
            assert "older copy" in check(path).problems[0].problem
            assert (path.read_bytes(), wal.read_bytes()) == (old, killed[1])
            wal.unlink()
        assert await _names(path) == names


@in_loop
async def test_each_log_of_two_programs_has_a_number_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    numbers = []
    async with hatbox.open(path) as one, hatbox.open(path) as other:
        for number, program in enumerate((one, other, one, other)):
            await program.identities.create(f"{number}", color="red", icon="pet")
            with contextlib.closing(sqlite3.connect(path)) as connection:  # as the maintenance of either
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            numbers.append(int.from_bytes(path.read_bytes()[60:64], "big") >> 8)
    assert [(each - numbers[0]) % 2**23 for each in numbers] == [0, 1, 2, 3]


@in_loop
async def test_a_copy_that_is_put_in_place_of_an_open_profile_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    old = await _created(path, "old")
    await _created(path, "between")
    async with hatbox.open(path) as profile:
        assert await profile.identities.query(name="between")
        path.write_bytes(old)  # the file stays the same one, as with cp
        for _ in range(2):
            with pytest.raises(hatbox.ProfileError, match="replaced while it was open"):
                await profile.identities.create("new", color="red", icon="pet")
    assert await _names(path) == ["old"]


async def _created(path: Path, name: str) -> bytes:
    """The closed profile, after an identity was created."""
    async with hatbox.open(path) as profile:
        await profile.identities.create(name, color="red", icon="pet")
    return path.read_bytes()


async def _names(path: Path) -> list[str]:
    async with hatbox.open(path) as profile:
        return [identity.name for identity in await profile.identities.query()][4:]
