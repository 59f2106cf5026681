"""Site data besides cookies. localStorage and IndexedDB are stored in the profile by engines. Caches and service
workers exist only in engines."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from hatbox.identity.ids import cookie_store_id_of
from hatbox.javascript.json_text import decode_javascript_json, encode_javascript_json
from hatbox.store.base import Transaction

__all__ = [
    "CACHE",
    "DATABASES",
    "LOCAL_STORAGE",
    "SERVICE_WORKERS",
    "SITE_DATA_CLEARED",
    "SITE_DATA_SAVED",
    "SiteDataRemoval",
    "clear_site_data",
    "decode_site_data",
    "delete_site_data",
    "encode_site_data",
    "parts_of",
    "record_saved",
]

LOCAL_STORAGE: Final = "local"
DATABASES: Final = "databases"
CACHE: Final = "cache"
SERVICE_WORKERS: Final = "serviceWorkers"
SITE_DATA_CLEARED: Final = "site_data.forgotten"
"""Topic of the change log; engines clear their copies."""
SITE_DATA_SAVED: Final = "site_data.saved"
"""Topic of the change log: the stored data of some origins of an identity is other data. The payload is its
cookieStoreId."""

_STORED_TYPES: Final = (LOCAL_STORAGE, DATABASES)
_ALL_TYPES: Final = (*_STORED_TYPES, SERVICE_WORKERS)


class SiteDataRemoval(msgspec.Struct, frozen=True):
    """A removal of site data."""

    number: int
    """The userContextId of the identity."""
    storage_types: Sequence[str] = msgspec.field(name="parts")
    """`parts` in the change log."""
    hosts: Sequence[str] | None
    """Hosts with their ports; None for all."""

    def is_about(self, origin: str) -> bool:
        """Whether the data of this origin was removed."""
        return self.hosts is None or urlsplit(origin).netloc in self.hosts

    @property
    def origins(self) -> list[str]:
        """The affected origins; `*` stands for all."""
        if self.hosts is None:
            return ["*"]
        return [f"{scheme}://{host}" for host in self.hosts for scheme in ("http", "https")]


def clear_site_data(
    transaction: Transaction, number: int, parts: Sequence[str], hosts: Collection[str] | None = None
) -> None:
    """Clear these types of site data of an identity: for all origins, or for hosts with their ports."""
    removal = SiteDataRemoval(number, list(parts), None if hosts is None else sorted(hosts))
    kept = [part for part in parts if part in _STORED_TYPES]
    for origin, data in transaction.site_data.load(number) if kept else ():
        if removal.is_about(origin):
            left = _without(data, kept)
            if left:
                transaction.site_data.put(number, origin, left)
            else:
                transaction.site_data.delete(number, origin)
    transaction.changes.append(SITE_DATA_CLEARED, msgspec.json.encode(removal))


def delete_site_data(transaction: Transaction, number: int, hosts: Collection[str] | None) -> tuple[int, int]:
    """Delete all site data of an identity: of all origins, or of hosts with their ports. Reads none of it.

    Returns the number of stored origins, and their size in bytes.
    """
    removal = SiteDataRemoval(number, _ALL_TYPES, None if hosts is None else sorted(hosts))
    found = [(origin, size) for _, origin, size in transaction.site_data.sizes([number]) if removal.is_about(origin)]
    for origin, _ in found:
        transaction.site_data.delete(number, origin)
    transaction.changes.append(SITE_DATA_CLEARED, msgspec.json.encode(removal))
    return len(found), sum(size for _, size in found)


def record_saved(transaction: Transaction, number: int) -> None:
    """Notify every process that stored site data of an identity has changed."""
    transaction.changes.append(SITE_DATA_SAVED, msgspec.json.encode(cookie_store_id_of(number)))


def parts_of(data: bytes) -> set[str]:
    """The types of site data that an origin has stored."""
    try:
        kept = decode_site_data(data)
    except RecursionError:
        return set(_STORED_TYPES)
    return {part for part in _STORED_TYPES if kept.get(part)}


def decode_site_data(data: bytes) -> dict[str, Any]:
    """The site data of an origin, as site_data.js of the Chromium engine writes it: `local` and `databases`.

    Raises RecursionError if it is nested too deeply.
    """
    found = decode_javascript_json(data)
    return found if isinstance(found, dict) else {}


def encode_site_data(site_data: dict[str, Any]) -> bytes:
    """The bytes to store."""
    return encode_javascript_json(site_data)


def _without(data: bytes, parts: Sequence[str]) -> bytes:
    """The data of an origin without these types; empty if nothing remains."""
    try:
        kept = decode_site_data(data)
    except RecursionError:  # nested too deeply to be parsed, so no single part can be removed
        return b""
    for part in parts:
        kept[part] = []
    return encode_site_data(kept) if kept.get(LOCAL_STORAGE) or kept.get(DATABASES) else b""
