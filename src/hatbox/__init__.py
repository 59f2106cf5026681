"""Hatbox, the identity layer for programs: named, colored, iconified identities, each with its own cookie store."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hatbox.engines.runner import EngineRunner
    from hatbox.errors import (
        AmbiguousIdentity,
        ApiError,
        ArgumentError,
        CookieRejected,
        CookiesNotAllowed,
        DiskFull,
        DuplicateIdentity,
        EngineAlreadyRunning,
        EngineError,
        ExtensionError,
        ExtensionNotFound,
        ExtensionTerminated,
        FirefoxProfileLocked,
        HatboxError,
        IdentityMismatch,
        IdentityNotFound,
        IdentityRemoved,
        IdsExhausted,
        ImportExportError,
        InvalidColor,
        InvalidIcon,
        InvalidIdentity,
        InvalidInputFile,
        InvalidName,
        InvalidPosition,
        InvalidTab,
        InvalidWindow,
        ManifestError,
        MissingExtra,
        NetworkError,
        NotAProfile,
        PackageError,
        PermissionDenied,
        ProfileClosed,
        ProfileCorrupt,
        ProfileError,
        ProfileLocked,
        ProfileReadOnly,
        ProfileTooNew,
        SandboxUnavailable,
        ScriptError,
        TriggerError,
        UndeclaredPermission,
    )
    from hatbox.identities.model import ContextualIdentity
    from hatbox.identities.service import Identities
    from hatbox.profile import Profile, default_address, open  # noqa: A004 - hatbox.open() reads as it should
    from hatbox.sync import SyncIdentities, SyncProfile, SyncTabs, open_sync
    from hatbox.tabs.service import Tabs
    from hatbox.tabs.tab_model import Tab, Window

__all__ = [
    "AmbiguousIdentity",
    "ApiError",
    "ArgumentError",
    "ContextualIdentity",
    "CookieRejected",
    "CookiesNotAllowed",
    "DiskFull",
    "DuplicateIdentity",
    "EngineAlreadyRunning",
    "EngineError",
    "EngineRunner",
    "ExtensionError",
    "ExtensionNotFound",
    "ExtensionTerminated",
    "FirefoxProfileLocked",
    "HatboxError",
    "Identities",
    "IdentityMismatch",
    "IdentityNotFound",
    "IdentityRemoved",
    "IdsExhausted",
    "ImportExportError",
    "InvalidColor",
    "InvalidIcon",
    "InvalidIdentity",
    "InvalidInputFile",
    "InvalidName",
    "InvalidPosition",
    "InvalidTab",
    "InvalidWindow",
    "ManifestError",
    "MissingExtra",
    "NetworkError",
    "NotAProfile",
    "PackageError",
    "PermissionDenied",
    "Profile",
    "ProfileClosed",
    "ProfileCorrupt",
    "ProfileError",
    "ProfileLocked",
    "ProfileReadOnly",
    "ProfileTooNew",
    "SandboxUnavailable",
    "ScriptError",
    "SyncIdentities",
    "SyncProfile",
    "SyncTabs",
    "Tab",
    "Tabs",
    "TriggerError",
    "UndeclaredPermission",
    "Window",
    "default_address",
    "open",
    "open_sync",
]

__version__ = "0.1.0"

_HOMES = {
    "ContextualIdentity": "identities.model",
    "EngineRunner": "engines.runner",
    "Identities": "identities.service",
    "Profile": "profile",
    "SyncIdentities": "sync",
    "SyncProfile": "sync",
    "SyncTabs": "sync",
    "Tab": "tabs.tab_model",
    "Tabs": "tabs.service",
    "Window": "tabs.tab_model",
    "default_address": "profile",
    "open": "profile",
    "open_sync": "sync",
}
"""Where the public names are that are no errors."""


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used: the command line and errors need no profile, and start at once."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"hatbox.{_HOMES.get(name, 'errors')}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
