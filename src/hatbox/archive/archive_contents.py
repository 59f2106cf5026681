"""Reads a whole archive without restoring it: verifies every byte, and finds what a restore has to know first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from hatbox.archive.archive_file import ArchiveFile
from hatbox.archive.archive_rows import ArchiveManifest
from hatbox.archive.selection import IdentityEntry, identity_entries
from hatbox.store.base import Transaction
from hatbox.store.profile_copy import selected
from hatbox.tabs.program_records import record_in

__all__ = ["ArchiveContents", "digest_of_extension", "is_restored_kind", "read_contents"]

_SESSION: Final = "session."
_TRANSIENT: Final = frozenset(
    {"running", "runProblem", "action", "pageAction", "sidebarAction", "notification", "notification.count", "omnibox"}
)
"""Kinds of extension data that belong to running programs."""


class ArchiveContents(NamedTuple):
    """What a verified archive contains."""

    manifest: ArchiveManifest
    rows: dict[str, int]
    """The number of rows, by table."""
    identities: list[IdentityEntry]
    """The identities, by id."""
    extensions: dict[str, bytes]
    """A digest of the data of each extension."""
    temporary: frozenset[str] = frozenset()
    """The UUIDs of temporary identities, which a restore leaves out: their programs have ended."""
    script_tabs: frozenset[int] = frozenset()
    """The tabs that belong to scripts. They are not the user's."""

    @property
    def order(self) -> dict[int, int]:
        """The place of each identity in the user's order."""
        if not self.manifest.is_whole:
            return self.manifest.places
        ordered = sorted(self.identities, key=lambda entry: (entry.position, entry.id))
        return {entry.id: place for place, entry in enumerate(ordered)}


def read_contents(archive: ArchiveFile, progress: Callable[[int, int], None]) -> ArchiveContents:
    """Verify an archive. Raises ArchiveDamaged. `progress` is called with the bytes that were read, and of all."""
    rows = archive.rows()
    identities: list[IdentityEntry] = []
    extensions: dict[str, Any] = {}
    temporary: set[str] = set()
    script_tabs: set[int] = set()
    for table, batch in rows.batches():
        if table.name == "identities":
            identities += identity_entries(table, batch)
        elif table.name == "extension_data":
            for extension, key, value, kind in selected(table, batch, "extension", "key", "value", "kind"):
                if (record := record_in(extension, kind, value)) is not None:
                    script_tabs.update(record.tabs)
                    temporary.update([record.identity] if record.identity else [])
                if extension and is_restored_kind(kind):
                    _add(extensions.setdefault(extension, hashlib.sha256()), kind, key, value)
        progress(archive.position, archive.size)
    digests = {extension: digest.digest() for extension, digest in extensions.items()}
    return ArchiveContents(rows.manifest, rows.rows, identities, digests, frozenset(temporary), frozenset(script_tabs))


def is_restored_kind(kind: str) -> bool:
    """Whether data of an extension is restored as it is: not that of tabs and windows, nor of a running program."""
    return not kind.startswith(_SESSION) and kind not in _TRANSIENT


def digest_of_extension(transaction: Transaction, extension: str) -> bytes:
    """A digest of the data of an extension in a profile."""
    digest = hashlib.sha256()
    for kind, key, value in transaction.extensions.load(extension):
        if is_restored_kind(kind):
            _add(digest, kind, key, value)
    return digest.digest()


def _add(digest: Any, kind: str, key: str, value: bytes) -> None:
    for part in (kind.encode(), key.encode(), value):
        digest.update(len(part).to_bytes(8, "big") + part)
