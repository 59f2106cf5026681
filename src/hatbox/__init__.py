"""Hatbox, the identity layer for programs: named, colored, iconified identities, each with its own cookie store."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from hatbox.engines.chromium.chromium_runner import ChromiumRunner
    from hatbox.engines.hiding import HideReport
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
    from hatbox.history.history_service import History, VisitedPage
    from hatbox.identities.model import ContextualIdentity, IdentityLike
    from hatbox.identities.palette import Color, Icon
    from hatbox.identities.removal_preview import RemovalPreview
    from hatbox.identities.service import Identities
    from hatbox.identities.settings import IdentitySettings
    from hatbox.identities.site_rules.service import SiteRules
    from hatbox.identities.site_rules.site_rule import Decision, RuleMatch, SiteRule, UrlExplanation
    from hatbox.identities.trash import RemovedIdentity, RemovedLike, Trash
    from hatbox.profile import Profile, default_address, open  # noqa: A004 - hatbox.open() reads as it should
    from hatbox.store.base import Store
    from hatbox.store.lease import LeaseHolder
    from hatbox.store.processes import ProcessId
    from hatbox.store.profile_settings import ProfileSettings
    from hatbox.sync import (
        SyncChromium,
        SyncCookieStore,
        SyncCookieStores,
        SyncEvent,
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
    "EngineAlreadyRunning",
    "EngineError",
    "EngineLeaseLost",
    "EngineLog",
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
    "IdsExhausted",
    "ImportExportError",
    "ImportKey",
    "ImportReport",
    "ImportedRule",
    "InputWouldBeLost",
    "Installation",
    "InstalledExtension",
    "InvalidColor",
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
    "NoSiteRule",
    "NotAProfile",
    "NotInArchive",
    "NotInTrash",
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
    "SyncChromium",
    "SyncCookieStore",
    "SyncCookieStores",
    "SyncEvent",
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
    "BackupReport": "archive.backup",
    "Browser": "api.browser",
    "Bundle": "formats.base",
    "BundleEntry": "formats.base",
    "ChangeCause": "cookies.cookie",
    "ChromiumRunner": "engines.chromium.chromium_runner",
    "Clock": "clock",
    "Color": "identities.palette",
    "ContainerReference": "formats.rule_bundle",
    "ContextualIdentity": "identities.model",
    "Cookie": "cookies.cookie",
    "CookieChange": "cookies.cookie_stores",
    "CookieKey": "cookies.cookie",
    "CookieStore": "cookies.cookie_stores",
    "CookieStores": "cookies.cookie_stores",
    "Decision": "identities.site_rules.site_rule",
    "default_address": "profile",
    "EngineLog": "engines.background.engine_log",
    "EngineRunner": "engines.runner",
    "EngineSelection": "engines.selection",
    "EngineStart": "engines.background.engine_starts",
    "EngineStarts": "engines.background.engine_starts",
    "Event": "events",
    "Extension": "extensions.extension",
    "ExtensionPage": "extensions.extension_page",
    "ExtensionPermissions": "extension_data.extension_permissions",
    "Extensions": "extensions.service",
    "ExtensionUi": "extensions.ui_triggers",
    "HideReport": "engines.hiding",
    "Icon": "identities.palette",
    "Identities": "identities.service",
    "IdentityLike": "identities.model",
    "IdentitySettings": "identities.settings",
    "ImportedRule": "formats.rule_bundle",
    "ImportKey": "formats.base",
    "ImportReport": "formats.base",
    "Installation": "extensions.installing",
    "InstalledExtension": "extension_data.installed_extensions",
    "Downloads": "downloads.download_list",
    "History": "history.history_service",
    "Jar": "cookies.jar",
    "JarChange": "cookies.cookie",
    "LeaseHolder": "store.lease",
    "open": "profile",
    "open_sync": "sync",
    "OpenedTabs": "engines.background.opened_tabs",
    "PageHidden": "tabs.tab_model",
    "Partition": "cookies.cookie",
    "Permissions": "extension_data.extension_permissions",
    "ProcessId": "store.processes",
    "Profile": "profile",
    "ProfileSettings": "store.profile_settings",
    "RemovalPreview": "identities.removal_preview",
    "RemovedIdentity": "identities.trash",
    "RemovedLike": "identities.trash",
    "RequestEvents": "web_requests",
    "RuleBundle": "formats.rule_bundle",
    "RuleImportReport": "formats.rule_bundle",
    "RuleMatch": "identities.site_rules.site_rule",
    "RunningEngine": "engines.running_engines",
    "RestoreReport": "archive.restore_report",
    "RestoredIdentity": "archive.identity_restore",
    "RunRecord": "extension_data.run_records",
    "SameSite": "cookies.cookie",
    "SiteRule": "identities.site_rules.site_rule",
    "SiteRules": "identities.site_rules.service",
    "SkippedRule": "formats.rule_bundle",
    "SiteData": "formats.base",
    "Store": "store.base",
    "StoredPackage": "extensions.package.stored_package",
    "SyncChromium": "sync",
    "SyncCookieStore": "sync",
    "SyncCookieStores": "sync",
    "SyncEvent": "sync",
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
    "Tabs": "tabs.service",
    "TabUpdate": "tabs.tab_model",
    "Trash": "identities.trash",
    "TriggerResult": "extensions.ui_triggers",
    "UrlExplanation": "identities.site_rules.site_rule",
    "VisitedPage": "history.history_service",
    "Window": "tabs.tab_model",
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
