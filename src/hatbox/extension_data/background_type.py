"""The type of an extension's background (manifest key `background`). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["is_event_page", "is_persistent"]


def is_persistent(manifest: Mapping[str, Any]) -> bool:
    """Whether the background is never suspended."""
    background = manifest.get("background") or {"persistent": False}
    return manifest.get("manifest_version") == 2 and bool(background["persistent"])


def is_event_page(manifest: Mapping[str, Any]) -> bool:
    """Whether the background is suspended when idle."""
    return bool(manifest.get("background")) and not is_persistent(manifest)
