"""What a request and its redirects may add to a cookie store together. Knows no client and no cookie.

Sites of one chain could fill a store, and evict what others have stored: each redirect leads to a new site, which may
set as many cookies as any. A browser has the same limits of a store, but a user who leaves.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Final

__all__ = ["MAX_CHAIN_COOKIES", "admitted", "request_chain"]

MAX_CHAIN_COOKIES: Final = 1000
"""The Set-Cookie values that one chain may store. A sign-in with ten redirects sets fewer than 200."""

_left: Final[ContextVar[list[int] | None]] = ContextVar("hatbox.request_chain", default=None)


@contextlib.contextmanager
def request_chain() -> Iterator[None]:
    """The requests that are sent inside are one chain. Inside of another chain, they belong to that."""
    if _left.get() is not None:
        yield
        return
    token = _left.set([MAX_CHAIN_COOKIES])
    try:
        yield
    finally:
        _left.reset(token)


def admitted(set_cookie_values: Sequence[bytes]) -> Sequence[bytes]:
    """The Set-Cookie values of a response that the chain may still store, in their order. The others are ignored."""
    left = _left.get()
    if left is None:
        return set_cookie_values
    taken = set_cookie_values[: left[0]]
    left[0] -= len(taken)
    return taken
