"""Writes a profile, or some of its identities, into an archive. Constant memory: one batch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from hatbox.archive.archive_file import new_archive_file
from hatbox.archive.archive_rows import ArchiveManifest, ArchiveWriter, Batch
from hatbox.archive.identity_archive import rule_identities
from hatbox.archive.selection import identity_entries, select_identities
from hatbox.errors import IdentityNotFound, ProfileError
from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.profile_copy import COPIED_TABLES, CopyProgress, ProfileDump, copied_table, selected
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
        tables={table.name: list(table.columns) for table in COPIED_TABLES},
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
    table = copied_table("identities")
    for each, rows in batches:
        if each.name == table.name:
            identities += rows
        elif each.name != "head":
            following = each, rows
            break
    entries = identity_entries(table, identities)
    ids = select_identities(entries, wanted, IdentityNotFound)
    order = sorted(entries, key=lambda entry: (entry.position, entry.id))
    places = {entry.id: place for place, entry in enumerate(order) if entry.id in ids}
    chosen = table, [row for row, entry in zip(identities, entries, strict=True) if entry.id in ids]
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
            place = table.place(column)
            found = [row for row in rows if row[place] in ids and (table.name != "settings" or row[place])]
            if table.name == "tabs":
                tabs.update(number for (number,) in selected(table, found, "id"))
            yield table, found
        elif test := _TESTS.get(table.name):
            columns, is_wanted = test
            values = selected(table, rows, *columns)
            yield table, [row for row, some in zip(rows, values, strict=True) if is_wanted(some, named, tabs)]
        elif table.name == "windows":
            yield table, rows


def _is_of_tab(values: tuple[Any, ...], _: frozenset[str], tabs: set[int]) -> bool:
    return values[0] in tabs


def _names_identity(values: tuple[Any, ...], named: frozenset[str], _: set[int]) -> bool:
    return not named.isdisjoint(rule_identities(values[0]))


def _is_about_tab(values: tuple[Any, ...], _: frozenset[str], tabs: set[int]) -> bool:
    """Whether a row of extension data is about one of these tabs, or says that some of them belong to a script."""
    extension, kind, key, value = values
    if (int(key) if extension == "" and kind == "tabs.hidden_by" else tab_of_kind(kind)) in tabs:
        return True
    record = record_in(extension, kind, value)
    return record is not None and not tabs.isdisjoint(record.tabs)


_TESTS: Final[dict[str, tuple[tuple[str, ...], Callable[[tuple[Any, ...], frozenset[str], set[int]], bool]]]] = {
    "rules": (("rule",), _names_identity),
    "tab_pages": (("tab",), _is_of_tab),
    "extension_data": (("extension", "kind", "key", "value"), _is_about_tab),
}
"""Whether a row belongs to the wanted identities or their tabs: by which columns, and a test."""
