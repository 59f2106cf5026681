"""Permission names of Firefox 153, and `contextualidentities`, and which can be optional. Data."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ALONE",
    "DATA_COLLECTION",
    "ONLY_VERSION_3",
    "OPTIONAL",
    "OPTIONAL_DATA_COLLECTION",
    "PRIVILEGED",
    "REQUIRED",
]

ALONE: Final = frozenset({"trialML", "userScripts"})
"""Optional permissions that have to be requested alone."""

OPTIONAL: Final = ALONE | {
    "activeTab",
    "bookmarks",
    "browserSettings",
    "browsingData",
    "clipboardRead",
    "clipboardWrite",
    "cookies",
    "declarativeNetRequestFeedback",
    "devtools",
    "downloads",
    "downloads.open",
    "find",
    "geolocation",
    "history",
    "idle",
    "management",
    "menus.overrideContext",
    "nativeMessaging",
    "notifications",
    "pkcs11",
    "privacy",
    "proxy",
    "publicSuffix",
    "scripting",
    "search",
    "sessions",
    "tabGroups",
    "tabHide",
    "tabs",
    "topSites",
    "webNavigation",
    "webRequest",
    "webRequestAuthProvider",
    "webRequestBlocking",
    "webRequestFilterResponse",
    "webRequestFilterResponse.serviceWorkerScript",
}

PRIVILEGED: Final = frozenset(
    {"activityLog", "geckoProfiler", "mozillaAddons", "networkStatus", "normandyAddonStudy", "telemetry"}
)
"""Known, but never granted: they are for Mozilla's extensions."""

REQUIRED: Final = (OPTIONAL - ALONE) | {
    "alarms",
    "captivePortal",
    "contextMenus",
    "contextualIdentities",
    "contextualidentities",  # the permission of the specification, for its own variants of the namespace
    "declarativeNetRequest",
    "declarativeNetRequestWithHostAccess",
    "dns",
    "identity",
    "menus",
    "storage",
    "theme",
    "unlimitedStorage",
}
"""The names that `permissions` in a manifest may contain, besides hosts."""

ONLY_VERSION_3: Final = frozenset({"userScripts"})

DATA_COLLECTION: Final = frozenset(
    {
        "authenticationInfo",
        "bookmarksInfo",
        "browsingActivity",
        "financialAndPaymentInfo",
        "healthInfo",
        "locationInfo",
        "personalCommunications",
        "personallyIdentifyingInfo",
        "searchTerms",
        "websiteActivity",
        "websiteContent",
    }
)
OPTIONAL_DATA_COLLECTION: Final = DATA_COLLECTION | {"technicalAndInteraction"}
