"""The tables of a profile in PostgreSQL (store/postgres/schema.py, and the files of its folder migrations)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hatbox
from hatbox.store.postgres import schema
from hatbox.store.registry import store_at
from hatbox.store.tables.schema import TABLES, TABS
from tests.postgres import shared_cluster
from tests.store.in_loop import in_loop
from tests.store.test_contract import add, names, opened

TYPES = {"integer": "int8", "text": "bytea", "real": "float8", "blob": "bytea"}
OWN = {("head", "format"): "int8", ("changes", "token"): "bytea"}  # columns that the other stores do not have


@pytest.mark.server
@in_loop
async def test_a_new_profile_has_the_columns_of_all_tables() -> None:
    cluster = shared_cluster()
    address = cluster.new_address(schema="columns")
    async with opened(store_at(address)):
        found = cluster.sql(
            "SELECT table_name, column_name, udt_name, is_nullable FROM information_schema.columns "
            "WHERE table_schema = 'columns' AND table_name <> 'leases'"
        )
    expected = {
        (table.name, name): (TYPES[kind], "YES" if name in table.nullable else "NO")
        for table in TABLES
        for name, kind in zip(table.columns, table.types, strict=True)
    }
    expected |= {place: (kind, "NO") for place, kind in OWN.items()}
    assert {(table, column): (kind, nullable) for table, column, kind, nullable in found} == expected


def test_a_new_column_has_its_declared_value_in_earlier_rows() -> None:
    added = {}
    for path in sorted(schema._MIGRATIONS.glob("*.sql")):
        for table, columns in re.findall(r"ALTER TABLE (\w+)\s+(ADD COLUMN [^;]*);", path.read_text()):
            for column, value in re.findall(r"ADD COLUMN (\w+)[^,]* DEFAULT ([^,]+)", columns):
                added[table, column] = value
    assert added == {
        (table.name, column): f"{{{table.name}.{column}}}" for table in TABLES for column, _ in table.defaults
    }


@pytest.mark.parametrize(
    ("value", "literal"), [(-1, "-1"), (0.5, "0.5"), (None, "NULL"), ("'ü", "'\\x27c3bc'"), (b"\0", "'\\x00'")]
)
def test_a_declared_value_is_a_literal_of_its_type(
    value: object, literal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = TABS._replace(defaults=(("more", value),))
    monkeypatch.setattr(schema, "TABLES", (later,))
    assert schema._DEFAULT.sub(schema._default, "DEFAULT {tabs.more};") == f"DEFAULT {literal};"


def test_the_current_format_is_that_of_the_last_migration() -> None:
    numbers = sorted(int(path.stem) for path in schema._MIGRATIONS.glob("*.sql"))
    assert numbers == list(range(1, schema.FORMAT + 1))


@pytest.mark.server
@in_loop
async def test_a_profile_of_an_earlier_format_is_upgraded_and_all_or_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = shared_cluster()
    address = cluster.new_address()
    async with opened(store_at(address)) as store:
        await store.write(add("before"))
    for number in range(1, schema.FORMAT + 1):
        (tmp_path / f"{number:04}.sql").write_text((schema._MIGRATIONS / f"{number:04}.sql").read_text())
    latest = schema.FORMAT + 1
    migration = tmp_path / f"{latest:04}.sql"
    migration.write_text("ALTER TABLE identities ADD COLUMN more int8;\nSELECT no_such_function();\n")
    monkeypatch.setattr(schema, "_MIGRATIONS", tmp_path)
    monkeypatch.setattr(schema, "FORMAT", latest)
    monkeypatch.setattr("hatbox.store.postgres.transaction.FORMAT", latest)
    with pytest.raises(hatbox.ProfileError):
        await store_at(address).open()
    migration.write_text("ALTER TABLE identities ADD COLUMN more int8;\n")  # fails if it was done above
    async with opened(store_at(address)) as store:
        assert "before" in await store.read(names)
        await store.write(add("after"))
    monkeypatch.undo()
    with pytest.raises(hatbox.ProfileTooNew, match=f"format {latest}"):
        await store_at(address).open()


@pytest.mark.server
@in_loop
async def test_a_profile_is_not_upgraded_while_a_program_of_an_earlier_version_has_it_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = shared_cluster().new_address()
    latest = schema.FORMAT + 1
    for number in range(1, latest):
        (tmp_path / f"{number:04}.sql").write_text((schema._MIGRATIONS / f"{number:04}.sql").read_text())
    (tmp_path / f"{latest:04}.sql").write_text("ALTER TABLE identities ADD COLUMN more int8;\n")
    async with opened(store_at(address)) as earlier:
        with monkeypatch.context() as later:
            later.setattr(schema, "_MIGRATIONS", tmp_path)
            later.setattr(schema, "FORMAT", latest)
            with pytest.raises(
                hatbox.ProfileLocked, match=r"earlier format.*open: hatbox from a local .*\(sessions \d"
            ):
                await store_at(address).open()
        await earlier.write(add("still works"))
    monkeypatch.setattr(schema, "_MIGRATIONS", tmp_path)
    monkeypatch.setattr(schema, "FORMAT", latest)
    monkeypatch.setattr("hatbox.store.postgres.transaction.FORMAT", latest)
    async with opened(store_at(address)) as first, opened(store_at(address)) as second:
        assert "still works" in await first.read(names)
        await second.write(add("after"))
