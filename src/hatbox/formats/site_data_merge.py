"""Merges imported site data into that of an identity: transaction functions.

Items of localStorage are merged by name, and IndexedDB databases as a whole by theirs. What the import does not name
stays, so a second import changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from hatbox.formats.base import ImportReport, SiteData
from hatbox.store.base import Transaction
from hatbox.tabs.site_data import DATABASES, LOCAL_STORAGE, decode_site_data, encode_site_data, record_saved

__all__ = ["RUNNING", "merge_site_data"]

RUNNING: Final = (
    "origins with site data, because a browser is running with the identity. Close it, and import the file again"
)
TOO_MUCH: Final = "origins with more site data than a browser or Hatbox stores (5 million characters, 32 MB in total)"

_MAX_LOCAL: Final = 5 * 2**20  # UTF-16 code units; what Chromium accepts
_MAX_BYTES: Final = 32 * 2**20  # what engines store


def merge_site_data(transaction: Transaction, number: int, given: Iterable[SiteData], report: ImportReport) -> None:
    """Merge site data into an identity, and count the origins."""
    before = report.origins_new + report.origins_changed
    for each in given:
        old = transaction.site_data.get(number, each.origin)  # not all: it may not fit into the memory
        merged = _merged(old, each.data)
        if old is not None and (merged is None or decode_site_data(old) == merged):
            report.origins_unchanged += 1
            continue
        data = b"" if merged is None else encode_site_data(merged)
        if merged is None or len(data) > _MAX_BYTES or _local_size(merged) > _MAX_LOCAL:
            report.skipped[TOO_MUCH] += 1
            continue
        transaction.site_data.put(number, each.origin, data)
        report.origins_new += old is None
        report.origins_changed += old is not None
    if report.origins_new + report.origins_changed > before:
        record_saved(transaction, number)


def _merged(old: bytes | None, new: bytes) -> dict[str, Any] | None:
    """Both together; None if they are nested too deeply."""
    try:
        before = decode_site_data(old) if old else {}
        after = decode_site_data(new)
    except RecursionError:
        return None
    local = dict(before.get(LOCAL_STORAGE, ())) | dict(after.get(LOCAL_STORAGE, ()))
    databases = {each["name"]: each for part in (before, after) for each in part.get(DATABASES, ())}
    return {LOCAL_STORAGE: [[name, value] for name, value in local.items()], DATABASES: list(databases.values())}


def _local_size(site_data: dict[str, Any]) -> int:
    items = site_data[LOCAL_STORAGE]
    return sum(len(text.encode("utf-16-le", "surrogatepass")) // 2 for item in items for text in item)
