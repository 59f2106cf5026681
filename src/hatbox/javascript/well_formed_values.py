"""Well-formed text in nested values. Knows nothing of scripts or the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hatbox.javascript.text import well_formed

__all__ = ["to_well_formed"]


def to_well_formed(value: Any) -> Any:
    """Copy a value, replacing lone surrogates in all of its text and keys, so that it can be stored as JSON."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {well_formed(key): to_well_formed(member) for key, member in value.items()}
    return [to_well_formed(item) for item in value] if isinstance(value, (list, tuple)) else value
