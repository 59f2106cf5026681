"""The binding of an HTTP client to an identity: its Cookie header and settings for each request, and Set-Cookie.

Knows cookie stores and identities, and no client. An identity is looked up once; then its cookieStoreId counts, so a
renamed identity stays bound.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from hatbox.clients.request_chain import admitted
from hatbox.cookies.cookie_stores import CookieStore, CookieStores
from hatbox.cookies.request_urls import RequestUrl
from hatbox.errors import IdentityRemoved, InvalidIdentity, MissingExtra
from hatbox.identities.service import Identities
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity, IdentityLike
from hatbox.identity.settings import IdentitySettings

__all__ = ["IdentityBinding", "RequestState", "SyncIdentityBinding", "require_extra"]

T = TypeVar("T")


class RequestState(NamedTuple):
    """What a request gets from its identity, as of the latest commit of any process."""

    cookies: str
    """The Cookie header, one character per byte; empty without cookies."""
    settings: IdentitySettings


class IdentityBinding:
    """The identity that a client is bound to. Every call checks that it still exists."""

    def __init__(
        self,
        identities: Identities,
        stores: CookieStores,
        identity: IdentityLike,
        record: Callable[[str, str], None] | None = None,
    ) -> None:
        """`record` is called with cookieStoreId and host of each request, if the identity has its activity recorded."""
        self._record = record
        self._identities = identities
        self._stores = stores
        self._requested = identity
        self._cookie_store_id = ""
        self._name = ""

    def __str__(self) -> str:
        """The name of the identity, for messages."""
        requested = self._requested
        return self._name or (requested.name if isinstance(requested, ContextualIdentity) else requested)

    async def open_cookie_store(self) -> CookieStore:
        """Open the identity's cookie store.

        Raises IdentityRemoved if the identity was removed, IdentityNotFound if it never existed, and IdentityMismatch
        for an object whose cookieStoreId has another name in this profile.
        """
        if not self._cookie_store_id:
            cookie_store_id, name = await self._find()
            if not self._cookie_store_id:  # no concurrent request has set it
                self._cookie_store_id, self._name = cookie_store_id, name
        with self._identity_errors():
            # Not cached: a profile that was closed and opened again has other stores; old ones receive no changes.
            return await self._stores.open(self._cookie_store_id)

    async def header(self, request_url: RequestUrl) -> str:
        """The Cookie header of a request, one character per byte; empty without cookies."""
        store = await self.open_cookie_store()
        with self._identity_errors():
            return await store.header(request_url)

    async def request_state(self, request_url: RequestUrl) -> RequestState:
        """The Cookie header and the settings for a request."""
        cookies = await self.header(request_url)  # delivers pending changes, also those of settings
        settings = self._identities.settings_cache.known(self._cookie_store_id)
        if settings is None:
            with self._identity_errors():
                settings = await self._identities.settings_cache.delivered(self._cookie_store_id)
        self._record_request(request_url)
        return RequestState(cookies, settings)

    async def delivered_state(self, request_url: RequestUrl) -> RequestState:
        """As request_state(), but as of the last delivered change: for a request that has called settings()."""
        store = await self.open_cookie_store()
        with self._identity_errors():
            cookies = await store.delivered_header(request_url)
            settings = await self._identities.settings_cache.delivered(self._cookie_store_id)
        self._record_request(request_url)
        return RequestState(cookies, settings)

    def _record_request(self, request_url: RequestUrl) -> None:
        if self._record is not None and self._identities.settings_cache.is_recorded(self._cookie_store_id):
            self._record(self._cookie_store_id, request_url.host)

    async def settings(self) -> IdentitySettings:
        """The settings of the identity, as of the latest commit of any process."""
        await self.open_cookie_store()
        with self._identity_errors():
            return await self._identities.settings_cache.current(self._cookie_store_id)

    async def receive(self, request_url: RequestUrl, set_cookie_values: Sequence[bytes]) -> None:
        """Store the Set-Cookie values of a response. They are durable when this returns."""
        if values := admitted(set_cookie_values):
            store = await self.open_cookie_store()
            with self._identity_errors():
                await store.receive(values, request_url)

    async def _find(self) -> tuple[str, str]:
        if self._requested == DEFAULT_COOKIE_STORE_ID:
            return DEFAULT_COOKIE_STORE_ID, ""
        try:
            found = await self._identities.resolve(self._requested)
        except InvalidIdentity as error:
            name = self._requested.name if isinstance(self._requested, ContextualIdentity) else ""
            raise IdentityRemoved(error.cookie_store_id, name) from error
        return found.cookie_store_id, found.name

    @contextlib.contextmanager
    def _identity_errors(self) -> Iterator[None]:
        try:
            yield
        except InvalidIdentity as error:
            raise IdentityRemoved(self._cookie_store_id, self._name) from error


class RunInLoop(Protocol):
    """Runs a call in the thread of the profile. Returns its result, or raises its exception."""

    def __call__(self, begin: Callable[[], Awaitable[T]], /) -> T: ...


class SyncIdentityBinding:
    """A binding for clients without an event loop. Safe to use from several threads."""

    def __init__(self, binding: IdentityBinding, run: RunInLoop) -> None:
        self._binding = binding
        self._run = run

    def __str__(self) -> str:
        """The name of the identity, for messages."""
        return str(self._binding)

    def open_cookie_store(self) -> None:
        """Look up the identity, once. Raises as IdentityBinding.open_cookie_store()."""
        self._run(self._binding.open_cookie_store)

    def header(self, request_url: RequestUrl) -> str:
        """The Cookie header of a request, one character per byte; empty without cookies."""
        return self._run(lambda: self._binding.header(request_url))

    def request_state(self, request_url: RequestUrl) -> RequestState:
        """The Cookie header and the settings for a request."""
        return self._run(lambda: self._binding.request_state(request_url))

    def settings(self) -> IdentitySettings:
        """The settings of the identity, as of the latest commit of any process."""
        return self._run(self._binding.settings)

    def receive(self, request_url: RequestUrl, set_cookie_values: Sequence[bytes]) -> None:
        """Store the Set-Cookie values of a response. They are durable when this returns."""
        if set_cookie_values:  # asyncio passes the context of this thread, with its request chain
            self._run(lambda: self._binding.receive(request_url, set_cookie_values))


@contextlib.contextmanager
def require_extra(name: str) -> Iterator[None]:
    """Import a client inside: if it is not installed, MissingExtra says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise MissingExtra(name) from error
