"""Ids of cookies within their store: the key of the row as text. A page returns an id and never interprets it.

The name and path of a cookie are bytes, which need not be text. So the fields that a page shows do not identify it.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

import msgspec

from hatbox.errors import ApiError
from hatbox.store.base import CookieRowKey

__all__ = ["cookie_id", "key_of_cookie_id"]

_MAX_LENGTH: Final = 32_768

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(tuple[str, int, str, str, str]).decode


def cookie_id(key: CookieRowKey) -> str:
    """The id of the cookie with this key."""
    return base64.urlsafe_b64encode(_encode(key)).decode("ascii").rstrip("=")


def key_of_cookie_id(text: str) -> CookieRowKey:
    """The key of the cookie with this id. Raises ApiError for any other text."""
    try:
        if len(text) > _MAX_LENGTH:
            raise ValueError
        return _decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error, msgspec.DecodeError) as error:
        raise ApiError(f"Invalid cookie id: {text[:80]!r}. Use the id of a result of hatbox.sites.cookies()") from error
