"""The tokens of grants: 32 random bytes as text, of which the profile stores only the SHA-256. Pure."""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

__all__ = ["digest_of", "new_grant_id", "new_token"]

_PREFIX: Final = "hatbox_"
_BYTES: Final = 32
_TOKEN: Final = re.compile(rf"{_PREFIX}[A-Za-z0-9_-]{{43}}", re.ASCII)
_ID_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # none that look alike
_ID_LENGTH: Final = 10


def new_token() -> str:
    """A new token, which nothing stores."""
    return _PREFIX + secrets.token_urlsafe(_BYTES)


def digest_of(token: object) -> bytes | None:
    """The SHA-256 of a token; None for what has not the form of one."""
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        return None
    return hashlib.sha256(token.encode("ascii")).digest()


def new_grant_id() -> str:
    """A new id. Random, because the activity log names a grant after it was deleted."""
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(_ID_LENGTH))
