"""Addresses that a user types on the manager page, with errors that appear beside the field. Pure text."""

from __future__ import annotations

from typing import Final

from hatbox.errors import ApiError
from hatbox.urls.typed_address import parse_typed_address

__all__ = ["MAX_ADDRESS", "parse_address"]

MAX_ADDRESS: Final = 64 * 1024
"""Characters of an address."""

_SHOWN: Final = 200  # characters of an address in a message
_EXAMPLES: Final = "Try forge.example or https://forge.example/"


def parse_address(typed: str) -> str:
    """The URL of a typed address: https:// is added to forge.example. Raises ApiError."""
    text = typed.strip()
    if not text:
        raise ApiError("Type an address first, for example forge.example.")
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    if len(text) > MAX_ADDRESS:
        raise ApiError(f"This address is too long: {shown}. An address has at most {MAX_ADDRESS:,} characters.")
    try:
        return parse_typed_address(text)
    except ValueError:
        raise ApiError(f"This is not an address: {shown}. {_EXAMPLES}") from None
