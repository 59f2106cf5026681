"""Sizes in bytes, as text for people."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["parse_size", "size_text"]

_UNITS: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_SIZE: Final = re.compile(r"(\d{1,15})\s*([KMG]?)(?:i?B)?", re.ASCII | re.IGNORECASE)


def size_text(size: int) -> str:
    """A size in bytes, KiB, MiB or GiB, rounded to three digits."""
    value = float(size)
    for unit in ("bytes", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.3g} {unit}" if unit != "bytes" else f"{size} bytes"
        value /= 1024
    return f"{value:.3g} GiB"


def parse_size(text: str) -> int:
    """A size from text: a whole number, with K, M or G for KiB, MiB or GiB. Raises ValueError."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"invalid size: {text}. Use a whole number of bytes, or 64K, 256M, 1G")
    return int(match[1]) * _UNITS[match[2].upper()]
