"""Archives of every earlier format, written by the code of their time (tests/archive/golden), and of the next one."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import sqlite3
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox.archive import identity_archive
from hatbox.archive.archive_rows import ArchiveManifest, ArchiveRows
from hatbox.archive.archived_columns import read_columns
from hatbox.archive.block_file import ARCHIVE_VERSION, BlockReader, BlockWriter
from hatbox.archive.identity_archive import ArchivedIdentity, decode_identity, encode_identity, summarize
from hatbox.archive.identity_restore import restore_identity
from hatbox.errors import ArchiveDamaged, ArchiveError, ArchiveTooNew
from hatbox.store import profile_copy
from hatbox.store.base import Transaction
from hatbox.store.profile_copy import COPIED_TABLES, Table, copied_table, selected
from hatbox.store.sqlite.schema import STATEMENTS
from hatbox.tabs.closed_tabs import get_sessions
from tests.archive.contents import fill_identity, rows_of
from tests.archive.golden.make import FOLDER, IDENTITY, PASSPHRASE, REMOVED, rows_by_name
from tests.archive.test_profile_archive import restore, with_profile, write

NAMES: Final = sorted(file.stem for file in FOLDER.glob("*.json"))
CURRENT: Final = f"v{ARCHIVE_VERSION}"
NEW_IDS: Final = {"cookies": (), "site_data": (), "history": ("id",), "visits": ("id", "page", "referrer")}
"""The tables with rows of an identity, and what a restore gives a new value."""
ON_EACH: Final = pytest.mark.parametrize("name", NAMES)


@cache
def contents_of(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def golden(name: str) -> Path:
    return FOLDER / f"{name}.hatbox"


def read(data: bytes) -> tuple[ArchiveManifest, dict[str, list[tuple[Any, ...]]]]:
    rows = ArchiveRows(io.BytesIO(data), "archive")
    found: dict[str, list[tuple[Any, ...]]] = {}
    for table, batch in rows.batches():
        found.setdefault(table.name, []).extend(batch)
    return rows.manifest, found


def rewritten(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """An archive with another manifest."""
    (kind, manifest), *blocks = BlockReader(io.BytesIO(data), "archive").blocks()
    fields = msgspec.json.decode(manifest)
    change(fields)
    file = io.BytesIO()
    writer = BlockWriter(file)
    for block in ((kind, msgspec.json.encode(fields)), *blocks):
        writer.write(*block)
    writer.finish()
    return file.getvalue()


def of_store(rows: Sequence[Any], store: int, *without: str) -> list[dict[str, Any]]:
    return [{key: row[key] for key in row if key not in ("store", *without)} for row in rows if row["store"] == store]


# ------------------------------------------------------------------------------------------------- earlier formats


def test_an_archive_of_the_current_columns_is_kept_for_these_tests() -> None:
    manifest, rows = read(golden(CURRENT).read_bytes())
    advice = "increment ARCHIVE_VERSION and run: python -m tests.archive.golden.make"
    assert manifest.tables == {table.name: list(table.columns) for table in COPIED_TABLES}, advice
    assert {f"v{version}" for version in range(1, ARCHIVE_VERSION + 1)} <= set(NAMES), advice
    assert [table.name for table in COPIED_TABLES if not rows.get(table.name)] == []


@ON_EACH
def test_an_archive_of_an_earlier_version_fills_a_new_profile_with_all_that_is_in_it(name: str, address: str) -> None:
    expected = contents_of(name)
    assert restore(address, golden(name)).filled
    found = rows_by_name(address)
    assert {table for table, rows in found.items() if rows} == set(expected["tables"])
    for table, rows in expected["tables"].items():
        added = {column: value for column, value in copied_table(table).defaults if column not in rows[0]}
        if table == "tabs":  # the flags were bits of discardable: compared below, as a user sees them
            rows = [{**row, "discardable": row["discardable"] & 1} for row in rows]
            added = {}
        assert [{column: row[column] for column in rows[0]} for row in found[table]] == rows, table
        assert all(row[column] == value for row in found[table] for column, value in added.items()), table

    async def visible(profile: hatbox.Profile) -> Any:
        return msgspec.to_builtins([await profile.tabs.windows(), await profile.tabs.query()])

    windows, tabs = with_profile(address, visible)
    new = {"discarded": False, "group_id": -1}  # in version 1
    assert windows == expected["windows"]
    assert tabs == [new | {"highlighted": tab["active"]} | tab for tab in expected["tabs"]]


@ON_EACH
def test_an_encrypted_archive_of_an_earlier_version_contains_the_same(name: str, tmp_path: Path) -> None:
    plain, encrypted = (str(tmp_path / kind) for kind in ("plain.db", "encrypted.db"))
    restore(plain, golden(name))
    restore(encrypted, golden(name).with_suffix(".age"), passphrase=PASSPHRASE)
    assert rows_of(encrypted) == rows_of(plain)


@ON_EACH
@pytest.mark.parametrize("part", ["hatbox", "identity.hatbox"])
def test_an_archive_of_an_earlier_version_is_restored_into_a_profile_with_contents(
    name: str, part: str, address: str
) -> None:
    write(address, lambda each: fill_identity(each, 3, "z"))
    before, expected = rows_by_name(address), contents_of(name)["tables"]
    for changed in (True, False):
        assert restore(address, FOLDER / f"{name}.{part}").changed is changed
    found = rows_by_name(address)
    ids = {row["uuid"]: row["id"] for row in found["identities"]}
    restored = [row for row in expected["identities"] if part == "hatbox" or row["name"] == IDENTITY]
    assert restored
    for identity in restored:
        here = ids[identity["uuid"]]
        for table, without in NEW_IDS.items():
            rows = of_store(expected.get(table, []), identity["id"], *without)
            assert of_store(found[table], here, *without) == rows, table
        tabs = [tab for tab in contents_of(name)["tabs"] if tab["cookie_store_id"].endswith(f"-{identity['id']}")]
        assert sorted((tab["url"], int(tab.get("discarded", 0)), int(tab["discardable"])) for tab in tabs) == sorted(
            (row["url"], row["discarded"], row["discardable"]) for row in found["tabs"] if row["store"] == here
        )
    for table in NEW_IDS:
        assert of_store(found[table], 3) == of_store(before[table], 3)


@ON_EACH
def test_an_identity_in_the_trash_of_an_earlier_archive_comes_back(name: str, tmp_path: Path) -> None:
    address, expected = str(tmp_path / "profile.db"), contents_of(name)["removed"]
    restore(address, golden(name))
    with_profile(address, lambda profile: profile.trash.restore([f"firefox-container-{REMOVED}"]))
    found = rows_by_name(address)
    for table, rows in expected.items():
        assert [row for row in found[table] if row["store"] == REMOVED] == rows, table
    tabs = [row for row in found["tabs"] if row["store"] == REMOVED]
    assert sum(tab["discarded"] for tab in tabs) == (0 if name == "v1" else 2)
    assert [tab["discardable"] for tab in tabs] == [1, 1, 1]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "v1"])
def test_a_closed_tab_of_an_earlier_archive_is_listed(name: str, tmp_path: Path) -> None:
    address = str(tmp_path / "profile.db")
    restore(address, golden(name))

    sessions = write(address, get_sessions)
    assert [tab.columns["target"] for session in sessions for _, tab in session.tabs] == ["https://third.example/"]


def test_an_archive_of_version_1_leaves_the_history_as_it_is(address: str) -> None:
    restore(address, golden("v1"))
    write(address, lambda each: fill_identity(each, 2, "z"))
    before = rows_by_name(address)
    assert before["history"]
    report = restore(address, golden("v1"))
    assert report.changed
    assert not any(identity.history_changed for identity in report.identities)
    assert rows_by_name(address)["history"] == before["history"]


# ----------------------------------------------------------------------------------------------------- the next format


VALUES: Final = {"integer": 7, "text": "more", "real": 0.5, "blob": b"more"}


def with_column(table: Table, kind: str, place: int) -> Table:
    """A table as a later version may have it."""
    return table._replace(
        columns=(*table.columns[:place], "more", *table.columns[place:]),
        types=(*table.types[:place], kind, *table.types[place:]),
        defaults=(*table.defaults, ("more", VALUES[kind])),
    )


def declare(monkeypatch: pytest.MonkeyPatch, table: Table) -> None:
    monkeypatch.setitem(profile_copy._BY_NAME, table.name, table)


@pytest.mark.parametrize("name", [table.name for table in COPIED_TABLES])
@pytest.mark.parametrize("at_the_end", [False, True])
def test_the_next_column_of_any_table_leaves_todays_archives_readable(
    name: str, at_the_end: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, before = read(golden(CURRENT).read_bytes())
    table = copied_table(name)
    for kind, value in [("integer", 7)] if name == "head" else VALUES.items():  # head has only counters
        later = with_column(table, kind, len(table.columns) if at_the_end else 0)
        with monkeypatch.context() as patch:
            declare(patch, later)
            _, rows = read(golden(CURRENT).read_bytes())
        assert list(selected(later, rows[name], "more")) == [(value,)] * len(before[name])
        assert list(selected(later, rows[name], *table.columns)) == before[name]


@pytest.mark.parametrize("name", ["cookies", "tabs", "packages", "closed_tabs"])
def test_the_next_column_is_written_into_the_profile(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(monkeypatch, with_column(copied_table(name), "text", 1))
    create, *indexes = STATEMENTS[name]
    later = create.replace("checksum INTEGER", "more TEXT NOT NULL,\n            checksum INTEGER")
    monkeypatch.setitem(STATEMENTS, name, (later, *indexes))
    path = tmp_path / "profile.db"
    restore(str(path), golden(CURRENT))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute(f"SELECT DISTINCT more FROM {name}").fetchall() == [("more",)]


@pytest.mark.parametrize(
    ("change", "unknown"),
    [
        (lambda fields: fields["tables"]["cookies"].append("more"), "the column more of the table cookies"),
        (lambda fields: fields["tables"].update(later=["id"]), "the table later"),
    ],
)
def test_an_archive_with_an_unknown_column_or_table_is_refused_as_newer_and_nothing_changes(
    change: Callable[[dict[str, Any]], object], unknown: str, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "newer"
    file.write_bytes(rewritten(golden(CURRENT).read_bytes(), change))
    write(address, lambda each: fill_identity(each, 2))
    before = rows_of(address)
    with pytest.raises(ArchiveTooNew, match=rf"newer version.*archive version {ARCHIVE_VERSION}.*{unknown}") as refusal:
        restore(address, file)
    assert refusal.value.version == ARCHIVE_VERSION
    assert rows_of(address) == before


def test_an_archive_of_a_later_version_is_refused_with_its_number(address: str, tmp_path: Path) -> None:
    file = tmp_path / "newer"
    data = golden(CURRENT).read_bytes()
    file.write_bytes(
        data.replace(b"hatbox archive %d\n" % ARCHIVE_VERSION, b"hatbox archive %d\n" % (ARCHIVE_VERSION + 1))
    )
    write(address, lambda each: fill_identity(each, 2))
    before = rows_of(address)
    with pytest.raises(ArchiveTooNew, match=f"newer version.*archive version {ARCHIVE_VERSION + 1}"):
        restore(address, file)
    assert rows_of(address) == before


LATER: Final = with_column(with_column(copied_table("rules"), "text", 2), "integer", 0)._replace(
    columns=("number", "id", "rule", "more"), defaults=(("number", 7), ("more", "more"))
)


@given(st.permutations(LATER.columns), st.sets(st.sampled_from(["number", "more"])))
def test_rows_are_read_by_the_names_of_their_columns(order: Sequence[str], missing: set[str]) -> None:
    columns = [column for column in order if column not in missing]
    values = {"number": 1, "id": 2, "rule": b"rule", "more": "text"}
    data = msgspec.msgpack.encode([[values[column] for column in columns]])
    expected = values | {column: value for column, value in LATER.defaults if column in missing}
    rows = read_columns({"rules": LATER}, {"rules": columns}, lambda unknown: ArchiveTooNew("", 1, 1, unknown), "")
    assert rows["rules"].rows(data) == [tuple(expected[column] for column in LATER.columns)]


def test_a_column_without_a_default_is_named_and_not_called_damage() -> None:
    data = rewritten(golden(CURRENT).read_bytes(), lambda fields: fields["tables"]["cookies"].remove("value"))
    with pytest.raises(ArchiveError, match="table cookies has no column value") as refusal:
        read(data)
    assert not isinstance(refusal.value, ArchiveDamaged)
    assert "damage" not in str(refusal.value)


# ------------------------------------------------------------------------------------------- identities as bytes


def entry_of(name: str) -> bytes:
    """The bytes of the identity in the trash of a golden archive."""
    _, rows = read(golden(name).read_bytes())
    [(data,)] = selected(copied_table("trash"), rows["trash"], "data")
    return bytes(data)


@ON_EACH
@pytest.mark.parametrize(("table", "field"), [("cookies", "cookies"), ("history", "pages"), ("visits", "visits")])
def test_the_next_column_leaves_the_identities_in_the_trash_readable(
    name: str, table: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = entry_of(name)
    before = decode_identity(data)
    domains = summarize(data).domains
    rows = [tuple(row) for row in getattr(before, field)]
    declare(monkeypatch, with_column(copied_table(table), "text", 0))
    assert decoded_rows(data, field) == [("more", *row) for row in rows]
    monkeypatch.undo()
    assert {row[0] for row in before.cookies} == domains == {"site.example"}


def decoded_rows(data: bytes, field: str) -> list[Any]:
    """The rows of a field with the columns of this version. Its structs cannot have those of the next one."""
    content = identity_archive._with_current_columns(data[17:-16], "archive")
    found = msgspec.msgpack.decode(content).get(field, [])
    return [tuple(row) for row in found]


def changed_identity(change: Callable[[dict[str, Any]], object]) -> bytes:
    data = entry_of(CURRENT)
    fields = msgspec.msgpack.decode(data[17:-16])
    change(fields)
    content = data[:17] + msgspec.msgpack.encode(fields)
    return content + hashlib.sha256(content).digest()[:16]


@pytest.mark.parametrize(
    ("change", "unknown"),
    [
        (lambda fields: fields["columns"]["cookies"].append("more"), "column more of the table cookies"),
        (lambda fields: fields["columns"].update(later=["id"]), "table later"),
        (lambda fields: fields["tabs"][0]["columns"].update(more=1), "column more of the table tabs"),
        (lambda fields: fields["windows"][0][1].update(more=1), "column more of the table windows"),
    ],
)
def test_an_identity_with_an_unknown_column_is_refused_as_newer(
    change: Callable[[dict[str, Any]], object], unknown: str
) -> None:
    with pytest.raises(ArchiveTooNew, match=f"newer version.*archive version 1.*{unknown}"):
        decode_identity(changed_identity(change))


def test_an_identity_that_a_later_version_has_written_states_its_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    archived = decode_identity(entry_of(CURRENT))
    declare(monkeypatch, with_column(copied_table("history"), "text", 0))
    data = encode_identity(archived)
    monkeypatch.undo()
    with pytest.raises(ArchiveTooNew, match="the column more of the table pages"):
        decode_identity(data)


def test_removing_an_identity_keeps_a_newer_entry_of_it_in_the_trash(tmp_path: Path) -> None:
    address = str(tmp_path / "profile.db")
    restore(address, golden(CURRENT))
    newer = changed_identity(lambda fields: fields["columns"]["cookies"].append("more"))

    def replace(transaction: Transaction) -> ArchivedIdentity:
        found = transaction.trash.get(REMOVED)
        assert found is not None
        archived = decode_identity(found[1])
        transaction.trash.put(found[0]._replace(size=len(newer)), newer)
        restore_identity(transaction, archived, keep_id=True)
        return archived

    archived = write(address, replace)
    with_profile(address, lambda profile: profile.identities.remove(f"firefox-container-{REMOVED}"))
    entries = write(address, lambda each: [each.trash.get(row.id) for row in each.trash.find()])
    found = [entry[1] for entry in entries if entry is not None]
    assert newer in found
    assert [decode_identity(data).uuid for data in found if data != newer] == [archived.uuid]
