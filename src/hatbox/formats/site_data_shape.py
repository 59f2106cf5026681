"""The shape of stored site data, checked before data of a file is stored: engines rely on it. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from hatbox.formats.base import SiteData
from hatbox.formats.origin_storage import canonical_origin
from hatbox.tabs.site_data import decode_site_data

__all__ = ["problem_of"]


class _StoredIndex(msgspec.Struct, rename="camel"):
    name: str
    key_path: str | list[str]
    unique: bool
    multi_entry: bool


class _StoredStore(msgspec.Struct, rename="camel"):
    name: str
    key_path: str | list[str] | None
    auto_increment: bool
    indexes: list[_StoredIndex]
    records: list[tuple[Any, Any]]


class _StoredDatabase(msgspec.Struct):
    name: str
    version: int
    stores: list[_StoredStore]


class _StoredSiteData(msgspec.Struct):
    local: list[tuple[str, str]] = []
    databases: list[_StoredDatabase] = []


def problem_of(site_data: SiteData) -> str:
    """Why this cannot be stored; empty if it can."""
    if canonical_origin(site_data.origin) != site_data.origin:
        return f"not an origin: {site_data.origin[:200]}"
    try:
        msgspec.convert(decode_site_data(site_data.data), _StoredSiteData)
    except RecursionError:
        return "site data nested too deeply"
    except ValueError as error:
        return f"invalid site data: {error}"
    return ""
