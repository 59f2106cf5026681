"""Profile: what hatbox.open() gives. Puts the parts together and is all that most users need."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import platformdirs

from hatbox.api.browser import Browser
from hatbox.api.caller import Caller
from hatbox.api.dispatcher import Dispatcher
from hatbox.api.services import Services
from hatbox.clients.identity_binding import IdentityBinding, extra
from hatbox.clock import Clock
from hatbox.cookies.cookie_clock import cookie_time
from hatbox.cookies.cookie_stores import CookieStore, CookieStores
from hatbox.engines.runner import EngineRunner
from hatbox.errors import MissingExtra, ProfileError
from hatbox.extensions.package.package_cache import PackageCache, default_folder
from hatbox.extensions.service import Extensions
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.identities.model import IdentityLike
from hatbox.identities.service import Identities
from hatbox.messaging.message_router import MessageRouter
from hatbox.store.sqlite import SqliteStore
from hatbox.tabs.service import Tabs
from hatbox.tabs.tab_model import BLANK
from hatbox.web_requests import RequestEvents

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from httpx import AsyncClient

    from hatbox.engines.background.engine_log import EngineLog
    from hatbox.engines.background.opened_tabs import OpenedTabs
    from hatbox.engines.chromium.chromium_runner import ChromiumRunner
    from hatbox.engines.hiding import HideReport
    from hatbox.engines.lease import Holder
    from hatbox.engines.selection import EngineSelection
    from hatbox.formats.base import Bundle, ImportReport

__all__ = ["Profile", "default_path", "open"]

Runner = TypeVar("Runner", bound=EngineRunner)


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
        self.tabs = Tabs(store)
        """The tabs and windows, of all identities."""
        self._engines: list[EngineRunner] = []
        self.clock = Clock()
        """The time that extensions go by; a test can move it."""
        self.web_requests = RequestEvents(self.clock.time)
        """The requests of the pages in tabs: what engines in this process make, and who listens."""
        messages = MessageRouter(self.tabs.get)
        services = Services(
            store=store,
            identities=self.identities,
            cookies=self.cookies,
            tabs=self.tabs,
            requests=self.web_requests,
            clock=self.clock,
            folder=self.path.parent,
            messages=messages,
        )
        self._dispatcher = Dispatcher(services)
        cache = PackageCache(default_folder())
        self.extensions = Extensions(store, self._dispatcher, self.clock, messages, cache)
        """The extensions: those that are installed, and those that run here."""

    def browser(self, permissions: Iterable[str], caller_id: str = "script") -> Browser:
        """`browser` as a script with these permissions sees it.

        A match pattern, such as `https://*.site.example/*` or `<all_urls>`, is the permission for the hosts it matches.
        """
        if isinstance(permissions, str):
            raise TypeError(f"permissions must be a list of names, not the string {permissions!r}")
        return Browser(self._dispatcher, Caller(caller_id, permissions))

    async def cookie_store(self, identity: IdentityLike) -> CookieStore:
        """The cookies of an identity, named by its name, its id or itself; `firefox-default` is the store of none.

        An identity object whose name is not the one that its id has here raises IdentityMismatch.
        """
        if identity == DEFAULT_STORE:
            return await self.cookies.open(DEFAULT_STORE)
        return await self.cookies.open((await self.identities.resolve(identity)).cookie_store_id)

    def httpx(self, identity: IdentityLike, **options: Any) -> AsyncClient:
        """An httpx.AsyncClient that wears an identity for its life; `options` are those of httpx.AsyncClient.

        The identity is looked up when the client is entered or first used. The client's own jar stays empty.
        """
        with extra("httpx"):
            from hatbox.clients.httpx import async_client
        return async_client(IdentityBinding(self.identities, self.cookies, identity), options)

    def aiohttp(self, identity: IdentityLike, **options: Any) -> ClientSession:
        """An aiohttp.ClientSession that wears an identity for its life; `options` are those of aiohttp.ClientSession.

        The identity is looked up when the session is first used. The session's own jar stays empty.
        """
        with extra("aiohttp"):
            from hatbox.clients.aiohttp import session
        return session(IdentityBinding(self.identities, self.cookies, identity), options)

    def http_engine(
        self,
        *,
        timeout: float = 30.0,
        max_bytes: int = 16_000_000,
        max_redirects: int = 20,
        at_once: int = 32,
        **options: Any,
    ) -> EngineRunner:
        """The engine that needs no browser, to be used with `async with`: it asks for the pages of tabs over HTTP.

        `timeout` is in seconds and for a whole load, `max_bytes` of a page are read, and `at_once` loads are under way
        at a time. `options` are those of httpx.AsyncClient.
        """
        with extra("httpx"):
            from hatbox.engines.http.http_engine import HttpEngine, LoadLimits
        limits = LoadLimits(timeout=timeout, max_bytes=max_bytes, max_redirects=max_redirects, max_concurrent=at_once)
        engine = HttpEngine(self.identities, self.cookies, limits, options, self.web_requests, self.extensions.file_at)
        return self._register_engine(EngineRunner(engine, self._store, self.path))

    def _register_engine(self, runner: Runner) -> Runner:
        """An engine cannot outlive the profile: closing that stops it."""
        self._engines.append(runner)
        return runner

    def chromium(
        self,
        *,
        headless: bool = False,
        browser: str | os.PathLike[str] | None = None,
        indicator: bool | None = None,
        downloads: str | os.PathLike[str] | None = None,
    ) -> ChromiumRunner:
        """A Chromium that shows the tabs of this profile, to be used with `async with`: one window for each identity.

        `browser` is its path; without it that in $HATBOX_CHROMIUM, else one that is found on the machine. With
        `indicator`, the title and favicon of pages show the identity; default: if headed. `downloads`
        is the folder for them; without it yours, and when headless none: then they end with the browser.
        """
        try:
            from hatbox.engines.chromium.chromium_runner import ChromiumRunner
            from hatbox.engines.chromium.engine import ChromiumEngine
        except ModuleNotFoundError as error:
            if error.name != "playwright":
                raise
            raise MissingExtra("chromium", "Playwright, which controls Chromium,") from error
        engine = ChromiumEngine(
            self._store,
            self.cookies,
            self.identities,
            headless=headless,
            browser=browser,
            indicator=indicator,
            downloads=downloads,
            requests=self.web_requests,
        )
        return self._register_engine(ChromiumRunner(engine, self._store, self.path, self.identities, self.tabs))

    def engine(self, selection: EngineSelection) -> EngineRunner:
        """The selected engine, to be used with `async with`."""
        from hatbox.engines.selection import HTTP

        if selection.name == HTTP:
            return self.http_engine()
        indicator = None if selection.indicator else False
        return self.chromium(headless=selection.headless, browser=selection.browser, indicator=indicator)

    async def running_engine(self) -> Holder | None:
        """The engine that is running for this profile, in any process."""
        from hatbox.engines.lease import Lease

        return Lease(self.path).holder()

    @property
    def engine_log(self) -> EngineLog:
        """The log of the background engine of this profile."""
        from hatbox.engines.background.engine_log import EngineLog

        return EngineLog.beside(self.path)

    async def open_tabs(
        self,
        identity: IdentityLike,
        urls: str | Sequence[str] = BLANK,
        *,
        engine: str | EngineSelection | None = None,
        max_time: float = 60.0,
        on_progress: Callable[[bool], None] = lambda _: None,
    ) -> OpenedTabs:
        """Open tabs in an identity, and wait until their pages are loaded. A failed load is in `Tab.error`.

        Uses the running engine, or starts one in a background process, which exits after the last tab is closed.
        `engine` is chromium, http or an EngineSelection. Default: the running engine, or chromium.

        `on_progress` is called with whether an engine is ready. If the engine does not start, the tabs are closed
        again. Raises EngineError, EngineAlreadyRunning if another engine than `engine` is running, or TimeoutError
        after `max_time` seconds.
        """
        from hatbox.engines.background.background_engine import BackgroundEngine
        from hatbox.engines.background.tab_opener import TabOpener
        from hatbox.engines.lease import Lease
        from hatbox.engines.selection import EngineSelection

        selection = engine if isinstance(engine, EngineSelection) else EngineSelection(engine)
        background = BackgroundEngine(self.path, self.engine_log, selection)
        found = None if identity == DEFAULT_STORE else await self.identities.resolve(identity)
        opener = TabOpener(self.tabs, Lease(self.path), background, selection, found)
        return await opener.open([urls] if isinstance(urls, str) else urls, max_time, on_progress)

    async def hide_and_wait(self, identities: Sequence[IdentityLike]) -> HideReport:
        """Hide identities, and wait until the running engine has hidden their pages."""
        from hatbox.engines.hiding import HideReport, hide_and_wait

        found = [await self.identities.resolve(each) for each in identities]
        if await self.running_engine() is not None:
            return await hide_and_wait(self.tabs, self.identities, found)
        await asyncio.gather(*map(self.identities.hide, found))
        return HideReport([], [])

    async def import_bundle(
        self, bundle: Bundle, into: str | None = None, progress: Callable[[int], None] | None = None
    ) -> ImportReport:
        """Take in what a format of hatbox.formats has read: all of it or nothing, and the second time nothing more.

        With `into`, a name or an id, all cookies go to that identity. `progress` is told of numbers of cookies that
        are done, from another thread.
        """
        from hatbox.formats.bundle_transfer import import_bundle

        return await self._store.write(
            lambda each: import_bundle(each, bundle, cookie_time(each, time.time()), into, progress)
        )

    async def export_bundle(self, identities: Sequence[str] | None = None) -> Bundle:
        """These identities, by names or ids, with their cookies, for a format of hatbox.formats to write; or all."""
        from hatbox.formats.bundle_transfer import export_bundle

        return await self._store.read(lambda each: export_bundle(each, cookie_time(each, time.time()), identities))

    async def close(self) -> None:
        """Stop its extensions and its engine, finish what is under way, let go of the file. Twice is no error."""
        try:
            await self.extensions.close()
            for engine in self._engines:
                await engine.stop()
            await self.cookies.close()
        finally:
            await self._store.close()

    async def __aenter__(self) -> Profile:
        await self._store.open()
        try:
            await self.extensions.adopt()
        except BaseException:
            await self._store.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __await__(self) -> Generator[object, None, Profile]:
        return self.__aenter__().__await__()

    def __repr__(self) -> str:
        return f"<hatbox profile {self.path}>"
