"""What pages keep beside cookies. Local storage and databases lie in the profile, where engines put them; caches and
service workers only engines have."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from hatbox.store.base import Transaction

__all__ = [
    "CACHE",
    "DATABASES",
    "LOCAL_STORAGE",
    "SERVICE_WORKERS",
    "SITE_DATA_CLEARED",
    "SiteDataRemoval",
    "clear_site_data",
    "parts_of",
]

LOCAL_STORAGE: Final = "local"
DATABASES: Final = "databases"
CACHE: Final = "cache"
SERVICE_WORKERS: Final = "serviceWorkers"
SITE_DATA_CLEARED: Final = "site_data.forgotten"
"""The topic under which engines are told, which may hold the same."""

_KEPT: Final = (LOCAL_STORAGE, DATABASES)


class SiteDataRemoval(msgspec.Struct, frozen=True):
    """Some of what pages keep was removed."""

    number: int
    """That of the identity."""
    storage_types: Sequence[str] = msgspec.field(name="parts")
    hosts: Sequence[str] | None
    """Of which hosts, with their ports; None is all."""

    def is_about(self, origin: str) -> bool:
        """Whether what this origin keeps is among it."""
        return self.hosts is None or urlsplit(origin).netloc in self.hosts

    @property
    def origins(self) -> list[str]:
        """The origins that it is about; `*` stands for all."""
        if self.hosts is None:
            return ["*"]
        return [f"{scheme}://{host}" for host in self.hosts for scheme in ("http", "https")]


def clear_site_data(
    transaction: Transaction, number: int, parts: Sequence[str], hosts: Collection[str] | None = None
) -> None:
    """Remove these parts of what pages keep in an identity: of all origins, or of those with these hosts and ports."""
    forgotten = SiteDataRemoval(number, list(parts), None if hosts is None else sorted(hosts))
    kept = [part for part in parts if part in _KEPT]
    for origin, data in transaction.site_data.load(number) if kept else ():
        if forgotten.is_about(origin):
            left = _without(data, kept)
            if left:
                transaction.site_data.put(number, origin, left)
            else:
                transaction.site_data.delete(number, origin)
    transaction.changes.append(SITE_DATA_CLEARED, msgspec.json.encode(forgotten))


def parts_of(data: bytes) -> set[str]:
    """Which parts an origin has stored data in."""
    try:
        kept: dict[str, Any] = msgspec.json.decode(data, type=dict[str, Any])
    except RecursionError:
        return set(_KEPT)
    return {part for part in _KEPT if kept.get(part)}


def _without(data: bytes, parts: Sequence[str]) -> bytes:
    """What is left of what an origin keeps; nothing, if it is nothing."""
    try:
        kept: dict[str, Any] = msgspec.json.decode(data, type=dict[str, Any])
    except RecursionError:  # nested too deeply to be parsed, so no single part can be removed
        return b""
    for part in parts:
        kept[part] = []
    return msgspec.json.encode(kept) if kept.get(LOCAL_STORAGE) or kept.get(DATABASES) else b""
