from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest

from hatbox.archive.archive_rows import ArchiveManifest, ArchiveRows, ArchiveWriter
from hatbox.archive.block_file import BlockWriter
from hatbox.errors import ArchiveDamaged
from hatbox.store.profile_copy import COPIED_TABLES
from tests.archive.contents import cookie

TABLES = {table.name: table for table in COPIED_TABLES}
HEAD = (1, 7, 0, 0, 0, 0, 0, 0, 0)
WORK = (2, "Work", "briefcase", "orange", 0, 5, "uuid")


def manifest(**changed: Any) -> ArchiveManifest:
    given = {"created": 1.0, "profile": "p", "label": "l", "is_encrypted": False, "is_whole": True}
    columns = {table.name: list(table.columns) for table in COPIED_TABLES}
    return ArchiveManifest(**{**given, "tables": columns, **changed})


def written(*batches: tuple[str, list[tuple[Any, ...]]], **changed: Any) -> bytes:
    file = io.BytesIO()
    writer = ArchiveWriter(file, manifest(**changed))
    for name, rows in batches:
        writer.write(TABLES[name], rows)
    writer.finish()
    return file.getvalue()


def read(data: bytes) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    rows = ArchiveRows(io.BytesIO(data), "file")
    for table, batch in rows.batches():
        found.setdefault(table.name, []).extend(batch)
    return found


def test_rows_are_read_as_they_were_written() -> None:
    cookies = [(*cookie("a"), 0), (*cookie("b"), 2)]
    data = written(("head", [HEAD]), ("identities", [WORK]), ("cookies", cookies[:1]), ("cookies", cookies[1:]))
    assert read(data) == {"head": [HEAD], "identities": [WORK], "cookies": cookies}


def replaced(row: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*row[:place], value, *row[place + 1 :])


TAB = tuple({"integer": 1, "real": 1.0, "text": "", "blob": b""}[kind] for kind in TABLES["tabs"].types)
COOKIE = (*cookie("a"), 2)


@pytest.mark.parametrize(
    "batch",
    [
        ("identities", [replaced(WORK, 0, -3)]),
        ("identities", [replaced(WORK, 1, " ")]),
        ("identities", [replaced(WORK, 6, "")]),
        ("head", [replaced(HEAD, 0, 2)]),
        ("identities", [WORK, replaced(WORK, 0, 3)]),
        ("tabs", [TAB]),
        ("identities", [replaced(WORK, 0, "2")]),
        ("identities", [replaced(WORK, 1, b"Work")]),
        ("identities", [replaced(WORK, 1, None)]),
        ("identities", [replaced(WORK, 0, 2**64 - 1)]),
        ("identities", [WORK[:-1]]),
        ("identities", [(*WORK, 1)]),
        ("identities", [WORK, WORK]),
        ("identities", [replaced(WORK, 0, 3), WORK]),
        ("identities", [replaced(WORK, 0, 8)]),
        ("cookies", [replaced(COOKIE, 8, "sideways")]),
        ("cookies", [replaced(COOKIE, 9, float("nan"))]),
        ("cookies", [replaced(COOKIE, 11, float("inf"))]),
        ("cookies", [replaced(COOKIE, 11, None)]),
        ("site_data", [("https://site.example", "text", 2)]),
    ],
)
def test_values_that_no_profile_has_are_refused(batch: tuple[str, list[tuple[Any, ...]]]) -> None:
    with pytest.raises(ArchiveDamaged):
        read(written(("head", [HEAD]), batch))


def test_tables_in_another_order_and_a_missing_head_are_refused() -> None:
    with pytest.raises(ArchiveDamaged, match="wrong place"):
        read(written(("head", [HEAD]), ("cookies", [COOKIE]), ("identities", [WORK])))
    with pytest.raises(ArchiveDamaged, match="counters are missing"):
        read(written(("identities", [WORK])))
    assert read(written(("identities", [WORK]), is_whole=False))


def test_unknown_blocks_tables_and_manifests_are_refused() -> None:
    def crafted(*blocks: tuple[int, bytes]) -> bytes:
        file = io.BytesIO()
        writer = BlockWriter(file)
        for block in blocks:
            writer.write(*block)
        writer.finish()
        return file.getvalue()

    good = msgspec.json.encode(manifest())
    twice = msgspec.json.encode(manifest(tables={"rules": ["id", "rule", "id"]}))
    rows = msgspec.msgpack.encode(("unknown", []))
    for blocks in ([], [(1, b"{")], [(1, b"{}")], [(1, good), (3, b"")], [(1, good), (2, rows)]):
        with pytest.raises(ArchiveDamaged):
            read(crafted(*blocks))
    with pytest.raises(ArchiveDamaged, match="a column twice"):
        read(crafted((1, twice)))
    for garbage in (b"", b"\xff", msgspec.msgpack.encode(("cookies", [1])), msgspec.msgpack.encode(["cookies"])):
        with pytest.raises(ArchiveDamaged):
            read(crafted((1, good), (2, garbage)))


@pytest.mark.parametrize("head", [replaced(HEAD, 4, -1), replaced(HEAD, 4, 2**63 - 1), replaced(HEAD, 1, 2**32)])
def test_counters_that_leave_no_ids_are_refused(head: tuple[Any, ...]) -> None:
    with pytest.raises(ArchiveDamaged, match="the counters are invalid"):
        read(written(("head", [head])))


def test_an_id_above_all_that_exist_is_refused() -> None:
    far = replaced(WORK, 0, 2**32 - 1)
    with pytest.raises(ArchiveDamaged, match="no valid id"):
        read(written(("head", [replaced(HEAD, 1, 2**32)]), ("identities", [far])))


def test_a_block_with_very_many_rows_is_refused_before_they_are_decoded() -> None:
    rows = [(f"{number:08}", b"") for number in range(2500)]
    assert len(read(written(("head", [HEAD]), ("packages", rows)))["packages"]) == 2500
    for count in (1001, 70_000):
        file = io.BytesIO()
        blocks = BlockWriter(file)
        blocks.write(1, msgspec.json.encode(manifest()))
        blocks.write(2, msgspec.msgpack.encode(("packages", [None] * count)))
        blocks.finish()
        with pytest.raises(ArchiveDamaged, match="more than 1000 rows"):
            read(file.getvalue())
