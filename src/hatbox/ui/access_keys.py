"""Who may use the server: one-time tokens in links, which are exchanged for a cookie. Knows no HTTP.

Cookies are sent to every port of a host, so the cookie has a path: a random prefix, which other servers do not know.
Only the hash of a cookie is stored.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable
from typing import Final

import msgspec

from hatbox.urls.protected_pages import PROTECTED_COOKIE, PROTECTED_PATH

__all__ = ["COOKIE", "AccessKeys", "StoredKeys"]

COOKIE: Final = PROTECTED_COOKIE
"""The name of the cookie."""

_BYTES: Final = 32
_MAX_TOKENS: Final = 64
_MAX_COOKIES: Final = 64
_TOKEN_LIFETIME: Final = 600  # seconds
_LIFETIME: Final = 7 * 24 * 3600  # seconds since the last use of a cookie
_NAME: Final = PROTECTED_PATH.removeprefix("/")
_PREFIX: Final = re.compile(_NAME + r"[A-Za-z0-9_-]{32,64}")


class StoredKeys(msgspec.Struct, frozen=True):
    """What a server that is started again needs in order to accept the cookies of open pages."""

    prefix: str
    """The first part of all paths."""
    cookies: dict[str, float]
    """The hashes of cookies, and when they expire, in seconds since 1970."""


class AccessKeys:
    """The tokens and cookies of one server. `save` is called when they have changed."""

    def __init__(
        self,
        stored: StoredKeys | None = None,
        save: Callable[[StoredKeys], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        is_valid = stored is not None and _PREFIX.fullmatch(stored.prefix) is not None
        self.prefix = stored.prefix if stored is not None and is_valid else _NAME + secrets.token_urlsafe(_BYTES)
        """The first part of all paths."""
        self._cookies = dict(stored.cookies) if stored is not None and is_valid else {}
        self._save = save
        self._clock = clock
        self._tokens: dict[str, float] = {}
        """The hashes of unused tokens, and when they expire."""

    def create_token(self) -> str:
        """A token for one link, for ten minutes. The oldest unused one expires if there are too many."""
        token = secrets.token_urlsafe(_BYTES)
        self._tokens[_hash(token)] = self._clock() + _TOKEN_LIFETIME
        self._tokens = dict(list(self._tokens.items())[-_MAX_TOKENS:])
        return token

    def redeem(self, token: str) -> str | None:
        """The value of a new cookie for an unused token, which is used then; None for any other text."""
        found = _find(_hash(token), self._tokens)
        if found is None or self._tokens.pop(found) <= self._clock():
            return None
        value = secrets.token_urlsafe(_BYTES)
        self._cookies[_hash(value)] = self._clock() + _LIFETIME
        self._prune()
        self._save(StoredKeys(self.prefix, self._cookies))
        return value

    def accepts(self, value: str) -> bool:
        """Whether the value of a cookie is one of this server's. Extends its lifetime."""
        now = self._clock()
        found = _find(_hash(value), self._cookies)
        if found is None or self._cookies[found] <= now:
            return False
        if self._cookies[found] < now + _LIFETIME * 0.9:
            self._cookies[found] = now + _LIFETIME
            self._save(StoredKeys(self.prefix, self._cookies))
        return True

    def _prune(self) -> None:
        now = self._clock()
        latest = sorted((each for each in self._cookies.items() if each[1] > now), key=lambda each: each[1])
        self._cookies = dict(latest[-_MAX_COOKIES:])


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _find(wanted: str, hashes: dict[str, float]) -> str | None:
    """The equal hash, compared in constant time, and with all of them."""
    found = None
    for each in hashes:
        if hmac.compare_digest(each, wanted):
            found = each
    return found
