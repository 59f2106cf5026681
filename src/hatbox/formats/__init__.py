"""Formats of identities and cookies: one module for each. `bundle_transfer` imports and exports them.

A format reads bytes into a Bundle and writes a Bundle to bytes. It knows nothing of profiles, and says what it loses.
"""

from __future__ import annotations

from typing import Final

from hatbox.formats import containers_json, cookies_txt, json_lines, storage_state
from hatbox.formats.base import (
    Bundle,
    BundleEntry,
    CookieName,
    ExportResult,
    Format,
    IdentityAttributes,
    ImportKey,
    ImportReport,
    SiteData,
)

__all__ = [
    "FORMATS",
    "Bundle",
    "BundleEntry",
    "CookieName",
    "ExportResult",
    "Format",
    "IdentityAttributes",
    "ImportKey",
    "ImportReport",
    "SiteData",
]

FORMATS: Final[dict[str, Format]] = {
    each.name: each for each in (cookies_txt.FORMAT, storage_state.FORMAT, containers_json.FORMAT, json_lines.FORMAT)
}
"""The formats of one file, by name. A Firefox profile is a folder: see `firefox_profile`."""
