"""Imports a file of cookies into one identity, and exports the cookies of one identity as a file for a download."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Container
from typing import Final

import msgspec

from hatbox.cookies.cookie_clock import cookie_time
from hatbox.errors import ApiError
from hatbox.formats import FORMATS
from hatbox.formats.adjacent_files import NEVER_CARRIED
from hatbox.formats.base import Bundle, ImportReport, Tally
from hatbox.formats.bundle_transfer import export_bundle, import_bundle
from hatbox.formats.cookie_file import read_cookie_file
from hatbox.identity.ids import cookie_store_id_of
from hatbox.javascript.text import well_formed
from hatbox.manager_api.sites.cookie_removal import changes_between
from hatbox.manager_api.sites.cookie_undo import CookieUndo
from hatbox.store.base import Transaction

__all__ = [
    "MAX_FILE_BYTES",
    "CookieFileReport",
    "ExportedFile",
    "TransferNote",
    "export_identity",
    "exported_file",
    "file_report",
    "import_into",
    "read_text",
]

MAX_FILE_BYTES: Final = 16 * 2**20
_SUFFIXES: Final = {"cookies.txt": "cookies.txt", "json-lines": "cookies.jsonl", "storage-state": "storage-state.json"}
_MAX_STEM: Final = 60
_NOT_IN_NAMES: Final = re.compile(r"[^\w-]+")


class TransferNote(msgspec.Struct, frozen=True):
    """Data that was left out, and how many; 0 if the number is not known."""

    what: str
    count: int


class ExportedFile(msgspec.Struct, frozen=True):
    """A file for a download."""

    name: str
    text: str
    cookies: int
    left_out: list[TransferNote]


class CookieFileReport(msgspec.Struct, frozen=True):
    """The result of an import."""

    added: int
    changed: int
    unchanged: int
    origins: int
    left_out: list[TransferNote]
    undo: str | None


def read_text(name: str, text: str) -> Bundle:
    """Parse a file that a page has read. Raises ApiError if it is too large, InvalidInputFile."""
    data = well_formed(text).encode()
    if len(data) > MAX_FILE_BYTES:
        raise ApiError(
            f"{name} has {len(data) / 2**20:.0f} MB, and {MAX_FILE_BYTES // 2**20} MB are possible. Nothing was "
            "imported. Import it in a terminal with: hatbox import"
        )
    bundle = read_cookie_file(data, name)
    # The identity of the caller counts, not the one that the file names.
    entries = [msgspec.structs.replace(each, label=None, uuid="", source=None) for each in bundle.entries]
    return msgspec.structs.replace(bundle, entries=entries)


def import_into(
    transaction: Transaction, user_context_id: int, bundle: Bundle, now: float, running: Container[str] = ()
) -> tuple[ImportReport, CookieUndo]:
    """Import a bundle into one identity. Raises InvalidIdentity through the import if it does not exist."""
    before = transaction.cookies.load(user_context_id)
    into = cookie_store_id_of(user_context_id)
    report = import_bundle(transaction, bundle, cookie_time(transaction, now), into, running=running)
    after = transaction.cookies.load(user_context_id)
    return report, CookieUndo(user_context_id, changes_between(before, after))


def file_report(report: ImportReport, undo: str | None) -> CookieFileReport:
    """The report of an import, with the token that undoes it."""
    return CookieFileReport(
        added=report.cookies_new,
        changed=report.cookies_changed,
        unchanged=report.cookies_unchanged,
        origins=report.origins_new + report.origins_changed,
        left_out=[*_notes(report.skipped), *_notes(report.dropped)],
        undo=undo,
    )


def export_identity(transaction: Transaction, user_context_id: int, now: float) -> Bundle:
    """The cookies and site data of one identity."""
    bundle = export_bundle(transaction, cookie_time(transaction, now), [cookie_store_id_of(user_context_id)])
    # No file of cookies has tabs and rules, so they are not among what was left out.
    left_out = Counter({what: count for what, count in bundle.not_carried.items() if what not in NEVER_CARRIED})
    return msgspec.structs.replace(bundle, not_carried=left_out)


def exported_file(bundle: Bundle, format_name: str) -> ExportedFile:
    """A file with these cookies."""
    if format_name not in _SUFFIXES:
        raise ApiError(f"Unknown format: {format_name[:80]!r}. Allowed values: {', '.join(_SUFFIXES)}")
    written = FORMATS[format_name].write(bundle)
    label = bundle.entries[0].label
    name = f"{_stem(label.name if label else 'no identity')}-{_SUFFIXES[format_name]}"
    return ExportedFile(name, written.data.decode(), written.cookies, _notes(written.dropped))


def _stem(name: str) -> str:
    """The name of an identity as part of the name of a file: letters, digits, - and _."""
    return _NOT_IN_NAMES.sub("-", unicodedata.normalize("NFC", name).casefold())[:_MAX_STEM].strip("-") or "identity"


def _notes(tally: Tally) -> list[TransferNote]:
    return [TransferNote(what, count) for what, count in tally.items()]
