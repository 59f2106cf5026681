"""How cookie stores are named: `firefox-default`, and `firefox-container-<n>` for the identity with the number n."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["DEFAULT_STORE", "cookie_store_id_of", "store_user_context_id", "user_context_id"]

DEFAULT_STORE: Final = "firefox-default"
_PREFIX: Final = "firefox-container-"
_CANONICAL_ID: Final = re.compile(rf"{_PREFIX}([1-9][0-9]{{0,9}})", re.ASCII)


def cookie_store_id_of(number: int) -> str:
    """The id of the store with this number; 0 is the store of no identity."""
    return f"{_PREFIX}{number}" if number else DEFAULT_STORE


def user_context_id(cookie_store_id: str) -> int | None:
    """The number of the identity that a canonical id names; None for every other text."""
    match = _CANONICAL_ID.fullmatch(cookie_store_id)
    return int(match[1]) if match else None


def store_user_context_id(cookie_store_id: str) -> int | None:
    """The number of the store that an id names, that of no identity included; None for every other text."""
    return 0 if cookie_store_id == DEFAULT_STORE else user_context_id(cookie_store_id)
