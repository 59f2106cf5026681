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


class _Chain:
    def __init__(self, left: list[int]) -> None:
        self.left = left
        self.is_closed = False
        """A task that was started inside has it too, and may outlive it."""


_current: Final[ContextVar[_Chain | None]] = ContextVar("hatbox.request_chain", default=None)


@contextlib.contextmanager
def request_chain() -> Iterator[None]:
    """The requests that are sent inside are one chain. Inside of another chain, they belong to that."""
    outer = _open_chain()
    chain = _Chain(outer.left if outer else [MAX_CHAIN_COOKIES])
    token = _current.set(chain)
    try:
        yield
    finally:
        _current.reset(token)
        chain.is_closed = True


def admitted(set_cookie_values: Sequence[bytes]) -> Sequence[bytes]:
    """The Set-Cookie values of a response that the chain may still store, in their order. The others are ignored."""
    chain = _open_chain()
    if chain is None:
        return set_cookie_values
    taken = set_cookie_values[: chain.left[0]]
    chain.left[0] -= len(taken)
    return taken


def _open_chain() -> _Chain | None:
    chain = _current.get()
    return None if chain is None or chain.is_closed else chain
