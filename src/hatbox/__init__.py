"""Hatbox, the identity layer for programs: named, colored, iconified identities, each with its own cookie store."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as type checkers know it: importing typing takes longer than this module
if TYPE_CHECKING:
    from typing import Any

    from hatbox.activity_log.activity_service import ActivityLog, RecordedAction
    from hatbox.api.browser import Browser
    from hatbox.archive.backup import BackupReport
    from hatbox.archive.identity_restore import RestoredIdentity
    from hatbox.archive.restore_report import RestoreReport
    from hatbox.clock import Clock
    from hatbox.cookies.cookie import ChangeCause, Cookie, CookieKey, JarChange, Partition, SameSite
    from hatbox.cookies.cookie_stores import CookieChange, CookieStore, CookieStores
    from hatbox.cookies.jar import Jar
    from hatbox.downloads.download_list import Downloads
    from hatbox.engines.background.engine_log import EngineLog
    from hatbox.engines.background.engine_starts import EngineStart, EngineStarts
    from hatbox.engines.background.opened_tabs import OpenedTabs
    from hatbox.engines.base import EngineOptions
    from hatbox.engines.chromium.chromium_runner import ChromiumRunner
    from hatbox.engines.chromium.endpoint.endpoint import Endpoint
    from hatbox.engines.hiding import HideReport
    from hatbox.engines.person_windows import OpenPersonWindow
    from hatbox.engines.runner import EngineRunner
    from hatbox.engines.running_engines import RunningEngine
    from hatbox.engines.selection import EngineSelection
    from hatbox.errors import *
    from hatbox.events import Event
    from hatbox.extension_data.extension_permissions import ExtensionPermissions, Permissions
    from hatbox.extension_data.installed_extensions import InstalledExtension
    from hatbox.extension_data.run_records import RunRecord
    from hatbox.extensions.extension import Extension
    from hatbox.extensions.extension_page import ExtensionPage
    from hatbox.extensions.installing import Installation
    from hatbox.extensions.package.stored_package import StoredPackage
    from hatbox.extensions.service import Extensions
    from hatbox.extensions.ui_triggers import ExtensionUi, TriggerResult
    from hatbox.formats.base import Bundle, BundleEntry, ImportKey, ImportReport, SiteData
    from hatbox.formats.rule_bundle import ContainerReference, ImportedRule, RuleBundle, RuleImportReport, SkippedRule
    from hatbox.grants.grant import Grant
    from hatbox.grants.grant_service import Grants
    from hatbox.history.history_service import History, VisitedPage
    from hatbox.identities.identity_sites import IdentitySite
    from hatbox.identities.removal_preview import RemovalPreview
    from hatbox.identities.service import Identities
    from hatbox.identities.trash import RemovedIdentity, RemovedLike, Trash
    from hatbox.identity.model import ContextualIdentity, IdentityLike
    from hatbox.identity.palette import Color, Icon
    from hatbox.identity.settings import IdentitySettings
    from hatbox.profile import Profile, default_address, open  # noqa: A004 - hatbox.open() reads as it should
    from hatbox.site_rules.service import SiteRules
    from hatbox.site_rules.site_rule import Decision, RuleMatch, SiteRule, UrlExplanation
    from hatbox.store.base import Store
    from hatbox.store.lease import LeaseHolder
    from hatbox.store.processes import ProcessId
    from hatbox.store.profile_settings import ProfileSettings
    from hatbox.sync import (
        SyncActivityLog,
        SyncChromium,
        SyncCookieStore,
        SyncCookieStores,
        SyncEvent,
        SyncGrants,
        SyncHistory,
        SyncIdentities,
        SyncProfile,
        SyncSiteRules,
        SyncTabs,
        SyncTrash,
        open_sync,
    )
    from hatbox.tabs.service import Tabs
    from hatbox.tabs.tab_model import (
        PageHidden,
        Tab,
        TabActivation,
        TabMove,
        TabPosition,
        TabRemoval,
        TabUpdate,
        Window,
    )
    from hatbox.web_requests import RequestEvents

__all__ = [
    "ActivityLog",
    "AlreadyInstalled",
    "AmbiguousIdentity",
    "AmbiguousImport",
    "ApiError",
    "ArchiveDamaged",
    "ArchiveError",
    "ArchiveTooNew",
    "ArgumentError",
    "BackupReport",
    "Browser",
    "Bundle",
    "BundleEntry",
    "ChangeCause",
    "ChromiumRunner",
    "Clock",
    "Color",
    "ContainerReference",
    "ContextualIdentity",
    "Cookie",
    "CookieChange",
    "CookieKey",
    "CookieRejected",
    "CookieStore",
    "CookieStores",
    "CookiesNotAllowed",
    "Decision",
    "DecryptionError",
    "DiskFull",
    "Downloads",
    "DuplicateIdentity",
    "Endpoint",
    "EngineAlreadyRunning",
    "EngineBusy",
    "EngineError",
    "EngineLeaseLost",
    "EngineLog",
    "EngineOptions",
    "EngineRunner",
    "EngineSelection",
    "EngineStart",
    "EngineStarts",
    "Event",
    "Extension",
    "ExtensionError",
    "ExtensionNotFound",
    "ExtensionPage",
    "ExtensionPermissions",
    "ExtensionTerminated",
    "ExtensionUi",
    "Extensions",
    "FirefoxProfileLocked",
    "Grant",
    "GrantError",
    "GrantExpired",
    "GrantNotFound",
    "GrantRefused",
    "GrantRevoked",
    "Grants",
    "HatboxError",
    "HideReport",
    "History",
    "Icon",
    "Identities",
    "IdentityExists",
    "IdentityLike",
    "IdentityMismatch",
    "IdentityNotChosen",
    "IdentityNotFound",
    "IdentityRemoved",
    "IdentitySettings",
    "IdentitySite",
    "IdsExhausted",
    "ImportExportError",
    "ImportKey",
    "ImportReport",
    "ImportedRule",
    "InputWouldBeLost",
    "Installation",
    "InstalledExtension",
    "InvalidColor",
    "InvalidGrant",
    "InvalidIcon",
    "InvalidIdentity",
    "InvalidInputFile",
    "InvalidKey",
    "InvalidName",
    "InvalidPosition",
    "InvalidSetting",
    "InvalidSiteRule",
    "InvalidTab",
    "InvalidWindow",
    "Jar",
    "JarChange",
    "LeaseHolder",
    "ManifestError",
    "MissingExtra",
    "NetworkError",
    "NoContainerNames",
    "NoSiteRule",
    "NotAProfile",
    "NotInArchive",
    "NotInTrash",
    "OpenPersonWindow",
    "OpenedTabs",
    "PackageError",
    "PageHidden",
    "Partition",
    "PermissionDenied",
    "Permissions",
    "ProcessId",
    "Profile",
    "ProfileClosed",
    "ProfileCorrupt",
    "ProfileError",
    "ProfileLocked",
    "ProfileNotFound",
    "ProfileReadOnly",
    "ProfileSettings",
    "ProfileTooNew",
    "ProfileUnavailable",
    "RecordedAction",
    "RemovalPreview",
    "RemovedIdentity",
    "RemovedLike",
    "RequestEvents",
    "RestoreReport",
    "RestoredIdentity",
    "RuleBundle",
    "RuleImportReport",
    "RuleMatch",
    "RunRecord",
    "RunningEngine",
    "SameSite",
    "SandboxUnavailable",
    "ScriptError",
    "SettingNotSupported",
    "SiteData",
    "SiteRule",
    "SiteRuleError",
    "SiteRuleExists",
    "SiteRuleNotFound",
    "SiteRules",
    "SkippedRule",
    "Store",
    "StoredPackage",
    "SyncActivityLog",
    "SyncChromium",
    "SyncCookieStore",
    "SyncCookieStores",
    "SyncEvent",
    "SyncGrants",
    "SyncHistory",
    "SyncIdentities",
    "SyncProfile",
    "SyncSiteRules",
    "SyncTabs",
    "SyncTrash",
    "Tab",
    "TabActivation",
    "TabMove",
    "TabPosition",
    "TabRemoval",
    "TabUpdate",
    "Tabs",
    "TooLargeForTrash",
    "Trash",
    "TrashSwitchedOff",
    "TriggerError",
    "TriggerResult",
    "UndeclaredPermission",
    "UrlBlocked",
    "UrlExplanation",
    "VisitedPage",
    "Window",
    "WrongKey",
    "WrongPassphrase",
    "default_address",
    "open",
    "open_sync",
]

__version__ = "0.1.0"

_HOMES = {
    "ActivityLog": "activity_log.activity_service",
    "BackupReport": "archive.backup",
    "Browser": "api.browser",
    "Bundle": "formats.base",
    "BundleEntry": "formats.base",
    "ChangeCause": "cookies.cookie",
    "ChromiumRunner": "engines.chromium.chromium_runner",
    "Clock": "clock",
    "Color": "identity.palette",
    "ContainerReference": "formats.rule_bundle",
    "ContextualIdentity": "identity.model",
    "Cookie": "cookies.cookie",
    "CookieChange": "cookies.cookie_stores",
    "CookieKey": "cookies.cookie",
    "CookieStore": "cookies.cookie_stores",
    "CookieStores": "cookies.cookie_stores",
    "Decision": "site_rules.site_rule",
    "Downloads": "downloads.download_list",
    "Endpoint": "engines.chromium.endpoint.endpoint",
    "OpenPersonWindow": "engines.person_windows",
    "EngineLog": "engines.background.engine_log",
    "EngineOptions": "engines.base",
    "EngineRunner": "engines.runner",
    "EngineSelection": "engines.selection",
    "EngineStart": "engines.background.engine_starts",
    "EngineStarts": "engines.background.engine_starts",
    "Event": "events",
    "Extension": "extensions.extension",
    "ExtensionPage": "extensions.extension_page",
    "ExtensionPermissions": "extension_data.extension_permissions",
    "ExtensionUi": "extensions.ui_triggers",
    "Extensions": "extensions.service",
    "Grant": "grants.grant",
    "Grants": "grants.grant_service",
    "HideReport": "engines.hiding",
    "History": "history.history_service",
    "Icon": "identity.palette",
    "Identities": "identities.service",
    "IdentityLike": "identity.model",
    "IdentitySite": "identities.identity_sites",
    "IdentitySettings": "identity.settings",
    "ImportKey": "formats.base",
    "ImportReport": "formats.base",
    "ImportedRule": "formats.rule_bundle",
    "Installation": "extensions.installing",
    "InstalledExtension": "extension_data.installed_extensions",
    "Jar": "cookies.jar",
    "JarChange": "cookies.cookie",
    "LeaseHolder": "store.lease",
    "OpenedTabs": "engines.background.opened_tabs",
    "PageHidden": "tabs.tab_model",
    "Partition": "cookies.cookie",
    "Permissions": "extension_data.extension_permissions",
    "ProcessId": "store.processes",
    "Profile": "profile",
    "ProfileSettings": "store.profile_settings",
    "RecordedAction": "activity_log.activity_service",
    "RemovalPreview": "identities.removal_preview",
    "RemovedIdentity": "identities.trash",
    "RemovedLike": "identities.trash",
    "RequestEvents": "web_requests",
    "RestoreReport": "archive.restore_report",
    "RestoredIdentity": "archive.identity_restore",
    "RuleBundle": "formats.rule_bundle",
    "RuleImportReport": "formats.rule_bundle",
    "RuleMatch": "site_rules.site_rule",
    "RunRecord": "extension_data.run_records",
    "RunningEngine": "engines.running_engines",
    "SameSite": "cookies.cookie",
    "SiteData": "formats.base",
    "SiteRule": "site_rules.site_rule",
    "SiteRules": "site_rules.service",
    "SkippedRule": "formats.rule_bundle",
    "Store": "store.base",
    "StoredPackage": "extensions.package.stored_package",
    "SyncActivityLog": "sync",
    "SyncChromium": "sync",
    "SyncCookieStore": "sync",
    "SyncCookieStores": "sync",
    "SyncEvent": "sync",
    "SyncGrants": "sync",
    "SyncHistory": "sync",
    "SyncIdentities": "sync",
    "SyncProfile": "sync",
    "SyncSiteRules": "sync",
    "SyncTabs": "sync",
    "SyncTrash": "sync",
    "Tab": "tabs.tab_model",
    "TabActivation": "tabs.tab_model",
    "TabMove": "tabs.tab_model",
    "TabPosition": "tabs.tab_model",
    "TabRemoval": "tabs.tab_model",
    "TabUpdate": "tabs.tab_model",
    "Tabs": "tabs.service",
    "Trash": "identities.trash",
    "TriggerResult": "extensions.ui_triggers",
    "UrlExplanation": "site_rules.site_rule",
    "VisitedPage": "history.history_service",
    "Window": "tabs.tab_model",
    "default_address": "profile",
    "open": "profile",
    "open_sync": "sync",
}
"""The modules of the public names. Errors are in hatbox.errors."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used. The command line then starts without loading a profile."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"hatbox.{_HOMES.get(name, 'errors')}"), name)
    return value


def __dir__() -> list[str]:
    return __all__
