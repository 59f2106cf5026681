"""cookieStoreIds: `firefox-default`, and `firefox-container-<n>` for the identity with userContextId n."""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "DEFAULT_COOKIE_STORE_ID",
    "MAX_USER_CONTEXT_ID",
    "container_user_context_id",
    "cookie_store_id_of",
    "user_context_id_of",
]

DEFAULT_COOKIE_STORE_ID: Final = "firefox-default"
MAX_USER_CONTEXT_ID: Final = 2**32 - 2
"""The highest id of an identity: a 32-bit integer, and Firefox reserves 2**32 - 1."""
_PREFIX: Final = "firefox-container-"
_CANONICAL_ID: Final = re.compile(rf"{_PREFIX}([1-9][0-9]{{0,9}})", re.ASCII)


def cookie_store_id_of(user_context_id: int) -> str:
    """The cookieStoreId of a userContextId; 0 is the default store."""
    return f"{_PREFIX}{user_context_id}" if user_context_id else DEFAULT_COOKIE_STORE_ID


def container_user_context_id(cookie_store_id: str) -> int | None:
    """The userContextId of an identity's canonical cookieStoreId; None for any other text."""
    match = _CANONICAL_ID.fullmatch(cookie_store_id)
    return int(match[1]) if match else None


def user_context_id_of(cookie_store_id: str) -> int | None:
    """The userContextId of a cookieStoreId, 0 for the default store; None for any other text."""
    return 0 if cookie_store_id == DEFAULT_COOKIE_STORE_ID else container_user_context_id(cookie_store_id)
