"""Reads a whole archive without restoring it: verifies every byte, and finds what a restore has to know first."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.archive.archive_file import ArchiveFile
from hatbox.archive.archive_rows import ArchiveManifest
from hatbox.archive.selection import IdentityEntry, identity_entries
from hatbox.store.base import Transaction
from hatbox.store.profile_copy import selected
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.program_records import record_in

__all__ = ["ArchiveContents", "ArchivedExtension", "digest_of_extension", "is_restored_kind", "read_contents"]

_SETTINGS: Final = "settings"
_INSTALLED: Final = "installed"
_ABOUT: Final = (_INSTALLED, "granted")
_SESSION: Final = "session."
_TRANSIENT: Final = frozenset(
    {"running", "runProblem", "action", "pageAction", "sidebarAction", "notification", "notification.count", "omnibox"}
)
"""Kinds of extension data that belong to running programs."""


class ArchivedExtension(msgspec.Struct, rename="camel", kw_only=True):
    """An extension of an archive. An archive can come from another person."""

    id: str
    name: str = ""
    permissions: list[str] = []
    """What it may do without a question: permissions and match patterns, of its manifest and granted later."""


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
    proxies: Mapping[int, str] = {}
    """The proxies of identities, without user name and password."""
    installed: Mapping[str, ArchivedExtension] = {}
    """The installed extensions, by data area."""

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
    proxies: dict[int, str] = {}
    installed: dict[str, ArchivedExtension] = {}
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
                if kind in _ABOUT and key == "":
                    _describe(installed.setdefault(extension, ArchivedExtension(id=extension)), kind, value)
        elif table.name == "settings":
            for identity, name, value in selected(table, batch, "identity", "name", "value"):
                settings = _decoded(value) if name == _SETTINGS and identity else None
                if isinstance(settings, dict) and settings.get("proxy"):
                    proxies[identity] = without_credentials(str(settings["proxy"]))
        progress(archive.position, archive.size)
    digests = {extension: digest.digest() for extension, digest in extensions.items()}
    with_name = {area: each for area, each in installed.items() if each.name}
    return ArchiveContents(
        rows.manifest, rows.rows, identities, digests, frozenset(temporary), frozenset(script_tabs), proxies, with_name
    )


def _describe(extension: ArchivedExtension, kind: str, value: bytes) -> None:
    """Add what a record says: that of the installation, or that of granted permissions."""
    record = _decoded(value)
    if not isinstance(record, dict):
        return
    granted = record
    if kind == _INSTALLED:
        extension.id, extension.name = str(record.get("id")), str(record.get("name"))
        granted = record.get("about", {}).get("required", {})
    found = {*extension.permissions, *granted.get("permissions", ()), *granted.get("origins", ())}
    extension.permissions = sorted(map(str, found))


def _decoded(value: bytes) -> Any:
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError):  # it is restored as it is
        return None


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
