"""Who may use the server: one-time tokens in links, which are exchanged for a cookie. Knows no HTTP.

Cookies are sent to every port of a host, so the cookie has a path: a random prefix, which other servers do not know.
Only the hash of a cookie is stored. The cookie alone gets static files, and nothing of the profile: a page has to have
the key of this server as well, which the document of the link puts into the sessionStorage of its tab. Neither another
port nor another tab can read it there.

While no server runs, another program can listen on its port, and answer a page that is reloaded. That document has the
cookie and the sessionStorage. So each server has another key, and a page that stays open over a restart proves that it
had its session before: with a secret that it never sends.
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

__all__ = ["COOKIE", "TOKEN_LIFETIME", "AccessKeys", "StoredKeys", "hash_of"]

COOKIE: Final = PROTECTED_COOKIE
"""The name of the cookie."""
TOKEN_LIFETIME: Final = 600
"""How long a link works, in seconds."""

_BYTES: Final = 32
_MAX_TOKENS: Final = 64
_MAX_COOKIES: Final = 64
_LIFETIME: Final = 7 * 24 * 3600  # seconds since the last use of a cookie
_NAME: Final = PROTECTED_PATH.removeprefix("/")
_PREFIX: Final = re.compile(_NAME + r"[A-Za-z0-9_-]{32,64}")


class StoredKeys(msgspec.Struct, frozen=True):
    """What a server that is started again needs in order to accept the cookies of open pages."""

    prefix: str
    """The first part of all paths."""
    cookies: dict[str, float]
    """The hashes of cookies, and when they expire, in seconds since 1970."""
    secret: str = ""
    """The key from which the secrets of sessions are derived."""


class AccessKeys:
    """The tokens and cookies of one server. `save` is called when cookies have changed.

    `take_grant` gets the hash of a token that this process has not created, and returns whether it is valid.
    """

    def __init__(
        self,
        stored: StoredKeys | None = None,
        save: Callable[[StoredKeys], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
        take_grant: Callable[[str], bool] = lambda _: False,
    ) -> None:
        is_valid = stored is not None and _PREFIX.fullmatch(stored.prefix) is not None
        self.prefix = stored.prefix if stored is not None and is_valid else _NAME + secrets.token_urlsafe(_BYTES)
        """The first part of all paths."""
        self._cookies = dict(stored.cookies) if stored is not None and is_valid else {}
        self.page_key = secrets.token_urlsafe(_BYTES)
        """The key of pages that were opened by a link of this server."""
        is_continued = stored is not None and is_valid and len(stored.secret) >= _BYTES
        self._secret = stored.secret if stored is not None and is_continued else secrets.token_urlsafe(_BYTES)
        self._save = save
        self._clock = clock
        self._take_grant = take_grant
        self._tokens: dict[str, float] = {}
        """The hashes of unused tokens, and when they expire."""

    def create_token(self) -> str:
        """A token for one link, for ten minutes. The oldest unused one expires if there are too many."""
        token = secrets.token_urlsafe(_BYTES)
        self._tokens[hash_of(token)] = self._clock() + TOKEN_LIFETIME
        self._tokens = dict(list(self._tokens.items())[-_MAX_TOKENS:])
        return token

    def redeem(self, token: str) -> str | None:
        """The value of a new cookie for an unused token, which is used then; None for any other text."""
        found = _find(hash_of(token), self._tokens)
        is_valid = self._take_grant(hash_of(token)) if found is None else self._tokens.pop(found) > self._clock()
        if not is_valid:
            return None
        value = secrets.token_urlsafe(_BYTES)
        self._cookies[hash_of(value)] = self._clock() + _LIFETIME
        self._prune()
        self.save()
        return value

    def accepts(self, value: str) -> bool:
        """Whether the value of a cookie is one of this server's. Extends its lifetime."""
        now = self._clock()
        found = _find(hash_of(value), self._cookies)
        if found is None or self._cookies[found] <= now:
            return False
        if self._cookies[found] < now + _LIFETIME * 0.9:
            self._cookies[found] = now + _LIFETIME
            self.save()
        return True

    def is_page_key(self, key: str) -> bool:
        """Whether a page was opened by a link of this server."""
        return key.isascii() and hmac.compare_digest(self.page_key, key)

    def session_secret(self, session_id: str) -> str:
        """The secret of a page's session, also after a restart."""
        return _mac(self._secret, session_id)

    def proves(self, session_id: str, challenge: str, answer: str) -> bool:
        """Whether an answer to a challenge was made with the secret of a session."""
        expected = _mac(self.session_secret(session_id), challenge)
        return answer.isascii() and hmac.compare_digest(expected, answer)

    def save(self) -> None:
        """Store the cookies."""
        self._save(StoredKeys(self.prefix, self._cookies, self._secret))

    def _prune(self) -> None:
        now = self._clock()
        latest = sorted((each for each in self._cookies.items() if each[1] > now), key=lambda each: each[1])
        self._cookies = dict(latest[-_MAX_COOKIES:])


def hash_of(secret: str) -> str:
    """What is stored in place of a token or the value of a cookie."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _mac(key: str, text: str) -> str:
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def _find(wanted: str, hashes: dict[str, float]) -> str | None:
    """The equal hash, compared in constant time, and with all of them."""
    found = None
    for each in hashes:
        if hmac.compare_digest(each, wanted):
            found = each
    return found
