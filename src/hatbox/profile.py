"""Profile: what hatbox.open() gives. Puts the parts together and is all that most users need."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from pathlib import Path
from types import TracebackType

import platformdirs

from hatbox.api.browser import Browser
from hatbox.api.dispatcher import Caller, Dispatcher
from hatbox.cookie_store_ids import DEFAULT_STORE
from hatbox.cookies.stores import CookieStore, CookieStores
from hatbox.errors import ProfileError
from hatbox.identities import ContextualIdentity, Identities, IdentityLike
from hatbox.store.sqlite import SqliteStore

__all__ = ["Profile", "default_path", "open"]


def default_path() -> Path:
    """Where the profile is that you get without naming one: $HATBOX_PROFILE, else a file in your data folder."""
    named = os.environ.get("HATBOX_PROFILE")
    return Path(named) if named else Path(platformdirs.user_data_dir("hatbox", appauthor=False)) / "profile.db"


def open(  # noqa: A001 - hatbox.open() reads as it should
    path: str | os.PathLike[str] | None = None, *, keep_session_cookies: bool = True
) -> Profile:
    """A profile, to be used with `async with`. Made anew, with four identities, where there is none yet."""
    return Profile(path, keep_session_cookies=keep_session_cookies)


def _absolute(path: Path) -> Path:
    try:
        return path.expanduser().absolute()
    except (OSError, RuntimeError) as error:  # no such user, or a current folder that has been deleted
        raise ProfileError(path, f"its path cannot be followed ({error})", "Choose another path.") from error


class Profile:
    """Identities and all that belongs to them, in one file that many programs can use at once.

    Use it with `async with`, or await it and call `close()` yourself.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, keep_session_cookies: bool = True) -> None:
        self.path = _absolute(Path(default_path() if path is None else path))
        """The profile's file."""
        store = SqliteStore(self.path)
        self._store = store
        self.identities = Identities(store)
        """The identities, for Python: typed, in snake_case."""
        self.cookies = CookieStores(store, keep_session_cookies=keep_session_cookies)
        """The cookie stores: one for each identity, and `firefox-default`."""
        self._dispatcher = Dispatcher(store, self.identities)

    def browser(self, permissions: Iterable[str], caller_id: str = "script") -> Browser:
        """`browser` as a script with these permissions sees it."""
        if isinstance(permissions, str):
            raise TypeError(f"permissions must be a list of names, not the string {permissions!r}")
        return Browser(self._dispatcher, Caller(caller_id, permissions))

    async def cookie_store(self, identity: IdentityLike) -> CookieStore:
        """The cookies of an identity, named by its name, its id or itself; `firefox-default` is the store of none."""
        if identity == DEFAULT_STORE:
            return await self.cookies.open(DEFAULT_STORE)
        if not isinstance(identity, ContextualIdentity):
            identity = await self.identities.find(identity)
        return await self.cookies.open(identity.cookie_store_id)

    async def close(self) -> None:
        """Finish what is under way and let go of the file. Closing twice is no error."""
        try:
            await self.cookies.close()
        finally:
            await self._store.close()

    async def __aenter__(self) -> Profile:
        await self._store.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __await__(self) -> Generator[object, None, Profile]:
        return self.__aenter__().__await__()

    def __repr__(self) -> str:
        return f"<hatbox profile {self.path}>"
