"""Wearing an identity: what every client does before a request goes out and after its answer came in.

Knows cookie stores and identities, and no client. An identity is looked up once: from then on its id counts, so that a
client keeps to it whatever it is called later.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from hatbox.cookies.cookie_stores import CookieStore, CookieStores
from hatbox.cookies.request_urls import RequestUrl
from hatbox.errors import IdentityRemoved, InvalidIdentity, MissingExtra
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.identities.model import ContextualIdentity, IdentityLike
from hatbox.identities.service import Identities

__all__ = ["IdentityBinding", "SyncIdentityBinding", "extra"]

T = TypeVar("T")


class IdentityBinding:
    """The identity that one client wears. Every call looks whether it is still there."""

    def __init__(self, identities: Identities, stores: CookieStores, identity: IdentityLike) -> None:
        self._identities = identities
        self._stores = stores
        self._asked = identity
        self._cookie_store_id = ""
        self._name = ""

    async def open_cookie_store(self) -> CookieStore:
        """The identity's cookies; raises IdentityRemoved if it is gone, and IdentityNotFound if it never was.

        An identity object whose name is not the one that its id has here raises IdentityMismatch.
        """
        if not self._cookie_store_id:
            cookie_store_id, name = await self._find()
            if not self._cookie_store_id:  # no other request has been quicker
                self._cookie_store_id, self._name = cookie_store_id, name
        with self._identity_errors():
            # Each time anew: a profile that was closed and opened again has other stores, and old ones hear nothing.
            return await self._stores.open(self._cookie_store_id)

    async def header(self, target: RequestUrl) -> str:
        """The Cookie header of a request to this target, one character for each byte; empty if no cookie goes along."""
        store = await self.open_cookie_store()
        with self._identity_errors():
            return await store.header(target)

    async def receive(self, target: RequestUrl, lines: Sequence[bytes]) -> None:
        """Take in the Set-Cookie values of the answer. When this returns, they are on disk."""
        if lines:
            store = await self.open_cookie_store()
            with self._identity_errors():
                await store.receive(lines, target)

    async def _find(self) -> tuple[str, str]:
        if self._asked == DEFAULT_STORE:
            return DEFAULT_STORE, ""
        try:
            found = await self._identities.resolve(self._asked)
        except InvalidIdentity as error:
            name = self._asked.name if isinstance(self._asked, ContextualIdentity) else ""
            raise IdentityRemoved(error.cookie_store_id, name) from error
        return found.cookie_store_id, found.name

    @contextlib.contextmanager
    def _identity_errors(self) -> Iterator[None]:
        try:
            yield
        except InvalidIdentity as error:
            raise IdentityRemoved(self._cookie_store_id, self._name) from error


class Run(Protocol):
    """Begins something in the thread of the profile, and returns or raises what becomes of it."""

    def __call__(self, begin: Callable[[], Awaitable[T]], /) -> T: ...


class SyncIdentityBinding:
    """The same for clients without an event loop; safe to use from several threads."""

    def __init__(self, worn: IdentityBinding, run: Run) -> None:
        self._worn = worn
        self._run = run

    def open_cookie_store(self) -> None:
        """Look the identity up, unless that is done; raises if it is not there."""
        self._run(self._worn.open_cookie_store)

    def header(self, target: RequestUrl) -> str:
        """The Cookie header of a request to this target, one character for each byte; empty if no cookie goes along."""
        return self._run(lambda: self._worn.header(target))

    def receive(self, target: RequestUrl, lines: Sequence[bytes]) -> None:
        """Take in the Set-Cookie values of the answer. When this returns, they are on disk."""
        if lines:
            self._run(lambda: self._worn.receive(target, lines))


@contextlib.contextmanager
def extra(name: str) -> Iterator[None]:
    """Import a client inside of this: if it is not installed, the error says how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise MissingExtra(name) from error
