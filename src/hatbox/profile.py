"""Profile: the result of hatbox.open(). Creates the services of a profile, its engines and HTTP clients.

A service is imported and created when it is first used: most programs, and most commands, use few of them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache, cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

from hatbox.extension_data.outdated_records import has_outdated
from hatbox.identities.clean_up import CleanUp, clean_up
from hatbox.identities.service import Identities
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity, IdentityLike
from hatbox.identity.settings import IdentitySettings, SettingValue
from hatbox.store.base import Store
from hatbox.store.registry import Address, default_address, store_at
from hatbox.tabs.tab_model import BLANK
from hatbox.tasks import AsyncOnly

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from httpx import AsyncClient

    from hatbox.activity_log.activity_service import ActivityLog
    from hatbox.api.browser import Browser
    from hatbox.api.content_script_registry import ContentScriptRegistry
    from hatbox.api.dispatcher import Dispatcher
    from hatbox.api.namespace import Namespace
    from hatbox.api.services import Services
    from hatbox.archive.backup import BackupReport
    from hatbox.archive.restore_report import RestoreReport
    from hatbox.clients.identity_binding import IdentityBinding
    from hatbox.clock import Clock
    from hatbox.cookies.cookie_stores import CookieStore, CookieStores
    from hatbox.downloads.download_list import Downloads
    from hatbox.engines.background.engine_log import EngineLog
    from hatbox.engines.background.engine_starts import EngineStarts
    from hatbox.engines.background.opened_tabs import OpenedTabs
    from hatbox.engines.chromium.chromium_runner import ChromiumRunner
    from hatbox.engines.chromium.scripted_browser import PageScripts
    from hatbox.engines.hiding import HideReport
    from hatbox.engines.registry import EngineServices
    from hatbox.engines.runner import EngineRunner
    from hatbox.engines.running_engines import RunningEngine
    from hatbox.engines.selection import EngineSelection
    from hatbox.extensions.service import Extensions
    from hatbox.formats.base import Bundle, ImportReport
    from hatbox.formats.rule_bundle import RuleBundle, RuleImportReport
    from hatbox.grants.grant_service import Grants
    from hatbox.history.history_service import History
    from hatbox.identities.identity_sites import IdentitySite
    from hatbox.identities.temporary import TemporaryIdentities
    from hatbox.identities.trash import Trash
    from hatbox.identity.palette import Color, Icon
    from hatbox.messaging.message_router import MessageRouter
    from hatbox.schema import NamespaceSchema
    from hatbox.site_rules.service import SiteRules
    from hatbox.store.profile_settings import ProfileSettings
    from hatbox.tabs import Tab
    from hatbox.tabs.service import Tabs
    from hatbox.web_requests import RequestEvents

__all__ = ["Profile", "default_address", "open"]

Runner = TypeVar("Runner", bound="EngineRunner")


def open(  # noqa: A001 - hatbox.open() reads as it should
    address: Address | None = None,
    *,
    create: bool = True,
    keep_session_cookies: bool = True,
    key: str | None = None,
) -> Profile:
    """The profile at a path or URL, for `async with`. It is created, with four identities, if it does not exist.

    With `create=False`, ProfileNotFound is raised instead: for an address that a person has typed. `key` is the key of
    an encrypted profile, in base64. Default: $HATBOX_KEY, or the file $HATBOX_KEY_FILE.
    """
    return Profile(address, create=create, keep_session_cookies=keep_session_cookies, key=key)


class Profile(AsyncOnly):
    """Identities with their cookies, tabs and extension data. Many programs can use one profile at once.

    Use it with `async with`, or await it and call `close()` yourself.
    """

    def __init__(
        self,
        address: Address | None = None,
        *,
        create: bool = True,
        keep_session_cookies: bool = True,
        key: str | None = None,
    ) -> None:
        store = self._store = store_at(default_address() if address is None else address)
        store.create = create
        if key is not None:
            from hatbox.store.keys import Key

            store.key = Key.parse(key)
        self._keep_session_cookies = keep_session_cookies
        self._engines: list[EngineRunner] = []
        self.identities = Identities(store)
        """The identities, for Python: typed, in snake_case."""
        self._clean_up = CleanUp(store)

    @cached_property
    def trash(self) -> Trash:
        """The removed identities, until they expire."""
        from hatbox.identities.trash import Trash

        return Trash(self._store)

    @cached_property
    def history(self) -> History:
        """The visited pages, if they are recorded: see ProfileSettings.history."""
        from hatbox.history.history_service import History

        return History(self._store)

    @cached_property
    def grants(self) -> Grants:
        """The capabilities that were given to programs: each for some identities, hosts and actions, and for a time."""
        from hatbox.grants.grant_service import Grants

        return Grants(self._store)

    @cached_property
    def activity_log(self) -> ActivityLog:
        """What programs did with identities: for grants always, and for identities whose setting is on."""
        from hatbox.activity_log.activity_service import ActivityLog

        return ActivityLog(self._store, lambda grant_id, host: self.grants.pattern_of(grant_id, host))

    @cached_property
    def _temporary(self) -> TemporaryIdentities:
        from hatbox.identities.temporary import TemporaryIdentities

        return TemporaryIdentities(self._store)

    @cached_property
    def rules(self) -> SiteRules:
        """The rules that assign URLs to identities."""
        from hatbox.site_rules.service import SiteRules

        return SiteRules(self._store)

    @cached_property
    def cookies(self) -> CookieStores:
        """The cookie stores: one for each identity, and `firefox-default`."""
        from hatbox.cookies.cookie_stores import CookieStores

        return CookieStores(self._store, self.clock, keep_session_cookies=self._keep_session_cookies)

    @cached_property
    def tabs(self) -> Tabs:
        """The tabs and windows of all identities."""
        from hatbox.tabs.service import Tabs

        return Tabs(self._store)

    @cached_property
    def clock(self) -> Clock:
        """The clock of extensions. A test can advance it."""
        from hatbox.clock import Clock

        return Clock(self._store.time)

    @cached_property
    def web_requests(self) -> RequestEvents:
        """The requests that engines of this process send for the pages of tabs, and their listeners."""
        from hatbox.web_requests import RequestEvents

        return RequestEvents(self.clock.time)

    @cached_property
    def extensions(self) -> Extensions:
        """The installed extensions, and those that run in this process."""
        from hatbox.extensions.package.package_cache import PackageCache, default_folder
        from hatbox.extensions.service import Extensions

        cache = PackageCache(default_folder())
        return Extensions(self._store, self._dispatcher, self.clock, self._messages, cache)

    @cached_property
    def downloads(self) -> Downloads:
        """The downloads of extensions that run in this process, and their folder: by default that of the user."""
        import platformdirs

        from hatbox.clients.download_source import HttpxDownloadSource
        from hatbox.downloads.download_list import Downloads

        source = HttpxDownloadSource(lambda identity, timeout: self.httpx(identity, timeout=timeout))
        return Downloads(Path(platformdirs.user_downloads_dir()), source, self.clock.time)

    @cached_property
    def _messages(self) -> MessageRouter:
        from hatbox.messaging.message_router import MessageRouter

        return MessageRouter(self.tabs.get)

    @cached_property
    def _content_scripts(self) -> ContentScriptRegistry:
        from hatbox.api.content_script_registry import ContentScriptRegistry

        return ContentScriptRegistry()

    @cached_property
    def _dispatcher(self) -> Dispatcher:
        from hatbox.api.dispatcher import Dispatcher
        from hatbox.api.services import Services

        services = Services(
            store=self._store,
            identities=self.identities,
            cookies=self.cookies,
            tabs=self.tabs,
            requests=self.web_requests,
            clock=self.clock,
            messages=self._messages,
            content_scripts=self._content_scripts,
            downloads=self.downloads,
        )
        return Dispatcher(services, self._implement_for_manager)

    def _implement_for_manager(self, schema: NamespaceSchema, services: Services) -> Namespace:
        from hatbox.manager_api import implement

        return implement(schema, services, self)

    @property
    def store(self) -> Store:
        """The store: transactions, the change log, leases. For programs that extend Hatbox."""
        return self._store

    @property
    def address(self) -> str:
        """The address that opens this profile: an absolute path, or a URL. May contain a password."""
        return self._store.address

    @property
    def label(self) -> str:
        """The profile's name in messages and logs. Contains no password."""
        return self._store.label

    @overload
    def browser(self, permissions: Iterable[str], caller_id: str = "script") -> Browser: ...

    @overload
    def browser(self, *, grant: str) -> Coroutine[Any, Any, Browser]: ...

    def browser(
        self, permissions: Iterable[str] | None = None, caller_id: str = "script", *, grant: str | None = None
    ) -> Browser | Coroutine[Any, Any, Browser]:
        """The `browser` object of a script with these permissions.

        A match pattern, such as `https://*.site.example/*` or `<all_urls>`, is a host permission.

        With the token of a grant instead: `await profile.browser(grant=token)` returns the `browser` of the grantee.
        Each call is checked against the grant, and recorded in the activity log. Raises GrantRefused.
        """
        if grant is not None:
            if permissions is not None:
                raise TypeError("specify one of permissions and grant")
            return self._browser_of_grant(grant)
        if permissions is None:
            raise TypeError("permissions must be a list of names")
        if isinstance(permissions, str):
            raise TypeError(f"permissions must be a list of names, not the string {permissions!r}")
        from hatbox.api.browser import Browser
        from hatbox.api.caller import Caller

        return Browser(self._dispatcher, Caller(caller_id, permissions))

    async def _browser_of_grant(self, token: str) -> Browser:
        from hatbox.api.browser import Browser
        from hatbox.api.grant_caller import GrantCaller
        from hatbox.grants.recorded_verification import verify_recorded

        grant = await verify_recorded(self.grants, self.activity_log, token)
        caller = GrantCaller(grant, self.grants, self.activity_log, self.rules, self._store)
        return Browser(self._dispatcher, caller)

    async def cookie_store(self, identity: IdentityLike) -> CookieStore:
        """The cookie store of an identity, given by name, id or object; `firefox-default` is the default store.

        Raises IdentityMismatch if the object has another name than the identity with its id.
        """
        if identity == DEFAULT_COOKIE_STORE_ID:
            return await self.cookies.open(DEFAULT_COOKIE_STORE_ID)
        return await self.cookies.open((await self.identities.resolve(identity)).cookie_store_id)

    def httpx(self, identity: IdentityLike, **options: Any) -> AsyncClient:
        """An httpx.AsyncClient bound to an identity; `options` are those of httpx.AsyncClient.

        The identity is resolved when the client is entered or first used. The client's own jar stays empty.
        """
        from hatbox.clients.identity_binding import require_extra

        with require_extra("httpx"):
            from hatbox.clients.httpx import async_client
        return async_client(self._bound_to(identity), options)

    def _bound_to(self, identity: IdentityLike) -> IdentityBinding:
        """The binding of a client. Its requests are in the activity log, if those of the identity are recorded."""
        from hatbox.clients.identity_binding import IdentityBinding

        return IdentityBinding(self.identities, self.cookies, identity, self._record_request)

    def _record_request(self, cookie_store_id: str, host: str) -> None:
        """Record that a client of this process sends a request as an identity."""
        self.activity_log.record_request(cookie_store_id, host)

    async def granted_httpx(self, token: str, identity: str | None = None, **options: Any) -> AsyncClient:
        """An httpx.AsyncClient for a program with a grant: bound to an identity of the grant, given by cookieStoreId.

        Each request, also of each redirect, is checked against the grant, and recorded. Responses have no Set-Cookie
        without `cookieValues`. Some options of httpx.AsyncClient are allowed. Raises GrantRefused or PermissionDenied.
        """
        from hatbox.clients.identity_binding import IdentityBinding, require_extra
        from hatbox.grants.recorded_verification import verify_recorded

        with require_extra("httpx"):
            from hatbox.clients.granted_httpx import GrantedRequests, restrict
            from hatbox.clients.httpx import async_client

        grant = await verify_recorded(self.grants, self.activity_log, token)
        requests = GrantedRequests(grant, self.grants, self.activity_log, identity, options)
        # Does not record its requests: each has an entry of the grant.
        binding = IdentityBinding(self.identities, self.cookies, requests.identity)
        return restrict(async_client(binding, requests.options, is_named=grant.names), requests)

    async def identity_for(self, url: str) -> ContextualIdentity | None:
        """The identity that the rules assign to a URL; None without a rule, or if the rule names the default store.

        Raises IdentityNotChosen if the rule lets the user choose between several identities.
        """
        from hatbox.identities.identity_choice import IdentityChooser

        return await IdentityChooser(self.identities, self.rules).identity_for(url)

    def httpx_auto(self, *, default: IdentityLike | None = None, **options: Any) -> AsyncClient:
        """An httpx.AsyncClient whose requests each use the identity of their URL; redirects stay in theirs.

        Without a rule, a request uses `default`, such as `firefox-default`, or raises NoSiteRule. A rule that asks
        raises IdentityNotChosen. Both are raised before anything is sent. `options` are those of httpx.AsyncClient.
        """
        from hatbox.clients.identity_binding import require_extra

        with require_extra("httpx"):
            from hatbox.clients.httpx_auto import auto_async_client
        from hatbox.identities.identity_choice import IdentityChooser

        chooser = IdentityChooser(self.identities, self.rules, default)
        return auto_async_client(chooser.choose, lambda identity: self.httpx(identity, **options), options)

    def aiohttp(self, identity: IdentityLike, **options: Any) -> ClientSession:
        """An aiohttp.ClientSession bound to an identity; `options` are those of aiohttp.ClientSession.

        The identity is resolved when the session is first used. The session's own jar stays empty.
        """
        from hatbox.clients.identity_binding import require_extra

        with require_extra("aiohttp"):
            from hatbox.clients.aiohttp import session
        return session(self._bound_to(identity), options)

    def http_engine(
        self,
        *,
        timeout: float = 30.0,
        max_bytes: int = 16_000_000,
        max_redirects: int = 20,
        max_concurrent: int = 32,
        identities: IdentityLike | Sequence[IdentityLike] | None = None,
        **options: Any,
    ) -> EngineRunner:
        """The engine without a browser, for `async with`: it requests the pages of tabs over HTTP.

        `timeout` is in seconds, for a whole load. At most `max_bytes` of a page are read, and at most `max_concurrent`
        pages load at a time. With `identities`, it opens only their tabs; see EngineRunner. `options` are those of
        httpx.AsyncClient.
        """
        from hatbox.engines.http.registration import create_http

        limits = {
            "timeout": timeout,
            "max_bytes": max_bytes,
            "max_redirects": max_redirects,
            "max_concurrent": max_concurrent,
        }
        return self._register_engine(create_http(self._engine_services(), limits, options, identities))

    def chromium(
        self,
        *,
        headless: bool = False,
        browser: str | os.PathLike[str] | None = None,
        indicator: bool | None = None,
        downloads: str | os.PathLike[str] | None = None,
        identities: IdentityLike | Sequence[IdentityLike] | None = None,
        attach: bool = True,
    ) -> ChromiumRunner:
        """A Chromium with the tabs of this profile, for `async with`. Each identity has its own window.

        `browser` is the path of Chromium. Default: $HATBOX_CHROMIUM, or an installed browser. `indicator` shows the
        name, color and icon of the identity on pages. Default: in headed mode. `downloads` is the
        folder for downloads. Default: that of the user; in headless mode, downloads are deleted with the browser. With
        `identities`, it opens only their tabs; see EngineRunner.

        If another program of this user on this machine runs a Chromium for these identities, with options that agree,
        this program attaches to it: its pages open in that browser. If the options differ, it takes `identities` over
        from an engine for all identities that has no windows and no endpoints of them, or raises EngineBusy. With
        `attach=False`, it never attaches: it takes `identities` over, or raises EngineAlreadyRunning.
        """
        from hatbox.engines.chromium.registration import create_chromium

        return self._register_engine(
            create_chromium(
                self._engine_services(),
                headless=headless,
                browser=browser,
                indicator=indicator,
                downloads=downloads,
                identities=identities,
                attach=attach,
            )
        )

    def engine(
        self, selection: str | EngineSelection, *, identities: IdentityLike | Sequence[IdentityLike] | None = None
    ) -> EngineRunner:
        """The engine with this name, or an EngineSelection, for `async with`. Names: see hatbox.engines.registry.

        With `identities`, it opens only their tabs; see EngineRunner.
        """
        from hatbox.engines.registry import create_engine
        from hatbox.engines.selection import EngineSelection

        selected = EngineSelection(selection) if isinstance(selection, str) else selection
        if identities is not None:
            several = (identities,) if isinstance(identities, (str, ContextualIdentity)) else tuple(identities)
            selected = msgspec.structs.replace(selected, identities=several)
        return self._register_engine(create_engine(self._engine_services(), selected))

    def _engine_services(self) -> EngineServices:
        from hatbox.engines.endpoint_grants import EndpointGrants
        from hatbox.engines.registry import EngineServices
        from hatbox.extensions.action_buttons import ActionButtons

        return EngineServices(
            store=self._store,
            identities=self.identities,
            cookies=self.cookies,
            tabs=self.tabs,
            rules=self.rules,
            web_requests=self.web_requests,
            read_extension_file=self.extensions.file_at,
            buttons=ActionButtons(self._store, self.extensions.file_at),
            create_page_scripts=self._create_page_scripts,
            hosted_pages=self.extensions.page_tabs,
            downloads=self.downloads,
            endpoint_grants=EndpointGrants(lambda: self.grants, lambda: self.activity_log).for_identity,
        )

    def _create_page_scripts(self) -> PageScripts:
        from hatbox.extensions.content_scripts.chromium_content_scripts import ChromiumContentScripts

        return ChromiumContentScripts(self._content_scripts, self._dispatcher, self._messages)

    def _register_engine(self, runner: Runner) -> Runner:
        """Stop this engine when the profile is closed."""
        self._engines.append(runner)
        return runner

    async def running_engines(self) -> list[RunningEngine]:
        """The engines that are running for this profile, in any process and on any machine."""
        from hatbox.engines.running_engines import running_engines

        return await running_engines(self._store)

    async def running_engine(self, identity: IdentityLike) -> RunningEngine | None:
        """The engine that opens the tabs of an identity, in any process; None if no engine does."""
        from hatbox.engines.running_engines import engine_for

        is_default = identity == DEFAULT_COOKIE_STORE_ID
        found = DEFAULT_COOKIE_STORE_ID if is_default else (await self.identities.resolve(identity)).cookie_store_id
        return await engine_for(self._store, found)

    @property
    def engine_log(self) -> EngineLog:
        """The log of the background engine of this profile."""
        from hatbox.engines.background.engine_log import EngineLog

        return EngineLog.of(self._store)

    async def open_tabs(
        self,
        identity: IdentityLike,
        urls: str | Sequence[str] = BLANK,
        *,
        engine: str | EngineSelection | None = None,
        max_time: float = 60.0,
        on_progress: Callable[[bool], None] = lambda _: None,
        on_opened: Callable[[Sequence[Tab]], None] = lambda _: None,
    ) -> OpenedTabs:
        """Open tabs in an identity, and wait until their pages are loaded. A failed load is in `Tab.error`.

        Uses the running engine, or starts one in a background process, which exits after the last tab is closed.
        `engine` is chromium, http or an EngineSelection. Default: the running engine, or chromium.

        `on_opened` is called with the tabs, before their pages load, and then `on_progress` with whether an engine is
        ready. If the engine does not start, the tabs are closed again. Raises EngineError, EngineAlreadyRunning if
        another engine than `engine` is running, or TimeoutError after `max_time` seconds.
        """
        from hatbox.engines.background.background_engine import BackgroundEngine
        from hatbox.engines.background.tab_opener import TabOpener
        from hatbox.engines.registry import registration_of
        from hatbox.engines.selection import EngineSelection

        selection = engine if isinstance(engine, EngineSelection) else EngineSelection(engine)
        registration_of(selection.name)  # raises for an unknown engine, before tabs are opened
        background = BackgroundEngine(self.address, self.engine_log, selection, self._store.key)
        found = None if identity == DEFAULT_COOKIE_STORE_ID else await self.identities.resolve(identity)
        opener = TabOpener(self.tabs, self._store, background, selection, found)
        return await opener.open([urls] if isinstance(urls, str) else urls, max_time, on_progress, on_opened)

    @cached_property
    def engine_starts(self) -> EngineStarts:
        """The background engines that this process starts without waiting for them."""
        from hatbox.engines.background.background_engine import BackgroundEngine
        from hatbox.engines.background.engine_starts import EngineStarts

        def create(selection: EngineSelection, until_empty: bool) -> BackgroundEngine:
            key = self._store.key
            return BackgroundEngine(self.address, self.engine_log, selection, key, until_empty=until_empty)

        return EngineStarts(self._store, self.open_tabs, create)

    def temporary(
        self, name: str | None = None, *, color: Color = "gray", icon: Icon = "chill"
    ) -> AbstractAsyncContextManager[ContextualIdentity]:
        """An identity for `async with`, removed for ever at the end, with its tabs, cookies and site data. No trash.

        If this program is killed, the next one that opens the profile removes it. Default name: Temporary and a number.
        """
        return self._temporary.open(name, color, icon)

    async def create_temporary(
        self, name: str | None = None, *, color: Color = "gray", icon: Icon = "chill"
    ) -> ContextualIdentity:
        """Create an identity that is removed for ever with its last tab. No trash.

        If it has no tab when this profile is closed, it is removed then.
        """
        return await self._temporary.create(name, color, icon)

    async def settings(self) -> ProfileSettings:
        """The settings of the profile itself."""
        from hatbox.store.profile_settings import read_profile_settings

        return await self._store.read(read_profile_settings)

    async def set_settings(self, **changed: int | bool | str) -> ProfileSettings:
        """Change settings of the profile, by name; see ProfileSettings. Raises ValueError, and changes nothing."""
        from hatbox.store.profile_settings import ProfileSettings, write_profile_settings

        unknown = changed.keys() - set(ProfileSettings.__struct_fields__)
        if unknown:
            names = ", ".join(ProfileSettings.__struct_fields__)
            raise TypeError(f"unknown setting: {', '.join(sorted(unknown))}. Allowed names: {names}")
        settings = await self._store.write(lambda each: write_profile_settings(each, changed))
        await clean_up(self._store, at_once="trash_days" in changed)  # a lower limit applies at once
        return settings

    async def hide_and_wait(self, identities: IdentityLike | Sequence[IdentityLike]) -> HideReport:
        """Hide one or several identities, and wait until the running engines have hidden their pages."""
        from hatbox.engines.hiding import HideReport, hide_and_wait

        several = [identities] if isinstance(identities, (str, ContextualIdentity)) else identities
        found = [await self.identities.resolve(each) for each in several]
        served = [each for each in found if await self.running_engine(each) is not None]
        others = asyncio.gather(*(self.identities.hide(each) for each in found if each not in served))
        report = await hide_and_wait(self.tabs, self.identities, served) if served else HideReport([], [])
        await others
        return report

    async def change_identity_settings(
        self,
        identity: IdentityLike,
        *,
        force: bool = False,
        proxy: SettingValue = msgspec.UNSET,
        user_agent: SettingValue = msgspec.UNSET,
        locale: SettingValue = msgspec.UNSET,
        timezone: SettingValue = msgspec.UNSET,
    ) -> IdentitySettings:
        """Change settings of an identity, as identities.set_settings does, unless an open browser would lose input.

        A browser opens the pages of the identity anew. Typed text that it cannot save raises InputWouldBeLost, and
        nothing is changed. `force` changes the settings nevertheless.
        """
        from hatbox.engines.settings_change import change_settings

        found = await self.identities.resolve(identity)
        given: dict[str, SettingValue] = {
            "proxy": proxy,
            "user_agent": user_agent,
            "locale": locale,
            "timezone": timezone,
        }
        return await change_settings(self._store, self.identities, found, given, force=force)

    async def import_bundle(
        self, bundle: Bundle, into: str | None = None, progress: Callable[[int], None] | None = None
    ) -> ImportReport:
        """Import what a format of hatbox.formats has read. Atomic; importing the same bundle again changes nothing.

        With `into`, a name or an id, everything goes to that identity. `progress` is called with numbers of cookies,
        which add up to those of the bundle. Site data of an identity that a browser is running with is skipped.
        """
        from hatbox.cookies.cookie_clock import cookie_time
        from hatbox.engines.site_data_holders import SiteDataHolders
        from hatbox.formats.bundle_transfer import import_bundle
        from hatbox.formats.import_progress import ImportProgress

        merged = ImportProgress(progress or (lambda _: None))
        has_site_data = any(entry.site_data for entry in bundle.entries)
        running = SiteDataHolders(await self.running_engines() if has_site_data else [])
        now = self._store.time()
        return await merged.follow(
            self._store.write(lambda each: import_bundle(each, bundle, cookie_time(each, now), into, merged, running))
        )

    async def import_rules(
        self, bundle: RuleBundle, *, create: bool = False, replace: bool = False
    ) -> RuleImportReport:
        """Import site rules of another program. Atomic; importing the same bundle again changes nothing.

        With `create`, identities that do not exist are created. With `replace`, rules with the same pattern are
        replaced; otherwise they stay, and the report names them.
        """
        from hatbox.formats.rule_transfer import import_rules

        return await self._store.write(
            lambda transaction: import_rules(transaction, bundle, create=create, replace=replace)
        )

    async def extension_rules(self, program: str) -> RuleBundle:
        """The site rules in the data of an extension of this profile: `mac` or `containerise`. For import_rules()."""
        from hatbox.formats.extension_rules import extension_rules

        return await self._store.read(lambda transaction: extension_rules(transaction, program))

    async def export_bundle(self, identities: Sequence[str] | None = None) -> Bundle:
        """These identities, by name or id, or all, with cookies and site data, for a format of hatbox.formats."""
        from hatbox.cookies.cookie_clock import cookie_time
        from hatbox.formats.bundle_transfer import export_bundle

        now = self._store.time()
        return await self._store.read(lambda each: export_bundle(each, cookie_time(each, now), identities))

    async def sites(self, identity: IdentityLike | None = None, *, host: str | None = None) -> list[IdentitySite]:
        """Who is signed in where: the sites of all identities, or of one, or the identities of one site.

        `host` is a host or a URL. By site, the identities that look signed in first. Reads no value of a cookie.
        """
        from hatbox.identities.identity_sites import find_sites

        return await self._store.read(lambda each: find_sites(each, self._store.time(), identity, host))

    async def backup(
        self,
        path: str | os.PathLike[str],
        identities: Sequence[str] | None = None,
        *,
        passphrase: str | None = None,
        plain: bool = False,
        overwrite: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> BackupReport:
        """Write everything, or these identities, by name, cookieStoreId or UUID, into one file, as of one commit.

        With a `passphrase`, the file is encrypted. The backup of an encrypted profile needs one, or `plain`. A file
        that exists is replaced only with `overwrite`. `progress` is called with the number of rows that were read, and
        of all. Raises ArchiveError.
        """
        from hatbox.archive.profile_archive import backup_profile

        return await backup_profile(
            self._store,
            Path(path),
            identities=_names(identities),
            passphrase=passphrase,
            plain=plain,
            overwrite=overwrite,
            progress=progress,
        )

    async def restore(
        self,
        path: str | os.PathLike[str],
        identities: Sequence[str] | None = None,
        *,
        passphrase: str | Callable[[], str] | None = None,
        plain: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> RestoreReport:
        """Restore a backup, or these of its identities, in one transaction. Others are not changed.

        Each restored identity is equal to the backup afterwards. A profile that was not changed since it was created
        becomes equal to a whole backup. A running browser closes the pages of an identity whose site data is replaced,
        and opens the restored ones. With `dry_run`, nothing is changed. Raises ArchiveError before anything changes:
        ArchiveDamaged, ArchiveTooNew, WrongPassphrase or NotInArchive.
        """
        from hatbox.archive.profile_archive import restore_profile
        from hatbox.engines.restoring import closed_pages

        names = _names(identities)
        ask = cache(passphrase) if callable(passphrase) else passphrase

        def restore(*, dry: bool) -> Coroutine[Any, Any, RestoreReport]:
            return restore_profile(
                self._store, Path(path), identities=names, passphrase=ask, plain=plain, dry_run=dry, progress=progress
            )

        if dry_run or not await self.running_engines():
            return await restore(dry=dry_run)
        async with closed_pages(self._store, self.tabs, self.identities, await restore(dry=True)):
            return await restore(dry=False)

    async def close(self) -> None:
        """Stop the extensions and engines, finish pending calls, and close the store. May be called twice."""
        try:
            await self._clean_up.stop()
            created = vars(self)  # only services that were used have anything to close
            if "engine_starts" in created:
                await self.engine_starts.close()
            if "extensions" in created:
                await self.extensions.close()
            if "downloads" in created:
                await self.downloads.close()
            if "grants" in created:
                self.grants.close()
            for engine in self._engines:
                await engine.stop()
            if "_temporary" in created:
                await self._temporary.close()
            if "rules" in created:
                self.rules.forget()
            if "cookies" in created:
                await self.cookies.close()
            if "activity_log" in created:
                await self.activity_log.close()
            await self.identities.log_scrubs.finish()
        finally:
            self.identities.settings_cache.clear()
            await self._store.close()

    async def save(self) -> None:
        """Write what is only in memory: entries of the activity log, and when cookies were last used.

        All else is durable when its call has returned. `close` does this too.
        """
        created = vars(self)
        if "activity_log" in created:
            await self.activity_log.flush()
        if "cookies" in created:
            await self.cookies.flush()

    async def __aenter__(self) -> Profile:
        await self._store.open()
        try:
            if await self._store.read(has_outdated):
                await self.extensions.adopt()
            await self._clean_up.start()
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
        return f"<hatbox profile {self.label}>"


def _names(identities: Sequence[str] | None) -> list[str] | None:
    if isinstance(identities, str):
        raise TypeError(f"identities must be a list of names, not the string {identities!r}")
    return None if identities is None else list(identities)
