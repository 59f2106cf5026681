"""SyncProfile: a profile for programs without an event loop."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from hatbox.clients.identity_binding import IdentityBinding, SyncIdentityBinding, require_extra
from hatbox.identities.identity_choice import IdentityChooser
from hatbox.identity.model import ContextualIdentity, IdentityLike
from hatbox.identity.settings import IdentitySettings, SettingValue
from hatbox.profile import Profile
from hatbox.store.registry import Address
from hatbox.sync.activity_log import SyncActivityLog
from hatbox.sync.chromium import SyncChromium
from hatbox.sync.cookies import SyncCookieStore, SyncCookieStores
from hatbox.sync.grants import SyncGrants
from hatbox.sync.history import SyncHistory
from hatbox.sync.identities import SyncIdentities
from hatbox.sync.loop_thread import LoopThread
from hatbox.sync.site_rules import SyncSiteRules
from hatbox.sync.tabs import SyncTabs
from hatbox.sync.trash import SyncTrash
from hatbox.tabs.tab_model import BLANK

if TYPE_CHECKING:
    from urllib.request import BaseHandler, OpenerDirector

    from httpx import Client
    from requests import Session

    from hatbox.archive.backup import BackupReport
    from hatbox.archive.restore_report import RestoreReport
    from hatbox.engines.background.opened_tabs import OpenedTabs
    from hatbox.engines.hiding import HideReport
    from hatbox.engines.running_engines import RunningEngine
    from hatbox.engines.selection import EngineSelection
    from hatbox.formats.base import Bundle, ImportReport
    from hatbox.formats.rule_bundle import RuleBundle, RuleImportReport
    from hatbox.identities.identity_sites import IdentitySite
    from hatbox.identity.palette import Color, Icon
    from hatbox.store.profile_settings import ProfileSettings

__all__ = ["SyncProfile", "open_sync"]


def open_sync(
    address: Address | None = None,
    *,
    create: bool = True,
    keep_session_cookies: bool = True,
    key: str | None = None,
) -> SyncProfile:
    """Open a profile without an event loop, with `with`. The arguments are those of `hatbox.open`."""
    return SyncProfile(address, create=create, keep_session_cookies=keep_session_cookies, key=key)


class SyncProfile:
    """A profile without an event loop: calls return when they are done. Safe to use from several threads."""

    def __init__(
        self,
        address: Address | None = None,
        *,
        create: bool = True,
        keep_session_cookies: bool = True,
        key: str | None = None,
    ) -> None:
        self._profile = Profile(address, create=create, keep_session_cookies=keep_session_cookies, key=key)
        self._loop = LoopThread(self._profile.label)
        self.identities = SyncIdentities(self._profile.identities, self._loop)
        """The identities."""
        self.rules = SyncSiteRules(self._profile.rules, self._loop)
        """The rules that assign URLs to identities."""
        self.tabs = SyncTabs(self._profile.tabs, self._loop)
        """The tabs and windows of all identities."""
        self.trash = SyncTrash(self._profile.trash, self._loop)
        """The removed identities, until they expire."""
        self.history = SyncHistory(self._profile.history, self._loop)
        """The visited pages, if they are recorded."""
        self.cookies = SyncCookieStores(self._profile.cookies, self._loop)
        """The cookie stores: one for each identity, and `firefox-default`."""

    @cached_property
    def grants(self) -> SyncGrants:
        """The capabilities that were given to programs."""
        return SyncGrants(self._profile.grants, self._loop)

    @cached_property
    def activity_log(self) -> SyncActivityLog:
        """What programs did with identities: for grants always, and for identities whose setting is on."""
        return SyncActivityLog(self._profile.activity_log, self._loop)

    @property
    def address(self) -> str:
        """The address that opens this profile: an absolute path, or a URL. May contain a password."""
        return self._profile.address

    @property
    def label(self) -> str:
        """The profile's name in messages and logs. Contains no password."""
        return self._profile.label

    def open(self) -> SyncProfile:
        """Open the profile; `with` does it for you."""
        self._loop.start()
        try:
            self._loop.run(self._profile.__aenter__)
        except BaseException:
            self._loop.stop()
            raise
        return self

    def cookie_store(self, identity: IdentityLike) -> SyncCookieStore:
        """The cookie store of an identity: its name, cookieStoreId or object, or `firefox-default`."""
        return SyncCookieStore(self._loop.run(lambda: self._profile.cookie_store(identity)), self._loop)

    def chromium(
        self,
        *,
        headless: bool = False,
        browser: str | os.PathLike[str] | None = None,
        indicator: bool | None = None,
        downloads: str | os.PathLike[str] | None = None,
        identities: IdentityLike | Sequence[IdentityLike] | None = None,
        attach: bool = True,
    ) -> SyncChromium:
        """Chromium with the tabs of this profile, to be used with `with`. See Profile.chromium."""
        return SyncChromium(
            lambda: self._profile.chromium(
                headless=headless,
                browser=browser,
                indicator=indicator,
                downloads=downloads,
                identities=identities,
                attach=attach,
            ),
            self._loop,
        )

    def open_tabs(
        self,
        identity: IdentityLike,
        urls: str | Sequence[str] = BLANK,
        *,
        engine: str | EngineSelection | None = None,
        max_time: float = 60.0,
    ) -> OpenedTabs:
        """Open tabs in an identity, and wait until their pages are loaded. See Profile.open_tabs."""
        return self._loop.run(lambda: self._profile.open_tabs(identity, urls, engine=engine, max_time=max_time))

    def running_engines(self) -> list[RunningEngine]:
        """The engines that are running for this profile, in any process and on any machine."""
        return self._loop.run(self._profile.running_engines)

    def sites(self, identity: IdentityLike | None = None, *, host: str | None = None) -> list[IdentitySite]:
        """Who is signed in where. See Profile.sites."""
        return self._loop.run(lambda: self._profile.sites(identity, host=host))

    def hide_and_wait(self, identities: IdentityLike | Sequence[IdentityLike]) -> HideReport:
        """Hide one or several identities, and wait until the running engines have hidden their pages."""
        return self._loop.run(lambda: self._profile.hide_and_wait(identities))

    def settings(self) -> ProfileSettings:
        """The settings of the profile itself."""
        return self._loop.run(self._profile.settings)

    def set_settings(self, **changed: int | bool | str) -> ProfileSettings:
        """Change settings of the profile, by name. See Profile.set_settings."""
        return self._loop.run(lambda: self._profile.set_settings(**changed))

    @contextmanager
    def temporary(
        self, name: str | None = None, *, color: Color = "gray", icon: Icon = "chill"
    ) -> Iterator[ContextualIdentity]:
        """An identity for `with`, removed for ever at the end. See Profile.temporary."""
        opened = self._profile.temporary(name, color=color, icon=icon)
        identity = self._loop.run(opened.__aenter__)
        try:
            yield identity
        finally:
            self._loop.run(lambda: opened.__aexit__(None, None, None))

    def create_temporary(
        self, name: str | None = None, *, color: Color = "gray", icon: Icon = "chill"
    ) -> ContextualIdentity:
        """Create an identity that is removed for ever with its last tab. See Profile.create_temporary."""
        return self._loop.run(lambda: self._profile.create_temporary(name, color=color, icon=icon))

    def change_identity_settings(
        self,
        identity: IdentityLike,
        *,
        force: bool = False,
        proxy: SettingValue = msgspec.UNSET,
        user_agent: SettingValue = msgspec.UNSET,
        locale: SettingValue = msgspec.UNSET,
        timezone: SettingValue = msgspec.UNSET,
    ) -> IdentitySettings:
        """Change settings of an identity, unless a browser would lose input. See Profile.change_identity_settings."""
        return self._loop.run(
            lambda: self._profile.change_identity_settings(
                identity, force=force, proxy=proxy, user_agent=user_agent, locale=locale, timezone=timezone
            )
        )

    def httpx(self, identity: IdentityLike, **options: Any) -> Client:
        """An httpx.Client bound to an identity. `options` are those of httpx.Client."""
        with require_extra("httpx"):
            from hatbox.clients.httpx import client
        return client(self._bind(identity), options)

    def identity_for(self, url: str) -> ContextualIdentity | None:
        """The identity that the rules assign to a URL. See Profile.identity_for."""
        return self._loop.run(lambda: self._profile.identity_for(url))

    def httpx_auto(self, *, default: IdentityLike | None = None, **options: Any) -> Client:
        """An httpx.Client whose requests each use the identity of their URL. See Profile.httpx_auto."""
        with require_extra("httpx"):
            from hatbox.clients.httpx_auto import auto_client
        chooser = IdentityChooser(self._profile.identities, self._profile.rules, default)
        return auto_client(
            lambda url: self._loop.run(lambda: chooser.choose(url)),
            lambda identity: self.httpx(identity, **options),
            options,
        )

    def requests(self, identity: IdentityLike) -> Session:
        """A requests.Session bound to an identity, with any adapters that you mount."""
        with require_extra("requests"):
            from hatbox.clients.requests import session
        return session(self._bind(identity))

    def urllib(self, identity: IdentityLike, *handlers: BaseHandler | type[BaseHandler]) -> OpenerDirector:
        """A urllib opener bound to an identity. `handlers` are those of urllib.request.build_opener."""
        from hatbox.clients.urllib import opener

        return opener(self._bind(identity), handlers)

    def backup(
        self,
        path: str | os.PathLike[str],
        identities: Sequence[str] | None = None,
        *,
        passphrase: str | None = None,
        plain: bool = False,
        overwrite: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> BackupReport:
        """Write everything, or these identities, into one file. See Profile.backup."""
        return self._loop.run(
            lambda: self._profile.backup(
                path, identities, passphrase=passphrase, plain=plain, overwrite=overwrite, progress=progress
            )
        )

    def restore(
        self,
        path: str | os.PathLike[str],
        identities: Sequence[str] | None = None,
        *,
        passphrase: str | Callable[[], str] | None = None,
        plain: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> RestoreReport:
        """Restore a backup, or these of its identities, in one transaction. See Profile.restore."""
        return self._loop.run(
            lambda: self._profile.restore(
                path, identities, passphrase=passphrase, plain=plain, dry_run=dry_run, progress=progress
            )
        )

    def import_bundle(
        self, bundle: Bundle, into: str | None = None, progress: Callable[[int], None] | None = None
    ) -> ImportReport:
        """Import identities and cookies that a format of hatbox.formats has read. See Profile.import_bundle."""
        return self._loop.run(lambda: self._profile.import_bundle(bundle, into, progress))

    def import_rules(self, bundle: RuleBundle, *, create: bool = False, replace: bool = False) -> RuleImportReport:
        """Import site rules of another program. See Profile.import_rules."""
        return self._loop.run(lambda: self._profile.import_rules(bundle, create=create, replace=replace))

    def extension_rules(self, program: str) -> RuleBundle:
        """The site rules in the data of an extension of this profile. See Profile.extension_rules."""
        return self._loop.run(lambda: self._profile.extension_rules(program))

    def export_bundle(self, identities: Sequence[str] | None = None) -> Bundle:
        """Export identities, by name or id, with their cookies, for a format of hatbox.formats; by default all."""
        return self._loop.run(lambda: self._profile.export_bundle(identities))

    def _bind(self, identity: IdentityLike) -> SyncIdentityBinding:
        profile = self._profile
        bound = IdentityBinding(profile.identities, profile.cookies, identity, profile.activity_log.record_request)
        binding = SyncIdentityBinding(bound, self._loop.run)
        binding.open_cookie_store()
        return binding

    def close(self) -> None:
        """Finish pending calls and close the profile. Closing twice has no effect."""
        if self._loop.running:
            self._loop.run(self._profile.close)
            self._loop.stop()

    def __enter__(self) -> SyncProfile:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._profile)
