"""Writes a profile, or some of its identities, into an archive. Constant memory: one batch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from hatbox.archive.archive_file import new_archive_file
from hatbox.archive.archive_rows import ArchiveManifest, ArchiveWriter, Batch
from hatbox.archive.identity_archive import rule_identities
from hatbox.archive.selection import select_identities
from hatbox.errors import IdentityNotFound, ProfileError
from hatbox.identities.ids import cookie_store_id_of
from hatbox.store.profile_copy import COPIED_TABLES, CopyProgress, ProfileDump
from hatbox.tabs.program_records import record_in
from hatbox.tabs.session_values import tab_of_kind

__all__ = ["BackupReport", "write_backup"]

_STORE_COLUMNS: Final = {
    **dict.fromkeys(("cookies", "site_data", "tabs", "history", "visits"), "store"),
    "settings": "identity",
}
"""The columns that name the identity of a row."""


class BackupReport(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A backup that was written."""

    path: str
    size: int
    """In bytes."""
    is_encrypted: bool
    """Whether a passphrase is needed to restore it."""
    is_whole: bool
    """Whether it contains the whole profile, and not only some identities."""
    rows: dict[str, int]
    """The number of rows, by table."""


def write_backup(
    dump: ProfileDump,
    path: Path,
    *,
    identities: Sequence[str] | None,
    passphrase: str | None,
    plain: bool,
    overwrite: bool,
    created: float,
    progress: CopyProgress,
) -> BackupReport:
    """Write an archive with these identities, by name, cookieStoreId or UUID, or with everything."""
    if dump.is_encrypted and passphrase is None and not plain:
        problem = "this profile is encrypted, and the backup would not be"
        remedy = "Nothing was written. Pass --encrypt (a passphrase), or --plain to store everything as plain text."
        raise ProfileError(dump.label, problem, remedy)
    manifest = ArchiveManifest(
        created=created,
        profile=dump.uuid,
        label=dump.label,
        is_encrypted=dump.is_encrypted,
        is_whole=identities is None,
    )
    batches = _counted(dump, progress)
    if identities is not None:
        manifest, batches = _selected(manifest, batches, identities)
    with new_archive_file(path, passphrase, overwrite=overwrite) as file:
        writer = ArchiveWriter(file, manifest)
        for table, rows in batches:
            writer.write(table, rows)
        writer.finish()
    return BackupReport(
        path=str(path),
        size=path.stat().st_size,
        is_encrypted=passphrase is not None,
        is_whole=manifest.is_whole,
        rows=writer.rows,
    )


def _counted(dump: ProfileDump, progress: CopyProgress) -> Iterator[Batch]:
    total, done = sum(dump.rows.values()), 0
    for table, rows in dump.batches:
        yield table, rows
        done += len(rows)
        progress(done, total)


# ----------------------------------------------------------------------------------------------------- some identities


def _selected(
    manifest: ArchiveManifest, batches: Iterator[Batch], wanted: Sequence[str]
) -> tuple[ArchiveManifest, Iterator[Batch]]:
    """The rows of these identities. Reads the identities first: the manifest has their places in the order."""
    identities: list[tuple[Any, ...]] = []
    following: Batch | None = None
    table = next(each for each in COPIED_TABLES if each.name == "identities")
    for each, rows in batches:
        if each is table:
            identities += rows
        elif each.name != "head":
            following = each, rows
            break
    ids = select_identities(identities, wanted, IdentityNotFound)
    order = sorted(identities, key=lambda row: (row[5], row[0]))
    places = {row[0]: place for place, row in enumerate(order) if row[0] in ids}
    chosen = table, [row for row in identities if row[0] in ids]
    rest = _without_others(([] if following is None else [following]), batches, ids)
    return msgspec.structs.replace(manifest, places=places), _chained([chosen], rest)


def _chained(*parts: Iterable[Batch]) -> Iterator[Batch]:
    for part in parts:
        yield from part


def _without_others(first: Iterable[Batch], batches: Iterator[Batch], ids: frozenset[int]) -> Iterator[Batch]:
    named = frozenset(cookie_store_id_of(number) for number in ids if number)
    tabs: set[int] = set()
    for table, rows in _chained(first, batches):
        if column := _STORE_COLUMNS.get(table.name):
            place = table.columns.index(column)
            found = [row for row in rows if row[place] in ids and (table.name != "settings" or row[place])]
            if table.name == "tabs":
                tabs.update(row[0] for row in found)
            yield table, found
        elif table.name == "rules":
            yield table, [row for row in rows if not named.isdisjoint(rule_identities(row[1]))]
        elif test := _TESTS.get(table.name):
            yield table, [row for row in rows if test(row, tabs)]
        elif table.name == "windows":
            yield table, rows


_TESTS: Final[dict[str, Callable[[tuple[Any, ...], set[int]], bool]]] = {
    "tab_pages": lambda row, tabs: row[0] in tabs,
    "extension_data": lambda row, tabs: _tab_of_value(row) in tabs or _is_of_script(row, tabs),
}


def _is_of_script(row: tuple[Any, ...], tabs: set[int]) -> bool:
    """Whether a row of extension data says that some of these tabs belong to a script."""
    extension, _, value, kind, _ = row
    record = record_in(extension, kind, value)
    return record is not None and not tabs.isdisjoint(record.tabs)


def _tab_of_value(row: tuple[Any, ...]) -> int | None:
    """The tab that a row of extension data is about."""
    extension, key, _, kind, _ = row
    if extension == "" and kind == "tabs.hidden_by":
        return int(key)
    return tab_of_kind(kind)
